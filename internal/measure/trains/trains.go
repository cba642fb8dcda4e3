package trains

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/units/statistics"
)

const (
	// poll is how many frames a NAPI poll passes on at most. The spacing counts from the end of the poll that has a
	// train's 64th frame, or the frame at the third of a shorter one. leastGaps is how many frames must follow, and are
	// a leastPart of the train.
	poll      = 64
	leastGaps = 16
	leastPart = 6
	// LeastFrames is how many frames a train has at least, as those of one poll come as fast as they are received, and
	// not as the device works.
	LeastFrames = 96
	// leastWhole is how many whole trains a set-up has at least, which are also leastShare of those sent.
	leastWhole = 10
	leastShare = 4
	// percentile is the part of a set-up's trains that are faster than its figure. What disturbs a train makes it
	// slower, so that low percentiles hardly spread.
	percentile = 0.1
	// paced is the part of a train's spacing that sending a frame may take until the sender may have set the pace.
	paced = 0.9
	// mostArrivals is how many arrivals of a train are kept.
	mostArrivals = 512
)

// spacingOf is the time between the frames of a train, in picoseconds. Frames of one poll come together, when it ends,
// so that spacing counts from the end of one poll to the end of the last. It returns false where the train has too few.
//
//	1…64    ‖   65…128   ‖   129…192 ‖      ‖ a poll ends, and its frames come
//	        ├────── spacing ─────────┤
func spacingOf(arrivals []int64) (picoseconds int64, ok bool) {
	last := len(arrivals) - 1
	if len(arrivals) < LeastFrames {
		return 0, false
	}
	mean := (arrivals[last] - arrivals[0]) / int64(last)
	first := min(poll-1, last/3)
	for first < last && 2*(arrivals[first+1]-arrivals[first]) < mean {
		first++
	}
	gaps := last - first
	if gaps < max(leastGaps, len(arrivals)/leastPart) {
		return 0, false
	}
	return (arrivals[last] - arrivals[first]) * 1000 / int64(gaps), true
}

// Observe is the evidence of trains of so many frames. It leaves out what Judge doesn't need.
func Observe(frames int, came []engine.Train) report.Trains {
	t := report.Trains{Count: len(came), Frames: frames}
	var whole [][]int64
	for _, train := range came {
		arrivals, lost, broken := order(frames, train.Arrivals)
		t.LostFrames += int64(lost)
		switch {
		case lost > 0:
			t.Lossy++
		case broken:
			t.Broken++
		default:
			spacing, ok := spacingOf(arrivals)
			if !ok {
				t.Undivided++
				continue
			}
			t.Spacings, t.Sendings = append(t.Spacings, spacing), append(t.Sendings, int64(train.Sending))
			whole = append(whole, arrivals)
		}
	}
	if len(whole) > 0 {
		t.Arrivals = typical(whole, t.Spacings)[:min(frames, mostArrivals)]
	}
	return t
}

// order are the arrivals of a train by its frames' numbers, after the first of them. A frame that came twice, or whose
// number no frame has, breaks the train.
func order(frames int, came []engine.Arrival) (arrivals []int64, lost int, broken bool) {
	arrivals = make([]int64, frames)
	seen, distinct := make([]bool, frames), 0
	latest := time.Duration(0)
	for i, a := range came {
		if a.Frame < 0 || a.Frame >= frames || seen[a.Frame] {
			broken = true
			continue
		}
		seen[a.Frame], arrivals[a.Frame] = true, int64(a.Instant-came[0].Instant)
		broken = broken || i > 0 && a.Instant < latest
		latest, distinct = a.Instant, distinct+1
	}
	return arrivals, frames - distinct, broken || !slices.IsSorted(arrivals)
}

// typical are the arrivals of the train whose spacing is the set-up's figure, or the next longer one.
func typical(whole [][]int64, spacings []int64) []int64 {
	ranks := make([]int, len(spacings))
	for i := range ranks {
		ranks[i] = i
	}
	slices.SortFunc(ranks, func(a, b int) int { return cmp.Compare(spacings[a], spacings[b]) })
	return whole[ranks[int(percentile*float64(len(ranks)))]]
}

