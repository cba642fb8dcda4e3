package datapath

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

// firstProcessor is one that this process may use.
func firstProcessor(t *testing.T) int {
	t.Helper()
	mine, err := machine.OwnProcessors()
	must(t, err)
	return machine.ListProcessors(mine)[0]
}

// Two threads that send as fast as they can on one processor wait for each other, and each port tells so: while they send, and once they have ended. All that waiting is within the run.
func TestSendersThatShareAProcessorTellThatTheyWait(t *testing.T) {
	for name, ports := range map[string]func(*testing.T) (Port, Port){
		"by their own calls": func(t *testing.T) (Port, Port) {
			o := Options{CPUs: []int{firstProcessor(t)}}
			return cable(t, o, o)
		},
		"live frames": func(t *testing.T) (Port, Port) { return liveEnds(t, Options{CPUs: []int{firstProcessor(t)}}, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := ports(t)
			began := Now()
			for _, p := range []Port{a, b} {
				must(t, p.Start(Run{Streams: streams(addressed(continuous(20e6, frame(60)))), Factor: 1, NextHop: macOf(map[Port]Port{a: b, b: a}[p])}))
			}
			told := map[Port]time.Duration{}
			for _, p := range []Port{a, b} {
				eventually(t, "a wait is told", func() bool {
					told[p] = p.Counters().Waited
					return told[p] > 50*time.Millisecond
				})
			}
			for _, p := range []Port{a, b} {
				must(t, p.Stop())
				took, c := Now()-began, p.Counters()
				if c.Waited < told[p] || c.Waited > took || c.Waiting != 0 {
					t.Errorf("in a run that took %v a thread waited %v, and still does for %v; %v had been told before its end", took, c.Waited, c.Waiting, told[p])
				}
			}
		})
	}
}

// Of a run that ends by itself it stays known for how long its thread waited, and none of that is told twice.
func TestWaitsOfThreadsThatEnded(t *testing.T) {
	a, b := cable(t, Options{}, Options{})
	for range 3 {
		before, began := a.Counters(), Now()
		must(t, a.Start(Run{Streams: streams(addressed(continuous(1000, frame(60)))), Factor: 1, NextHop: macOf(b), Duration: 50 * time.Millisecond}))
		finish(t, a)
		took, after := Now()-began, a.Counters()
		if waited := after.Waited - before.Waited; waited < 0 || waited > took || after.Waiting != 0 {
			t.Errorf("in a run of %v its thread waited %v, and still does for %v", took, waited, after.Waiting)
		}
		if again := a.Counters(); again.Waited != after.Waited {
			t.Errorf("%v, and later %v", after.Waited, again.Waited)
		}
	}
}
