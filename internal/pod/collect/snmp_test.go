package collect_test

import (
	"net"
	"sync"
	"testing"

	"github.com/gosnmp/gosnmp"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// agent answers who shows the community with these objects, until the test ends.
func agent(t *testing.T, community string, objects map[string]gosnmp.SnmpPDU) string {
	t.Helper()
	socket, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		buffer := make([]byte, 2048)
		for {
			n, client, err := socket.ReadFrom(buffer)
			if err != nil {
				return
			}
			decoder := &gosnmp.GoSNMP{Version: gosnmp.Version2c}
			question, err := decoder.SnmpDecodePacket(buffer[:n])
			if err != nil || question.Community != community {
				continue // who doesn't know it isn't answered
			}
			answer := &gosnmp.SnmpPacket{Version: gosnmp.Version2c, Community: community, PDUType: gosnmp.GetResponse,
				RequestID: question.RequestID}
			for _, v := range question.Variables {
				object, ok := objects[v.Name]
				if !ok {
					object.Type = gosnmp.NoSuchObject
				}
				object.Name = v.Name
				answer.Variables = append(answer.Variables, object)
			}
			bytes, err := answer.MarshalMsg()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = socket.WriteTo(bytes, client)
		}
	})
	t.Cleanup(func() { _ = socket.Close(); serving.Wait() })
	return socket.LocalAddr().String()
}

func object(address, oid, scale string) plan.Observer {
	return plan.Observer{Type: plan.ObserveSNMP, SNMP: &plan.SNMPObject{Address: address, OID: oid, Unit: "W",
		Scale: scale}}
}

func TestAnAgentTellsANumberOfAnyType(t *testing.T) {
	address := agent(t, "public", map[string]gosnmp.SnmpPDU{
		".1.3.6.1.1.1.0":          {Type: gosnmp.Gauge32, Value: uint32(2345)},
		".1.3.6.1.1.2.0":          {Type: gosnmp.Integer, Value: -5},
		".1.3.6.1.1.3.0":          {Type: gosnmp.Counter64, Value: uint64(1) << 63},
		".1.3.6.1.1.4.0":          {Type: gosnmp.OctetString, Value: " 12.5 \n"},
		".1.3.6.1.1.5.0":          {Type: gosnmp.OctetString, Value: "ACME PDU"},
		".1.3.6.1.1.6.0":          {Type: gosnmp.Counter32, Value: uint32(7)},
		".1.3.6.1.2.1.2.2.1.16.4": {Type: gosnmp.Counter32, Value: uint32(7)},
		".1.3.6.1.1.7.0":          {Type: gosnmp.OctetString, Value: "1e999"},
	})
	// A counter that no float64 holds exactly is counted from 0 on.
	for oid, c := range map[string]struct {
		scale string
		want  float64
		kind  report.VitalKind
	}{
		".1.3.6.1.1.1.0": {"0.1", 234.5, report.Gauge}, ".1.3.6.1.1.2.0": {"1", -5, report.Gauge},
		".1.3.6.1.1.3.0": {"1", 0, report.Counter}, ".1.3.6.1.1.4.0": {"2", 25, report.Gauge},
		".1.3.6.1.1.6.0": {"1", 7, report.Counter},
	} {
		n := number(t, answered(t, object(address, oid, c.scale), ""), "value", oid)
		if n.Value != c.want || n.Kind != c.kind || n.Unit != "W" {
			t.Errorf("%s: %+v, want %g", oid, n, c.want)
		}
	}
	missing(t, answered(t, object(address, ".1.3.6.1.1.5.0", "1"), ""),
		"object .1.3.6.1.1.5.0 is a OctetString that is no number")
	missing(t, answered(t, object(address, ".1.3.6.1.2.1.2.2.1.16.4", "1"), ""),
		"object .1.3.6.1.2.1.2.2.1.16.4 is a Counter32, which begins anew too soon: name its 64-bit object, "+
			"ifHCOutOctets (.1.3.6.1.2.1.31.1.1.1.10.4)")
	missing(t, answered(t, object(address, ".1.3.6.1.1.7.0", "1"), ""), "object .1.3.6.1.1.7.0 is too large a number")
	missing(t, answered(t, object(address, ".1.3.6.1.9.9", "1"), ""), address+
		": it has no object .1.3.6.1.9.9 (NoSuchObject)")
}

func TestACommunityIsASecrets(t *testing.T) {
	address := agent(t, "lab", map[string]gosnmp.SnmpPDU{".1.3.6.1.1.1.0": {Type: gosnmp.Gauge32, Value: uint32(7)}})
	credentials := secrets(t, map[string]string{"pdu/community": "lab\n", "other/community": "home",
		"empty/password":   "x",
		"shared/community": "lab", "shared/username": "root", "shared/password": "calvin", // also a controller's
		"controller/username": "root", "controller/password": "calvin", "nobody/authPassword": "longpassword",
		"nobody/community": "lab",
		"short/username":   "linerate", "short/authPassword": "longpassword", "short/privPassword": "x"})
	o := object(address, ".1.3.6.1.1.1.0", "1")
	o.SNMP.Secret = "pdu"
	if n := number(t, answered(t, o, credentials), "value", ".1.3.6.1.1.1.0"); n.Value != 7 {
		t.Errorf("%+v, want 7", n)
	}
	o.SNMP.Secret = "shared"
	if n := number(t, answered(t, o, credentials), "value", ".1.3.6.1.1.1.0"); n.Value != 7 {
		t.Errorf("%+v, want 7 by the community of a Secret with another's user", n)
	}
	for name, want := range map[string]string{
		"controller": "secret controller has username, and neither authPassword and privPassword, which version 3 " +
			"wants, nor community, which version 2c wants: add either",
		"nobody": "secret nobody has authPassword, and no username, which version 3 wants: add it, or for version 2c " +
			"leave authPassword out",
		"short": "secret short: privPassword has fewer than 8 characters, and version 3 wants as many: lengthen it, " +
			"or for version 2c leave authPassword out and have community",
	} {
		o.SNMP.Secret = name
		missing(t, answered(t, o, credentials), want)
	}
	o.SNMP.Secret = "empty"
	missing(t, answered(t, o, credentials), "secret empty has no key community, and for version 3 no username")
	o.SNMP.Secret = "other"
	missing(t, answered(t, o, credentials), "agents don't answer who shows a community that they don't know, which "+
		"is that of secret other here")
}