// Spacing is what a set-up shows: the time between the frames of its trains, in nanoseconds.
type Spacing struct {
	Nanoseconds float64
	// Bound means that the sender may have set the pace. The device takes no longer than this, and perhaps less.
	// Untimed means that the generator doesn't say how long it sent.
	Bound, Untimed bool
}

// SpacingOf is a set-up's spacing, or why its trains show none.
func SpacingOf(t report.Trains) (s Spacing, fault string) {
	whole := len(t.Spacings)
	switch {
	case t.Frames < 2 || whole != len(t.Sendings):
		return s, "its trains are too short to have a spacing"
	case whole < leastWhole || whole*leastShare < t.Count:
		return s, fmt.Sprintf("only %d of %d trains count: %d lost frames, %d came in another order, and %d in one part: "+
			"send shorter trains where frames are lost, and longer ones where they come in one part", whole, t.Count,
			t.Lossy, t.Broken, t.Undivided)
	}
	sorted := slices.Sorted(slices.Values(t.Spacings))
	at := percentile * float64(whole-1)
	below := int(at)
	s.Nanoseconds = (float64(sorted[below]) + (at-float64(below))*float64(sorted[below+1]-sorted[below])) / 1000
	if s.Nanoseconds <= 0 {
		return s, "its frames came at one instant, so that nothing timed them apart"
	}
	fast, bound := 0, 0
	for i, spacing := range t.Spacings {
		if spacing > sorted[below+1] {
			continue
		}
		fast++
		sending := 1000 * float64(t.Sendings[i]) / float64(t.Frames-1)
		s.Untimed = s.Untimed || sending <= 0
		if sending <= 0 || sending > paced*float64(spacing) {
			bound++
		}
	}
	s.Bound = 2*bound > fast
	return s, ""
}

// Figure is what several set-ups show together: the median of their spacings, and an interval that has the true one
// with a confidence of 95 %, from six set-ups on. Bound is as in Spacing. Low is 0 then.
type Figure struct {
	statistics.Summary
	Bound, Untimed bool
}

// FigureOf is the figure of set-ups. Where half of them are bounds, their median is one.
func FigureOf(setups []Spacing) Figure {
	values, bounds := make([]float64, len(setups)), 0
	f := Figure{}
	for i, s := range setups {
		values[i] = s.Nanoseconds
		if s.Bound {
			bounds++
			f.Untimed = f.Untimed || s.Untimed
		}
	}
	f.Summary = statistics.Summarize(values)
	if f.Bound = bounds > 0 && 2*bounds >= len(setups); f.Bound {
		f.Low = 0
	}
	return f
}

// Text is a time per frame for people, to four digits, such as "940.6 ns" or "14.66 µs".
func Text(nanoseconds float64) string {
	unit := "ns"
	for _, next := range []string{"µs", "ms", "s"} {
		if nanoseconds < 999.95 {
			break
		}
		nanoseconds, unit = nanoseconds/1000, next
	}
	digits := 3 // behind the point
	for v := nanoseconds; v >= 10 && digits > 1; v /= 10 {
		digits--
	}
	return strconv.FormatFloat(nanoseconds, 'f', digits, 64) + " " + unit
}

// Difference is by how much two times differ, with how far that may be off, as in "+0.50 ± 0.05 µs". The reach is
// rounded up to the digit that begins it, or to two where that is a 1. Where the reach is 0, the text has none.
func Difference(nanoseconds, reach float64) string {
	unit, scale := "ns", 1.0
	if math.Abs(nanoseconds) >= 100 {
		unit, scale = "µs", 1000
	}
	difference, reach := nanoseconds/scale, reach/scale
	if !(reach > 0) {
		return fmt.Sprintf("%+.2f %s", difference, unit)
	}
	exponent := math.Floor(math.Log10(reach))
	if reach/math.Pow(10, exponent) < 2 {
		exponent--
	}
	digits, step := int(max(0, -exponent)), math.Pow(10, exponent)
	return fmt.Sprintf("%+.*f ± %.*f %s", digits, difference, digits, math.Ceil(reach/step-1e-9)*step, unit)
}

// Share is how far a time may be off, as a share of it for people, such as "1 %" or "0.3 %".
func Share(share float64) string {
	percent := math.Ceil(max(0, 1000*share-1e-9)) / 10 // never rounded down
	return strconv.FormatFloat(percent, 'f', -1, 64) + " %"
}
