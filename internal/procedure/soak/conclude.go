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
	replayed := s.replay(history)
	c := replayed.Conclusion()
	if len(replayed.trials) == 0 {
		return c
	}
	lowest := units.One
	var clauses []string
	var loads []*criticalLoad
	directions := s.directionsOf(replayed.trials)
	for _, d := range directions {
		l := d.criticalLoad()
		loads = append(loads, l)
		if nearestRate := cmp.Or(l.PacketsPerSecond, l.High, l.Low); l.Lost > 0 && nearestRate != "" &&
			nearestRate != "0" {
			lowest = min(lowest, d.loadOf(nearestRate.Float()))
		}
		c.Estimates = append(c.Estimates, &l.Estimate)
		c.Directions = append(c.Directions, procedure.DirectionConclusion{Reason: d.reason(l), Confirmed: l.Low != "" &&
			!l.Extrapolated, Lossy: procedure.NoWindow})
		clauses = append(clauses, d.atHighest.Name()+": "+d.sentence(l))
	}
	if c.Reason = wholeReason(c.Estimates, c.Directions); c.Reason == report.NotMeasured {
		c.Estimates, c.Directions = nil, nil
	} else {
		c.Sections = s.sections(history, directions, loads)
		c.Window = replayed.indexes[nearest(replayed.trials, lowest)]
		c.Confirmed = !slices.ContainsFunc(c.Directions,
			func(d procedure.DirectionConclusion) bool { return !d.Confirmed })
	}
	for i := range c.Directions {
		c.Directions[i].Window = c.Window
	}
	if unusable := replayed.attempts - len(replayed.trials); unusable > 0 {
		clauses = append(clauses, fmt.Sprintf("%s that could not be judged are left out", trialsText(unusable)))
		if _, asked := s.allTrials(); replayed.Ended && procedure.TooMuchVoid(asked-replayed.used, asked) {
			c.NotHeld = fmt.Sprintf("only trials of %s, of %s, could be judged: see the windows for why, then "+
				"measure again", replayed.used, asked)
		}
	}
	c.Sentence = strings.Join(clauses, "; ")
	return c
}

// wholeReason is the reason of the load that all directions have together. The lowest critical load is that of all. So
// it is estimated as soon as the critical load of one direction is known to be below a load that was offered. Otherwise
// it is a lower bound, for the reason that kept the directions from more.
func wholeReason(loads []*report.Estimate, directions []procedure.DirectionConclusion) report.Reason {
	contains := func(reason report.Reason) bool {
		return slices.ContainsFunc(directions, func(d procedure.DirectionConclusion) bool { return d.Reason == reason })
	}
	switch {
	case slices.ContainsFunc(loads, func(l *report.Estimate) bool { return l.High != "" }):
		return report.LoadEstimated
	case contains(report.NotMeasured):
		return report.NotMeasured
	case contains(report.GeneratorLimited):
		return report.GeneratorLimited
	case contains(report.LoadEstimated):
		return report.LoadEstimated
	}
	return report.TargetReached
}

// reason is why a direction's answer is what it is. It is an estimate, or a lower bound as the generators sent less
// than was asked for, or as the highest load lost nothing.
func (d direction) reason(l *criticalLoad) report.Reason {
	switch {
	case l.Low == "" && l.High == "":
		return report.NotMeasured
	case l.High == "" && d.atHighest.UnderOffered():
		return report.GeneratorLimited
	case l.Lost == 0:
		return report.TargetReached
	}
	return report.LoadEstimated
}

// nearest is the trial whose load is nearest to load, the latest of several.
func nearest(trials []report.Window, load units.Ratio) (best int) {
	for i, w := range trials {
		if distance := func(l units.Ratio) units.Ratio {
			return max(l-load, load-l)
		}; distance(w.Load) <= distance(trials[best].Load) {
			best = i
		}
	}
	return best
}
