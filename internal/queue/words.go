package queue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// mostExact is up to which place in line the place is told exactly. Who stands further back is told of a round number that is passed by:
// else each test that ends would change what is said of all that wait.
const mostExact = 10

// marks are the round numbers, each about twice the one before.
func marks() []int { return []int{10, 20, 50, 100, 200, 500, 1000, 2000, 5000} }

// mark is the greatest round number that isn't above n.
func mark(n int) (m int) {
	for _, m = range slices.Backward(marks()) {
		if m <= n {
			return m
		}
	}
	return 0
}

// waits is the turn of a test in line for a resource; empty: there is enough of all, and not side by side.
func (a *arrangement) waits(lack string, want Devices) Turn {
	apart := lack == ""
	if apart {
		lack = slices.Min(slices.Collect(maps.Keys(want)))
	}
	a.line.Waiting[lack]++
	place := a.before[lack] + 1
	if place > mostExact {
		m := mark(place - 1)
		return Turn{
			Waits: true, Brief: fmt.Sprintf("behind %d others for %s", m, lack),
			Message: fmt.Sprintf("in line for %s, behind %d others at least: LoadTests are placed oldest first", lack, m),
		}
	}
	brief := fmt.Sprintf("%s in line for %s", ordinal(place), lack)
	var words []string
	if apart {
		words = append(words, fmt.Sprintf("%d of %d are free, and not on the nodes where its pods need them together", a.free[lack], a.total[lack]))
	}
	if who := a.holdersOf(lack); who != "" {
		words = append(words, who)
	}
	if len(words) == 0 {
		words = append(words, fmt.Sprintf("it wants %d of %d, and older ones come first", want[lack], a.total[lack]))
	}
	return Turn{Waits: true, Brief: brief, Message: brief + ": " + strings.Join(words, "; ")}
}

// holdersOf says who has how many of a resource.
func (a *arrangement) holdersOf(name string) string {
	const most = 4
	var words []string
	for i, h := range a.holders[name] {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(a.holders[name])-most))
			break
		}
		verb := "holds"
		if !h.placed {
			verb = "is about to get"
		}
		word := fmt.Sprintf("%s %s %d", h.test, verb, h.n)
		if i == 0 {
			word += fmt.Sprintf(" of %d", a.total[name])
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

const yieldBrief = "lets others go first"

func (a *arrangement) yieldWords(c *Claim) string {
	return fmt.Sprintf("its pods were given back at %s, as not all of them found nodes: it tries again at %s, or as soon as a LoadTest lets devices of %s go; "+
		"until then others may use what is free (other people's pods hold devices too: kubectl describe node shows them)",
		c.GivenBack.UTC().Format(time.TimeOnly), c.RetryAt.UTC().Format(time.TimeOnly), strings.Join(c.resources(), ", "))
}

func (a *arrangement) neverWords(c *Claim) string {
	var apart string
	if c.Apart {
		apart = ", with the generators on other nodes than the device (generator.placement.separateNodes)"
	}
	return fmt.Sprintf("no choice of nodes has room for its pods' devices of %s side by side%s: add devices or nodes, or lower generator.replicas in a new LoadTest; nobody waits for it",
		strings.Join(c.resources(), ", "), apart)
}

// ordinal is "1st", "2nd" and so on.
func ordinal(n int) string {
	suffix := "th"
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		suffix = "st"
	case n%10 == 2:
		suffix = "nd"
	case n%10 == 3:
		suffix = "rd"
	}
	return fmt.Sprint(n) + suffix
}

func compareHoldings(a, b Holding) int {
	return cmp.Or(cmp.Compare(a.Test, b.Test), cmp.Compare(a.Node, b.Node))
}
