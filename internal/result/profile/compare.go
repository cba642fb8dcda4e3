package profile

import (
	"cmp"
	"math"
	"slices"
)

// Side is what a comparison takes of one build: how many samples found each function itself, and the time that the
// device takes for a frame.
type Side struct {
	Selves              map[string]int64
	NanosecondsPerFrame float64
}

// SideOf adds up the stacks of one or several profiles of a build.
func SideOf(stacks []Stack, nanosecondsPerFrame float64) Side {
	s := Side{Selves: map[string]int64{}, NanosecondsPerFrame: nanosecondsPerFrame}
	for _, stack := range stacks {
		s.Selves[stack.Frames[len(stack.Frames)-1]] += stack.Count
	}
	return s
}

func (s Side) samples() (sum int64) {
	for _, count := range s.Selves {
		sum += count
	}
	return sum
}

// Growth is a function that takes more of each frame's time than before.
type Growth struct {
	Name string
	// BeforeNanoseconds and AfterNanoseconds are what it takes for a frame.
	BeforeNanoseconds, AfterNanoseconds float64
}

// Nanoseconds is by how much it grew.
func (g Growth) Nanoseconds() float64 { return g.AfterNanoseconds - g.BeforeNanoseconds }

// Comparison is how a build differs from one before it.
type Comparison struct {
	// Growths are the functions that surely grew, the most first.
	Growths []Growth
	// Nanoseconds is by how much the time for a frame changed, and Explained which share of that the Growths are. It
	// is 0 where the time for a frame did not grow.
	Nanoseconds, Explained float64
}

// What it takes to name a function. Its share of the samples must have grown more than chance and the machine explain,
// where one function of all is named wrongly in one of wrongIn comparisons of equal builds, and it must take
// leastShare of a frame's time more than before. What has no name, as "[lost]", is never named.
//
// Chance is that of counts (binomial). Equal builds differ by more: the same function's share of the time differs from
// run to run by about systematic of itself, as caches and the batches that frames are processed in do.
const (
	wrongIn    = 40
	leastShare = 0.02
	systematic = 0.05
	leastCount = 10
)

// Compare names the functions that grew from a build to another. It names none where a side has no samples, or no time
// for a frame.
func Compare(before, after Side) (c Comparison) {
	c.Nanoseconds = after.NanosecondsPerFrame - before.NanosecondsPerFrame
	n, m := float64(before.samples()), float64(after.samples())
	if n == 0 || m == 0 || before.NanosecondsPerFrame <= 0 || after.NanosecondsPerFrame <= 0 {
		return c
	}
	threshold := upperQuantile(1 / float64(wrongIn*len(after.Selves)))
	for name, count := range after.Selves {
		old := float64(before.Selves[name])
		p, q := old/n, float64(count)/m
		pooled := (old + float64(count)) / (n + m)
		variance := pooled*(1-pooled)*(1/n+1/m) + 2*systematic*pooled*systematic*pooled
		g := Growth{name, p * before.NanosecondsPerFrame, q * after.NanosecondsPerFrame}
		if name[0] != '[' && count >= leastCount && q-p > threshold*math.Sqrt(variance) &&
			g.Nanoseconds() >= leastShare*before.NanosecondsPerFrame {
			c.Growths = append(c.Growths, g)
		}
	}
	slices.SortFunc(c.Growths, func(a, b Growth) int {
		return cmp.Or(cmp.Compare(b.Nanoseconds(), a.Nanoseconds()), cmp.Compare(a.Name, b.Name))
	})
	if c.Nanoseconds > 0 {
		for _, g := range c.Growths {
			c.Explained += g.Nanoseconds() / c.Nanoseconds
		}
	}
	return c
}

// upperQuantile is the standard deviations that a normal value exceeds with this probability.
func upperQuantile(probability float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*probability) }
