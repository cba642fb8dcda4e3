package comparison

import (
	"math"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// Latencies are compared by their reciprocals: one that may be 25 % more has a reciprocal that may be 20 % less.
func TestWhatIsAllowedOfAFigureIsOfItsReciprocalWhereLessIsBetter(t *testing.T) {
	q := Question{Allowance: &Allowance{MaxRegression: units.One / 4}}
	if got := q.allowed(); got != 0.25 {
		t.Errorf("of throughput %v may be lost, want 0.25", got)
	}
	q.Figure.At = new(units.One)
	if got := q.allowed(); math.Abs(got-0.2) > 1e-12 {
		t.Errorf("of a latency's reciprocal %v may be lost, want 0.2", got)
	}
}

// The interval of a time per frame is chance within its run, so that runs that agree are compared by their middles.
func TestARunsTimePerFrameIsItsMiddle(t *testing.T) {
	figure := Figure{Metric: procedure.TimePerFrame}
	if r := figure.RunOf(&report.Report{}, report.Figure{Low: "1000", High: "3000"}); r.Low != 1.0/2000 || r.High != r.Low {
		t.Errorf("1 to 3 µs are %+v, want 2 µs", r)
	}
	if r := figure.RunOf(&report.Report{}, report.Figure{Low: "0", High: "3000"}); r.Low != 1.0/3000 || !r.LowerBound() {
		t.Errorf("at most 3 µs are %+v, want a bound", r)
	}
}
