package machine

import (
	"slices"
	"strings"
	"testing"
)

func TestTwoPortsOfACardAreWhereTheDescriptionPutsThem(t *testing.T) {
	lab, err := Lab{Machines: []Description{{Ports: []Port{{Address: "3b:00.0"}, {Address: "3b:00.1"}}, Tap: "tap-gen-1"}}}.complete()
	if err != nil {
		t.Fatal(err)
	}
	var a arguments
	a.hardware(prepared{}, 0, lab.Machines[0], nil)
	line := strings.Join(a.list, " ")
	for _, want := range []string{
		"pxb-pcie,id=bus3b,bus=pcie.0,bus_nr=58,numa_node=0", "pcie-root-port,id=card3b,bus=bus3b,",
		"id=ens1f0,netdev=cable0,bus=card3b,addr=0.0,multifunction=on,", "id=ens1f1,netdev=cable1,bus=card3b,addr=0.1,",
		"tap,id=tap0,ifname=tap-gen-1,",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("QEMU isn't given %s: %s", want, line)
		}
	}
	if n := len(slices.DeleteFunc(a.list, func(word string) bool { return !strings.HasPrefix(word, "pcie-root-port") })); n != 1 {
		t.Errorf("the card is in %d slots", n)
	}
}

func TestAnAddressThatNoPortCanHaveIsRefused(t *testing.T) {
	for name, d := range map[string]Description{
		"address":                       {Ports: []Port{{Address: "3b:02.0"}}},
		"bus from 20":                   {Ports: []Port{{Address: "00:00.0"}}},
		"two ports have the address":    {Ports: []Port{{Address: "3b:00.0"}, {Address: "3b:00.0"}}},
		"list the port at 3b:00.0 of":   {Ports: []Port{{Address: "3b:00.1"}}},
		"at most 15 lower-case letters": {Tap: "a-tap-with-a-long-name"},
	} {
		if _, err := (Lab{Machines: []Description{d}}).complete(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
