package queue

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Turn is the line's answer to one test.
type Turn struct {
	// Waits says that it isn't the test's turn. Message says in a sentence why, and Brief in a few words.
	Waits          bool
	Message, Brief string
	// Due is when the turn may come by time alone. Zero means never.
	Due time.Time
	// Impossible says that the test waits for devices that the nodes don't have, and doesn't hold up other tests.
	Impossible bool
	// Wanted says that other tests wait for devices that this test has or is about to get.
	Wanted bool
	// Lacks is the device resource that it stands in line for. Empty means none.
	Lacks string
}

// Line is whose turn it is.
type Line struct {
	// Turns are by Claim.ID.
	Turns map[string]Turn
	// Order are the IDs of the claims that wait or may go now, in the order of the line.
	Order []string
	// Began is when each namespace last began a test with a device, as far as that is remembered.
	Began map[Tenant]time.Time
	// Due is the earliest Until of all. Zero means none.
	Due time.Time
}

// arrangement is a line in the making.
type arrangement struct {
	snapshot *Snapshot
	line     Line
	// claims are all, the oldest first.
	claims []*Claim
	// whole is what the nodes have, and free what no pod has or is about to get, by node. total is the sum of whole.
	// spare is the sum of free without the devices that are kept for the tests before, and negative where these want
	// more.
	whole, free  room
	total, spare Devices
	// possible says of each form of claims whether the whole nodes would have room for it.
	possible map[string]bool
	// holders are, by device, the tests that have or are about to get some. waiting is how many tests wait for one so
	// far, and lacking which ones any of these lacks.
	holders map[string][]holder
	waiting map[string]int
	lacking map[string]bool
	farBack map[placeFarBack]Turn
}

// holder is a test that has n devices, or is about to get them.
type holder struct {
	test   string
	n      int64
	placed bool
}

// Arrange says whose turn it is. A test goes when all its devices are free besides those that are kept for the tests
// before it. While it waits, as many devices as it wants are kept for it, so no test starves. A test behind it goes
// only with devices that are left over. If there are enough, but not on the nodes where its pods need them together, no
// test behind it gets any of these devices until nodes are empty enough.
func Arrange(snapshot Snapshot) Line {
	a := arrangementOf(&snapshot)
	for _, c := range a.claims {
		a.place(c)
	}
	for _, c := range a.inLine() {
		a.line.Order = append(a.line.Order, c.ID)
		a.setTurn(c, a.turn(c))
	}
	for _, c := range a.claims {
		if !c.waits() {
			a.setTurn(c, Turn{Wanted: c.Stage == Placing && a.isLacking(c)})
		}
	}
	return a.line
}

// arrangementOf takes stock of what nodes have, and what pods hold of it.
func arrangementOf(snapshot *Snapshot) *arrangement {
	a := &arrangement{
		snapshot: snapshot, line: Line{Turns: make(map[string]Turn, len(snapshot.Claims)),
			Began: recentBeginnings(snapshot)},
		claims: make([]*Claim, len(snapshot.Claims)), total: Devices{}, spare: Devices{}, possible: map[string]bool{},
		holders: map[string][]holder{}, waiting: map[string]int{}, lacking: map[string]bool{},
		farBack: map[placeFarBack]Turn{},
	}
	for i := range snapshot.Claims {
		if a.claims[i] = &snapshot.Claims[i]; a.claims[i].wants == nil {
			summed := Summed(snapshot.Claims[i])
			a.claims[i] = &summed
		}
	}
	slices.SortFunc(a.claims, older)
	numbers := make(map[string]int, len(snapshot.Nodes))
	nodes := slices.SortedFunc(slices.Values(snapshot.Nodes),
		func(x, y Node) int { return cmp.Compare(x.Name, y.Name) })
	for i, n := range nodes {
		numbers[n.Name] = i
		a.whole, a.free = append(a.whole, maps.Clone(n.Devices)), append(a.free, maps.Clone(n.Devices))
		a.total.add(n.Devices, 1)
	}
	for _, h := range a.holdings() {
		if n, usable := numbers[h.Node]; usable {
			a.free[n].add(h.Devices, -1)
			a.addHolder(h.Test, h.Devices, true)
		}
	}
	for _, free := range a.free {
		for name, n := range free {
			free[name] = max(n, 0) // a node that lost devices which pods have doesn't have less than none
		}
		a.spare.add(free, 1)
	}
	return a
}

