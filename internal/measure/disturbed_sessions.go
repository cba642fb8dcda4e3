package measure

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// grantedToSessions is the share of a window for which the threads that carry frames may wait for processors, all
// together, while the goodput still counts as the path's. While they wait nothing is carried, so goodput is lower
// by as much, and a goodput has to be within 2 % of the truth. A wait costs more than its own time, since a
// connection that lost something is slowed down for seconds. So a longer wait is never corrected by a share, as it
// is for frames, and makes the goodput a lower bound.
const grantedToSessions = units.One / 50

// disturbed is how long in the window the threads waited that carry the connections' frames, or 0 where that is
// short enough to be ignored. It also returns who waited, where that is worth reporting.
func (s SessionSpan) disturbed() (plan.Duration, *report.Disturbance) {
	if s.Disturbance == nil {
		return 0, nil
	}
	d := *s.Disturbance
	if d.Missing != "" {
		return plan.Duration(s.Window), &d
	}
	// the processors' time that the ends used is what this machine has left for its own kernel
	if s.SharesKernel {
		d.Waited = min(d.Waited, d.Strangers)
	}
	granted := time.Duration(scale(int64(s.Window), int64(grantedToSessions), int64(units.One)))
	delay := (d.Waited + d.Stolen).Std()
	if delay <= granted && longestWait(&d, true).Waited.Std() <= granted {
		return 0, nil
	}
	if delay <= granted {
		return 0, &d
	}
	return plan.Duration(min(delay, s.Window)), &d
}

// endsWaited is how long the programs of both ends waited for processors, each program once, for its part in this
// direction.
func endsWaited(ends []EndSpan) (sum plan.Duration) {
	names := map[string]bool{}
	for _, e := range ends {
		if e.WaitsFirst == nil || e.WaitsLast == nil || e.WaitsFirst.Program != e.WaitsLast.Program ||
			names[e.WaitsLast.Program] {
			continue
		}
		names[e.WaitsLast.Program] = true
		sum += plan.Duration(max(0, e.WaitsLast.Waited-e.WaitsFirst.Waited)) / plan.Duration(max(1, e.Directions))
	}
	return sum
}

// disturbedSessionsSentence says which threads waited for what, and what to do about it.
func disturbedSessionsSentence(s report.Sessions) string {
	d := s.Disturbance
	switch {
	case d == nil: // of a Report that lost its detail
		return fmt.Sprintf("the threads that carry frames waited %s for processors that others had: a lower bound",
			wording.Span(s.Disturbed.Std()))
	case d.Missing != "" && d.Waited+d.Stolen == 0:
		return fmt.Sprintf("the machine was too busy to say who waited for its processors (%s): a lower bound (keep other work off it)", d.Missing)
	}
	return DisturbanceSentence(*d) + ": a lower bound (keep other work off the processors of ends and device)"
}

// endsLateSentence says which of the ends' own threads waited longest for a processor, and who had the processor.
// It is empty where none waited long, or nobody measured it.
func endsLateSentence(d *report.Disturbance) string {
	if d == nil {
		return ""
	}
	wait := longestWait(d, true)
	if wait.Waited <= 0 {
		return ""
	}
	return "; meanwhile " + waitSentence(*d, wait, "which sends or receives")
}

// disturbancesTogether combines disturbances. It adds up the times of several windows. Of one moment it takes the
// longest disturbance.
func disturbancesTogether(parts []*report.Disturbance, atOneMoment bool) *report.Disturbance {
	parts = slices.DeleteFunc(slices.Clone(parts), func(d *report.Disturbance) bool { return d == nil })
	if len(parts) == 0 {
		return nil
	}
	if atOneMoment || len(parts) == 1 {
		return slices.MaxFunc(parts, func(a, b *report.Disturbance) int {
			return cmp.Compare(a.Waited+a.Stolen,
				b.Waited+b.Stolen)
		})
	}
	whole := &report.Disturbance{}
	for _, d := range parts {
		whole.Missing = cmp.Or(whole.Missing, d.Missing)
		whole.Over, whole.Waited, whole.Stolen, whole.Strangers = whole.Over+d.Over, whole.Waited+d.Waited,
			whole.Stolen+d.Stolen, whole.Strangers+d.Strangers
		for _, w := range d.Waits {
			whole.Waits = addTo(whole.Waits, w, func(o report.Wait) bool { return o.ID == w.ID && o.Sends == w.Sends },
				func(o *report.Wait) { o.Waited += w.Waited })
		}
		for _, p := range d.Others {
			whole.Others = addTo(whole.Others, p, func(o report.Other) bool { return o.PID == p.PID },
				func(o *report.Other) { o.Ran += p.Ran })
		}
	}
	slices.SortFunc(whole.Waits, func(a, b report.Wait) int {
		return cmp.Or(compareFalseFirst(a.Sends, b.Sends), cmp.Compare(b.Waited, a.Waited), cmp.Compare(a.ID, b.ID))
	})
	slices.SortFunc(whole.Others, func(a, b report.Other) int {
		return cmp.Or(cmp.Compare(b.Ran, a.Ran),
			cmp.Compare(a.PID, b.PID))
	})
	return whole
}

// addTo adds to the entry that is the same, or appends a new one.
func addTo[T any](list []T, item T, equal func(T) bool, add func(*T)) []T {
	i := slices.IndexFunc(list, equal)
	if i < 0 {
		return append(list, item)
	}
	add(&list[i])
	return list
}

func compareFalseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
