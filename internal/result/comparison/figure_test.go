package comparison

import (
	"math"
	"testing"

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
