package figures

import (
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
)

// LossOfTrial is the share of its frames that a direction lost in a trial. Of a trial that was ended early it is
// the least that the whole trial would have lost.
func LossOfTrial(w report.Window, direction int) units.Ratio {
	if w.Decided != nil {
		return measure.LeastLossOfPlanned(w, direction)
	}
	return w.Directions[direction].LossRatio
}
