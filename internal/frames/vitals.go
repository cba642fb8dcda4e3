package frames

import (
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/observe"
	"github.com/linerate-dev/linerate/internal/report"
)

// observe lets the Plan's observers take their values from what was just read.
func (r *run) observe(readings []engine.Reading, limited []report.Limiter) {
	r.vitals.Add(observe.Moment{At: time.Since(r.Started), Readings: readings, Limited: limited})
}

// observed is what they saw in a window.
func (r *run) observed(w *report.Window) {
	w.Observed = r.vitals.Window(w.Start.Std(), w.Start.Std()+w.Duration.Std())
}
