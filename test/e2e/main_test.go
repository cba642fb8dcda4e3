package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/test/e2e/rig"
)

var (
	keep = flag.Bool("keep", false, "leave the cluster up, and take one that is up")
	name = flag.String("name", "e2e", "name of the cluster, to have several beside each other: at most ten lower-case letters and digits")
)

// lab is what all tests of this process run in.
var lab *rig.Rig

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "e2e: these tests bring up a cluster of network namespaces: run them as root")
		if os.Getenv("CI") == "true" {
			return 1
		}
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	lab, err = rig.Up(ctx, rig.Options{Name: *name, Keep: *keep, Functions: 4, Wires: []string{"west", "east"}, Talk: os.Stderr})
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
	} else {
		code = m.Run()
	}
	return max(code, down())
}

// down has time of its own: also an interrupted run is tidied up after.
func down() int {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	if err := lab.Down(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: take it down:", err)
		return 1
	}
	return 0
}
