package faults

import (
	"flag"
	"os"
	"testing"

	"github.com/linerate-dev/linerate/test/e2e/rig"
)

var (
	keep  = flag.Bool("keep", false, "leave the cluster up, and take one that is up")
	name  = flag.String("name", "faults", "name of the cluster, to have several beside each other: at most ten lower-case letters and digits")
	all   = flag.Bool("all", false, "play every row of the table, not only those that represent the others")
	again = flag.Bool("again", false, "run the test again after each row that is played, not only after the first of each fault")
	table = flag.String("table", "", "write what happened into this file: docs/reliability.md")
	soak  = flag.Int("soak", 3, "how many tests in a row the soak plays")
)

// lab is what all tests of this process run in.
var lab *rig.Rig

func TestMain(m *testing.M) {
	flag.Parse()
	o := rig.Options{Name: *name, Keep: *keep, Functions: 2, Wires: []string{"west", "east"}, Talk: os.Stderr}
	os.Exit(rig.Main(m, o, func(r *rig.Rig) { lab = r }))
}
