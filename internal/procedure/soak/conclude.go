package soak

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// Conclude estimates each direction's critical load. Window is the trial nearest to the lowest of these loads.
func (s Soak) Conclude(history []report.Window) procedure.Conclusion {
	p := s.replay(history)
	c := procedure.Conclusion{Reason: report.NotMeasured, Window: procedure.None, Lossy: procedure.None, Finished: p.ended}
	if p.ended {
		c.Ending = p.reason
	}
	if len(p.trials) == 0 {
		return c
	}
	lowest := units.One
	var said []string
	for _, d := range s.directionsOf(p.trials) {
		l := d.criticalLoad()
		if near := cmp.Or(l.PacketsPerSecond, l.High, l.Low); l.Lost > 0 && near != "" && near != "0" {
			lowest = min(lowest, d.loadOf(near.Float()))
		}
		c.CriticalLoads = append(c.CriticalLoads, l)
		c.Directions = append(c.Directions, procedure.DirectionConclusion{Reason: d.reason(l), Confirmed: l.Low != "" && !l.Extrapolated, Lossy: procedure.None})
		said = append(said, d.atHighest.Name()+": "+d.sentence(l))
	}
	if c.Reason = wholeReason(c.CriticalLoads, c.Directions); c.Reason == report.NotMeasured {
		c.CriticalLoads, c.Directions = nil, nil
	} else {
		c.Window = p.indexes[nearest(p.trials, lowest)]
		c.Confirmed = !slices.ContainsFunc(c.Directions, func(d procedure.DirectionConclusion) bool { return !d.Confirmed })
	}
	for i := range c.Directions {
		c.Directions[i].Window = c.Window
	}
	if unusable := p.made - len(p.trials); unusable > 0 {
		said = append(said, fmt.Sprintf("%s that could not be judged are left out", trialsText(unusable)))
		if asked := s.trialTime(); p.ended && procedure.TooMuchVoid(asked-p.used, asked) {
			c.NotHeld = fmt.Sprintf("only trials of %s, of %s, could be judged: see the windows for why, then measure again", p.used, asked)
		}
	}
	c.Sentence = strings.Join(said, "; ")
	return c
}

// wholeReason is the reason of the load that all directions have together. It is estimated as soon as the critical load of one direction is known to be below a load that was offered, for the lowest
// critical load is that of all. Else it is a lower bound, for what kept the directions from more.
func wholeReason(loads []*report.CriticalLoad, directions []procedure.DirectionConclusion) report.Reason {
	has := func(reason report.Reason) bool {
		return slices.ContainsFunc(directions, func(d procedure.DirectionConclusion) bool { return d.Reason == reason })
	}
	switch {
	case slices.ContainsFunc(loads, func(l *report.CriticalLoad) bool { return l.High != "" }):
		return report.LoadEstimated
	case has(report.NotMeasured):
		return report.NotMeasured
	case has(report.GeneratorLimited):
		return report.GeneratorLimited
	case has(report.LoadEstimated):
		return report.LoadEstimated
	}
	return report.ReachedTarget
}

// reason is why a direction's answer is what it is: an estimate, or a lower bound as the generators sent less than was asked for, or as the highest load lost nothing.
func (d direction) reason(l *report.CriticalLoad) report.Reason {
	switch {
	case l.Low == "" && l.High == "":
		return report.NotMeasured
	case l.High == "" && d.atHighest.UnderOffered():
		return report.GeneratorLimited
	case l.Lost == 0:
		return report.ReachedTarget
	}
	return report.LoadEstimated
}

// nearest is the trial whose load is nearest to this one, the latest of several.
func nearest(trials []report.Window, load units.Ratio) (best int) {
	for i, w := range trials {
		if off := func(l units.Ratio) units.Ratio { return max(l-load, load-l) }; off(w.Load) <= off(trials[best].Load) {
			best = i
		}
	}
	return best
}
