package path_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/path"
)

var there = plan.Direction{From: "west", To: "east"}

// hosts are frames of so many flows, which differ in their source address.
func hosts(n int) (frames [][]byte) {
	for i := range n {
		f := udp4(120, 0)
		f[29] = byte(i + 1)
		frames = append(frames, summed(f))
	}
	return frames
}

// pass is what a device makes of a lane's probes, which are marked frames of these templates.
func pass(t *testing.T, l path.Lane, templates [][]byte, device func(i int, f []byte) []byte) (probes []path.Probe, seen []path.Arrival) {
	t.Helper()
	probes, err := path.Probes(l, sentBy(t, l, templates...), 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range probes {
		seen = append(seen, path.Arrival{Generator: "g0", Port: 1, Bytes: device(i, p.Frame)})
	}
	return probes, seen
}

// translated is a router's frame from another address and port.
func translated(host byte, port uint16) func(int, []byte) []byte {
	return func(i int, f []byte) []byte {
		f = routed(f)
		copy(f[26:], []byte{198, 18, 1, host})
		binary.BigEndian.PutUint16(f[34:], port+uint16(i))
		return summed(f)
	}
}

// wrapped is a router's frame in another packet from the device to the generator.
func wrapped(_ int, f []byte) []byte {
	f = routed(f)
	outer := []byte{0x45, 0, 0, byte(len(f) - 14 + 20), 0, 9, 0, 0, 64, 4, 0, 0, 198, 18, 1, 1, 198, 18, 1, 2}
	return mendedHeader(slices.Concat(f[:14], outer, f[14:]))
}

func TestWhatADeviceChangesIsLearned(t *testing.T) {
	tagged := func(_ int, f []byte) []byte { return slices.Insert(routed(f), 12, 0x81, 0, 0, 200) }
	longer := func(_ int, f []byte) []byte {
		f = append(routed(f), 1, 2, 3, 4)
		binary.BigEndian.PutUint16(f[16:], uint16(len(f)-14))
		binary.BigEndian.PutUint16(f[38:], uint16(len(f)-34))
		return summed(f)
	}
	swaps := func(i int, f []byte) []byte { return translated(9, []uint16{1001, 999}[i%2])(i, f) }
	tests := map[string]struct {
		changes  []plan.Change
		device   func(int, []byte) []byte
		known    map[path.Flow]path.Flow
		fault    report.Detail // empty: it is proven
		says     string
		learned  report.Learned
		unproven bool
	}{
		"NAT": {changes: []plan.Change{plan.Addresses}, device: translated(1, 1000),
			says:    "learned: 4 flows translated, such as 16.0.0.1:1025 to 48.0.0.1:12, which arrives as 198.18.1.1:1000 to 48.0.0.1:12, TTL lower by 1",
			learned: report.Learned{TranslatedFlows: 4, TTLLowerMin: 1, TTLLowerMax: 1}},
		"NAT, not declared": {device: translated(1, 1000), fault: report.UndeclaredChange,
			says: "with other addresses or ports, 198.18.1.1:1000 to 48.0.0.1:12 instead of 16.0.0.1:1025 to 48.0.0.1:12, which is not declared: if the device is to do so, write dut.changes: [Addresses]"},
		"NAT, another change declared": {changes: []plan.Change{plan.VLAN}, device: translated(1, 1000), fault: report.UndeclaredChange, says: "dut.changes: [Addresses]"},
		"two flows become one": {changes: []plan.Change{plan.Addresses}, device: func(_ int, f []byte) []byte { return translated(1, 1000)(0, f) }, fault: report.WrongTranslation,
			says: "16.0.0.1:1025 and 16.0.0.2:1025 both arrive as 198.18.1.1:1000"},
		"one flow comes as another": {changes: []plan.Change{plan.Addresses}, device: swaps, fault: report.WrongTranslation,
			known: map[path.Flow]path.Flow{path.FlowOf(hosts(1)[0]): path.FlowOf(translated(9, 999)(0, hosts(1)[0]))}, says: "198.18.1.9:1001 arrives instead of 198.18.1.9:999"},
		"IPIP": {changes: []plan.Change{plan.Encapsulation}, device: wrapped, says: "learned: wrapped into IPIP, frames 20 bytes longer, TTL lower by 1",
			learned: report.Learned{Tunnel: "IPIP", AddedBytesMin: 20, AddedBytesMax: 20, TTLLowerMin: 1, TTLLowerMax: 1}},
		"IPIP, not declared": {device: wrapped, fault: report.UndeclaredChange,
			says: "4 of 4 frames arrived on east inside other packets (IPIP, from 198.18.1.1 to 198.18.1.2), which is not declared"},
		"IPIP that spoils": {changes: []plan.Change{plan.Encapsulation}, device: func(i int, f []byte) []byte { f = wrapped(i, f); f[len(f)-1]++; return f },
			fault: report.PayloadChanged, says: "another payload than was sent"},
		"a tag": {changes: []plan.Change{plan.VLAN}, device: tagged, says: "learned: VLAN 0 arrives as 200 (0: untagged), frames 4 bytes longer",
			learned: report.Learned{ArrivedVLAN: 200, AddedBytesMin: 4, AddedBytesMax: 4, TTLLowerMin: 1, TTLLowerMax: 1}},
		"longer packets": {changes: []plan.Change{plan.Length}, device: longer, says: "learned: frames 4 bytes longer",
			learned: report.Learned{AddedBytesMin: 4, AddedBytesMax: 4, TTLLowerMin: 1, TTLLowerMax: 1}},
		"longer packets, not declared": {changes: []plan.Change{plan.Addresses}, device: longer, fault: report.FramesResized, says: "bytes from the IP header on, instead of"},
		"nothing of what is declared": {changes: []plan.Change{plan.Addresses, plan.VLAN}, device: func(_ int, f []byte) []byte { return routed(f) },
			says: "declared but not seen: Addresses, VLAN", learned: report.Learned{TTLLowerMin: 1, TTLLowerMax: 1}},
		"a bridge's TTL": {changes: []plan.Change{plan.Addresses}, device: func(i int, f []byte) []byte { f = translated(1, 1000)(i, f); f[22]++; return mendedHeader(f) },
			fault: report.ReplacesMACs, says: "TTL 64 instead of 63"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := lane(plan.L3)
			l.Translations = test.known
			probes, seen := pass(t, l, hosts(4), test.device)
			check, _ := path.Judge(there, plan.DUT{Type: "Device", Forwarding: plan.L3, Changes: test.changes}, probes, seen)
			if !strings.Contains(check.Message, test.says) {
				t.Errorf("%s\nwant …%s…", check.Message, test.says)
			}
			if test.fault != "" {
				if check.Proven || check.Fault == nil || check.Fault.Detail != test.fault {
					t.Errorf("proven %v, %+v, want %s", check.Proven, check.Fault, test.fault)
				}
				return
			}
			if !check.Proven || check.Learned == nil {
				t.Fatalf("proven %v, learned %+v", check.Proven, check.Learned)
			}
			got := *check.Learned
			got.Translations, got.Unchanged = nil, nil
			if fmt.Sprint(got) != fmt.Sprint(test.learned) {
				t.Errorf("learned %+v, want %+v", got, test.learned)
			}
		})
	}
}

