// Package soak estimates at which load a device loses a small share of its frames on average, such as one of ten million, with the uncertainty that finite trials leave: draft-vpolak-bmwg-plrsearch.
// A device of noise has no sharp limit that a search could find; curves of the loss ratio are fitted to all trials instead, and the next trial is where the curves say that the answer lies.
//
//	load
//	 most ┤●                               ● a trial, ○ one without loss
//	      │
//	      │  ● ●   ●     ●     ●
//	      │      ○   ● ○   ● ●   ○ ● ○  ┐ critical load,
//	      │    ○         ○     ○     ○  ┘ with at least 95 %
//	least ┼────────────────────────────▶ trials, each a bit longer than the one before
package soak

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/losscurve"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/wording"
)

const (
	// approaches is how many trials after the first try what came back of the one before, instead of what curves say.
	approaches = 2
	// mostInvalid is how many trials in succession may say nothing before the soak is given up.
	mostInvalid = 5
	// grid is what loads are multiples of, as a share of the highest: far less than an estimate's uncertainty, and far more than what two machines' arithmetic may differ by.
	grid = units.One / 1_000_000
	// cautious is the probability with which the critical load lies above a trial that tries the lower end of what is known.
	cautious = 0.9
)

// Soak is the procedure of a Plan.
type Soak struct{ plan plan.Soak }

var _ procedure.Procedure = Soak{}

// New is the soak that the Plan describes.
func New(p plan.Procedure) Soak {
	if p.Soak == nil {
		return Soak{}
	}
	return Soak{*p.Soak}
}

// Rates are the highest load, which all others are shares of, and for the warm-up the lowest.
func (s Soak) Rates() procedure.Rates {
	return s.warmUp().Rates(procedure.Rate{Field: "soak.maxRate", Rate: s.plan.MaxRate}, procedure.Rate{Field: "soak.minRate", Rate: s.plan.MinRate})
}

func (s Soak) warmUp() procedure.WarmUp {
	return procedure.WarmUp{Kind: procedure.Trial, Lasts: s.plan.WarmupDuration.Std()}
}

// least is the lowest load, as a share of the highest.
func (s Soak) least() units.Ratio {
	return max(grid, units.RatioOf(s.plan.MinRate.Micros, s.plan.MaxRate.Micros))
}

// lasts is how long the n-th trial sends, from 0, when so much was sent before it; 0: there is none. The last one has what is left, if that is as long as the first.
func (s Soak) lasts(n int, before time.Duration) time.Duration {
	first, left := s.plan.FirstTrial.Std(), s.plan.Duration.Std()-before
	if first <= 0 || left < first && n > 0 {
		return 0
	}
	return min(left, first+time.Duration(n)*s.plan.TrialGrowth.Std())
}

// count is how many trials the soak has.
func (s Soak) count() int {
	n, sent := 0, time.Duration(0)
	for ; ; n++ {
		next := s.lasts(n, sent)
		if next <= 0 || n > mostCounted {
			return n
		}
		sent += next
	}
}

// mostCounted ends the counting of trials: no soak of more is admitted.
const mostCounted = 10_000

// course is where replaying the windows leads to.
type course struct {
	trials  []report.Window // that count
	indexes []int           // of these in the history
	made    int             // trials, with those that don't count
	sent    time.Duration   // for how long, by what they were asked for
	reason  string
	ended   bool
}

// replay carries the history through the soak. A trial that says nothing costs its time, and the next one asks the same.
func (s Soak) replay(history []report.Window) course {
	var of course
	if silent := s.warmUp().Silent(history); silent != "" {
		of.reason, of.ended = silent, true
		return of
	}
	invalid := 0
	for i := s.warmUp().Steps(); i < len(history) && !of.ended; i++ {
		of.sent += s.lasts(of.made, of.sent)
		of.made++
		of.reason = ""
		if s.counts(history[i], of.trials) {
			of.trials, of.indexes, invalid = append(of.trials, history[i]), append(of.indexes, i), 0
			continue
		}
		of.reason = procedure.Repeated(history[i])
		if invalid++; invalid >= mostInvalid {
			of.ended, of.reason = true, fmt.Sprintf("%s in succession say nothing; the last is window %d: %s", trials(invalid), history[i].Number, history[i].Reason)
		}
	}
	if !of.ended && s.lasts(of.made, of.sent) <= 0 {
		of.ended, of.reason = true, fmt.Sprintf("%s were made in %s", trials(of.made), of.sent)
	}
	return of
}

// counts says that a window is a trial that says something, of as many directions as the others. To leave out those alone whose loss is in doubt, and not those that were disturbed alike and lost none,
// would show a better device than there is: they count, with all they may have lost or with none.
func (s Soak) counts(w report.Window, others []report.Window) bool {
	return (measure.Counts(w) || measure.InDoubt(w, s.plan.LossRatio)) && w.Load > 0 && len(w.Directions) > 0 && (len(others) == 0 || len(w.Directions) == len(others[0].Directions))
}

func trials(n int) string { return wording.Counted(n, "trial") }

// Next is the next trial.
func (s Soak) Next(history []report.Window) procedure.Step {
	of := s.replay(history)
	switch {
	case of.ended:
		return procedure.Step{Done: true, Reason: of.reason}
	case s.warmUp().Due(history):
		return s.warmUp().Step()
	}
	load, why := s.load(of.trials)
	return procedure.Step{Kind: procedure.Trial, Phase: report.Trial, Load: load, Judge: s.lasts(of.made, of.sent), Reason: cmp.Or(of.reason, why), Number: of.made + 1, Of: s.count()}
}

