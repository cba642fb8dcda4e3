package e2e

import (
	"flag"
	"os"
	"testing"

	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
)

var (
	keep = flag.Bool("keep", false, "leave the cluster up, and take one that is up")
	name = flag.String("name", "e2e", "name of the cluster, to have several beside each other: at most ten lower-case letters and digits")
)

// lab is what all tests of this process run in.
var lab *rig.Rig

func TestMain(m *testing.M) {
	flag.Parse()
	o := rig.Options{Name: *name, Keep: *keep, Functions: 4, Shared: []string{"one"}, Scarce: []string{scarce().west, scarce().east}, Talk: os.Stderr}
	for _, l := range allLanes() {
		o.Wires = append(o.Wires, l.west, l.east)
	}
	os.Exit(rig.Main(m, o, func(r *rig.Rig) { lab = r }))
}