func TestTheWayBackAnswersWhatArrived(t *testing.T) {
	for name, c := range map[string]struct {
		device  func(int, []byte) []byte
		tunnels int // bytes in front of the packet
	}{"NAT": {translated(1, 1000), 0}, "IPIP": {wrapped, 20}} {
		t.Run(name, func(t *testing.T) {
			probes, seen := pass(t, lane(plan.L3), hosts(4), c.device)
			found := path.Translations(probes, seen)
			if len(found) != 4 {
				t.Fatalf("%d translations", len(found))
			}
			for _, tr := range found {
				template := udp4(200, 0)
				answer, err := tr.Answer(template)
				if err != nil {
					t.Fatal(err)
				}
				if path.FlowOf(answer) != tr.Arrived.Reversed() || len(answer) != len(template) {
					t.Errorf("%d bytes of flow %s, want %s", len(answer), path.FlowOf(answer), tr.Arrived.Reversed())
				}
				checkSums(t, answer)
				if c.tunnels > 0 {
					if got := answer[26:34]; !slices.Equal(got, []byte{198, 18, 1, 2, 198, 18, 1, 1}) {
						t.Errorf("the tunnel's ends: %v", got)
					}
					checkSums(t, slices.Concat(answer[:14], answer[34:]))
				}
			}
		})
	}
	probes, seen := pass(t, lane(plan.L3), hosts(1), wrapped)
	if _, err := path.Translations(probes, seen)[0].Answer(udp4(60, 0)); err == nil || !strings.Contains(err.Error(), "can't hold the headers of an answer, which are 66 bytes with FCS: send larger frames") {
		t.Errorf("a frame without room: %v", err)
	}
}

func TestNumberedFramesThatContradictWhatWasLearned(t *testing.T) {
	l := lane(plan.L3)
	l.Translations = map[path.Flow]path.Flow{}
	for i, f := range hosts(4) {
		l.Translations[path.FlowOf(f)] = path.FlowOf(translated(1, 1000)(i, f))
	}
	nat := plan.DUT{Type: "Device", Forwarding: plan.L3, Changes: []plan.Change{plan.Addresses}}
	for name, c := range map[string]struct {
		device func(int, []byte) []byte
		says   string
	}{
		"the same":         {translated(1, 1000), ""},
		"the next one's":   {translated(1, 1001), "which is flow 16.0.0.2:1025 to 48.0.0.1:12, and not as 198.18.1.1:1000 to 48.0.0.1:12"},
		"another's, alone": {translated(2, 1000), "198.18.1.2:1000 arrives instead of 198.18.1.1:1000"},
	} {
		probes, seen := pass(t, l, hosts(4), c.device)
		got := path.Contradiction(there, nat, probes, seen)
		if (got == nil) != (c.says == "") || got != nil && !strings.Contains(got.Message, c.says) {
			t.Errorf("%s: %+v, want %q", name, got, c.says)
		}
	}
}
