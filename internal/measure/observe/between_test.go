package observe

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Of a counter that was cleared in a trial no rate is told, neither one below zero nor one of what came since.
func TestACounterThatWentBackInATrialTellsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		says   string
	}{"it grew": {[]float64{100, 130, 400}, ""}, "it was cleared": {[]float64{100, 130, 40}, "went back"}, "it was cleared, and grew beyond": {[]float64{100, 10, 400}, "went back"}} {
		s := &series{}
		for i, at := range []time.Duration{time.Second, 3 * time.Second, 5 * time.Second} {
			s.Samples = append(s.Samples, report.VitalSample{Time: plan.Duration(at), Value: c.values[i]})
			s.clocks, s.doubts = append(s.clocks, at), append(s.doubts, 0)
		}
		o := s.between(0, 1100*time.Millisecond, 4100*time.Millisecond, 4500*time.Millisecond)
		if !strings.Contains(o.Missing, c.says) || (o.Missing == "") != (c.says == "") || (o.Mean != nil) != (c.says == "") || o.Mean != nil && *o.Mean != 100 {
			t.Errorf("%s: %+v", name, o)
		}
	}
}
