package lifecycle

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// TestAStatusHasOfSessionsWhatIsAFigure: a ratio or a round trip in a status is read as the device's. One
// direction in doubt leaves them out of the total, too, and what was counted stays.
func TestAStatusHasOfSessionsWhatIsAFigure(t *testing.T) {
	total := v1alpha1.SessionsResult{GoodputBitsPerSecond: 46_500_000, RetransmittedSegments: 40,
		RetransmitRatio: "0.000996487", RoundTripMicroseconds: 41_000}
	counted := v1alpha1.SessionsResult{GoodputBitsPerSecond: 46_500_000, RetransmittedSegments: 40}
	for name, c := range map[string]struct {
		change func(*report.Sessions) // of west→east
		want   v1alpha1.SessionsResult
		total  bool
	}{
		"the path was the limit": {func(*report.Sessions) {}, total, true},
		"receivers were too slow": {func(s *report.Sessions) { s.Senders.ReceiverLimited = s.Senders.Observed }, total,
			true},
		"nobody had a sample of a round trip": {func(s *report.Sessions) { s.RoundTrip = nil },
			v1alpha1.SessionsResult{GoodputBitsPerSecond: 46_500_000, RetransmittedSegments: 40,
				RetransmitRatio: "0.000996487"}, true},
		"an end dropped segments": {func(s *report.Sessions) {
			s.Ends = &report.SessionEnds{Dropped: []report.EndDrop{{Link: "east", Counter: "TCPRcvQDrop", Packets: 3}}}
		}, counted, false},
		"what an end dropped isn't known": {func(s *report.Sessions) {
			s.Ends = &report.SessionEnds{Unknown: "link " +
				"east: no such file"}
		}, counted, false},
		"the ends waited for processors": {func(s *report.Sessions) { s.EndsWaited = s.Senders.Observed / 2 },
			counted, false},
		"others had the forwarder's processor": {func(s *report.Sessions) { s.Disturbed = plan.Duration(time.Second) },
			counted, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := reporttest.Sessions(46_500_000)
			c.change(r.Result.Directions[0].Sessions)
			got := resultOf(r)
			if *got.Directions[0].Sessions != c.want || *got.Directions[1].Sessions != total {
				t.Errorf("directions are %+v and %+v, want %+v and %+v", *got.Directions[0].Sessions,
					*got.Directions[1].Sessions, c.want, total)
			}
			if s := *got.Total.Sessions; (s.RetransmitRatio != "") != c.total ||
				(s.RoundTripMicroseconds > 0) != c.total || s.GoodputBitsPerSecond != 93_000_000 ||
				s.RetransmittedSegments != 80 {
				t.Errorf("the total is %+v, with a ratio and a round trip: %t", s, c.total)
			}
		})
	}
}
