// Box is what a release of a device brings beside its router: a packet filter before what is forwarded, and
// three that tell how much the device draws. How many rules the filter has, and how much is drawn, the
// release's image says by two variables:
//
//	RULES=20000 WATTS=90 box
//
//	TCP 8443  a management controller (Redfish over HTTPS), for who shows username and password
//	UDP 1161  the power strip's agent (SNMP 2c), for who shows the community
//	TCP 9090  a Prometheus that scraped either, for who shows the token
//
// What they want to be shown, and the controller's certificate, are files of a folder. The filter's rules are
// there once the controller listens.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"github.com/gosnmp/gosnmp"
	"golang.org/x/sys/unix"
)

// folder has a file for each credential, as the kubelet mounts a Secret.
const folder = "/etc/box"

// What is asked for: the power strip's object, in tenths of a watt, and Prometheus' query.
const (
	outlet = ".1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.4"
	query  = `box_power_watts{instance="box"}`
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("box: ")
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	rules, err := strconv.Atoi(os.Getenv("RULES"))
	if err != nil {
		return fmt.Errorf("RULES: %w", err)
	}
	watts, err := strconv.Atoi(os.Getenv("WATTS"))
	if err != nil {
		return fmt.Errorf("WATTS: %w", err)
	}
	b, err := newBox(folder, watts)
	if err != nil {
		return err
	}
	if err := filter(rules); err != nil {
		return fmt.Errorf("a filter of %d rules: %w", rules, err)
	}
	agent, err := net.ListenPacket("udp", ":1161")
	if err != nil {
		return err
	}
	log.Printf("%d rules, %d W", rules, watts)
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
	defer stop()
	ended := make(chan error)
	go func() { ended <- b.answer(agent) }()
	go func() { ended <- http.ListenAndServe(":9090", http.HandlerFunc(b.prometheus)) }()
	go func() {
		ended <- http.ListenAndServeTLS(":8443", filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key"),
			http.HandlerFunc(b.redfish))
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

// box knows how much is drawn, and what it wants to be shown by who asks.
type box struct {
	watts                                int
	username, password, community, token string
}

func newBox(folder string, watts int) (b box, err error) {
	b.watts = watts
	for name, target := range map[string]*string{"username": &b.username, "password": &b.password,
		"community": &b.community, "token": &b.token} {
		text, readErr := os.ReadFile(filepath.Join(folder, name))
		*target, err = string(text), errors.Join(err, readErr)
	}
	return b, err
}

// redfish is a chassis of one power supply and one sensor.
func (b box) redfish(w http.ResponseWriter, r *http.Request) {
	const chassis = "/redfish/v1/Chassis"
	resource, found := map[string]string{
		chassis: `{"Members": [{"@odata.id": "` + chassis + `/1"}]}`,
		chassis + "/1": `{"Id": "1", "Power": {"@odata.id": "` + chassis +
			`/1/Power"}, "Thermal": {"@odata.id": "` + chassis + `/1/Thermal"}}`,
		chassis + "/1/Power":   fmt.Sprintf(`{"PowerControl": [{"Name": "System Input Power", "PowerConsumedWatts": %d}]}`, b.watts),
		chassis + "/1/Thermal": fmt.Sprintf(`{"Temperatures": [{"Name": "CPU", "ReadingCelsius": %d}]}`, 20+b.watts/2),
	}[r.URL.Path]
	user, password, _ := r.BasicAuth()
	switch {
	case user != b.username || password != b.password:
		w.WriteHeader(http.StatusUnauthorized)
	case !found:
		http.NotFound(w, r)
	default:
		_, _ = w.Write([]byte(resource))
	}
}

// prometheus answers how much is drawn, and since when it knows.
func (b box) prometheus(w http.ResponseWriter, r *http.Request) {
	now := float64(time.Now().UnixMilli()) / 1000
	value, found := map[string]float64{query: float64(b.watts), "timestamp(" + query + "\n)": now}[r.FormValue("query")]
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Header.Get("Authorization") != "Bearer "+b.token:
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path != "/api/v1/query" || !found:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"status": "error", "errorType": "bad_data", "error": "this one knows one query"}`))
	default:
		sample := map[string]any{"metric": map[string]string{"instance": "box"},
			"value": []any{now, strconv.FormatFloat(value, 'f', -1, 64)}}
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{"resultType": "vector",
			"result": []any{sample}}})
	}
}

// answer is the agent's, for who shows its community; nobody else is answered.
func (b box) answer(agent net.PacketConn) error {
	buffer := make([]byte, 2048)
	for {
		n, sender, err := agent.ReadFrom(buffer)
		if err != nil {
			return err
		}
		asked, err := (&gosnmp.GoSNMP{Version: gosnmp.Version2c}).SnmpDecodePacket(buffer[:n])
		if err != nil || asked.Community != b.community {
			continue
		}
		response := gosnmp.SnmpPacket{Version: gosnmp.Version2c, Community: b.community, PDUType: gosnmp.GetResponse,
			RequestID: asked.RequestID}
		for _, v := range asked.Variables {
			object := gosnmp.SnmpPDU{Name: v.Name, Type: gosnmp.NoSuchObject}
			if "."+strings.TrimPrefix(v.Name, ".") == outlet {
				object.Type, object.Value = gosnmp.Gauge32, uint32(10*b.watts)
			}
			response.Variables = append(response.Variables, object)
		}
		bytes, err := response.MarshalMsg()
		if err != nil {
			return err
		}
		if _, err := agent.WriteTo(bytes, sender); err != nil {
			log.Print(err)
		}
	}
}

// filter holds what the pod forwards against rules that are not about it: each drops UDP from one address that
// no test may have (RFC 1112's class E).
func filter(rules int) error {
	conn, err := nftables.New()
	if err != nil {
		return err
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "box"})
	chain := conn.AddChain(&nftables.Chain{Name: "filter", Table: table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter})
	for i := range rules {
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
			&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_UDP}},
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: 12, Len: 4},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint32(240<<24 + 1 + uint32(i))},
			&expr.Verdict{Kind: expr.VerdictDrop},
		}})
		if i%100 == 99 { // the answers to more at once don't fit into the socket's buffer
			if err := conn.Flush(); err != nil {
				return err
			}
		}
	}
	return conn.Flush()
}