// holdings are what pods with a node hold, by the age of their tests. Those of tests that claim nothing any more are
// last.
func (a *arrangement) holdings() (holdings []Holding) {
	for _, c := range a.claims {
		for _, p := range c.Pods {
			if p.Node != "" {
				holdings = append(holdings, Holding{c.Test, p.Node, p.Devices})
			}
		}
	}
	unclaimed := slices.Clone(a.snapshot.Holdings)
	slices.SortStableFunc(unclaimed, func(x, y Holding) int {
		return cmp.Or(cmp.Compare(x.Test, y.Test), cmp.Compare(x.Node, y.Node))
	})
	return append(holdings, unclaimed...)
}

// addHolder records who has devices, or is about to get them.
func (a *arrangement) addHolder(test string, devices Devices, placed bool) {
	for name, n := range devices {
		if n > 0 {
			a.holders[name] = append(a.holders[name], holder{test, n, placed})
		}
	}
}

// place keeps devices for pods that are being placed. If there is no room for them, no other test gets any of their
// devices. The test finds its places, or gives its pods back.
func (a *arrangement) place(c *Claim) {
	if c.Stage != Placing {
		return
	}
	found := a.free.reserve(c.placeless)
	for _, devices := range c.placeless {
		a.spare.add(devices, -1)
		a.addHolder(c.Test, devices, false)
		if !found {
			a.reserveAll(devices)
		}
	}
}

// reserveAll leaves none of these devices to the tests behind.
func (a *arrangement) reserveAll(devices Devices) {
	for name := range devices {
		a.spare[name] = min(a.spare[name], 0)
	}
}

// turn is the turn of a test without pods.
func (a *arrangement) turn(c *Claim) Turn {
	switch {
	case !a.isPossible(c):
		return Turn{Waits: true, Impossible: true, Message: neverWords(c)}
	case len(c.wants) == 0:
		return Turn{}
	case c.yields(a.snapshot.Time):
		return Turn{Waits: true, Message: yieldWords(c), Brief: yieldBrief, Due: c.RetryAt}
	case c.Stage == Stuck: // once nothing else keeps it, it is Waiting
		return JoiningTurn
	}
	lacks := a.spare.lacks(c.wants)
	if lacks == "" && a.free.reserve(c.placeless) {
		a.spare.add(c.wants, -1)
		a.addHolder(c.Test, c.wants, false)
		return Turn{}
	}
	turn := a.waitingTurn(c, lacks)
	for name, n := range c.wants {
		a.lacking[name] = a.lacking[name] || a.spare[name] < n || lacks == ""
		a.waiting[name]++
	}
	a.spare.add(c.wants, -1)
	if lacks == "" {
		a.reserveAll(c.wants)
	}
	return turn
}

// isPossible says whether a test could have all that it wants if it had all nodes to itself.
func (a *arrangement) isPossible(c *Claim) bool {
	possible, cached := a.possible[c.form]
	if !cached {
		s := search{room: a.whole, pods: c.placeless, nodeOf: make([]int, len(c.placeless)), stepsLeft: maxSteps}
		if possible = s.place(0); possible {
			s.release()
		}
		possible = possible || s.stepsLeft == 0
		a.possible[c.form] = possible
	}
	return possible
}

// isLacking says whether tests that wait lack any of the devices that a test has or is about to get.
func (a *arrangement) isLacking(c *Claim) bool {
	for name := range c.wants {
		if a.lacking[name] {
			return true
		}
	}
	return false
}

func (a *arrangement) setTurn(c *Claim, t Turn) {
	a.line.Turns[c.ID] = t
	if !t.Due.IsZero() && (a.line.Due.IsZero() || t.Due.Before(a.line.Due)) {
		a.line.Due = t.Due
	}
}
