package soak

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/losscurve"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/wording"
)

// tail is what of a fit lies below the lower end of what is claimed, and above its upper end.
const tail = 0.025

// loadsKnownTo is how exactly loads are known, in packets per second: offered rates are whole ones. No claim is narrower.
const loadsKnownTo = 1

// Conclude estimates each direction's critical load. Window is the trial nearest to the least of these.
func (s Soak) Conclude(history []report.Window) procedure.Conclusion {
	of := s.replay(history)
	c := procedure.Conclusion{Reason: report.NotMeasured, Window: procedure.None, Lossy: procedure.None, Finished: of.ended}
	if of.ended {
		c.Ending = of.reason
	}
	if len(of.trials) == 0 {
		return c
	}
	at, answered, lossless, above := units.One, true, true, false
	var said []string
	for d, m := range of.trials[0].Directions {
		l := s.critical(of.trials, d)
		c.CriticalLoads = append(c.CriticalLoads, l)
		if near := cmp.Or(l.PacketsPerSecond, l.High, l.Low); l.Lost > 0 && near != "" && near != "0" {
			at = min(at, s.share(near.Float(), of.trials, d))
		}
		answered, lossless, above = answered && l.Low != "", lossless && l.Lost == 0, above || l.High != ""
		c.Confirmed = (d == 0 || c.Confirmed) && l.Low != "" && !l.Extrapolated
		said = append(said, m.Name()+": "+s.sentence(l, of.trials, d))
	}
	c.Window = of.indexes[nearest(of.trials, at)]
	if !answered && !above {
		c.Window, c.CriticalLoads = procedure.None, nil
	} else {
		c.Reason = s.reason(highest(of.trials).Directions, above, lossless)
	}
	if apart := of.made - len(of.trials); apart > 0 {
		said = append(said, fmt.Sprintf("%s that could not be judged are left out", trials(apart)))
	}
	c.Sentence = strings.Join(said, "; ")
	return c
}

// reason is what an answer is: an estimate where an upper end is known of some direction, else what kept the highest load from showing one.
func (s Soak) reason(top []report.Measured, above, lossless bool) report.Reason {
	if !above && (lossless || slices.ContainsFunc(top, report.Measured.UnderOffered)) {
		return procedure.ClaimAsked(top, s.plan.LossRatio, report.LoadEstimated)
	}
	return report.LoadEstimated
}

// nearest is the trial whose load is nearest to one, the latest of several.
func nearest(trials []report.Window, load units.Ratio) (best int) {
	for i, w := range trials {
		if off := func(l units.Ratio) units.Ratio { return max(l-load, load-l) }; off(w.Load) <= off(trials[best].Load) {
			best = i
		}
	}
	return best
}

// critical is what trials show of a direction's critical load.
func (s Soak) critical(trials []report.Window, d int) *report.CriticalLoad {
	e := s.evidence(trials, d)
	l := &report.CriticalLoad{LossRatio: s.plan.LossRatio, Trials: len(e.most), Sent: e.sent, Lost: e.lost, Doubtful: e.doubtful}
	switch {
	case e.sent < s.plan.FramesNeeded():
		return l
	case e.lost == 0:
		l.Low = down(carried(e.most, s.plan.FramesNeeded()) - e.unsure)
		return l
	}
	s.fitted(l, e, full(trials, d))
	for _, t := range e.most {
		if high := l.High.Float(); l.High == "" || t.Load <= high {
			l.Below, l.LostBelow = l.Below+t.Sent, l.LostBelow+t.Lost
		}
	}
	l.Extrapolated = l.Below < s.plan.FramesNeeded()
	return l
}

// carried is the highest load such that, of trials of which none lost a frame, those at it and above sent enough frames to show the loss ratio.
func carried(trials []losscurve.Trial, needed int64) float64 {
	down := slices.Clone(trials)
	slices.SortStableFunc(down, func(a, b losscurve.Trial) int { return cmp.Compare(b.Load, a.Load) })
	sent := int64(0)
	for _, t := range down {
		if sent += t.Sent; sent >= needed {
			return t.Load
		}
	}
	return 0
}

// fitted fills in what curves of each shape say. What the device may not have lost counts as lost for the lower end, as carried for the upper end, and as either for the estimate.
func (s Soak) fitted(l *report.CriticalLoad, e counted, full float64) {
	fits := s.fits(e.most, full)
	highest := fits
	if e.doubtful > 0 {
		highest = s.fits(e.least, full)
	}
	low, high := math.Inf(1), 0.0
	var all mixture
	for i, f := range fits {
		of := mixture{}.with(f).with(highest[i])
		all = all.with(f).with(highest[i])
		from, to := f.Quantile(tail), highest[i].Quantile(1-tail)
		from, to = from-max(loadsKnownTo, e.unsure), to+max(loadsKnownTo, e.unsure)
		low, high = min(low, from), max(high, to)
		l.Shapes = append(l.Shapes, report.CriticalLoadOfShape{Shape: string(f.Shape), PacketsPerSecond: number(of.mean()), Deviation: number(of.deviation()), Low: down(from), High: up(to),
			Capacity: number(f.Likeliest.Capacity), Spread: number(f.Likeliest.Spread)})
	}
	most := 0.0
	for _, t := range e.most {
		most = max(most, t.Load)
	}
	if l.Low = down(min(low, most-e.unsure)); low <= s.question(full).Least*1.0001 {
		l.Low = "0"
	}
	if high <= most {
		l.High = up(high)
	}
	if l.Low != "0" && l.High != "" {
		l.PacketsPerSecond, l.Deviation = number(all.mean()), number(all.deviation())
	}
}

