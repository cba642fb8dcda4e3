package ethtool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Module is the pluggable module in a port's cage, as its memory says (SFF-8472, SFF-8636, CMIS). Its serial number is
// left out.
type Module struct {
	Kind     string `json:"kind"` // such as "SFP" or "QSFP28"
	Vendor   string `json:"vendor"`
	Part     string `json:"part"`
	Revision string `json:"revision,omitempty"`
	// Diagnostics are nil for a module that doesn't measure itself, as copper cables don't.
	Diagnostics *Diagnostics `json:"diagnostics,omitempty"`
}

// Diagnostics are what a module measures of itself.
type Diagnostics struct {
	Celsius float64 `json:"celsius"`
	Volts   float64 `json:"volts"`
	Lanes   []Lane  `json:"lanes,omitempty"`
	// Alarms and Warnings are what the module itself takes for wrong, such as "received power low".
	Alarms   []string `json:"alarms,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// Lane is the light of a lane, and the current of its laser.
type Lane struct {
	SentMilliwatts     float64 `json:"sentMilliwatts"`
	ReceivedMilliwatts float64 `json:"receivedMilliwatts"`
	BiasMilliamperes   float64 `json:"biasMilliamperes"`
}

// Memory reads bytes of a module's memory. An offset from 128 on is in the page.
type Memory func(bus, page uint8, offset, length int) ([]byte, error)

// The addresses on the module's bus: what the module is, and an SFP's diagnostics.
const (
	identityBus    = 0x50
	diagnosticsBus = 0x51
	halfPage       = 128
)

// ModuleOf reads the module of an interface. It is nil for an interface without one, and for a driver that can't read
// it. Reading takes CAP_NET_ADMIN.
func ModuleOf(name string) (*Module, error) {
	a, err := newAsker(name)
	if err != nil {
		return nil, err
	}
	m, err := ReadModule(a.memory)
	for _, absent := range []error{unix.EOPNOTSUPP, unix.ENODEV, unix.EINVAL, unix.ENOENT, unix.ENXIO} {
		if errors.Is(err, absent) { // no cage, or nothing in it
			return nil, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the module of %s: %w", name, err)
	}
	return m, nil
}

func (a asker) memory(bus, page uint8, offset, length int) ([]byte, error) {
	answered, err := a.try(eepromGet, nl.NewRtAttr(eepromOffset, nl.Uint32Attr(uint32(offset))),
		nl.NewRtAttr(eepromLength, nl.Uint32Attr(uint32(length))), nl.NewRtAttr(eepromPage, []byte{page}),
		nl.NewRtAttr(eepromBus, []byte{bus}))
	if err != nil {
		return nil, err
	}
	if len(answered[eepromIs]) < length {
		return nil, unix.ENODATA
	}
	return answered[eepromIs], nil
}

// kinds are the modules' identifiers (SFF-8024).
var kinds = map[byte]string{0x03: "SFP", 0x0c: "QSFP", 0x0d: "QSFP+", 0x11: "QSFP28", 0x18: "QSFP-DD", 0x19: "OSFP",
	0x1b: "DSFP", 0x1e: "QSFP+ with CMIS", 0x1f: "SFP-DD with CMIS"}

// ReadModule reads a module's memory. It returns the error of reading its first half page.
func ReadModule(read Memory) (*Module, error) {
	lower, err := read(identityBus, 0, 0, halfPage)
	if err != nil {
		return nil, err
	}
	switch id := lower[0]; id {
	case 0x03:
		return readSFP(read, lower), nil
	case 0x0c, 0x0d, 0x11:
		return readQSFP(read, lower), nil
	case 0x18, 0x19, 0x1b, 0x1e, 0x1f:
		return readCMIS(read, lower), nil
	default:
		return &Module{Kind: fmt.Sprintf("identifier 0x%02x", id)}, nil
	}
}

// readSFP reads SFF-8472's memory.
func readSFP(read Memory, a0 []byte) *Module {
	const diagnosed, calibratedInside = 1 << 6, 1 << 5
	m := &Module{Kind: "SFP", Vendor: words(a0[20:36]), Part: words(a0[40:56]), Revision: words(a0[56:60])}
	if a0[92]&diagnosed == 0 || a0[92]&calibratedInside == 0 {
		return m
	}
	a2, err := read(diagnosticsBus, 0, 0, halfPage)
	if err != nil {
		return m
	}
	m.Diagnostics = &Diagnostics{Celsius: celsius(a2[96:]), Volts: volts(a2[98:]),
		Lanes: []Lane{{BiasMilliamperes: milliamperes(a2[100:]), SentMilliwatts: milliwatts(a2[102:]),
			ReceivedMilliwatts: milliwatts(a2[104:])}},
		Alarms: flagged(a2[112:]), Warnings: flagged(a2[116:])}
	return m
}

// flagged names the flags of SFF-8472, in the order of their bits.
func flagged(flags []byte) (names []string) {
	for bit, name := range []string{"temperature high", "temperature low", "voltage high", "voltage low",
		"laser current high", "laser current low", "sent power high", "sent power low", "received power high",
		"received power low"} {
		if flags[bit/8]&(0x80>>(bit%8)) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// readQSFP reads SFF-8636's memory.
func readQSFP(read Memory, lower []byte) *Module {
	const lanes = 4
	m := &Module{Kind: kinds[lower[0]]}
	upper, err := read(identityBus, 0, halfPage, halfPage)
	if err != nil {
		return m
	}
	m.Vendor, m.Part, m.Revision = words(upper[20:36]), words(upper[40:56]), words(upper[56:58])
	if binary.BigEndian.Uint16(lower[22:]) == 0 && binary.BigEndian.Uint16(lower[26:]) == 0 { // copper measures nothing
		return m
	}
	d := &Diagnostics{Celsius: celsius(lower[22:]), Volts: volts(lower[26:])}
	for lane := range lanes {
		d.Lanes = append(d.Lanes, Lane{ReceivedMilliwatts: milliwatts(lower[34+2*lane:]),
			BiasMilliamperes: milliamperes(lower[42+2*lane:]), SentMilliwatts: milliwatts(lower[50+2*lane:])})
	}
	d.flag(lower[6]>>4, "temperature")
	d.flag(lower[7]>>4, "voltage")
	for lane := range lanes {
		d.flag(lower[9+lane/2]>>(4-4*(lane%2))&15, fmt.Sprintf("received power of lane %d", lane+1))
	}
	m.Diagnostics = d
	return m
}

// flag reads four flags: alarm high, alarm low, warning high, warning low.
func (d *Diagnostics) flag(flags byte, name string) {
	for bit, list := range []*[]string{&d.Alarms, &d.Alarms, &d.Warnings, &d.Warnings} {
		if flags&(8>>bit) != 0 {
			*list = append(*list, name+[]string{" high", " low"}[bit%2])
		}
	}
}

// readCMIS reads the memory of CMIS, without its lanes.
func readCMIS(read Memory, lower []byte) *Module {
	m := &Module{Kind: kinds[lower[0]]}
	upper, err := read(identityBus, 0, halfPage, halfPage)
	if err != nil {
		return m
	}
	m.Vendor, m.Part, m.Revision = words(upper[1:17]), words(upper[20:36]), words(upper[36:38])
	if binary.BigEndian.Uint16(lower[14:]) == 0 && binary.BigEndian.Uint16(lower[16:]) == 0 {
		return m
	}
	d := &Diagnostics{Celsius: celsius(lower[14:]), Volts: volts(lower[16:])}
	for group, name := range []string{"temperature", "voltage"} {
		for bit, list := range []*[]string{&d.Alarms, &d.Alarms, &d.Warnings, &d.Warnings} {
			if lower[9]&(1<<(4*group+bit)) != 0 {
				*list = append(*list, name+[]string{" high", " low"}[bit%2])
			}
		}
	}
	m.Diagnostics = d
	return m
}

func words(b []byte) string {
	printable := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, string(b))
	return strings.TrimSpace(printable)
}

func celsius(b []byte) float64 { return float64(int16(binary.BigEndian.Uint16(b))) / 256 }

func volts(b []byte) float64 { return float64(binary.BigEndian.Uint16(b)) / 1e4 }

func milliamperes(b []byte) float64 { return float64(binary.BigEndian.Uint16(b)) * 2 / 1e3 }

func milliwatts(b []byte) float64 { return float64(binary.BigEndian.Uint16(b)) / 1e4 }
