package figures

import (
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// LossOfTrial is what share of its frames a direction lost in a trial; of one that was ended before its time the least that the whole trial would have lost.
func LossOfTrial(w report.Window, direction int) units.Ratio {
	if w.Decided != nil {
		return measure.LeastLossOfPlanned(w, direction)
	}
	return w.Directions[direction].LossRatio
}
