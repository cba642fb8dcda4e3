package runner

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// LinkSeen is the state of a generator's link at a reading.
type LinkSeen struct {
	IsUp bool
	// Changes is how often the link had changed its state by then.
	Changes int64
	// Elapsed is the time since the run started.
	Elapsed time.Duration
}

// LinkBetween adds to the Report the interruption of a generator's link between two readings.
func (j *Journal) LinkBetween(generator, link string, previous, current LinkSeen) {
	if previous.Changes == current.Changes && previous.IsUp && current.IsUp {
		return
	}
	interruptions := &j.Report.Interruptions
	i := slices.IndexFunc(*interruptions, func(candidate report.Interruption) bool {
		return candidate.Link == link && candidate.Generator == generator
	})
	if i < 0 {
		i = len(*interruptions)
		*interruptions = append(*interruptions, report.Interruption{Link: link, Generator: generator, Start: plan.Duration(current.Elapsed)})
	}
	interruption := &(*interruptions)[i]
	interruption.Changes += max(0, current.Changes-previous.Changes)
	if previous.IsUp {
		interruption.Times++
	} else {
		interruption.Duration += plan.Duration(current.Elapsed - previous.Elapsed)
	}
	interruption.Over = current.IsUp
}
