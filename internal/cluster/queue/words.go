package queue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// mostExact is the last place in line that is reported exactly. Tests further back get a rounded place: otherwise each test that ends would change the status of
// every waiting test.
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

// waits is the turn of a waiting test.
func (a *arrangement) waits(c *Claim, sh *shape, l lack) Turn {
	r := l.resource
	if r < 0 || r >= a.resources.devices { // the line is that for the first device that it wants
		r = sh.first
	}
	turn := Turn{Waits: true, Lacks: a.resources.names[r]}
	place := 1
	for _, w := range a.queues {
		if w.nodes.meets(sh.ground) {
			place += w.want[r]
		}
	}
	if place > mostExact {
		return a.farBack(r, mark(place-1))
	}
	turn.Brief = fmt.Sprintf("%s in line for %s", ordinal(place), turn.Lacks)
	words := []string{a.reason(sh, l, r), a.holdersOf(c, sh, r)}
	words = slices.DeleteFunc(words, func(s string) bool { return s == "" })
	if len(words) == 0 {
		words = append(words, fmt.Sprintf("it wants %d of %d, and those before it come first", sh.wants(r), a.on(sh, r).total))
	}
	turn.Message = turn.Brief + ": " + strings.Join(words, "; ")
	return turn
}

// farBack is the turn of all tests that are so far back in the line for a resource.
func (a *arrangement) farBack(r, m int) Turn {
	at := [2]int{r, m}
	turn, told := a.back[at]
	if !told {
		name := a.resources.names[r]
		turn = Turn{
			Waits: true, Lacks: name, Brief: fmt.Sprintf("behind %d others for %s", m, name),
			Message: fmt.Sprintf("in line for %s, behind %d others at least: namespaces take turns, each with its oldest LoadTest", name, m),
		}
		a.back[at] = turn
	}
	return turn
}

// reason says why a test waits although devices are free; empty: too few are.
func (a *arrangement) reason(sh *shape, l lack, r int) string {
	there := a.on(sh, r)
	switch {
	case l.crowded:
		return fmt.Sprintf("%d of %d are free, and not on nodes that have the CPUs, memory and huge pages, too, that its pods need with them", there.left, there.total)
	case l.resource < 0:
		return fmt.Sprintf("%d of %d are free, and not on the nodes where its pods need them together", there.left, there.total)
	case l.resource >= a.resources.devices && l.kept:
		return fmt.Sprintf("those before it are to have what is free of %s on the nodes where its pods may be put", a.resources.names[l.resource])
	case l.resource >= a.resources.devices:
		return fmt.Sprintf("%d of %d are free, and not enough %s on the nodes that have them", there.left, there.total, a.resources.names[l.resource])
	case l.kept && there.left > 0 && sh.narrow:
		return "those before it are to have what is free on the nodes where its pods may be put"
	}
	return ""
}

// stock is how much of a resource there is on the nodes that a test's pods may be on, and how much of that is left for it.
type stock struct{ total, left int64 }

func (a *arrangement) on(sh *shape, r int) (s stock) {
	for n := range a.names {
		if sh.ground.has(n) {
			s.total += a.capacity[n][r]
			s.left += a.free[n][r]
		}
	}
	for _, p := range a.promises {
		if p.on.meets(sh.ground) {
			s.left -= p.wants[r]
		}
	}
	if g := a.sets[sh.ground.key()]; g != nil {
		s.left -= min(a.takenWithin(g, r)+g.own[r], g.free[r])
	} else {
		s.left -= a.claimedWithin(sh.ground, nil, r)
	}
	s.left = max(s.left, 0)
	return s
}

// wants is how much of a resource the pods without a node want together.
func (sh *shape) wants(r int) (n int64) {
	for _, d := range sh.demands {
		n += d.wants[r]
	}
	return n
}

// strangers stands for the tests of other namespaces, which aren't named.
const strangers = ""

