package queue

import (
	"cmp"
	"slices"
	"time"
)

// Turn is the line's answer to one test.
type Turn struct {
	// Waits: it isn't its turn; Message says in a sentence why, and Brief in a few words.
	Waits          bool
	Message, Brief string
	// Until is when the turn may come by time alone; zero: never.
	Until time.Time
	// Impossible: it waits for devices that the nodes don't have, and doesn't hold up other tests.
	Impossible bool
	// Wanted: other tests wait for devices that this test has or is about to get.
	Wanted bool
	// Lacks is the device resource that it stands in line for; empty: none.
	Lacks string
}

// Line is whose turn it is.
type Line struct {
	// Turns are by Claim.ID.
	Turns map[string]Turn
	// Order are the IDs of the claims that wait or may go now, in the order of the line.
	Order []string
	// Due is the earliest Until of all; zero: none.
	Due time.Time
}

// Arrange says whose turn it is.
//
//	nodes − what pods have − what is being placed ─▶ free
//	first test in line (inLine): all that it wants is free where it may be? ─▶ its turn
//	        │ in any case what it wants is kept there from those behind it: free is below nothing, where it is more than there is
//	        ▼
//	next test in line: the same, with what is left
//
// Devices that are free, but not together on one node as a test's pods need them, are kept for that test: its nodes must become empty enough.
//
// The scheduler doesn't know the line, and puts a pod on any node that fits. So a test whose pods fit on nodes that an earlier test waits for goes first only if it takes
// nothing from that test on any of these nodes; otherwise it waits, too.
func Arrange(lab Lab) Line {
	a := arrangementOf(&lab)
	claims := make([]*Claim, len(lab.Claims))
	for i := range lab.Claims {
		claims[i] = &lab.Claims[i]
	}
	slices.SortFunc(claims, older)
	a.hold(claims)
	a.place(claims)
	inLine, beyond := withinBounds(claims)
	for _, c := range a.inLine(inLine) {
		a.line.Order = append(a.line.Order, c.ID)
		a.say(c, a.turn(c))
	}
	for _, c := range beyond {
		a.line.Order = append(a.line.Order, c.ID)
		a.say(c, Turn{Waits: true, Message: beyondWords, Brief: beyondBrief})
	}
	for _, c := range claims {
		if c.Stage == Placing || c.Stage == Settled {
			a.say(c, Turn{Wanted: c.Stage == Placing && a.wanted(c)})
		}
	}
	return a.line
}

// mostGrounds is how many choices of nodes the waiting tests of one namespace may name and stand in line with. What is left for a test depends on every other choice of nodes in the line: the work grows
// with the third power of their number, and each test's node selector may name another choice.
const mostGrounds = 32

// withinBounds are the claims, oldest first, that stand in line, and the waiting ones beyond the bound of their namespace, which stand behind until older ones are gone.
func withinBounds(claims []*Claim) (inLine, beyond []*Claim) {
	grounds := map[string]map[string]bool{}
	for _, c := range claims {
		if c.Stage != Waiting && c.Stage != Stuck {
			inLine = append(inLine, c)
			continue
		}
		namespace, ground := namespaceOf(c.Test), c.ground()
		of := grounds[namespace]
		if of == nil {
			of = map[string]bool{}
			grounds[namespace] = of
		}
		if !of[ground] && len(of) == mostGrounds {
			beyond = append(beyond, c)
			continue
		}
		of[ground] = true
		inLine = append(inLine, c)
	}
	return inLine, beyond
}

// arrangement is a line in the making.
type arrangement struct {
	lab       *Lab
	line      Line
	resources directory
	// names are the nodes', in order; numbers is the way back.
	names   []string
	numbers map[string]int
	// By node: capacity is what it has; free what no pod holds; room the free part that no pod which is being placed is expected to take.
	capacity, free, room []amounts
	// holders are, by device resource, the tests that have or are about to get devices.
	holders [][]holder
	shapes  map[string]*shape
	// sets are all nodesets that were asked for; order has the same, in the order in which they were.
	sets  map[string]*nodeset
	order []*nodeset
	// draws counts, by resource, how often claims changed what is left; from 1.
	draws    []int
	promises []promise
	// freed are the Stuck tests that may go on now.
	freed []*shape
	// queues are the waiting tests, by the nodes that they wait for; back are the Turns of tests far back, by resource and rounded place.
	queues map[string]*waiters
	back   map[[2]int]Turn
}

