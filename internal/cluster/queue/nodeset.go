package queue

import (
	"encoding/binary"
	"math/bits"
)

// bitset is a set of nodes by their numbers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) put(n int)      { b[n/64] |= 1 << (n % 64) }
func (b bitset) has(n int) bool { return b[n/64]&(1<<(n%64)) != 0 }

func (b bitset) count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// meets says whether the two have a node in common.
func (b bitset) meets(other bitset) bool {
	for i, word := range b {
		if word&other[i] != 0 {
			return true
		}
	}
	return false
}

// within says whether all of its nodes are in the other.
func (b bitset) within(other bitset) bool {
	for i, word := range b {
		if word&^other[i] != 0 {
			return false
		}
	}
	return true
}

func (b bitset) join(other bitset) {
	for i, word := range other {
		b[i] |= word
	}
}

// key is the same text for the same nodes.
func (b bitset) key() string {
	text := make([]byte, 0, 8*len(b))
	for _, word := range b {
		text = binary.LittleEndian.AppendUint64(text, word)
	}
	return string(text)
}

// nodeset is a set of nodes that pods of some kind may be on, with the sums over all of its nodes.
type nodeset struct {
	nodes bitset
	size  int
	// total is what they have, free what no pod of a LoadTest holds.
	total, free amounts
	// promised is what pods that are being placed may take here. Pods that may also go elsewhere count in both places, since the scheduler decides.
	promised amounts
	// own is what earlier tests claim from exactly these nodes.
	own amounts
	// closed are the resources that no test further back gets here, since an earlier test waits until enough is free on one node.
	closed []bool
	// taken caches arrangement.takenWithin by resource; drawn is the value of draws for which it holds.
	taken amounts
	drawn []int
	// contested: any are claimed from exactly these nodes, or closed.
	contested bool
}

// set is the nodeset of these nodes, the same for all callers.
func (a *arrangement) set(nodes bitset) *nodeset {
	key := nodes.key()
	if s := a.sets[key]; s != nil {
		return s
	}
	s := &nodeset{
		nodes: nodes, size: nodes.count(), total: a.resources.none(), free: a.resources.none(), promised: a.resources.none(),
		own: a.resources.none(), closed: make([]bool, len(a.resources.names)), taken: a.resources.none(), drawn: make([]int, len(a.resources.names)),
	}
	for n := range a.capacity {
		if nodes.has(n) {
			s.total.add(a.capacity[n], 1)
			s.free.add(a.free[n], 1)
		}
	}
	for _, p := range a.promises {
		if p.on.meets(nodes) {
			s.promised.add(p.wants, 1)
		}
	}
	a.sets[key] = s
	a.order = append(a.order, s)
	return s
}

// promise is what a pod is about to take, on one of the nodes.
type promise struct {
	on    bitset
	wants amounts
}

// promise reserves what a test is about to get.
func (a *arrangement) promise(c *Claim, sh *shape) {
	for _, k := range sh.kinds {
		on := k.now
		if on.count() == 0 {
			on = k.may.nodes
		}
		a.promises = append(a.promises, promise{on, k.wants})
		for _, s := range a.order {
			if on.meets(s.nodes) {
				s.promised.add(k.wants, 1)
			}
		}
		for r, n := range k.wants[:a.resources.devices] {
			a.note(r, holder{test: c.Test, n: n, on: on})
		}
	}
}

// claim reserves what a waiting test wants, before those behind it, of the resources below upTo.
func (a *arrangement) claim(sh *shape, upTo int) {
	for _, d := range sh.demands {
		for r, n := range d.wants[:upTo] {
			if n > 0 && d.set.own[r] < d.set.free[r] { // else all that is there is claimed already
				a.draws[r]++
			}
			d.set.own[r] += n
		}
		d.set.contested = true
	}
}

// close keeps tests behind a waiting one from getting any of what it wants, of the resources below upTo, until enough is free on one node: otherwise
// others would take each free device before enough of them are free together.
func (a *arrangement) close(sh *shape, upTo int) {
	for _, d := range sh.demands {
		for r, n := range d.wants[:upTo] {
			if n > 0 {
				d.set.closed[r], d.set.contested = true, true
			}
		}
	}
}
