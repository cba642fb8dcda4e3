package profile

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var stacks = Parse([]string{
	"router;main.run;main.forward 30",
	"router;main.run;main.forward;main.burn 50",
	"router;main.run 5",
	"router;main.recurse;main.recurse 10",
	"softirq;handle_softirqs;operator new(unsigned long) 5",
	"no count", " 7", "negative -3", "",
})

func TestFunctionsHaveSelfAndTotal(t *testing.T) {
	want := []Function{{"main.burn", 50, 50}, {"main.forward", 30, 80}, {"main.recurse", 10, 10}, {"main.run", 5, 85},
		{"operator new(unsigned long)", 5, 5}, {"router", 0, 95}, {"handle_softirqs", 0, 5}, {"softirq", 0, 5}}
	if got := Functions(stacks); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

// The sum of all that is a tree's own is the whole, and each node's total is its own and its children's.
func TestATreeAddsUp(t *testing.T) {
	root, selves := Tree(stacks), int64(0)
	var walk func(*Node)
	walk = func(n *Node) {
		sum := n.Self
		for _, child := range n.Children {
			sum += child.Total
			walk(child)
		}
		if selves += n.Self; sum != n.Total {
			t.Errorf("%q: %d, and its parts %d", n.Name, n.Total, sum)
		}
	}
	if walk(root); root.Total != 100 || selves != 100 || Device(stacks) != 100 {
		t.Errorf("%d, selves %d", root.Total, selves)
	}
	if n := root.Children[0].Children[1]; n.Name != "main.run" || n.Total != 85 || n.Self != 5 {
		t.Errorf("%+v", n)
	}
}

// shares are a device's functions: a few large ones and many small ones.
func shares() map[string]float64 {
	functions, sum := map[string]float64{}, 0.0
	for i := range 100 {
		functions[string(rune('A'+i/26))+string(rune('a'+i%26))] = math.Pow(0.94, float64(i))
		sum += math.Pow(0.94, float64(i))
	}
	for name := range functions {
		functions[name] /= sum
	}
	return functions
}

// sampled is what n samples of a device find whose functions' shares differ from run to run.
// In some runs a neighbour's work makes one of the functions slower.
func sampled(random *rand.Rand, nanoseconds map[string]float64, n int) Run {
	differing, sum, total := map[string]float64{}, 0.0, 0.0
	for name, time := range nanoseconds {
		differing[name] = time * math.Exp(0.04*random.NormFloat64())
		if random.IntN(4*len(nanoseconds)) == 0 {
			differing[name] *= 2
		}
		sum, total = sum+differing[name], total+time
	}
	r := Run{Selves: map[string]int64{}, NanosecondsPerFrame: total * (1 + 0.03*random.NormFloat64())}
	for name, time := range differing { // Poisson by its normal approximation, which counts this large follow
		mean := time / sum * float64(n)
		r.Selves[name] = max(0, int64(math.Round(mean+math.Sqrt(mean)*random.NormFloat64())))
	}
	return r
}

func sampledSide(random *rand.Rand, nanoseconds map[string]float64, n int) (side Side) {
	for range FewestRuns {
		side = append(side, sampled(random, nanoseconds, n))
	}
	return side
}

func nanoseconds(perFrame float64) map[string]float64 {
	times := shares()
	for name := range times {
		times[name] *= perFrame
	}
	return times
}

// Equal builds name nothing in 19 of 20 comparisons, and a function that burns a third more is named first.
func TestEqualBuildsNameNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const tries = 200
	for _, samples := range []int{500, 3000, 20000} {
		wrong, missed := 0, 0
		for range tries {
			equal, slower := nanoseconds(1500), nanoseconds(1500)
			slower["burn"] = 500
			before := sampledSide(random, equal, samples)
			if c := Compare(before, sampledSide(random, equal, samples)); len(c.Growths) > 0 {
				wrong++
			}
			c := Compare(before, sampledSide(random, slower, samples))
			if len(c.Growths) == 0 || c.Growths[0].Name != "burn" || math.Abs(c.Growths[0].Nanoseconds()-500) > 150 {
				missed++
			}
		}
		t.Logf("%d samples: %d of %d equal builds named something, %d of %d burns were missed", samples, wrong, tries,
			missed, tries)
		if wrong > tries/20 || missed > tries/20 {
			t.Errorf("%d samples: %d of %d equal builds named something, %d of %d burns were missed", samples, wrong, tries,
				missed, tries)
		}
	}
}

// A function that shrinks makes the others' shares larger, and not their time.
func TestAFunctionThatShrinksNamesNoOther(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		faster := nanoseconds(1500)
		before := sampledSide(random, faster, 10000)
		faster["Aa"] /= 10
		after := sampledSide(random, faster, 10000)
		for i := range FewestRuns {
			before[i].NanosecondsPerFrame, after[i].NanosecondsPerFrame = 1500, 1500-0.9*1500*shares()["Aa"]
		}
		if c := Compare(before, after); len(c.Growths) > 0 || c.Nanoseconds >= 0 || c.Explained != 0 {
			t.Fatalf("%+v", c)
		}
	}
}

func TestTheShareThatIsExplained(t *testing.T) {
	alike := func(r Run) Side { return slices.Repeat(Side{r}, FewestRuns) }
	before := RunOf(Parse([]string{"softirq;route 6000", "softirq;lookup 4000"}), 1000)
	after := RunOf(Parse([]string{"softirq;route 6000", "softirq;lookup 4000", "softirq;burn 5000"}), 1500)
	c := Compare(alike(before), alike(after))
	want := Comparison{[]Growth{{"burn", 0, 500}}, 500, 1}
	if !cmp.Equal(c, want) {
		t.Error(cmp.Diff(want, c))
	}
	if c := Compare(nil, alike(after)); c.Growths != nil {
		t.Errorf("without samples: %+v", c)
	}
	if c := Compare(alike(before)[1:], alike(after)); c.Growths != nil {
		t.Errorf("with too few runs: %+v", c)
	}
	one := alike(after)
	one[0] = before
	if c := Compare(alike(before), one); c.Growths != nil {
		t.Errorf("where one run is as before: %+v", c)
	}
}