// load is that of the next trial, and why. While nothing is lost it is the highest. Then two trials go down to what came back, and from there on each asks what fits say of one direction after the
// other: what curves of each shape think the critical load is, and what it most probably is not below. Trials that lie there are those that narrow it down.
func (s Soak) load(trials []report.Window) (units.Ratio, string) {
	var lossy []int
	for d := range directions(trials) {
		if s.evidence(trials, d).lost > 0 {
			lossy = append(lossy, d)
		}
	}
	switch {
	case len(lossy) == 0:
		return units.One, ""
	case len(trials) <= approaches:
		last := trials[len(trials)-1]
		worst := units.Ratio(0)
		for _, m := range last.Directions {
			worst = max(worst, m.LossRatio)
		}
		return s.within(units.Ratio(float64(last.Load) * (1 - share(worst)))), "what came back of the trial before"
	}
	turn := len(trials) - approaches - 1
	d := lossy[turn%len(lossy)]
	fits := s.fits(s.evidence(trials, d).most, full(trials, d))
	asks := turn / len(lossy) % (len(fits) + 1)
	if asks < len(fits) {
		return s.share(fits[asks].Mean(), trials, d), fmt.Sprintf("the critical load by the %s function", fits[asks].Shape)
	}
	low := math.Inf(1)
	for _, f := range fits {
		low = min(low, f.Quantile(1-cautious))
	}
	return s.share(low, trials, d), "the lower end of where the critical load may be"
}

// share is a rate of a direction as a load.
func (s Soak) share(rate float64, trials []report.Window, d int) units.Ratio {
	return s.within(units.Ratio(min(1, rate/full(trials, d)) * float64(units.One)))
}

// within is a load on the grid, between the least and the highest.
func (s Soak) within(load units.Ratio) units.Ratio {
	return min(units.One, max(s.least(), (load+grid/2)/grid*grid))
}

func directions(trials []report.Window) int {
	if len(trials) == 0 {
		return 0
	}
	return len(trials[0].Directions)
}

// full is what a load of one asks of a direction, in frames a second: by the highest load that was tried, whose rate is the least rounded.
func full(trials []report.Window, d int) float64 {
	w := highest(trials)
	return float64(max(1, w.Directions[d].Intended.PacketsPerSecond)) / share(w.Load)
}

// highest is the trial of the highest load, the first of several.
func highest(trials []report.Window) report.Window {
	return slices.MaxFunc(trials, func(a, b report.Window) int { return cmp.Compare(a.Load, b.Load) })
}

// counted is a direction's trials, with all that may be missing as lost, and without what the device may not have lost.
type counted struct {
	most, least          []losscurve.Trial
	sent, lost, doubtful int64
	unsure               float64 // how much more or less than the trials' loads may have been offered, in packets per second
}

// evidence is what trials show of a direction. What the generator itself dropped is neither sent nor lost.
func (s Soak) evidence(trials []report.Window, d int) (of counted) {
	for _, w := range trials {
		m := w.Directions[d]
		sent := m.Sent.Packets - m.GeneratorDrops()
		if sent <= 0 || m.Offered.PacketsPerSecond <= 0 {
			continue
		}
		surely, most := measure.LossBetween(w, d, s.plan.LossRatio)
		t := losscurve.Trial{Load: float64(m.Offered.PacketsPerSecond), Sent: sent, Lost: most}
		of.most = append(of.most, t)
		t.Lost = surely
		of.least = append(of.least, t)
		of.sent, of.lost, of.doubtful = of.sent+sent, of.lost+most, of.doubtful+most-surely
		if w.Evidence != nil && d < len(w.Evidence.Directions) {
			e := w.Evidence.Directions[d]
			of.unsure = max(of.unsure, float64(e.MostOffered-e.Offered)/float64(units.PacketPerSecond))
		}
	}
	return of
}

// fits are what curves of each shape make of trials.
func (s Soak) fits(trials []losscurve.Trial, full float64) (fits []losscurve.Fit) {
	for _, shape := range losscurve.Shapes {
		fits = append(fits, losscurve.Of(shape, trials, s.question(full)))
	}
	return fits
}

func (s Soak) question(full float64) losscurve.Question {
	return losscurve.Question{LossRatio: share(s.plan.LossRatio), Least: full * share(s.least()), Most: full}
}

func share(r units.Ratio) float64 { return float64(r) / float64(units.One) }

// Bound is the warm-up, and the duration in trials.
func (s Soak) Bound() procedure.Bound {
	n := s.count()
	steps := s.warmUp().Steps() + n
	longest := s.plan.FirstTrial.Std() + time.Duration(max(0, n-1))*s.plan.TrialGrowth.Std()
	return procedure.Bound{Steps: steps, Time: s.plan.WarmupDuration.Std() + s.plan.Duration.Std(), Trials: steps, Trial: max(s.plan.WarmupDuration.Std(), min(longest, s.plan.Duration.Std()))}
}

// Usual is the warm-up and the duration.
func (s Soak) Usual() time.Duration { return s.Remaining(nil) }

// Remaining is what is left of them.
func (s Soak) Remaining(history []report.Window) time.Duration {
	of := s.replay(history)
	if of.ended {
		return 0
	}
	return s.warmUp().Left(history) + s.plan.Duration.Std() - of.sent
}

// Describe says what is estimated.
func (s Soak) Describe() procedure.Description {
	if s.plan.MaxRate.IsZero() {
		return procedure.Description{}
	}
	return procedure.Description{Parts: "warm-up and trials", OnTop: "what passes between trials",
		Sentence: fmt.Sprintf("soak of %s: trials from %s up, between %s and %s per direction, for the load at which %s of the frames is lost", s.plan.Duration.Std(), s.plan.FirstTrial.Std(),
			s.plan.MinRate, s.plan.MaxRate, s.plan.LossRatio)}
}
