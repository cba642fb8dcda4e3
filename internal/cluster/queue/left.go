package queue

import "slices"

// left is how much of a resource a test further back may have on some nodes: what is free, minus what is being placed, minus what earlier tests claim from exactly these
// nodes, minus what earlier tests that claim from only some of them can take.
func (a *arrangement) left(s *nodeset, r int) int64 {
	return s.free[r] - s.promised[r] - s.own[r] - a.takenWithin(s, r)
}

// takenWithin is how much of what is free the tests that claim from only some of the nodes can take at most. A device that several of them may have counts once.
//
//	nodes   1    2    3        free 2, 0, 5
//	        └A─┘               claims 2, and takes them
//	        └──B────┘          claims 2, and finds none: the two on node 1 aren't there twice
//	        └─────s─────┘      5 are left in s, not 3
func (a *arrangement) takenWithin(s *nodeset, r int) int64 {
	if s.drawn[r] != a.draws[r] {
		s.taken[r], s.drawn[r] = a.claimedWithin(s.nodes, s, r), a.draws[r]
	}
	return s.taken[r]
}

// claimedWithin is how much of a resource all claims from nodesets within some nodes can take there at most, without those from one nodeset.
func (a *arrangement) claimedWithin(nodes bitset, but *nodeset, r int) (n int64) {
	var within []*nodeset
	apart := true
	for _, s := range a.order {
		if s == but || s.own[r] <= 0 || !s.nodes.within(nodes) {
			continue
		}
		apart = apart && !slices.ContainsFunc(within, func(other *nodeset) bool { return other.nodes.meets(s.nodes) })
		within = append(within, s)
		n += min(s.own[r], s.free[r])
	}
	if !apart && len(within) <= mostExactSets {
		return a.most(within, r)
	}
	return n
}

// mostExactSets is of how many overlapping sets of nodes it is found out exactly what their tests can take. Of more it is what they could take if they didn't overlap: a test further back then may
// wait longer than it had to, and never takes what one before it needs.
const mostExactSets = 16

// most is how much of what is free all claims from some nodesets can have together: the largest flow from the claims to the nodes.
func (a *arrangement) most(sets []*nodeset, r int) (total int64) {
	f := &flow{sets: sets, open: make([]int64, len(a.free)), given: make([][]int64, len(sets))}
	for n := range a.free {
		f.open[n] = a.free[n][r]
	}
	for i := range f.given {
		f.given[i] = make([]int64, len(a.free))
	}
	for i, s := range sets {
		for rest := s.own[r]; rest > 0; {
			moved := f.augment(i, rest)
			if moved == 0 {
				break
			}
			rest, total = rest-moved, total+moved
		}
	}
	return total
}

// flow assigns nodes' devices to claims from sets of nodes. A claim may exchange an assigned device for another one, so that a further claim gets some.
type flow struct {
	sets []*nodeset
	// open is, by node, what isn't assigned yet; given, by claim and node, what is.
	open  []int64
	given [][]int64
}

// hop is how the search reached a claim: from another claim, which gets some of what this one has on a node.
type hop struct{ from, node int }

// augment assigns more to a claim, at most want, and returns how much; 0: there is no more to assign. It takes the shortest chain of exchanges, so that few
// are needed.
func (f *flow) augment(claim int, want int64) int64 {
	hops := map[int]hop{claim: {from: -1}}
	for reached := []int{claim}; len(reached) > 0; reached = reached[1:] {
		at := reached[0]
		for node := range f.open {
			if !f.sets[at].nodes.has(node) {
				continue
			}
			if f.open[node] > 0 {
				return f.move(hops, at, node, min(want, f.open[node]))
			}
			for other, given := range f.given {
				if _, seen := hops[other]; !seen && given[node] > 0 {
					hops[other] = hop{from: at, node: node}
					reached = append(reached, other)
				}
			}
		}
	}
	return 0
}

// move carries out an exchange that ends with a claim which takes what is open on a node.
func (f *flow) move(hops map[int]hop, last, open int, amount int64) int64 {
	for at := last; hops[at].from >= 0; at = hops[at].from {
		amount = min(amount, f.given[at][hops[at].node])
	}
	f.open[open] -= amount
	f.given[last][open] += amount
	for at := last; hops[at].from >= 0; at = hops[at].from {
		h := hops[at]
		f.given[at][h.node] -= amount
		f.given[h.from][h.node] += amount
	}
	return amount
}
