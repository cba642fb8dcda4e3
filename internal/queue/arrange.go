package queue

import (
	"slices"
	"time"
)

// Turn is what a line says to one test.
type Turn struct {
	// Waits: it isn't its turn; Message says in a sentence why, and Brief in a few words.
	Waits          bool
	Message, Brief string
	// Until is when the turn may come by time alone; zero: never.
	Until time.Time
	// Impossible: it waits for what the nodes don't have; nobody waits for it.
	Impossible bool
	// Wanted: others wait for devices of the resources that this test has or gets.
	Wanted bool
}

// Line is whose turn it is.
type Line struct {
	// Turns are by Claim.ID.
	Turns map[string]Turn
	// Waiting is how many wait for devices of a resource: each test counts with the first one that it lacks.
	Waiting map[string]int
	// Due is the earliest Until of all; zero: none.
	Due time.Time
}

// Arrange says whose turn it is.
//
//	nodes − what pods have − what is being placed ─▶ free
//	oldest waiting test: all that it wants is free? ─▶ its turn
//	        │ in any case free is less what it wants: below nothing, where it is more than there is
//	        ▼
//	next waiting test: the same, with what is left
//
// What is free in all and not side by side, as pods need it, goes to nobody until it is: the older test's nodes must become empty enough.
func Arrange(lab Lab) Line {
	a := &arrangement{
		lab: &lab, whole: map[string]bool{}, closed: map[string]bool{}, lacking: map[string]int{}, before: map[string]int{},
		line: Line{Turns: make(map[string]Turn, len(lab.Claims)), Waiting: map[string]int{}},
	}
	claims := make([]*Claim, len(lab.Claims))
	for i := range lab.Claims {
		claims[i] = &lab.Claims[i]
	}
	slices.SortFunc(claims, older)
	a.hold(claims)
	a.place(claims)
	for _, c := range claims {
		if c.Stage == Waiting || c.Stage == Stuck {
			a.say(c, a.turn(c))
		}
	}
	for _, c := range claims {
		if c.Stage == Placing || c.Stage == Settled {
			wanted := c.Stage == Placing && slices.ContainsFunc(c.resources(), func(name string) bool { return a.lacking[name] > 0 })
			a.say(c, Turn{Wanted: wanted})
		}
	}
	return a.line
}

// arrangement is a line in the making.
type arrangement struct {
	lab  *Lab
	line Line
	room *room
	// free is what is left for who comes next: it may be below nothing.
	free Devices
	// total is what all nodes have, holders who has or gets it; places tells where in holders somebody is.
	total   Devices
	holders map[string][]holder
	places  map[place]int
	// whole tells by shape whether a claim could be placed if it had all nodes to itself.
	whole map[string]bool
	// closed are resources of which an older test waits for enough side by side.
	closed map[string]bool
	// lacking is how many lack a resource; before how many of those are in line for it.
	lacking, before map[string]int
}

// holder is a test that has, or is about to get, so many devices.
type holder struct {
	test   string
	n      int64
	placed bool
}

// place is where to look for a holder of a resource.
type place struct {
	resource, test string
	placed         bool
}

// hold takes what pods have.
func (a *arrangement) hold(claims []*Claim) {
	a.room = roomOf(a.lab.Nodes)
	a.total, a.holders, a.places = a.room.together(), map[string][]holder{}, map[place]int{}
	for _, c := range claims {
		for _, p := range c.Pods {
			if p.Node != "" {
				a.has(Holding{c.Test, p.Node, p.Devices})
			}
		}
	}
	held := slices.Clone(a.lab.Held)
	slices.SortStableFunc(held, func(a, b Holding) int { return compareHoldings(a, b) })
	for _, h := range held {
		a.has(h)
	}
}

func (a *arrangement) has(h Holding) {
	if a.room.take(h.Node, h.Devices) {
		a.note(h.Test, h.Devices, true)
	}
}

// note adds to what a test has or gets.
func (a *arrangement) note(test string, d Devices, placed bool) {
	for name, n := range d {
		list, at := a.holders[name], place{name, test, placed}
		if i, known := a.places[at]; known {
			list[i].n += n
			continue
		}
		a.places[at] = len(list)
		a.holders[name] = append(list, holder{test, n, placed})
	}
}

// place reserves what is being placed at the moment. Where there is no room for it nobody else gets any: it finds its places, or gives back
// what it has.
func (a *arrangement) place(claims []*Claim) {
	a.free = a.room.together()
	for _, c := range claims {
		if c.Stage != Placing {
			continue
		}
		want := c.wants()
		if a.free.covers(want) {
			a.seat(c, want)
		}
		a.grant(c, want)
	}
}

// grant keeps for a test what it is about to get.
func (a *arrangement) grant(c *Claim, want Devices) {
	a.note(c.Test, want, false)
	a.free.add(want, -1)
}

// seat finds places for a claim's pods. Where there are none side by side, nobody who comes later gets any of what it wants: else the gaps
// between others would never grow together.
func (a *arrangement) seat(c *Claim, want Devices) bool {
	s, answer := a.room.place(c)
	if answer == fits {
		return true
	}
	s.undo()
	for name := range want {
		a.closed[name] = true
	}
	return false
}

func (a *arrangement) say(c *Claim, t Turn) {
	a.line.Turns[c.ID] = t
	if !t.Until.IsZero() && (a.line.Due.IsZero() || t.Until.Before(a.line.Due)) {
		a.line.Due = t.Until
	}
}
