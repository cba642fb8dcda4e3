package runner

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// LinkSeen is the state of a generator's link at a reading.
type LinkSeen struct {
	Up bool
	// Changes is how often the link had changed its state by then.
	Changes int64
	// At is the time since the run started.
	At time.Duration
}

// LinkBetween adds to the Report what happened to a generator's link between two readings.
func (j *Journal) LinkBetween(generator, link string, was, is LinkSeen) {
	if was.Changes == is.Changes && was.Up && is.Up {
		return
	}
	all := &j.Report.Interruptions
	i := slices.IndexFunc(*all, func(one report.Interruption) bool { return one.Link == link && one.Generator == generator })
	if i < 0 {
		i = len(*all)
		*all = append(*all, report.Interruption{Link: link, Generator: generator, Start: plan.Duration(is.At)})
	}
	one := &(*all)[i]
	one.Changes += max(0, is.Changes-was.Changes)
	if was.Up {
		one.Times++
	} else {
		one.Duration += plan.Duration(is.At - was.At)
	}
	one.Over = is.Up
}
