package queue

import (
	"cmp"
	"slices"
)

// mostSteps bounds the search for places: far more than a real test takes, and a fraction of a millisecond.
const mostSteps = 4000

// fit says whether pods find places together.
type fit int

const (
	fits fit = iota
	fitsNot
	// fitUnknown: the search was given up.
	fitUnknown
)

// search looks for places for all pods of a claim.
type search struct {
	// room is what is left on each node; only the resources below upTo count.
	room []amounts
	upTo int
	// kinds are the pods' kinds; nil for a pod that has a node.
	kinds []*kind
	// apart are by pod those that it can't share a node with; nil: there are none.
	apart [][]int
	// at is by pod the node that it is on; -1: none.
	at []int
	// todo are the pods without a node, in the order in which they are tried.
	todo []int
	// steps is how many steps the search may still take.
	steps int
}

// empty is the room of all nodes if no pod held anything.
func (a *arrangement) empty() []amounts {
	room := make([]amounts, len(a.capacity))
	for n, c := range a.capacity {
		room[n] = slices.Clone(c)
	}
	return room
}

// fits says whether the claim's pods without a node find places, of the resources up to a number, and leaves the room as it is.
func (a *arrangement) fits(room []amounts, c *Claim, sh *shape, upTo int) fit {
	s := a.searchFor(room, c, sh, upTo)
	answer := s.run()
	s.undo()
	return answer
}

func (a *arrangement) searchFor(room []amounts, c *Claim, sh *shape, upTo int) *search {
	s := &search{room: room, upTo: upTo, steps: mostSteps, kinds: make([]*kind, len(c.Pods)), at: make([]int, len(c.Pods))}
	next := 0
	for i, p := range c.Pods {
		s.at[i] = -1
		if p.Node == "" {
			s.kinds[i] = sh.kinds[next]
			s.todo = append(s.todo, i)
			next++
		} else if n, usable := a.numbers[p.Node]; usable {
			s.at[i] = n
		}
	}
	s.part(c)
	size := func(i int) (n int64) {
		for _, amount := range s.kinds[i].wants[:a.resources.devices] {
			n += amount
		}
		return n
	}
	slices.SortStableFunc(s.todo, func(i, j int) int { // pods with the fewest nodes to choose from first, then the largest
		return cmp.Or(cmp.Compare(s.kinds[i].may.size, s.kinds[j].may.size), cmp.Compare(size(j), size(i)))
	})
	return s
}

// part records which pods can't share a node, in both directions.
func (s *search) part(c *Claim) {
	number := map[string]int{}
	for i, p := range c.Pods {
		if len(p.Apart) > 0 && s.apart == nil {
			s.apart = make([][]int, len(c.Pods))
		}
		number[p.Name] = i
	}
	for i, p := range c.Pods {
		for _, name := range p.Apart {
			if j, there := number[name]; there && i != j {
				s.apart[i], s.apart[j] = append(s.apart[i], j), append(s.apart[j], i)
			}
		}
	}
	for i := range s.apart {
		slices.Sort(s.apart[i])
		s.apart[i] = slices.Compact(s.apart[i])
	}
}

// run looks for places. Those that it finds are taken from the room.
func (s *search) run() fit {
	switch {
	case s.try(0):
		return fits
	case s.steps <= 0:
		return fitUnknown
	}
	return fitsNot
}

// try places the pods of todo from number k on; if that is impossible, it changes nothing.
func (s *search) try(k int) bool {
	if k == len(s.todo) {
		return true
	}
	i, first := s.todo[k], 0
	if k > 0 && s.alike(i, s.todo[k-1]) {
		first = s.at[s.todo[k-1]] // equal pods needn't be tried in each other's places
	}
	for n := first; n < len(s.room) && s.steps > 0; n++ {
		if !s.nodes(i).has(n) {
			continue
		}
		if s.steps--; !s.room[n].covers(s.kinds[i].wants, s.upTo) || s.clashes(i, n) {
			continue
		}
		s.at[i] = n
		s.room[n].add(s.kinds[i].wants, -1)
		if s.try(k + 1) {
			return true
		}
		s.at[i] = -1
		s.room[n].add(s.kinds[i].wants, 1)
	}
	return false
}

// nodes are those that a pod may be on, as far as the resources count.
func (s *search) nodes(i int) bitset {
	if s.upTo < len(s.kinds[i].wants) {
		return s.kinds[i].could
	}
	return s.kinds[i].may.nodes
}

// clashes says whether a pod is on a node that another one can't share with it.
func (s *search) clashes(i, n int) bool {
	return s.apart != nil && slices.ContainsFunc(s.apart[i], func(j int) bool { return s.at[j] == n })
}

func (s *search) alike(i, j int) bool {
	return s.kinds[i] == s.kinds[j] && (s.apart == nil || slices.Equal(s.apart[i], s.apart[j]))
}

// undo gives back the places that were found.
func (s *search) undo() {
	for _, i := range s.todo {
		if s.at[i] >= 0 {
			s.room[s.at[i]].add(s.kinds[i].wants, 1)
			s.at[i] = -1
		}
	}
}

// seat finds places for a claim's pods, and reserves them. If there are none because the free devices aren't on one node, no later test gets any of
// what the claim wants. crowded: there are enough devices, but not enough CPUs, memory or huge pages beside them.
func (a *arrangement) seat(c *Claim, sh *shape) (seated, crowded bool) {
	s := a.searchFor(a.room, c, sh, len(a.resources.names))
	if s.run() == fits {
		return true, false
	}
	s.undo()
	if a.fits(a.room, c, sh, a.resources.devices) == fits {
		a.close(sh, len(a.resources.names))
		return false, true
	}
	a.close(sh, a.resources.devices)
	return false, false
}
