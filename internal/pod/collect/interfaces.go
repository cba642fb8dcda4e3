package collect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gosnmp/gosnmp"
)

// Columns of the tables of interfaces (RFC 2863). A row is an interface's number.
const (
	ifTable              = ".1.3.6.1.2.1.2.2.1."
	ifXTable             = ".1.3.6.1.2.1.31.1.1.1."
	ifInOctets           = ifTable + "10."
	ifOutOctets          = ifTable + "16."
	counterDiscontinuity = ifXTable + "19."
	sysUpTime            = ".1.3.6.1.2.1.1.3.0"
)

// wider are the columns that count the same as a 32-bit one in 64 bits.
var wider = map[string]struct{ column, name string }{
	ifTable + "10.": {ifXTable + "6.", "ifHCInOctets"}, ifTable + "11.": {ifXTable + "7.", "ifHCInUcastPkts"},
	ifTable + "16.": {ifXTable + "10.", "ifHCOutOctets"}, ifTable + "17.": {ifXTable + "11.", "ifHCOutUcastPkts"},
	ifXTable + "2.": {ifXTable + "8.", "ifHCInMulticastPkts"}, ifXTable +
		"3.": {ifXTable + "9.", "ifHCInBroadcastPkts"},
	ifXTable + "4.": {ifXTable + "12.", "ifHCOutMulticastPkts"}, ifXTable +
		"5.": {ifXTable + "13.", "ifHCOutBroadcastPkts"},
}

// companions are the objects that an agent is asked for together with the observer's. They say how long the
// agent has run, and of an interface's row what changes whenever the table is renewed, and since when it
// counts.
type companions struct{ uptime, discontinuity, received, sent string }

func companionsOf(oid string) companions {
	b := companions{uptime: sysUpTime}
	if _, row, ok := column(oid); ok {
		b.discontinuity, b.received, b.sent = counterDiscontinuity+row, ifInOctets+row, ifOutOctets+row
	}
	return b
}

// column splits an object of a table of interfaces into its column and its row. ok is false for other objects.
func column(oid string) (column, row string, ok bool) {
	for _, table := range []string{ifTable, ifXTable} {
		if rest, found := strings.CutPrefix(oid, table); found {
			n, row, hasRow := strings.Cut(rest, ".")
			return table + n + ".", row, hasRow
		}
	}
	return "", "", false
}

func (b companions) oids() (oids []string) {
	for _, oid := range []string{b.uptime, b.discontinuity, b.received, b.sent} {
		if oid != "" {
			oids = append(oids, oid)
		}
	}
	return oids
}

// read is what an agent answers. A value that the agent doesn't report is nil, or empty.
func (b companions) read(variables []gosnmp.SnmpPDU) (uptime, discontinuity *uint32, pulse string) {
	for _, v := range variables {
		switch {
		case v.Type == gosnmp.TimeTicks && v.Name == b.uptime:
			uptime = new(ticks(v))
		case v.Type == gosnmp.TimeTicks && v.Name == b.discontinuity:
			discontinuity = new(ticks(v))
		case v.Type == gosnmp.Counter32 && slices.Contains([]string{b.received, b.sent}, v.Name):
			pulse += fmt.Sprint(v.Value, " ")
		}
	}
	return uptime, discontinuity, pulse
}

func ticks(v gosnmp.SnmpPDU) uint32 {
	return uint32(gosnmp.ToBigInt(v.Value).Uint64()) //nolint:gosec // it has 32 bits on the wire
}

// bitsOf is how many bits a counter of a type has, 0 for other types. A 32-bit counter is refused where a
// 64-bit one counts the same.
func (a snmp) bitsOf(kind gosnmp.Asn1BER) (int, error) {
	switch kind {
	case gosnmp.Counter64:
		return 64, nil
	case gosnmp.Counter32:
		if c, row, ok := column(a.object.OID); ok && wider[c].name != "" {
			return 0, fmt.Errorf("object %s is a Counter32, which begins anew too soon: name its 64-bit "+
				"object, %s (%s%s)", a.object.OID, wider[c].name, wider[c].column, row)
		}
		return 32, nil
	default:
		return 0, nil
	}
}
