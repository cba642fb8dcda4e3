package ethtool_test

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/ethtool"
)

// recorded reads a module's memory from a file of hexadecimal bytes: what it is, then what it measures.
func recorded(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var memory []byte
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if line := lines.Text(); !strings.HasPrefix(line, "#") {
			bytes, err := hex.DecodeString(strings.ReplaceAll(line, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			memory = append(memory, bytes...)
		}
	}
	return memory
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// The values are those that ethtool -m prints of this module.
func TestAModuleWithoutLight(t *testing.T) {
	memory := recorded(t, "sfp-sr.hex")
	m, err := ethtool.ReadModule(func(bus, page uint8, offset, length int) ([]byte, error) {
		if bus == 0x51 {
			offset += 256
		}
		if page != 0 || offset+length > len(memory) {
			return nil, unix.EINVAL
		}
		return memory[offset : offset+length], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if m.Kind != "SFP" || m.Vendor != "Intel Corp" || m.Part != "FTLX8574D3BNL-IT" || m.Revision != "A" || m.Diagnostics == nil {
		t.Fatalf("module %+v", m)
	}
	d := *m.Diagnostics
	if !near(d.Celsius, 35.3359375) || !near(d.Volts, 3.4272) || len(d.Lanes) != 1 || !near(d.Lanes[0].BiasMilliamperes, 8.688) ||
		!near(d.Lanes[0].SentMilliwatts, 0.578) || !near(d.Lanes[0].ReceivedMilliwatts, 0.0021) {
		t.Errorf("diagnostics %+v", d)
	}
	if want := []string{"received power low"}; !slices.Equal(d.Alarms, want) || !slices.Equal(d.Warnings, want) {
		t.Errorf("alarms %q, warnings %q", d.Alarms, d.Warnings)
	}
}

// made is a module's memory with some bytes set.
func made(bytes map[int]byte, texts map[int]string) ethtool.Memory {
	memory := make([]byte, 256)
	for place, text := range texts {
		copy(memory[place:], text)
	}
	for place, value := range bytes {
		memory[place] = value
	}
	return func(bus, _ uint8, offset, length int) ([]byte, error) {
		if bus != 0x50 {
			return nil, unix.EIO
		}
		return memory[offset : offset+length], nil
	}
}

func word(memory map[int]byte, place int, value uint16) {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], value)
	memory[place], memory[place+1] = b[0], b[1]
}

func TestOtherModules(t *testing.T) {
	qsfp := map[int]byte{0: 0x11, 6: 0x20, 9: 0x04, 10: 0x80}
	word(qsfp, 22, 50*256)
	word(qsfp, 26, 33000)
	word(qsfp, 34, 5000)
	cmis := map[int]byte{0: 0x18, 9: 0x81} // temperature alarm high, voltage warning low
	word(cmis, 14, 0xf600)                 // −10 °C
	word(cmis, 16, 32000)
	for name, c := range map[string]struct {
		memory           ethtool.Memory
		kind, part       string
		celsius          float64
		lanes            int
		alarms, warnings []string
		measures         bool
	}{
		"QSFP28": {made(qsfp, map[int]string{128 + 20: "ACME            ", 128 + 40: "QX-1            "}), "QSFP28", "QX-1", 50, 4,
			[]string{"received power of lane 2 low", "received power of lane 3 high"}, []string{"temperature high"}, true},
		"a copper cable":  {made(map[int]byte{0: 0x0d}, map[int]string{168: "DAC-3"}), "QSFP+", "DAC-3", 0, 0, nil, nil, false},
		"a cable of SFP+": {made(map[int]byte{0: 3}, map[int]string{40: "DAC-1"}), "SFP", "DAC-1", 0, 0, nil, nil, false},
		"CMIS": {made(cmis, map[int]string{128 + 20: "DD-400"}), "QSFP-DD", "DD-400", -10, 0, []string{"temperature high"},
			[]string{"voltage low"}, true},
		"an unknown one": {made(map[int]byte{0: 0x77}, nil), "identifier 0x77", "", 0, 0, nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := ethtool.ReadModule(c.memory)
			if err != nil {
				t.Fatal(err)
			}
			if m.Kind != c.kind || m.Part != c.part || (m.Diagnostics != nil) != c.measures {
				t.Fatalf("module %+v", m)
			}
			if d := m.Diagnostics; d != nil && (!near(d.Celsius, c.celsius) || len(d.Lanes) != c.lanes ||
				!slices.Equal(d.Alarms, c.alarms) || !slices.Equal(d.Warnings, c.warnings)) {
				t.Errorf("diagnostics %+v", *d)
			}
		})
	}
}
