package soak

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/losscurve"
)

const (
	// tail is the part of a fit below the lower end of the interval, and above its upper end.
	tail = 0.025
	// loadsKnownTo is how exactly loads are known, in packets per second: offered rates are whole numbers. No
	// interval is narrower.
	loadsKnownTo = 1
)

// criticalLoad is what the trials show of a direction's critical load, where it loses the loss ratio on average.
type criticalLoad struct {
	report.Estimate // over the curves of all shapes, each shape weighing the same; its interval is of each of them

	// Shapes are what curves of each shape make of the trials.
	Shapes []shapeLoad
	// Trials is how many counted, with what they sent and lost. Below is what was sent at loads up to High.
	Trials            int
	Sent, Lost, Below int64
	// Doubtful is how many of the frames in Lost the device may not have lost, as others had the machine, or the
	// generator sent in bursts, or background traffic may hide them. High is reckoned without them.
	Doubtful int64
}

// shapeLoad is the critical load if the loss ratio follows curves of one shape, with the interval by this shape alone.
// Capacity and Spread are those of the curve that fits best. All are in packets per second.
type shapeLoad struct {
	Shape                       losscurve.Shape
	PacketsPerSecond, Deviation report.Number
	Low, High                   report.Number
	Capacity, Spread            report.Number
}

// criticalLoad is what the trials show of the direction's critical load.
func (d direction) criticalLoad() *criticalLoad {
	l := &criticalLoad{Estimate: report.Estimate{LossRatio: d.plan.LossRatio}, Trials: len(d.worst), Sent: d.sent,
		Lost: d.lost, Doubtful: d.doubtful}
	switch {
	case d.sent < d.plan.FramesNeeded():
		return l
	case d.lost == 0:
		l.Low = roundedDown(d.highestProven() - d.unsure)
		return l
	}
	d.estimate(l)
	for _, t := range d.worst {
		if high := l.High.Float(); l.High == "" || t.Load <= high {
			l.Below += t.Sent
		}
	}
	l.Extrapolated = l.Below < d.plan.FramesNeeded()
	return l
}

// highestProven is the highest load of a trial, of trials that lost no frame, such that the trials at this load and
// above sent as many frames as it takes to see the loss ratio. 0 means that there is none.
func (d direction) highestProven() float64 {
	downward := slices.Clone(d.worst)
	slices.SortStableFunc(downward, func(a, b losscurve.Trial) int { return cmp.Compare(b.Load, a.Load) })
	sent := int64(0)
	for _, t := range downward {
		if sent += t.Sent; sent >= d.plan.FramesNeeded() {
			return t.Load
		}
	}
	return 0
}

// estimate fills in what curves of each shape show. Doubtful frames count as lost for the lower end of the interval, as
// carried for its upper end, and half as one and half as the other for the mean.
func (d direction) estimate(l *criticalLoad) {
	low, high, mostOffered := math.Inf(1), 0.0, 0.0
	var combined mixture
	for _, shape := range losscurve.Shapes {
		worst := d.fit(shape, d.worst)
		best := worst
		if d.doubtful > 0 {
			best = d.fit(shape, d.best)
		}
		pair := mixture{}.add(worst).add(best)
		combined = combined.add(worst).add(best)
		lower, upper := worst.Quantile(tail)-max(loadsKnownTo, d.unsure), best.Quantile(1-tail)+
			max(loadsKnownTo, d.unsure)
		low, high = min(low, lower), max(high, upper)
		l.Shapes = append(l.Shapes, shapeLoad{Shape: shape,
			PacketsPerSecond: sixDigits(pair.mean()), Deviation: sixDigits(pair.deviation()), Low: roundedDown(lower),
			High:     roundedUp(upper),
			Capacity: sixDigits(worst.Likeliest.Capacity), Spread: sixDigits(worst.Likeliest.Spread)})
	}
	for _, t := range d.worst {
		mostOffered = max(mostOffered, t.Load)
	}
	if l.Low = roundedDown(min(low, mostOffered-d.unsure)); low <= d.leastRate()*1.0001 {
		l.Low = "0"
	}
	if high <= mostOffered {
		l.High = roundedUp(high)
	}
	if l.Low != "0" && l.High != "" {
		l.PacketsPerSecond, l.Deviation = sixDigits(combined.mean()), sixDigits(combined.deviation())
	}
}

// mixture is several fits that weigh the same.
type mixture struct{ n, sum, squares float64 }

func (m mixture) add(f losscurve.Fit) mixture {
	mean, deviation := f.Mean(), f.Deviation()
	return mixture{m.n + 1, m.sum + mean, m.squares + deviation*deviation + mean*mean}
}

func (m mixture) mean() float64 { return m.sum / m.n }

func (m mixture) deviation() float64 {
	return math.Sqrt(max(0, m.squares/m.n-m.mean()*m.mean()))
}

// sixDigits rounds to six digits, which are more than any estimate has, and few enough that the arithmetic of all
// machines agrees on them.
func sixDigits(v float64) report.Number {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', 6, 64))
	return report.NumberOf(r)
}

// endDigits is how many digits an end of an interval has. Fewer would move the end by more than loads are known to.
const endDigits = 9

// roundedDown and roundedUp round an end of an interval away from its inside. No load is below 0.
func roundedDown(v float64) report.Number { return roundedTo(max(0, v), -1) }

func roundedUp(v float64) report.Number { return roundedTo(v, 1) }

func roundedTo(v float64, side int) report.Number {
	exact := new(big.Rat).SetFloat64(v)
	text := strconv.FormatFloat(v, 'e', endDigits-1, 64)
	r, _ := new(big.Rat).SetString(text)
	if r.Cmp(exact) == -side {
		_, exponent, _ := strings.Cut(text, "e")
		unit, _ := new(big.Rat).SetString(fmt.Sprintf("%de%s", side, exponent))
		r.Add(r, unit.Quo(unit, big.NewRat(100_000_000, 1)))
	}
	return report.NumberOf(r)
}
