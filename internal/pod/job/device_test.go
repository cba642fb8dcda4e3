package job

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/signs"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/pod/reset"
	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

// limitOf is a Plan of a Reference with a limit, and an observer of whose vital signs.
func limitOf(machine string) *plan.Plan {
	return &plan.Plan{
		DUT:        plan.DUT{Type: "Reference", Reference: &plan.Reference{Limit: &plan.Limit{PacketsPerSecond: 1}}},
		Directions: []plan.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}},
		Observers:  []plan.Observer{{Name: "o", Observed: machine, Type: plan.ObserveLimiter}},
	}
}

// serveVitalsOf serves what a Reference's pod does, and returns the address.
func serveVitalsOf(t *testing.T, limits func() ([]vitals.Limit, error)) string {
	t.Helper()
	return serveVitals(t, &vitals.Server{Limits: limits})
}

func TestTheRunnerPollsTheDevicesNode(t *testing.T) {
	limits := func(second string) func() ([]vitals.Limit, error) {
		return func() ([]vitals.Limit, error) {
			return []vitals.Limit{{From: "west", To: "east", Passed: 7, Dropped: 1}, {From: second, To: "west",
				Passed: 8}}, nil
		}
	}
	for name, c := range map[string]struct {
		limits  func() ([]vitals.Limit, error)
		limited []report.Limiter
		missing string
	}{
		"a limit of each direction": {limits("east"), []report.Limiter{{Passed: 7, Dropped: 1}, {Passed: 8}},
			""},
		"a limit of another direction": {limits("north"), nil,
			"the Reference reports a limit from north to west, and the Plan has east→west"},
		"a limit that can't be read": {func() ([]vitals.Limit,
			error) {
			return nil, errors.New("its queue is not there")
		}, nil, "its queue is not there"},
		"no limit, which is not what was said": {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			job := runnerJob{plan: limitOf(plan.OfDUT), sites: plan.Sites{Vitals: serveVitalsOf(t, c.limits),
				Device: &plan.Device{Node: "node-2"}},
				wanted: observe.Want([]plan.Observer{{Observed: plan.OfDUT, Type: signs.Temperatures}}, false)}
			node := job.followDevice(t.Context())
			defer node.stop()
			latest := node.latest()
			for end := time.Now().Add(20 * time.Second); latest.Missing != "" &&
				time.Now().Before(end); latest = node.latest() {
				time.Sleep(5 * time.Millisecond)
			}
			if latest.Missing != "" || len(latest.Processors) == 0 || latest.Clock == 0 || node.name != "node-2" {
				t.Errorf("%+v of node %q", latest, node.name)
			}
			if !slices.Equal(latest.Asked, []string{signs.Temperatures}) || len(latest.Signs) != 1 {
				t.Errorf("it was asked for %q, and told %+v", latest.Asked, latest.Signs)
			}
			if diff := cmp.Diff(c.limited, latest.Limited); diff != "" || latest.NoLimited != c.missing {
				t.Errorf("%s\nwhy not: %q, want %q", diff, latest.NoLimited, c.missing)
			}
		})
	}
}

func TestOnlyObservedNodesArePolled(t *testing.T) {
	const address = "192.0.2.1:4504"
	for name, c := range map[string]struct {
		machine string
		sites   plan.Sites
		asks    bool
		reason  string
	}{
		"the device is observed": {plan.OfDUT, plan.Sites{Vitals: address}, true, ""},
		"each node is":           {plan.OfNode, plan.Sites{Vitals: address}, true, ""},
		"generators alone are": {plan.OfGenerator, plan.Sites{Vitals: address}, false,
			"no pod of linerate runs on the device's node"},
		"nobody is there": {plan.OfDUT, plan.Sites{NoVitals: "its pod was refused"}, false,
			"its pod was refused"},
		"the device is no pod": {plan.OfNode, plan.Sites{}, false,
			"no pod of linerate runs on the device's node"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			end() // what is asked goes nowhere
			node := runnerJob{plan: limitOf(c.machine), sites: c.sites}.followDevice(ctx)
			defer node.stop()
			if got := node.latest(); (node.follower != nil) != c.asks || !c.asks && got.Missing != c.reason ||
				got.Missing == "" {
				t.Errorf("asks: %t, %q; want %t, %q", node.follower != nil, got.Missing, c.asks, c.reason)
			}
		})
	}
}

// serveVitals serves what a container in the device's pod does, and returns its address.
func serveVitals(t *testing.T, server *vitals.Server) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.ServeAside(ctx, l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { end(); serving.Wait() })
	return l.Addr().String()
}

func TestTheRunnerResetsTheDevice(t *testing.T) {
	key := credential.New()
	job := func(address string, key credential.Key) runnerJob {
		return runnerJob{sites: plan.Sites{Key: key, Reset: address}}
	}
	reference := serveVitals(t, &vitals.Server{Reset: &reset.Handler{Reset: func(context.Context) (string,
		error) {
		return "removed 0 neighbours", nil
	}}, Verifier: key.Verifier()})
	if report, err := job(reference, key).reset()(t.Context()); err != nil ||
		!strings.HasPrefix(report, "removed 0 neighbours") {
		t.Errorf("a Reference: %q, %v", report, err)
	}
	if _, err := job(reference, credential.New()).reset()(t.Context()); err == nil {
		t.Error("who has another key had it reset")
	}
	if r := (runnerJob{}).reset(); r != nil {
		t.Error("nobody is beside the device, and somebody is asked")
	}
}
