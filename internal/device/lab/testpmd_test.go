package lab

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
)

// testpmd's thread never sleeps.
func TestTestpmdNeedsASecondProcessor(t *testing.T) {
	var processors unix.CPUSet
	processors.Set(3)
	if err := enoughProcessors(&processors); err == nil ||
		!strings.Contains(err.Error(), "give it at least two processors") {
		t.Errorf("one processor: %v", err)
	}
	processors.Set(0)
	if err := enoughProcessors(&processors); err != nil {
		t.Errorf("two processors: %v", err)
	}
}

// testpmd's first two ports are a pair, and the next two, whatever the order of the links.
func TestTestpmdPairsPortsByDirections(t *testing.T) {
	link := func(name string, n byte) forwarder.Link {
		return forwarder.Link{Interface: name, GeneratorMAC: forwarder.MAC{2, 0, 0, 0, 0, n}}
	}
	ways := func(names ...string) (directions []forwarder.Direction) {
		for i := 0; i < len(names); i += 2 {
			directions = append(directions, forwarder.Direction{From: names[i], To: names[i+1]})
		}
		return directions
	}
	spec := forwarder.Spec{Links: []forwarder.Link{link("a", 1), link("b", 2), link("c", 3), link("d", 4),
		link("idle", 5), {Interface: "unknown"}}}
	for name, c := range map[string]struct {
		directions []forwarder.Direction
		ports      []string // with their peers
		want       string
	}{
		"crossed pairs, both ways": {ways("a", "c", "c", "a", "d", "b", "b", "d"), []string{"a 02:00:00:00:00:01",
			"c 02:00:00:00:00:03", "d 02:00:00:00:00:04", "b 02:00:00:00:00:02"}, ""},
		"one way": {ways("b", "a"), []string{"b 02:00:00:00:00:02", "a 02:00:00:00:00:01"}, ""},
		"one way from a generator whose address is not known": {ways("unknown", "a"),
			[]string{"unknown", "a 02:00:00:00:00:01"}, ""},
		"to a generator whose address is not known": {ways("a", "unknown"), nil,
			"link unknown: testpmd sends to one MAC address, and the generator's isn't known"},
		"a ring": {ways("a", "b", "b", "c", "c", "a"), nil,
			"direction b to c: testpmd forwards between the two links of a pair"},
		"two pairs joined": {ways("a", "b", "c", "d", "b", "c"), nil, "direction b to c"},
	} {
		t.Run(name, func(t *testing.T) {
			spec.Directions = c.directions
			arguments, err := testpmdArguments(spec, 1500, &unix.CPUSet{})
			if c.want != "" {
				if err == nil || !strings.HasPrefix(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			ports := make([]string, len(c.ports))
			for _, argument := range arguments {
				for i := range ports {
					if port, ok := strings.CutPrefix(argument, "net_af_packet"+string(rune('0'+i))+",iface="); ok {
						ports[i], _, _ = strings.Cut(port, ",")
					}
					if peer, ok := strings.CutPrefix(argument, "--eth-peer="+string(rune('0'+i))+","); ok {
						ports[i] += " " + peer
					}
				}
			}
			if !slices.Equal(ports, c.ports) {
				t.Errorf("its ports are %q, want %q", ports, c.ports)
			}
		})
	}
	t.Run("its threads may use all that the process may", func(t *testing.T) {
		for want, cpus := range map[string][]int{"(0,1)@(3)": {3}, "(0,1)@(2,7,127)": {7, 2, 127, 128}, "": {128}} {
			var processors unix.CPUSet
			for _, cpu := range cpus {
				processors.Set(cpu)
			}
			if got := threads(&processors); got != want {
				t.Errorf("processors %v: %q, want %q", cpus, got, want)
			}
		}
	})
	t.Run("frames fit into the ring", func(t *testing.T) {
		for mtu, want := range map[int]int{1500: 2048, 1920: 2048, 1921: 4096, 9198: 16384} {
			if got := frameRoom(mtu); got != want {
				t.Errorf("MTU %d: %d bytes, want %d", mtu, got, want)
			}
		}
	})
}

// The message names the machine, or the image, that lacks the program.
func TestAMissingTestpmdNamesItsPackage(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := StartTestpmd(t.Context(), nil, forwarder.Spec{}, "the image")
	if err == nil || err.Error() != "dut.reference.mode.userspace: the image has no dpdk-testpmd: install Debian's "+
		"package dpdk-dev there" {
		t.Errorf("it said %v", err)
	}
}
