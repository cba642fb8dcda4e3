package queue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// JoiningTurn is the turn of a test that has no place in line yet.
var JoiningTurn = Turn{
	Waits: true, Brief: "joins the line", Message: "it joins the line of tests that want the same devices in a moment",
}

// maxExactPlace is the last place in line that is reported exactly. Tests further back get a rounded place.
// Otherwise each test that ends would change the status of every waiting test.
const maxExactPlace = 10

// rounded is the greatest of the round numbers, each about twice the one before, that isn't above n.
func rounded(n int) int {
	round := maxExactPlace
	for _, next := range []int{20, 50, 100, 200, 500, 1000, 2000, 5000} {
		if next <= n {
			round = next
		}
	}
	return round
}

// waitingTurn is the turn of a test that waits for the device that it lacks. Empty means that it lacks none,
// and there are no nodes where its pods have them together.
func (a *arrangement) waitingTurn(c *Claim, lacks string) Turn {
	scattered := lacks == ""
	if scattered {
		lacks = c.devices()[0]
	}
	turn, place := Turn{Waits: true, Lacks: lacks}, a.waiting[lacks]+1
	if place > maxExactPlace {
		return a.turnFarBack(lacks, rounded(place-1))
	}
	turn.Brief = fmt.Sprintf("%s in line for %s", ordinal(place), lacks)
	var words []string
	if scattered {
		words = append(words, fmt.Sprintf("%d of %d are free, and not on the nodes where its pods need them together",
			a.spare[lacks], a.total[lacks]))
	}
	if holders := a.holdersWords(c, lacks); holders != "" {
		words = append(words, holders)
	} else if !scattered {
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
	turn, cached := a.farBack[key]
	if !cached {
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
	type holderKey struct {
		test   string
		placed bool
	}
	var keys []holderKey
	n := map[holderKey]int64{}
	for _, h := range a.holders[device] {
		w := holderKey{h.test, h.placed}
		if namespaceOf(h.test) != c.namespace() {
			w.test = strangers
		}
		if n[w] == 0 {
			keys = append(keys, w)
		}
		n[w] += h.n
	}
	slices.SortStableFunc(keys, func(x, y holderKey) int {
		return cmp.Compare(oneIf(x.test == strangers), oneIf(y.test == strangers))
	})
	const limit = 4
	var words []string
	for i, w := range keys {
		if i == limit {
			words = append(words, fmt.Sprintf("and %d more", len(keys)-limit))
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
	subject, verb := test, [2]string{"is about to get", "holds"}
	if test == strangers {
		subject, verb = "tests of other namespaces", [2]string{"are about to get", "hold"}
	}
	return fmt.Sprintf("%s %s %d", subject, verb[oneIf(placed)], n)
}

func oneIf(condition bool) int {
	if condition {
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
