package burstiness

import (
	"math"
	"slices"
	"time"
)

const (
	// spare is how much faster than the load the queue is emptied, as a factor.
	spare = 1.01
	// Stretch is what is judged as one: its figure is the most frames that waited at any time in it.
	Stretch = 10 * time.Millisecond
)

// Span is a piece of time, on the kernel's monotonic clock.
type Span struct{ Start, End time.Duration }

func (s Span) overlaps(o Span) bool { return s.Start < o.End && o.Start < s.End }

// Verdict is how evenly frames came.
type Verdict struct {
	// Frames came in so many Stretches; those of Stolen further stretches aren't among them.
	Frames, Stretches, Stolen int
	// Half is the smallest queue, in frames, that loses none in half of the stretches, Typical in 99.9 % of them,
	// and Most in all. Of fewer than 1000 stretches these two are the same.
	Half, Typical, Longest int
	// Gaps are the times between two frames, as multiples of the load's own gap.
	Gaps []Gaps
}

// Gaps is how many gaps were from From to below To times as long as the load's own.
type Gaps struct {
	Low, High float64
	Count     int
}

// Share is the part of all gaps that were from low to below high times as long as the load's own; both have to
// be bounds of the histogram.
func (v Verdict) Share(low, high float64) float64 {
	total, inside := 0, 0
	for _, g := range v.Gaps {
		if total += g.Count; g.Low >= low && g.High <= high {
			inside += g.Count
		}
	}
	if total == 0 {
		return 0
	}
	return float64(inside) / float64(total)
}

// bounds are the edges of the histogram of gaps.
func bounds() []float64 {
	return []float64{0, 1. / 16, 1. / 4, 1. / 2, 7. / 8, 9. / 8, 3. / 2, 2, 4, 16, 64, math.Inf(1)}
}

// Judge says how evenly frames of a load came that arrived at these times, which ascend. Only whole stretches count.
func Judge(arrivals []time.Duration, packetsPerSecond float64, stolen []Span) Verdict {
	j := newJudge(packetsPerSecond)
	if len(arrivals) > 0 {
		first := arrivals[0]
		for whole := int((arrivals[len(arrivals)-1] - first) / Stretch); whole > 0; whole-- {
			stretch := Span{first, first + Stretch}
			first = stretch.End
			n, _ := slices.BinarySearch(arrivals, stretch.End)
			if slices.ContainsFunc(stolen, stretch.overlaps) {
				j.skip()
			} else {
				j.stretch(arrivals[:n])
			}
			arrivals = arrivals[n:]
		}
	}
	return j.verdict()
}

// fraction is how many parts a nanosecond has in which the queue's work is counted: the time that a frame takes
// isn't a whole number of nanoseconds.
const fraction = 1 << 20

// judge keeps the queue from stretch to stretch.
type judge struct {
	gap     float64 // of the load, ns
	service int64   // how long the queue takes for a frame, in parts of a ns
	work    int64   // what waits at the time last, in parts of a ns
	newest  time.Duration
	started bool
	queues  []int // the most that waited, of each stretch
	Verdict
}

func newJudge(packetsPerSecond float64) *judge {
	j := &judge{gap: float64(time.Second) / packetsPerSecond}
	j.service = max(1, int64(math.Round(j.gap/spare*fraction)))
	edges := bounds()
	for i, low := range edges[:len(edges)-1] {
		j.Gaps = append(j.Gaps, Gaps{Low: low, High: edges[i+1]})
	}
	return j
}

// skip leaves a stretch out, and begins with an empty queue behind it.
func (j *judge) skip() {
	j.Stolen++
	j.started, j.work = false, 0
}

func (j *judge) stretch(arrivals []time.Duration) {
	longest := 0
	for _, arrival := range arrivals {
		if j.started {
			j.work = max(0, j.work-int64(arrival-j.newest)*fraction)
			j.count(float64(arrival-j.newest) / j.gap)
		}
		j.work += j.service
		j.newest, j.started = arrival, true
		// a frame has its place until the queue is done with it
		longest = max(longest, int((j.work+j.service-1)/j.service))
	}
	j.Frames += len(arrivals)
	j.Stretches++
	j.queues = append(j.queues, longest)
}

func (j *judge) count(gap float64) {
	i := slices.IndexFunc(j.Gaps, func(g Gaps) bool { return gap < g.High })
	j.Gaps[i].Count++
}

func (j *judge) verdict() Verdict {
	if n := len(j.queues); n > 0 {
		slices.Sort(j.queues)
		quantile := func(share float64) int { return j.queues[int(math.Ceil(share*float64(n)))-1] }
		j.Half, j.Typical, j.Longest = quantile(0.5), quantile(0.999), quantile(1)
	}
	return j.Verdict
}
