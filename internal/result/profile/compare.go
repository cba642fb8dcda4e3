package profile

import (
	"cmp"
	"math"
	"slices"
)

// Run is what a comparison takes of one profile: how many samples found each function itself, and the time that the
// device takes for a frame.
type Run struct {
	Selves              map[string]int64
	NanosecondsPerFrame float64
}

// RunOf is the run whose profile has these stacks.
func RunOf(stacks []Stack, nanosecondsPerFrame float64) Run {
	r := Run{Selves: map[string]int64{}, NanosecondsPerFrame: nanosecondsPerFrame}
	for _, stack := range stacks {
		r.Selves[stack.Frames[len(stack.Frames)-1]] += stack.Count
	}
	return r
}

func (r Run) samples() (sum int64) {
	for _, count := range r.Selves {
		sum += count
	}
	return sum
}

// nanoseconds is the time that a function takes for a frame.
func (r Run) nanoseconds(function string) float64 {
	return r.NanosecondsPerFrame * float64(r.Selves[function]) / float64(r.samples())
}

// Side is the runs of one build that have samples and a time for a frame.
type Side []Run

func (s Side) samples() (sum int64) {
	for _, r := range s {
		sum += r.samples()
	}
	return sum
}

func (s Side) count(function string) (sum int64) {
	for _, r := range s {
		sum += r.Selves[function]
	}
	return sum
}

// NanosecondsPerFrame is the mean of the runs.
func (s Side) NanosecondsPerFrame() (mean float64) {
	for _, r := range s {
		mean += r.NanosecondsPerFrame / float64(len(s))
	}
	return mean
}

// functions are the names of all that was sampled.
func (s Side) functions() map[string]bool {
	names := map[string]bool{}
	for _, r := range s {
		for name := range r.Selves {
			names[name] = true
		}
	}
	return names
}

// longest and shortest are a function's extreme times for a frame.
func (s Side) longest(function string) (longest float64) {
	for _, r := range s {
		longest = max(longest, r.nanoseconds(function))
	}
	return longest
}

func (s Side) shortest(function string) float64 {
	shortest := math.Inf(1)
	for _, r := range s {
		shortest = min(shortest, r.nanoseconds(function))
	}
	return shortest
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

// FewestRuns is how many runs a comparison needs of each side. With one run of each, 5 of 12 pairs of equal builds
// named a function: a neighbour's work in one of the runs made it slower. That every run of one side is slower than
// every run of the other happens by chance in 1 of 20 comparisons of three runs.
const FewestRuns = 3

// What it takes to name a function. It takes longer for a frame in each run than in any run before. Its share of the
// samples grew by more than chance and the machine explain, where one function of all is named wrongly in one of
// wrongIn comparisons of equal builds. It takes leastShare of a frame's time more than before. What has no name, as
// "[lost]", is never named.
//
// Chance is that of counts (binomial). Equal builds differ by more: the same function's share of the time differs from
// run to run by about systematic of itself, as caches and the batches that frames are processed in do.
const (
	wrongIn    = 40
	leastShare = 0.03
	systematic = 0.05
	leastCount = 10
)

// Compare names the functions that grew from a build to another. It names none where a side has fewer runs than
// FewestRuns.
func Compare(before, after Side) (c Comparison) {
	if min(len(before), len(after)) < FewestRuns {
		return c
	}
	old, current := before.NanosecondsPerFrame(), after.NanosecondsPerFrame()
	c.Nanoseconds = current - old
	n, m := float64(before.samples()), float64(after.samples())
	functions := after.functions()
	threshold := upperQuantile(1 / float64(wrongIn*len(functions)))
	for name := range functions {
		a, b := float64(before.count(name)), float64(after.count(name))
		p, q, pooled := a/n, b/m, (a+b)/(n+m)
		variance := pooled*(1-pooled)*(1/n+1/m) + 2*systematic*pooled*systematic*pooled
		g := Growth{name, p * old, q * current}
		if name[0] != '[' && b >= leastCount && before.longest(name) < after.shortest(name) &&
			q-p > threshold*math.Sqrt(variance) && g.Nanoseconds() >= leastShare*old {
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
