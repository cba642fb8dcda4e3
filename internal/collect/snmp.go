package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gosnmp/gosnmp"

	"github.com/linerate-dev/linerate/internal/observe"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

// keyCommunity is the key of a Secret that is shown to SNMP agents.
const keyCommunity = "community"

// An agent is asked as often within a reading: what is lost of UDP is asked for again.
const (
	agentTime    = 2 * time.Second
	agentRetries = 1
)

// snmp is an agent that is asked for one object, by version 2c.
type snmp struct {
	object    plan.SNMPObject
	secret    secret
	community string
	scale     *big.Rat
	host      string
	port      uint16
}

func newSNMP(o plan.SNMPObject, s secret) (source, error) {
	community, err := s.value(keyCommunity)
	if err != nil {
		return nil, err
	}
	if s.name != "" && community == "" {
		return nil, fmt.Errorf("secret %s has no key %s", s.name, keyCommunity)
	}
	host, text, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, fmt.Errorf("address %s: %w", o.Address, err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("address %s: %w", o.Address, err)
	}
	scale, ok := new(big.Rat).SetString(o.Scale)
	if !ok {
		return nil, fmt.Errorf("scale %q is no decimal number", o.Scale)
	}
	return snmp{o, s, cmp.Or(community, "public"), scale, host, uint16(port)}, nil
}

func (a snmp) ask(ctx context.Context) ([]observe.Number, error) {
	client := &gosnmp.GoSNMP{Target: a.host, Port: a.port, Transport: "udp", Community: a.community, Version: gosnmp.Version2c, Context: ctx, Timeout: agentTime, Retries: agentRetries}
	if err := client.Connect(); err != nil {
		return nil, plainly(err)
	}
	defer func() { _ = client.Close() }()
	answer, err := client.Get([]string{a.object.OID})
	switch {
	case err != nil && silent(err):
		return nil, fmt.Errorf("no answer within %s, asked %d times: agents don't answer who shows a community that they don't know, which is %s here", agentTime, 1+agentRetries, a.shown())
	case err != nil:
		return nil, plainly(err)
	case answer.Error != gosnmp.NoError:
		return nil, fmt.Errorf("it answers %s for %s", answer.Error, a.object.OID)
	case len(answer.Variables) != 1 || answer.Variables[0].Name != a.object.OID:
		return nil, fmt.Errorf("it answers for another object than %s", a.object.OID)
	}
	number, kind, err := a.read(answer.Variables[0])
	if err != nil {
		return nil, err
	}
	value, _ := new(big.Rat).Mul(number, a.scale).Float64()
	if math.IsInf(value, 0) {
		return nil, fmt.Errorf("object %s is too large a number", a.object.OID)
	}
	return []observe.Number{{Name: "value", Of: a.object.OID, Unit: a.object.Unit, Kind: kind, Value: value}}, nil
}

func (a snmp) shown() string {
	if a.secret.name == "" {
		return "public"
	}
	return "that of secret " + a.secret.name
}

// silent says that nobody answered. The library says so in words alone.
func silent(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || strings.Contains(err.Error(), "request timeout")
}

// read is an object's number as it stands.
func (a snmp) read(v gosnmp.SnmpPDU) (*big.Rat, report.VitalKind, error) {
	switch v.Type {
	case gosnmp.NoSuchObject, gosnmp.NoSuchInstance, gosnmp.EndOfMibView:
		return nil, "", fmt.Errorf("it has no object %s (%s): a table's has the row at its end, and any other .0", a.object.OID, v.Type)
	case gosnmp.Counter32:
		return nil, "", fmt.Errorf("object %s is a Counter32, which may begin anew between two readings without anybody seeing it: name its 64-bit object, such as ifHCInOctets", a.object.OID)
	case gosnmp.Counter64:
		return new(big.Rat).SetInt(gosnmp.ToBigInt(v.Value)), report.Counter, nil
	case gosnmp.Gauge32, gosnmp.Integer, gosnmp.Uinteger32, gosnmp.TimeTicks:
		return new(big.Rat).SetInt(gosnmp.ToBigInt(v.Value)), report.Gauge, nil
	case gosnmp.OpaqueFloat, gosnmp.OpaqueDouble, gosnmp.OctetString: // some agents have numbers as text, or as floats
		if number, ok := new(big.Rat).SetString(text(v.Value)); ok {
			return number, report.Gauge, nil
		}
	default: // addresses, and the like
	}
	return nil, "", fmt.Errorf("object %s is a %s that is no number", a.object.OID, v.Type)
}

func text(value any) string {
	switch v := value.(type) {
	case []byte:
		return strings.TrimSpace(string(v))
	case float32:
		return strconv.FormatFloat(float64(v), 'f', -1, 32)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}
