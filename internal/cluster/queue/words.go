package queue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Joins is the turn of a test that has no place in line yet.
var Joins = Turn{
	Waits: true, Brief: "joins the line", Message: "it joins the line of tests that want the same devices in a moment",
}

// mostExact is the last place in line that is reported exactly. Tests further back get a rounded place: otherwise each
// test that ends would change the status of every waiting test.
const mostExact = 10

// rounded is the greatest of the round numbers, each about twice the one before, that isn't above n.
func rounded(n int) int {
	round := mostExact
	for _, next := range []int{20, 50, 100, 200, 500, 1000, 2000, 5000} {
		if next <= n {
			round = next
		}
	}
	return round
}

// waits is the turn of a test that waits for the device that it lacks; empty: it lacks none, and there are no nodes
// where its pods have them together.
func (a *arrangement) waits(c *Claim, lacks string) Turn {
	apart := lacks == ""
	if apart {
		lacks = c.devices()[0]
	}
	turn, place := Turn{Waits: true, Lacks: lacks}, a.waiting[lacks]+1
	if place > mostExact {
		return a.turnFarBack(lacks, rounded(place-1))
	}
	turn.Brief = fmt.Sprintf("%s in line for %s", ordinal(place), lacks)
	var words []string
	if apart {
		words = append(words, fmt.Sprintf("%d of %d are free, and not on the nodes where its pods need them together",
			a.spare[lacks], a.total[lacks]))
	}
	if held := a.holdersWords(c, lacks); held != "" {
		words = append(words, held)
	} else if !apart {
		words = append(words, fmt.Sprintf("it wants %d of %d, and those before it come first",
			c.wants[lacks], a.total[lacks]))
	}
	turn.Message = turn.Brief + ": " + strings.Join(words, "; ")
	return turn
}

// placeFarBack is a rounded place in line for a device.
type placeFarBack struct {
	device string
	behind int
}

// turnFarBack is the turn of all tests that wait for a device behind so many others, and more.
func (a *arrangement) turnFarBack(device string, behind int) Turn {
	key := placeFarBack{device, behind}
	turn, known := a.farBack[key]
	if !known {
		turn = Turn{
			Waits: true, Lacks: device, Brief: fmt.Sprintf("behind %d others for %s", behind, device),
			Message: fmt.Sprintf("in line for %s, behind %d others at least: namespaces take turns, "+
				"each with its oldest LoadTest", device, behind),
		}
		a.farBack[key] = turn
	}
	return turn
}

// strangers stands for the tests of other namespaces, which aren't named.
const strangers = ""

// holdersWords says which tests hold how many of a device, without the names of other namespaces' tests.
func (a *arrangement) holdersWords(c *Claim, device string) string {
	type who struct {
		test   string
		placed bool
	}
	var all []who
	n := map[who]int64{}
	for _, h := range a.holders[device] {
		w := who{h.test, h.placed}
		if namespaceOf(h.test) != c.namespace() {
			w.test = strangers
		}
		if n[w] == 0 {
			all = append(all, w)
		}
		n[w] += h.n
	}
	slices.SortStableFunc(all, func(x, y who) int {
		return cmp.Compare(oneIf(x.test == strangers), oneIf(y.test == strangers))
	})
	const most = 4
	var words []string
	for i, w := range all {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(all)-most))
			break
		}
		words = append(words, holdWords(w.test, w.placed, n[w]))
		if i == 0 {
			words[0] += fmt.Sprintf(" of %d", a.total[device])
		}
	}
	return strings.Join(words, ", ")
}

func holdWords(test string, placed bool, n int64) string {
	who, verb := test, [2]string{"is about to get", "holds"}
	if test == strangers {
		who, verb = "tests of other namespaces", [2]string{"are about to get", "hold"}
	}
	return fmt.Sprintf("%s %s %d", who, verb[oneIf(placed)], n)
}

func oneIf(so bool) int {
	if so {
		return 1
	}
	return 0
}

const yieldBrief = "lets others go first"

func yieldWords(c *Claim) string {
	return fmt.Sprintf("its pods were given back at %s, as not all of them could be placed or started: "+
		"it tries again at %s; until then others may use what is free "+
		"(other people's pods hold devices too: kubectl describe node shows them)",
		c.GivenBack.UTC().Format(time.TimeOnly), c.RetryAt.UTC().Format(time.TimeOnly))
}

func neverWords(c *Claim) string {
	return fmt.Sprintf("the nodes that are ready and take pods don't have its pods' devices of %s, "+
		"those of each pod on one node: add devices or nodes, or lower generator.replicas in a new LoadTest; "+
		"nobody waits for it", strings.Join(c.devices(), ", "))
}

// ordinal is "1st", "2nd" and so on, up to mostExact.
func ordinal(n int) string {
	suffix := "th"
	if n <= 3 {
		suffix = []string{"st", "nd", "rd"}[n-1]
	}
	return fmt.Sprint(n) + suffix
}
