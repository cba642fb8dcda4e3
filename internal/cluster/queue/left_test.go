package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// mostByCuts is the largest flow from claims to nodes by another way: the smallest cut of all that there are. A cut leaves some claims out, and takes all
// that is free on the nodes of the others.
func mostByCuts(a *arrangement, sets []*nodeset, r int) int64 {
	least := int64(1) << 62
	for left := range 1 << len(sets) {
		cut, nodes := int64(0), newBitset(len(a.free))
		for i, s := range sets {
			if left>>i&1 == 1 {
				cut += s.own[r]
			} else {
				nodes.join(s.nodes)
			}
		}
		for n := range a.free {
			if nodes.has(n) {
				cut += a.free[n][r]
			}
		}
		least = min(least, cut)
	}
	return least
}

// What is left to younger tests is what older ones can't have in any way, however their nodes overlap: never less, so that nothing idles, and never more.
func TestWhatIsLeftIsWhatNoOlderOneCanHave(t *testing.T) {
	nested := 0
	for seed := range uint64(2000) {
		chance := rand.New(rand.NewPCG(seed, 1))
		lab := Lab{}
		for n := range 1 + chance.IntN(5) {
			lab.Nodes = append(lab.Nodes, Node{Name: fmt.Sprint(n), Resources: Resources{"lab.dev/nic": chance.Int64N(4)}})
		}
		a := arrangementOf(&lab)
		a.hold(nil)
		all := a.set(some(a, chance, 1))
		for range chance.IntN(5) {
			s := a.set(some(a, chance, 0.5))
			for range 1 + chance.IntN(2) { // what is left is asked for as claims come
				wants := a.resources.none()
				wants[0] = chance.Int64N(4)
				a.claim(&shape{demands: []demand{{set: s, wants: wants}}}, 1)
				a.takenWithin(all, 0)
			}
		}
		var within []*nodeset
		for _, s := range a.order {
			if s != all && s.own[0] > 0 {
				within = append(within, s)
			}
		}
		for i, s := range within {
			for _, other := range within[:i] {
				nested += oneIf(s.nodes.meets(other.nodes))
			}
		}
		if got, want := a.left(all, 0), all.free[0]-all.own[0]-mostByCuts(a, within, 0); got != want {
			t.Fatalf("seed %d: %d are left, want %d", seed, got, want)
		}
	}
	if nested < 500 {
		t.Errorf("only %d pairs of claims had nodes in common", nested)
	}
}

// some are nodes of chance.
func some(a *arrangement, chance *rand.Rand, share float64) bitset {
	nodes := newBitset(len(a.names))
	for n := range a.names {
		if chance.Float64() < share {
			nodes.put(n)
		}
	}
	return nodes
}
