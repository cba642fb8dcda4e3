package e2e

import (
	"math"
	"testing"
	"time"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
)

// limited is the built-in forwarder with a limit of 10 000 packets/s in each direction.
const limited = `
dut: {type: Reference, reference: {limit: {packetsPerSecond: 10000, burst: 10ms}}}
`

// TestKnownAnswers: devices whose limit is known, each way of having one.
func TestKnownAnswers(t *testing.T) {
	t.Run("a Reference limited to 10 000 packets/s is measured as that", func(t *testing.T) {
		s := begin(t)
		s.apply("reference", links, limited, quick)
		s.answers(s.complete("reference", 3*time.Minute), 10_000)
	})
}

// answers: each direction was measured as so many packets/s, within 1 %.
func (s *scene) answers(t *lineratev1alpha1.LoadTest, packetsPerSecond int64) {
	s.Helper()
	s.want(t, "Accepted=True Valid", "Complete=True Measured", "Passed=Unknown NoCriteria", "Reconciling=", "Stalled=")
	r := t.Status.Result
	if r == nil || !r.Saturated || !r.Confirmed || r.Reason != "LossAboveLimit" {
		s.Fatalf("%s: want a confirmed limit, got %+v", t.Name, r)
	}
	if len(r.Directions) == 0 {
		s.Errorf("%s: the result has no direction", t.Name)
	}
	for _, d := range r.Directions {
		got := d.Received.PacketsPerSecond
		off := 100 * float64(got-packetsPerSecond) / float64(packetsPerSecond)
		s.Logf("%s %s→%s: %d packets/s, %+.2f %% off", t.Name, d.From, d.To, got, off)
		if math.Abs(off) > 1 {
			s.Errorf("%s→%s: %d packets/s, %.2f %% off the known %d", d.From, d.To, got, off, packetsPerSecond)
		}
	}
}