// arrangementOf is an arrangement with the nodes' capacity.
func arrangementOf(lab *Lab) *arrangement {
	a := &arrangement{
		lab: lab, resources: directoryOf(lab.Nodes), numbers: make(map[string]int, len(lab.Nodes)), shapes: map[string]*shape{}, sets: map[string]*nodeset{},
		queues: map[string]*waiters{}, back: map[[2]int]Turn{}, line: Line{Turns: make(map[string]Turn, len(lab.Claims))},
	}
	a.count()
	return a
}

// holder is a test that has n devices on a node, or is about to get them on one of several nodes.
type holder struct {
	test string
	n    int64
	// node is where it has them; on, if it isn't nil, are the nodes on one of which it gets them.
	node int
	on   bitset
}

// waiters are the tests that wait for places on the same nodes: by resource, how many want it, and how many of these lack it.
type waiters struct {
	nodes         bitset
	want, lacking []int
}

// count takes stock of the nodes.
func (a *arrangement) count() {
	nodes := slices.Clone(a.lab.Nodes)
	slices.SortFunc(nodes, func(x, y Node) int { return cmp.Compare(x.Name, y.Name) })
	for i, n := range nodes {
		a.names, a.numbers[n.Name] = append(a.names, n.Name), i
		c := a.resources.capacity(n)
		a.capacity, a.free = append(a.capacity, c), append(a.free, slices.Clone(c))
	}
	a.holders = make([][]holder, a.resources.devices)
	a.draws = slices.Repeat([]int{1}, len(a.resources.names))
}

// hold subtracts what pods have.
func (a *arrangement) hold(claims []*Claim) {
	for _, c := range claims {
		for _, p := range c.Pods {
			if p.Node != "" {
				a.has(Holding{c.Test, p.Node, p.Resources})
			}
		}
	}
	held := slices.Clone(a.lab.Held)
	slices.SortStableFunc(held, compareHoldings)
	for _, h := range held {
		a.has(h)
	}
	a.room = make([]amounts, len(a.free))
	for n, f := range a.free {
		for r := range f {
			f[r] = max(f[r], 0) // a node that lost devices which pods have: that doesn't reduce what other nodes have
		}
		a.room[n] = slices.Clone(f)
	}
}

// has counts what a pod holds as taken on its node. On a node that isn't usable nothing is counted.
func (a *arrangement) has(h Holding) {
	node, usable := a.numbers[h.Node]
	if !usable {
		return
	}
	for name, n := range h.Resources {
		if r, known := a.resources.numbers[name]; known {
			a.free[node][r] -= n
			if r < a.resources.devices {
				a.note(r, holder{test: h.Test, n: n, node: node})
			}
		}
	}
}

func (a *arrangement) note(resource int, h holder) {
	if h.n > 0 {
		a.holders[resource] = append(a.holders[resource], h)
	}
}

// place reserves room for pods that are being placed. If there is none, no other test gets any of what they want: the test finds its places, or
// gives its pods back.
func (a *arrangement) place(claims []*Claim) {
	for _, c := range claims {
		if c.Stage == Placing && c.placeless() {
			sh := a.shapeOf(c)
			a.seat(c, sh)
			a.promise(c, sh)
		}
	}
}

// wanted says whether other tests lack devices that a test has or is about to get.
func (a *arrangement) wanted(c *Claim) bool {
	ground := newBitset(len(a.names))
	for _, p := range c.Pods {
		if n, usable := a.numbers[p.Node]; usable {
			ground.put(n)
		}
	}
	if c.placeless() {
		ground.join(a.shapeOf(c).ground)
	}
	for _, w := range a.queues {
		if w.nodes.meets(ground) && slices.ContainsFunc(c.Pods, func(p Pod) bool { return a.lacked(w, p.Resources) }) {
			return true
		}
	}
	return false
}

// lacked says whether any of the resources is lacked by tests that wait.
func (a *arrangement) lacked(w *waiters, of Resources) bool {
	for name, n := range of {
		if r, known := a.resources.numbers[name]; known && n > 0 && w.lacking[r] > 0 {
			return true
		}
	}
	return false
}

func (a *arrangement) say(c *Claim, t Turn) {
	a.line.Turns[c.ID] = t
	if !t.Until.IsZero() && (a.line.Due.IsZero() || t.Until.Before(a.line.Due)) {
		a.line.Due = t.Until
	}
}
