package suite

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// slot is one measurement to be made.
type slot struct {
	cell       int
	repetition int32
}

// order is the order of the measurements. It follows from the spec and the suite's name alone, so that a
// restarted operator continues in the same order. Calibrations come first, so that the generators' capacity is
// known before anything else.
//
//	ByCell        AAAABBBB   all drift is between A and B
//	Interleaved   ABABABAB   little drift is between A and B, but a disturbance of every second run affects B alone
//	Shuffled      ABBABAAB   random orders and their reverses, in random sequence, so that neither affects one side
func order(s *v1alpha1.LoadTestSuite, calibrations, cells int) []slot {
	repetitions := max(s.Spec.Repetitions, 1)
	slots := make([]slot, 0, (calibrations+cells)*int(repetitions))
	for r := range repetitions {
		for cell := range calibrations {
			slots = append(slots, slot{cell, r + 1})
		}
	}
	add := func(cell int, repetition int32) { slots = append(slots, slot{calibrations + cell, repetition}) }
	switch s.Spec.Order {
	case v1alpha1.OrderByCell:
		for cell := range cells {
			for r := range repetitions {
				add(cell, r+1)
			}
		}
	case v1alpha1.OrderShuffled:
		blocks := shuffled(rand.NewPCG(uint64(seedOf(s)), 0), cells, int(repetitions))
		for r, block := range blocks {
			for _, cell := range block {
				add(cell, int32(r)+1)
			}
		}
	default:
		for r := range repetitions {
			for cell := range cells {
				add(cell, r+1)
			}
		}
	}
	return slots
}

// shuffled are the orders of all cells in each repetition. Half of them are random, and the others are their
// reverses. The sequence of these orders is random, too. If their number is odd, one has no reverse.
func shuffled(random *rand.PCG, cells, repetitions int) [][]int {
	orders := make([][]int, 0, repetitions)
	for i := range repetitions {
		if i%2 == 0 {
			orders = append(orders, drawn(random, cells))
			continue
		}
		reverse := slices.Clone(orders[i-1])
		slices.Reverse(reverse)
		orders = append(orders, reverse)
	}
	blocks := make([][]int, repetitions)
	for i, which := range drawn(random, repetitions) {
		blocks[i] = orders[which]
	}
	return blocks
}

// drawn is a random permutation of so many cells (Fisher and Yates). The algorithm is written out so that a
// seed gives the same order in every release, which package rand doesn't promise.
func drawn(random *rand.PCG, cells int) []int {
	block := make([]int, cells)
	for i := range block {
		block[i] = i
	}
	for i := cells - 1; i > 0; i-- {
		j := int(random.Uint64() % uint64(i+1))
		block[i], block[j] = block[j], block[i]
	}
	return block
}

// seedOf is the seed of a suite's order. It is the spec's, or one that follows from the suite's name, so that
// two nightly suites have different orders. It is 0 if the order isn't random.
func seedOf(s *v1alpha1.LoadTestSuite) int64 {
	if s.Spec.Order != v1alpha1.OrderShuffled || s.Spec.Seed != 0 {
		return s.Spec.Seed
	}
	const maxSeed = 1<<31 - 1 // the schema's maximum
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.Name)) // it never fails
	return 1 + int64(h.Sum64()%maxSeed)
}

// sortByPlace sorts tests in the order of their measurements.
func (m *Matrix) sortByPlace(tests []Wanted) {
	places := make(map[slot]int, len(m.slots))
	for i, s := range m.slots {
		places[s] = i
	}
	slices.SortStableFunc(tests, func(a, b Wanted) int {
		return cmp.Compare(places[slot{a.Cell, a.Repetition}], places[slot{b.Cell, b.Repetition}])
	})
}
