//go:build full

package faults

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

var (
	keep  = flag.Bool("keep", false, "leave the cluster up, and take one that is up")
	name  = flag.String("name", "faults", "name of the cluster, to have several beside each other: at most ten lower-case letters and digits")
	again = flag.Bool("again", false, "run the test again after each row that is played, not only after one of each fault")
	table = flag.String("table", "", "write what happened into this file: docs/measured/reliability.md")
	soak  = flag.Int("soak", 20, "how many tests in a row the soak plays")
)

var (
	lab   *rig.Rig    // what all tests of this process run in
	watch *calm.Watch // how calm the machine is meanwhile
)

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if watch, err = calm.Begin(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "faults: can't watch how calm the machine is:", err)
		os.Exit(1)
	}
	o := rig.Options{Name: *name, Keep: *keep, Functions: 2, Wires: []string{"west", "east"}, Talk: os.Stderr}
	os.Exit(rig.Main(m, o, func(r *rig.Rig) { lab = r }))
}
