package e2e

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
)

// lane is a pair of wires that only one scene uses: it sees no traffic of others. A LoadTest
// names west and east wherever it is played; on another lane those are other wires.
//
//	lane 0: node-1 ══ west, east ═══ node-2
//	lane 1: node-1 ══ north, south ═ node-2
type lane struct{ west, east string }

// allLanes begin with the one of a scene that has the lab to itself.
func allLanes() []lane { return []lane{{"west", "east"}, {"north", "south"}} }

// lanes are the free ones. As many scenes are played beside each other as there are, and none that asks for a figure: two
// measurements at a time share processors.
var lanes = freeLanes(allLanes())

func freeLanes(all []lane) chan lane {
	free := make(chan lane, len(all))
	for _, l := range all {
		free <- l
	}
	return free
}

// beside begins a scene that runs at the same time as others, once all scenes that need the whole lab are over; so its test is parallel, too. It waits for
// a lane, and uses no other wires.
func beside(t *testing.T) *scene {
	t.Helper()
	t.Parallel()
	return onLane(t)
}

// besideOnOnePort begins a scene beside others that alone uses the physical port on which every node has all functions of the wire one.
func besideOnOnePort(t *testing.T) *scene {
	t.Helper()
	t.Parallel()
	onePort.Lock()
	t.Cleanup(onePort.Unlock)
	return onLane(t, "one")
}

// onLane waits for a lane, and begins a scene there that has these wires, too.
func onLane(t *testing.T, also ...string) *scene {
	t.Helper()
	l := <-lanes
	t.Cleanup(func() { lanes <- l })
	return enter(t, l, append(also, l.west, l.east)...)
}

var onePort sync.Mutex

// scarce are wires on which each node has one function only: a test with a device takes all four, and any other waits.
//
//	node-1: generator ══ few, rare ══ node-2: device      (or the other way round)
func scarce() lane { return lane{"few", "rare"} }

// on says which wire plays the part of west or east.
func (l lane) on(wire string) string {
	if wire == "west" {
		return l.west
	}
	return l.east
}

// resource is what pods request to have a function of the wire that plays the part of west or east.
func (l lane) resource(wire string) string { return fabric.ResourceOf(l.on(wire)) }

// lay puts the lane's wires into a spec.
func (l lane) lay(spec string) string {
	return strings.NewReplacer("network: default/west", "network: default/"+l.west, "network: default/east", "network: default/"+l.east).Replace(spec)
}

// away names the functions of the scene's wires that aren't at home.
func (s *scene) away() (out []string, err error) {
	all, err := lab.Fabric.Away()
	for node, devices := range all {
		for _, d := range devices {
			if len(s.hears) == 0 || slices.Contains(s.hears, d.Wire.Bridge) {
				out = append(out, d.Interface+" of "+node)
			}
		}
	}
	return out, err
}
