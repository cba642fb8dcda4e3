package datapath

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/processors"
)

// firstProcessor is one that this process may use.
func firstProcessor(t *testing.T) int {
	t.Helper()
	mine, err := processors.Mine()
	must(t, err)
	for n := range 1024 {
		if mine.IsSet(n) {
			return n
		}
	}
	t.Fatal("this process may use none of the first 1024 processors")
	return 0
}

// Two threads that send as fast as they can on one processor wait for each other, and each port tells so: while they send, and once they have ended. All that waiting is within the run.
func TestSendersThatShareAProcessorTellThatTheyWait(t *testing.T) {
	const length = 600 * time.Millisecond
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
				must(t, p.Start(Run{Streams: streams(addressed(continuous(20e6, frame(60)))), Factor: 1, NextHop: macOf(map[Port]Port{a: b, b: a}[p]), Duration: length}))
			}
			eventually(t, "a wait is told while they send", func() bool {
				c, d := a.Counters(), b.Counters()
				return c.Waited+c.Waiting+d.Waited+d.Waiting > 20*time.Millisecond
			})
			finish(t, a)
			finish(t, b)
			took, sum := Now()-began, time.Duration(0)
			for _, p := range []Port{a, b} {
				must(t, p.Stop())
				c := p.Counters()
				if c.Waited > took || c.Waiting != 0 {
					t.Errorf("in a run that took %v a thread waited %v, and still does for %v", took, c.Waited, c.Waiting)
				}
				sum += c.Waited
			}
			if sum < length/4 {
				t.Errorf("of %v, in which one processor was for two, both together waited %v", length, sum)
			}
		})
	}
}
