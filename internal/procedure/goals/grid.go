package goals

import (
	"cmp"
	"math"
)

// grid is the loads that a search may try, from the lowest to the highest in equal ratios. Each goal's width is
// (nearly) a whole number of steps. A load is its number on the grid, and a width a number of steps.
//
//	0        1          2             top
//	├────────┼──────────┼─── ⋯ ───────┤
//	MinLoad                           MaxLoad
type grid struct {
	lowest, highest float64
	top             int
	loads           map[int]float64
}

// A goal's width is rounded down to whole steps. The rounding takes at most a hundredth of the width, and always a
// little, so that what is measured as one width is never found to be wider.
const leastShare, mostShare = 0.99, 0.999999

// finer is how many steps of the grid Sequential has for each of RFC9971's, so that two bounds can have the limit in
// their middle.
const finer = 4

func newGrid(lowest, highest float64, widths []float64) *grid {
	return &grid{lowest: lowest, highest: highest, top: steps(math.Log(highest)-math.Log(lowest), widths),
		loads: map[int]float64{}}
}

// steps is the smallest number of steps over a range, given as the logarithm of its ratio, for which each width has a
// whole number of them but for the allowed share.
func steps(whole float64, widths []float64) int {
	for count := 1; ; {
		next, fits := float64(count+1), true
		for _, width := range widths {
			units := -math.Log1p(-width) / (whole / float64(count))
			share := math.Floor(units) / units
			if share < leastShare || share > mostShare {
				fits = false
				next = max(next, (math.Floor(units)+1)/mostShare/units*float64(count))
			}
		}
		if fits {
			return count
		}
		count = int(math.Ceil(next))
	}
}

// load is the load of a number. It is computed by halving the grid again and again, so that a number's load is the same
// to the last bit whatever else was computed.
func (g *grid) load(number int) float64 {
	if number <= 0 {
		return g.lowest
	}
	if number >= g.top {
		return g.highest
	}
	if load, ok := g.loads[number]; ok {
		return load
	}
	load := g.lowest
	g.halve(func(middle int, middleLoad float64) int {
		load = middleLoad
		return number - middle
	})
	g.loads[number] = load
	return load
}

// floor is the number of the highest load of the grid that isn't above load.
func (g *grid) floor(load float64) int {
	if load >= g.highest {
		return g.top
	}
	if !(load > g.lowest) {
		return 0
	}
	return g.halve(func(_ int, middleLoad float64) int { return cmp.Compare(load, middleLoad) })
}

// halve descends by halves of the grid. towards decides where to go from a middle, up if it is positive, down if it is
// negative, and 0 ends the descent. halve returns that middle, or the lower end of the last half.
func (g *grid) halve(towards func(middle int, load float64) int) int {
	low, high, lowLoad, highLoad := 0, g.top, g.lowest, g.highest
	for high-low >= 2 {
		middle := (low + high) / 2
		ratio := (math.Log(highLoad) - math.Log(lowLoad)) * (float64(middle-low) / float64(high-low))
		load := lowLoad * math.Exp(ratio)
		switch sign := towards(middle, load); {
		case sign > 0:
			low, lowLoad = middle, load
		case sign < 0:
			high, highLoad = middle, load
		default:
			return middle
		}
	}
	return low
}

// nearest is the number of a load of the grid that was written down and read again.
func (g *grid) nearest(load float64) int {
	number := g.floor(load)
	if next := g.load(number + 1); math.Abs(next-load) < math.Abs(load-g.load(number)) {
		return g.clamp(number + 1)
	}
	return number
}

// width is how many steps a relative width has, rounded down.
func (g *grid) width(relative float64) int {
	return max(1, g.floor(g.lowest/(1-relative)))
}

func (g *grid) clamp(number int) int {
	return min(max(number, 0), g.top)
}

// middle splits the range between two loads that are further apart than width, so that as few halvings as possible
// reach the width. The upper part is a width times a power of two where that is not the smaller part.
func middle(low, high, width int) int {
	whole := high - low
	switch {
	case whole == 2*width:
		return low + width
	case whole < 2*width && width%2 == 0:
		return middle(low, high, width/2)
	case whole < 2*width:
		return low + whole/2
	}
	upper := width
	for whole > 4*upper {
		upper *= 2
	}
	// One of two splits, by upper below and by twice that above: the more even one.
	if upper*(whole-upper) > 2*upper*(whole-2*upper) {
		return low + upper
	}
	return low + whole - 2*upper
}
