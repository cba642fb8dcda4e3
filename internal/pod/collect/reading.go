package collect

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// reading is what a source answers to one question.
type reading struct {
	numbers []observe.Number
	// pulse changes whenever the source renews its numbers while traffic runs, even where they stay the same. It
	// is empty where the source has nothing of that kind.
	pulse string
	// anew says why the counters can't be compared with those of the reading before. It is empty if they can.
	anew string
}

// counts says that there is a counter in it.
func (r reading) counts() bool {
	return slices.ContainsFunc(r.numbers, func(n observe.Number) bool { return n.Kind == report.Counter })
}

// number is the one of the same series.
func (r reading) number(series observe.Number) (n observe.Number, found bool) {
	i := slices.IndexFunc(r.numbers, func(n observe.Number) bool {
		return n.Name == series.Name &&
			n.Part == series.Part
	})
	if i < 0 {
		return n, false
	}
	return r.numbers[i], true
}

// grewSince says that a counter is another number than before.
func (r reading) grewSince(previous reading) bool {
	return slices.ContainsFunc(r.numbers, func(n observe.Number) bool {
		old, found := previous.number(n)
		return found && n.Kind == report.Counter && n.Value != old.Value
	})
}
