package queue

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// room is what is free on each node.
type room struct {
	nodes []space
}

// space is one node's.
type space struct {
	name string
	free Devices
}

func roomOf(nodes []Node) *room {
	r := &room{nodes: make([]space, 0, len(nodes))}
	for _, n := range nodes {
		r.nodes = append(r.nodes, space{n.Name, maps.Clone(n.Devices)})
	}
	slices.SortFunc(r.nodes, func(a, b space) int { return cmp.Compare(a.name, b.name) })
	return r
}

// together is what is free on all nodes.
func (r *room) together() Devices {
	sum := Devices{}
	for _, s := range r.nodes {
		sum.add(s.free, 1)
	}
	return sum
}

// take takes devices of a node; what was taken of one that isn't usable is nobody's to count.
func (r *room) take(node string, d Devices) (known bool) {
	i, known := slices.BinarySearchFunc(r.nodes, node, func(s space, name string) int { return cmp.Compare(s.name, name) })
	if known {
		r.nodes[i].free.add(d, -1)
	}
	return known
}

// mostSteps bounds the search for places: far more than a test of a lab takes, and a fraction of a millisecond.
const mostSteps = 4000

// fit is the answer to whether pods find places side by side.
type fit int

const (
	fits fit = iota
	fitsNot
	// fitUnknown: the search was given up.
	fitUnknown
)

// search looks for places for all pods of a claim.
type search struct {
	room  *room
	claim *Claim
	pods  []Pod // without a node, the largest first
	sides map[string]string
	// steps are what is left of the search.
	steps int
	// places are the indices of the nodes found, in the order of pods.
	places []int
}

// place looks for places for the claim's pods that have none.
func (r *room) place(c *Claim) (*search, fit) {
	s := &search{room: r, claim: c, sides: map[string]string{}, steps: mostSteps}
	for _, p := range c.Pods {
		if p.Node != "" {
			s.sides[p.Node] = p.Side
			continue
		}
		s.pods = append(s.pods, p)
	}
	slices.SortStableFunc(s.pods, func(a, b Pod) int { return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(a.Side, b.Side)) })
	switch {
	case s.try(0):
		return s, fits
	case s.steps <= 0:
		return s, fitUnknown
	}
	return s, fitsNot
}

func size(p Pod) (n int64) {
	for _, d := range p.Devices {
		n += d
	}
	return n
}

// try places the pods from number i on; where that can't be, all is as it was.
func (s *search) try(i int) bool {
	if i == len(s.pods) {
		return true
	}
	pod, first := s.pods[i], 0
	if i > 0 && alike(pod, s.pods[i-1]) {
		first = s.places[i-1] // pods that are alike needn't be tried in each other's places
	}
	for n := first; n < len(s.room.nodes) && s.steps > 0; n++ {
		node := &s.room.nodes[n]
		if s.steps--; !s.takes(node, pod) {
			continue
		}
		side, taken := s.sides[node.name]
		s.sides[node.name] = pod.Side
		node.free.add(pod.Devices, -1)
		s.places = append(s.places, n)
		if s.try(i + 1) {
			return true
		}
		s.places = s.places[:i]
		node.free.add(pod.Devices, 1)
		if s.sides[node.name] = side; !taken {
			delete(s.sides, node.name)
		}
	}
	return false
}

// takes says whether a node has what a pod wants, and may be used by it.
func (s *search) takes(node *space, pod Pod) bool {
	if side, taken := s.sides[node.name]; s.claim.Apart && taken && side != pod.Side {
		return false
	}
	return !slices.Contains(s.claim.Avoid, node.name) && node.free.covers(pod.Devices)
}

func alike(a, b Pod) bool { return a.Side == b.Side && maps.Equal(a.Devices, b.Devices) }

// undo gives the places back that were found.
func (s *search) undo() {
	for i, n := range s.places {
		s.room.nodes[n].free.add(s.pods[i].Devices, 1)
	}
}

// shape is the same text for claims that want the same.
func (c *Claim) shape() string {
	var b strings.Builder
	for _, p := range c.Pods {
		b.WriteString(p.Side)
		for _, name := range slices.Sorted(maps.Keys(p.Devices)) {
			b.WriteByte(' ')
			b.WriteString(name)
			b.WriteByte('=')
			b.WriteString(strconv.FormatInt(p.Devices[name], 10))
		}
		b.WriteByte(';')
	}
	if c.Apart {
		b.WriteByte('|')
	}
	b.WriteString(strings.Join(c.Avoid, ","))
	return b.String()
}
