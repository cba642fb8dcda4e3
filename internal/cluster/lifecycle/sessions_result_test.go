package lifecycle

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

var westEast = v1alpha1.FlowDirection{From: "west", To: "east"}

// TestAStatusHasOfSessionsWhatIsAFigure: a ratio or a round trip in a status is read as the device's. One
// direction in doubt leaves them out of the total, too, and what was counted stays.
func TestAStatusHasOfSessionsWhatIsAFigure(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*report.Sessions) // of west→east
		total  int
	}{
		"the path was the limit":              {func(*report.Sessions) {}, 3},
		"receivers were too slow":             {func(s *report.Sessions) { s.Senders.ReceiverLimited = s.Senders.Observed }, 3},
		"nobody had a sample of a round trip": {func(s *report.Sessions) { s.RoundTrip = nil }, 3},
		"an end dropped segments": {func(s *report.Sessions) {
			s.Ends = &report.SessionEnds{Dropped: []report.EndDrop{{Link: "east", Counter: "TCPRcvQDrop", Packets: 3}}}
		}, 1},
		"what an end dropped isn't known": {func(s *report.Sessions) {
			s.Ends = &report.SessionEnds{Unknown: "link east: no such file"}
		}, 1},
		"the ends waited for processors":       {func(s *report.Sessions) { s.EndsWaited = s.Senders.Observed / 2 }, 1},
		"others had the forwarder's processor": {func(s *report.Sessions) { s.Disturbed = plan.Duration(time.Second) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := reporttest.Sessions(46_500_000)
			c.change(r.Answer.Directions[0].Sessions)
			of := map[v1alpha1.FlowDirection]map[string]string{}
			for _, f := range resultOf(r).Figures {
				direction := v1alpha1.FlowDirection{}
				if f.Direction != nil {
					direction = *f.Direction
				}
				if of[direction] == nil {
					of[direction] = map[string]string{}
				}
				of[direction][f.Metric] = f.Low
			}
			rate := map[string]string{"GoodputBitsPerSecond": "46500000"}
			for _, d := range []v1alpha1.FlowDirection{westEast, {From: "east", To: "west"}} {
				if diff := cmp.Diff(rate, of[d]); diff != "" {
					t.Errorf("%s→%s (-want +got):\n%s", d.From, d.To, diff)
				}
			}
			if total := of[v1alpha1.FlowDirection{}]; len(total) != c.total || total["GoodputBitsPerSecond"] != "93000000" {
				t.Errorf("the total is %v, want %d figures", total, c.total)
			}
		})
	}
}