// mixture is several fits that weigh the same.
type mixture struct{ n, sum, squares float64 }

func (m mixture) with(f losscurve.Fit) mixture {
	mean, deviation := f.Mean(), f.Deviation()
	return mixture{m.n + 1, m.sum + mean, m.squares + deviation*deviation + mean*mean}
}

func (m mixture) mean() float64 { return m.sum / m.n }

func (m mixture) deviation() float64 {
	return math.Sqrt(max(0, m.squares/m.n-m.mean()*m.mean()))
}

// digits is how many an end of an interval has: fewer would move it by more than loads are known to.
const digits = 9

// number rounds to six digits: more than any estimate has, and what any machine's arithmetic agrees on.
func number(v float64) report.Number {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', 6, 64))
	return report.NumberOf(r)
}

// down and up round an end of an interval away from its inside. No load is below 0.
func down(v float64) report.Number { return outward(max(0, v), -1) }

func up(v float64) report.Number { return outward(v, 1) }

func outward(v float64, to int) report.Number {
	exact := new(big.Rat).SetFloat64(v)
	text := strconv.FormatFloat(v, 'e', digits-1, 64)
	r, _ := new(big.Rat).SetString(text)
	if r.Cmp(exact) == -to {
		_, exponent, _ := strings.Cut(text, "e")
		last, _ := new(big.Rat).SetString(fmt.Sprintf("%de%s", to, exponent))
		r.Add(r, last.Quo(last, big.NewRat(100_000_000, 1)))
	}
	return report.NumberOf(r)
}

// sentence says what a direction's trials show.
func (s Soak) sentence(l *report.CriticalLoad, trials []report.Window, d int) string {
	ratio := s.plan.LossRatio.String()
	sent := fmt.Sprintf("%s frames were sent in %s", wording.Count(l.Sent), wording.Counted(l.Trials, "trial"))
	needed := wording.Count(s.plan.FramesNeeded())
	switch {
	case l.Sent < s.plan.FramesNeeded():
		return fmt.Sprintf("no answer: %s, and it takes %s to say anything about a loss ratio of %s: set procedure.soak.duration higher, or lossRatio", sent, needed, ratio)
	case l.Lost == 0:
		said := fmt.Sprintf("%s, and none was lost: with 95 %% less than %s is lost at %s", sent, ratio, rate(l.Low))
		switch m := highest(trials).Directions[d]; {
		case !s.atTheHighest(l.Low.Float(), trials, d):
			return said + " (with what was sent above it)"
		case m.UnderOffered():
			return said + noMore(m)
		}
		return said + ", the highest load asked for"
	}
	said := fmt.Sprintf("%s, %s of them lost", sent, wording.Count(l.Lost))
	if l.Doubtful > 0 {
		said += fmt.Sprintf(" (%s maybe not by the device)", wording.Count(l.Doubtful))
	}
	switch {
	case l.Low == "0" && l.High == "":
		return said + fmt.Sprintf(": they don't tell where the load is at which %s is lost on average", ratio)
	case l.High == "":
		said += fmt.Sprintf(": the load at which %s is lost on average is with 95 %% at least %s, and no load that was offered is known to be above it", ratio, rate(l.Low))
		if m := highest(trials).Directions[d]; m.UnderOffered() {
			said += noMore(m)
		}
	case l.Low == "0":
		said += fmt.Sprintf(": the load at which %s is lost on average is with 95 %% at most %s, and may be less than the lowest asked for", ratio, rate(l.High))
	default:
		said += fmt.Sprintf(": on average %s is lost at %s, standard deviation %s, with 95 %% between %s and %s", ratio, rate(l.PacketsPerSecond), rate(l.Deviation), rate(l.Low), rate(l.High))
		var by []string
		for _, f := range l.Shapes {
			by = append(by, fmt.Sprintf("%s by the %s function", rate(f.PacketsPerSecond), f.Shape))
		}
		said += " (" + strings.Join(by, ", ") + ")"
	}
	if l.Extrapolated {
		said += fmt.Sprintf("; only %s frames were sent at up to that load, where it takes %s to see such a loss ratio: the estimate rests on the functions", wording.Count(l.Below), needed)
	}
	return said
}

// atTheHighest says that a lower end is of a trial at the highest load that was asked for.
func (s Soak) atTheHighest(low float64, trials []report.Window, d int) bool {
	at, unsure := highest(trials).Load, s.evidence(trials, d).unsure
	return slices.ContainsFunc(trials, func(w report.Window) bool {
		return w.Load == at && math.Abs(float64(w.Directions[d].Offered.PacketsPerSecond)-unsure-low) <= loadsKnownTo
	})
}

// noMore says that the generators were the limit of a direction.
func noMore(m report.Measured) string {
	return fmt.Sprintf(", and the generators send no more, of %s asked for", wording.PacketRate(m.Intended.PacketsPerSecond))
}

func rate(n report.Number) string {
	return units.PacketRate(math.Round(n.Float() * float64(units.PacketPerSecond))).FormatSI()
}
