package observe_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// held is a window as a driver makes it, with what was read until its end.
func held(log *observe.Log, phase report.Phase, from, to time.Duration) report.Window {
	return report.Window{Phase: phase, Start: plan.Duration(from), Duration: plan.Duration(to - from), Observed: log.Window(from, to)}
}

// A machine that is busy may answer late. What it says then tells what the counter was before.
func TestACounterThatWasReadLateIsKnownAtTheEndOfTheRun(t *testing.T) {
	for _, c := range []struct {
		what  string
		phase report.Phase
		late  time.Duration // after the window's end, which is at 2 s
		known bool
	}{
		{"300 ms after the window", report.Hold, 300 * ms, true},
		{"long after the window", report.Hold, 1500 * ms, false},
		{"after a trial", report.Trial, 300 * ms, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			log := cpu()
			log.Add(moment(time.Second, 0, 0))
			log.Add(moment(1600*ms, 300*ms, 0))
			windows := []report.Window{held(log, c.phase, time.Second, 2*time.Second)}
			if got := find(t, windows[0].Observed, "busy", "processor 1"); got.Missing == "" {
				t.Fatalf("%+v was known before it was read", got)
			}
			// half a processor from the reading before
			log.Add(moment(2*time.Second+c.late, 300*ms+(400*ms+c.late)/2, 0))
			log.Complete(windows)
			got := find(t, windows[0].Observed, "busy", "processor 1")
			switch {
			case (got.Missing == "") != c.known:
				t.Errorf("%+v", got)
			case c.known && (math.Abs(*got.Mean-0.5) > 0.001 || got.Unsure <= 0 || got.Over.Std() != time.Second || got.Observer != "cpu"):
				t.Errorf("%+v, want 0.5 s/s, and not to be sure of it", got)
			}
		})
	}
}

// Whatever a counter does between two readings, it is no further from what is told than is told, too.
func TestWhatACounterMayBeOffByIsTold(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	known := 0
	for range 2000 {
		// The counter stands still, and grows by leaps: nothing is less even.
		leaps := make([]time.Duration, 1+random.IntN(20))
		for i := range leaps {
			leaps[i] = time.Duration(random.Int64N(int64(4 * time.Second)))
		}
		at := func(t time.Duration) (n time.Duration) {
			for _, leap := range leaps {
				if leap < t {
					n += 10 * ms
				}
			}
			return n
		}
		log := cpu()
		for read := time.Duration(0); read < 4*time.Second; read += ms + time.Duration(random.Int64N(int64(900*ms))) {
			log.Add(moment(read, at(read), 0))
		}
		windows := []report.Window{held(log, report.Hold, time.Second, 2*time.Second)}
		before := find(t, windows[0].Observed, "busy", "processor 1")
		log.Complete(windows)
		got := find(t, windows[0].Observed, "busy", "processor 1")
		if before.Missing == "" || got.Missing != "" {
			continue
		}
		known++
		if truth := (at(2*time.Second) - at(time.Second)).Seconds(); math.Abs(*got.Mean-truth) > got.Unsure+1e-9 {
			t.Fatalf("%g s/s ±%g of leaps at %v, and it was %g", *got.Mean, got.Unsure, leaps, truth)
		}
	}
	if known < 100 {
		t.Errorf("only %d windows were read late", known)
	}
}
