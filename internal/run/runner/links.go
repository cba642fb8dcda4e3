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

// GeneratorLink is a link that a generator has a port on.
type GeneratorLink struct{ Generator, Link string }

// Links follows whether generators' links are up, from Forget on.
type Links struct {
	Journal *Journal
	// Latest are the states at the latest reading. Nil means that links aren't followed.
	Latest map[GeneratorLink]LinkSeen
}

// Forget leaves out what happens to links until the next reading.
func (l *Links) Forget() { l.Latest = map[GeneratorLink]LinkSeen{} }

// Follow adds to the Report the interruption of a generator's link between the reading before and this one.
func (l *Links) Follow(generator, link string, current LinkSeen) {
	if l.Latest == nil {
		return
	}
	if previous, ok := l.Latest[GeneratorLink{generator, link}]; ok {
		l.interrupt(generator, link, previous, current)
	}
	l.Latest[GeneratorLink{generator, link}] = current
}

func (l *Links) interrupt(generator, link string, previous, current LinkSeen) {
	if previous.Changes == current.Changes && previous.IsUp && current.IsUp {
		return
	}
	interruptions := &l.Journal.Report.Interruptions
	i := slices.IndexFunc(*interruptions, func(candidate report.Interruption) bool {
		return candidate.Link == link && candidate.Generator == generator
	})
	if i < 0 {
		i = len(*interruptions)
		*interruptions = append(*interruptions, report.Interruption{Link: link, Generator: generator,
			Start: plan.Duration(current.Elapsed)})
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
