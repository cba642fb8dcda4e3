//go:build full

package sessions

import (
	"os"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/processors"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/runner"
)

// What a limit of 50 Mb/s of frames with FCS lets through of payload: of each full segment's 1518 bytes on the wire (14 of Ethernet, 20 of IP, 32 of TCP with timestamps,
// 4 of FCS) 1448 are payload. Where data goes both ways, acknowledgements of 70 bytes take a part of it, one for each segment or for two of them.
const (
	limit          = 50_000_000
	oneWay         = limit * 1448 / 1518
	bothAckEach    = limit * 1448 / (1518 + 70)
	bothAckHalf    = limit * 1448 / (1518 + 35)
	inaccuracy     = 0.02
	afterSlowStart = 2 * time.Second
	mostTries      = 5
)

// Every run's claim is held to the truth: what is said to be the path's is within 2 % of it, and a lower bound is no more. Needs two processors that nothing else uses, for
// ten seconds in a minute.
func TestGoodputIsWhatTheDevicesLimitLetsThrough(t *testing.T) {
	for name, c := range map[string]struct {
		directions  int
		least, most float64
	}{
		"one way":   {1, oneWay * (1 - inaccuracy), oneWay * (1 + inaccuracy)},
		"both ways": {2, bothAckEach * (1 - inaccuracy), bothAckHalf * (1 + inaccuracy)},
	} {
		t.Run(name, func(t *testing.T) {
			for range mostTries {
				r := newRig(t, &plan.Limit{Layer2BitsPerSecond: limit, Queue: plan.Duration(50 * time.Millisecond)}, func(p *plan.Plan, _ []End) {
					p.Directions = p.Directions[:c.directions]
					p.Sessions.CongestionControl = "cubic"
					p.Procedure.ConstantLoad.WarmupDuration, p.Procedure.ConstantLoad.Duration = plan.Duration(afterSlowStart), plan.Duration(8*time.Second)
				})
				watch := processors.Watch{Generator: os.Getpid()}
				rep := runner.Run(t.Context(), r.plan, New(r.places, Options{Machine: watch.Read}), runner.Options{})
				if rep.Ending != report.Completed || !rep.Result.Measured {
					t.Fatalf("%s %s: %s %s", rep.Ending, rep.Message, rep.Result.Reason, rep.Result.Message)
				}
				for _, d := range rep.Result.Directions {
					goodput, is := float64(d.Sessions.GoodputBitsPerSecond), rep.Result.Reason == report.PathLimited
					t.Logf("%s, %s→%s: %.2f Mb/s of %.2f to %.2f, %s", rep.Result.Reason, d.From, d.To, goodput/1e6, c.least/1e6, c.most/1e6, d.Reason)
					if is && goodput < c.least || goodput > c.most {
						t.Errorf("%s→%s: %s, %.2f Mb/s, want %.2f to %.2f", d.From, d.To, rep.Result.Reason, goodput/1e6, c.least/1e6, c.most/1e6)
					}
				}
				if rep.Result.Reason == report.PathLimited {
					return
				}
			}
			t.Errorf("none of %d runs was left alone by whoever else uses this machine", mostTries)
		})
	}
}
