package render

import (
	"math"
	"strconv"
	"time"
)

// axis maps values to a stretch of a drawing, linearly.
type axis struct {
	top       float64 // the value at the far end, while the near end is 0
	from, end float64 // where 0 and top are drawn
}

// position is where a value is drawn. A value off the scale is drawn at its end.
func (a axis) position(v float64) float64 {
	if a.top <= 0 {
		return a.from
	}
	return a.from + min(max(v, 0), a.top)/a.top*(a.end-a.from)
}

// ticks are about n round values from 0 up to the top.
func (a axis) ticks(n int) []float64 {
	if a.top <= 0 {
		return []float64{0}
	}
	step := niceStep(a.top / float64(max(n, 1)))
	var ticks []float64
	for i := 0.0; i*step <= a.top*1.0001; i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}

// niceStep is the next larger of 1, 2, 2.5 and 5 times a power of ten.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*power >= v*0.9999 {
			return m * power
		}
	}
	return 10 * power
}

// timeTicks are round times from 0 to the axis' top, in seconds, at most n.
func (a axis) timeTicks(n int) []float64 {
	steps := []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400}
	step := steps[len(steps)-1]
	for _, s := range steps {
		if a.top/s <= float64(n) {
			step = s
			break
		}
	}
	step = max(step, a.top/float64(n))
	var ticks []float64
	for i := 0.0; i*step <= a.top; i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}

// clockText writes seconds as 1:30, or 1:01:30 from an hour on.
func clockText(seconds float64) string {
	d := time.Duration(math.Round(seconds)) * time.Second
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	if h > 0 {
		return strconv.Itoa(h) + ":" + twoDigits(m) + ":" + twoDigits(s)
	}
	return strconv.Itoa(m) + ":" + twoDigits(s)
}

func twoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// prefix is the SI prefix that suits an axis up to top, and its factor.
func prefix(top float64) (name string, factor float64) {
	for _, p := range []struct {
		name   string
		factor float64
	}{{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}} {
		if top >= p.factor {
			return p.name, p.factor
		}
	}
	return "", 1
}

// short writes a tick's value without what rounding left behind.
func short(v float64) string { return strconv.FormatFloat(rounded(v, 1000), 'f', -1, 64) }

// rounded rounds to a fraction of one. A number too large for a fraction stays.
func rounded(v, parts float64) float64 {
	if math.Abs(v) > math.MaxInt64 {
		return v
	}
	return math.Round(v*parts) / parts
}

// lossAxis maps loss ratios to a drawing by their logarithm, down to some power of ten. A smaller loss, and none,
// have a row of their own below.
//
//	100 % ┤
//	 10 % ┤   ◆ ◆
//	  1 % ┤ ◆
//	0.1 % ┼╌╌╌╌╌╌╌╌ limit
//	  0 % ┤●          the row for none
type lossAxis struct {
	decades        int     // below 1
	top, low, zero float64 // where a ratio of 1, of 10^-decades and of 0 are drawn
}

// lossAxisFor reaches from all frames lost to a decade under the smallest of these ratios, at least to 0.01 %.
func lossAxisFor(ratios []float64, top, bottom float64) lossAxis {
	decades := 4
	for _, r := range ratios {
		if r > 0 {
			decades = max(decades, min(int(math.Ceil(-math.Log10(r)-1e-9)), 9))
		}
	}
	const row = 18
	return lossAxis{decades: decades, top: top, low: bottom - row, zero: bottom}
}

func (a lossAxis) position(ratio float64) float64 {
	if ratio <= 0 {
		return a.zero
	}
	depth := min(max(-math.Log10(ratio), 0), float64(a.decades)) / float64(a.decades)
	return a.top + depth*(a.low-a.top)
}
