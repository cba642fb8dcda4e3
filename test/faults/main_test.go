package faults

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
	keep  = flag.Bool("keep", false, "leave the cluster up, and take one that is up")
	name  = flag.String("name", "faults", "name of the cluster, to have several beside each other: at most ten lower-case letters and digits")
	all   = flag.Bool("all", false, "play every row of the table, not only those that represent the others")
	table = flag.String("table", "", "write what happened into this file: docs/reliability.md")
	soak  = flag.Int("soak", 3, "how many tests in a row the soak plays")
)

// lab is what all tests of this process run in.
var lab *rig.Rig

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "faults: these tests bring up a cluster of network namespaces: run them as root")
		if os.Getenv("CI") == "true" {
			return 1
		}
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	lab, err = rig.Up(ctx, rig.Options{Name: *name, Keep: *keep, Functions: 2, Wires: []string{"west", "east"}, Talk: os.Stderr})
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
	} else {
		code = played(ctx, m)
	}
	return max(code, down())
}

// played runs the tests until they are done, or somebody interrupts them: then the cluster is taken away from under them.
func played(ctx context.Context, m *testing.M) int {
	done := make(chan int, 1)
	go func() { done <- m.Run() }()
	select {
	case code := <-done:
		return code
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr, "faults: interrupted")
		return 1
	}
}

// down has time of its own: also an interrupted run is tidied up after.
func down() int {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	if err := lab.Down(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "faults: take it down:", err)
		return 1
	}
	return 0
}