// holdersOf says which tests hold how many of a resource on a test's nodes, without the names of other namespaces' tests.
func (a *arrangement) holdersOf(c *Claim, sh *shape, r int) string {
	type who struct {
		test   string
		placed bool
	}
	var all []who
	n := map[who]int64{}
	for _, h := range a.holders[r] {
		if on := h.on; on != nil && !on.meets(sh.ground) || on == nil && !sh.ground.has(h.node) {
			continue
		}
		w := who{test: h.test, placed: h.on == nil}
		if namespaceOf(h.test) != namespaceOf(c.Test) {
			w.test = strangers
		}
		if n[w] == 0 {
			all = append(all, w)
		}
		n[w] += h.n
	}
	slices.SortStableFunc(all, func(x, y who) int { return cmp.Compare(oneIf(x.test == strangers), oneIf(y.test == strangers)) })
	const most = 4
	var words []string
	for i, w := range all {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(all)-most))
			break
		}
		words = append(words, holdWords(w.test, w.placed, n[w]))
		if i == 0 {
			words[0] += fmt.Sprintf(" of %d", a.on(sh, r).total)
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

func namespaceOf(test string) string {
	namespace, _, _ := strings.Cut(test, "/")
	return namespace
}

// What is said of a test beyond its namespace's bound.
var (
	beyondBrief = "behind others of its namespace"
	beyondWords = fmt.Sprintf("older LoadTests of its namespace wait for places on %d other choices of nodes, the most that stand in line at a time: it joins them when one is gone; "+
		"give LoadTests the same node selectors and affinities where they may run on the same nodes", mostGrounds)
)

const yieldBrief = "lets others go first"

func (a *arrangement) yieldWords(c *Claim) string {
	return fmt.Sprintf("its pods were given back at %s, as not all of them could be placed or started: it tries again at %s, or as soon as a LoadTest lets devices of %s go; "+
		"until then others may use what is free (other people's pods hold devices too: kubectl describe node shows them)",
		c.GivenBack.UTC().Format(time.TimeOnly), c.RetryAt.UTC().Format(time.TimeOnly), strings.Join(c.devices(), ", "))
}

func (a *arrangement) neverWords(c *Claim, sh *shape) string {
	if p := sh.homeless(c); p != nil {
		return fmt.Sprintf("no node that is ready and takes pods is left for pod %s by its node selector, affinity and tolerations, and by what refused a pod of the test: "+
			"label or untaint a node for it, or correct them in a new LoadTest%s; nobody waits for it", p.Name, c.again())
	}
	var where, besides, apart string
	if sh.narrow {
		where = " of those that its node selectors, affinities and tolerations leave, without those that refused a pod of it,"
	}
	if sh.crowded {
		besides = ", with the CPUs, memory and huge pages that they need there, too"
	}
	if slices.ContainsFunc(c.Pods, func(p Pod) bool { return len(p.Apart) > 0 }) {
		apart = ", with those apart that can't share a node (generator.placement.separateNodes; both ends of a direction with layout PerLink)"
	}
	return fmt.Sprintf("no choice of nodes%s has room for its pods' devices of %s side by side%s%s: add devices or nodes, or lower generator.replicas in a new LoadTest%s; nobody waits for it",
		where, strings.Join(c.devices(), ", "), besides, apart, c.again())
}

// again says how to have nodes that refused a pod tried again; empty: none did.
func (c *Claim) again() string {
	if len(c.Avoid) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s may be tried again after spec.suspend was set to true and to false again", strings.Join(c.Avoid, ", "))
}

// homeless is the first pod that may be on no node at all; nil: there is none.
func (sh *shape) homeless(c *Claim) *Pod {
	kinds := sh.kinds // those of the pods without a node, in the claim's order
	for i := range c.Pods {
		if c.Pods[i].Node != "" {
			continue
		}
		if kinds[0].nowhere {
			return &c.Pods[i]
		}
		kinds = kinds[1:]
	}
	return nil
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
