package datapath

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

// firstProcessor is a processor that this process may use.
func firstProcessor(t *testing.T) int {
	t.Helper()
	allowed, err := machine.OwnProcessors()
	noError(t, err)
	return machine.ListProcessors(allowed)[0]
}

// Two threads that send as fast as they can on one processor wait for each other. Each port reports its waits
// while the threads send, and once they have ended. All waits are within the run.
func TestSendersThatShareAProcessorTellThatTheyWait(t *testing.T) {
	for name, ports := range map[string]func(*testing.T) (Port, Port){
		"by their own calls": func(t *testing.T) (Port, Port) {
			o := Options{CPUs: []int{firstProcessor(t)}}
			return cable(t, o, o)
		},
		"live frames, each port by threads of its own": func(t *testing.T) (Port,
			Port) {
			return liveEnds(t, Options{Cores: 1, CPUs: []int{firstProcessor(t)}}, 2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := ports(t)
			began := Now()
			for _, p := range []Port{a, b} {
				noError(t, p.Start(runTo(map[Port]Port{a: b, b: a}[p], 1, continuous(20e6, frame(60)))))
			}
			waited := map[Port]time.Duration{}
			for _, p := range []Port{a, b} {
				eventually(t, "a wait is told", func() bool {
					waited[p] = p.Counters().Waited
					return waited[p] > 50*time.Millisecond
				})
			}
			for _, p := range []Port{a, b} {
				noError(t, p.Stop())
				took, c := Now()-began, p.Counters()
				if c.Waited < waited[p] || c.Waited > took || c.Waiting != 0 {
					t.Errorf("in a run that took %v a thread waited %v, and still does for %v; %v had been told "+
						"before its end", took, c.Waited, c.Waiting, waited[p])
				}
			}
		})
	}
}

// After a run that ends by itself, its thread's waits stay reported, and none is counted twice.
func TestWaitsOfThreadsThatEnded(t *testing.T) {
	a, b := cable(t, Options{}, Options{})
	for range 3 {
		initial, began := a.Counters(), Now()
		noError(t, a.Start(Run{Streams: streams(addressed(continuous(1000, frame(60)))), Factor: 1, NextHop: macOf(b),
			Duration: 50 * time.Millisecond}))
		finish(t, a)
		took, final := Now()-began, a.Counters()
		if waited := final.Waited - initial.Waited; waited < 0 || waited > took || final.Waiting != 0 {
			t.Errorf("in a run of %v its thread waited %v, and still does for %v", took, waited, final.Waiting)
		}
		if later := a.Counters(); later.Waited != final.Waited {
			t.Errorf("%v, and later %v", final.Waited, later.Waited)
		}
	}
}
