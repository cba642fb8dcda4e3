package queue

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// shape is what a claim's pods without a node want. All claims that want the same share one shape.
type shape struct {
	// kinds are the kinds of these pods, in the claim's order.
	kinds []*kind
	// demands are what they want together, by the nodes that they may be on.
	demands []demand
	// ground are all nodes that any of them may be on.
	ground bitset
	// first is the number of the first device that they want; -1: they want none.
	first int
	// possible: they could all be placed if they had all nodes to themselves, as far as is known.
	possible bool
	// narrow: some pods can't be on all nodes. crowded: what makes it impossible isn't a lack of devices.
	narrow, crowded bool
}

// kind is shared by pods that want the same on the same nodes.
type kind struct {
	wants amounts
	// may are the nodes that such a pod may be on and that have enough, whoever holds it; now those of them with enough free; could those with enough
	// devices.
	may        *nodeset
	now, could bitset
	// narrow: the pod may not be on some nodes, whatever devices these have; nowhere: it may be on none.
	narrow, nowhere bool
}

// demand is what pods of a claim want together from the same nodes; within is what those of them want that may be on no other nodes.
type demand struct {
	set           *nodeset
	wants, within amounts
}

// shape is a key, equal for claims whose pods without a node want the same, and are kept apart from the same of their other pods.
func (c *Claim) shape() string {
	if c.form != "" {
		return c.form
	}
	var b strings.Builder
	called := c.called()
	for _, p := range c.Pods {
		if p.Node == "" {
			b.WriteString(p.shape())
		}
		for _, name := range p.Apart {
			if other := called[name]; other != "" && (p.Node == "" || other[0] == '/') {
				b.WriteString(" " + called[p.Name] + other)
			}
		}
		if p.Node == "" {
			b.WriteByte(';')
		}
	}
	b.WriteString(strings.Join(c.Avoid, ","))
	return b.String()
}

// ground is a key, equal for claims whose pods may be on the same choices of nodes.
func (c *Claim) ground() string {
	var b strings.Builder
	for _, p := range c.Pods {
		b.WriteString(p.Where)
		b.WriteByte(';')
	}
	b.WriteString(strings.Join(c.Avoid, ","))
	return b.String()
}

// called is what each pod is called in a shape's key, by its name: its number among those without a node, or its node.
func (c *Claim) called() map[string]string {
	called := map[string]string{}
	without := 0
	for _, p := range c.Pods {
		if p.Node != "" {
			called[p.Name] = "@" + p.Node
			continue
		}
		called[p.Name] = "/" + strconv.Itoa(without)
		without++
	}
	return called
}

// shape is a key, equal for pods that want the same on the same nodes.
func (p *Pod) shape() string {
	var b strings.Builder
	b.WriteString(p.Where)
	for _, name := range slices.Sorted(maps.Keys(p.Resources)) {
		b.WriteByte(' ')
		b.WriteString(name)
		b.WriteByte('=')
		b.WriteString(strconv.FormatInt(p.Resources[name], 10))
	}
	return b.String()
}

// shapeOf is a claim's shape, computed once for all claims that want the same.
func (a *arrangement) shapeOf(c *Claim) *shape {
	key := c.shape()
	if sh := a.shapes[key]; sh != nil {
		return sh
	}
	sh := a.shaped(c, false)
	if !sh.possible {
		if tolerant := a.shaped(c, true); tolerant.possible {
			sh = tolerant
		}
	}
	a.shapes[key] = sh
	return sh
}

// shaped computes a claim's shape, with or without tainted nodes.
func (a *arrangement) shaped(c *Claim, tainted bool) *shape {
	sh, known, kinds := &shape{ground: newBitset(len(a.names)), possible: true}, true, map[string]*kind{}
	for i := range c.Pods {
		p := &c.Pods[i]
		if p.Node != "" {
			continue
		}
		key := p.shape()
		k := kinds[key]
		if k == nil {
			var there bool
			k, there = a.kindOf(c, p, tainted)
			kinds[key], known = k, known && there
		}
		sh.kinds = append(sh.kinds, k)
		sh.ground.join(k.may.nodes)
		sh.narrow = sh.narrow || k.narrow
		sh.demand(k, a.resources.none)
	}
	for i := range sh.demands {
		d := &sh.demands[i]
		for _, k := range sh.kinds {
			if k.may.nodes.within(d.set.nodes) {
				d.within.add(k.wants, 1)
			}
		}
	}
	sh.first = slices.IndexFunc(a.resources.names[:a.resources.devices], func(name string) bool { return sh.wants(a.resources.numbers[name]) > 0 })
	all := len(a.resources.names)
	sh.possible = known && a.fits(a.empty(), c, sh, all) != fitsNot
	sh.crowded = known && !sh.possible && a.fits(a.empty(), c, sh, a.resources.devices) != fitsNot
	return sh
}

// demand adds what a pod of a kind wants.
func (sh *shape) demand(k *kind, none func() amounts) {
	i := slices.IndexFunc(sh.demands, func(d demand) bool { return d.set == k.may })
	if i < 0 {
		i = len(sh.demands)
		sh.demands = append(sh.demands, demand{k.may, none(), none()})
	}
	sh.demands[i].wants.add(k.wants, 1)
}

// kindOf is a pod's kind; known: nodes have all resources that it wants.
func (a *arrangement) kindOf(c *Claim, p *Pod, tainted bool) (k *kind, known bool) {
	k = &kind{now: newBitset(len(a.names)), could: newBitset(len(a.names))}
	k.wants, known = a.resources.of(p.Resources)
	may, all := newBitset(len(a.names)), len(a.resources.names)
	allowed := 0
	for n := range a.nodesFor(p.Where, tainted) {
		if slices.Contains(c.Avoid, a.names[n]) {
			continue
		}
		if allowed++; !a.capacity[n].covers(k.wants, a.resources.devices) {
			continue
		}
		k.could.put(n)
		if !a.capacity[n].covers(k.wants, all) {
			continue
		}
		may.put(n)
		if a.free[n].covers(k.wants, all) {
			k.now.put(n)
		}
	}
	k.may, k.narrow, k.nowhere = a.set(may), allowed < len(a.names), allowed == 0
	return k, known
}

// nodesFor are the numbers of the nodes that pods may be on.
func (a *arrangement) nodesFor(where string, tainted bool) func(yield func(int) bool) {
	w, narrow := a.lab.Where[where]
	return func(yield func(int) bool) {
		if where == "" || !narrow {
			for n := range a.names {
				if !yield(n) {
					return
				}
			}
			return
		}
		names := w.Nodes
		if tainted {
			names = slices.Concat(w.Nodes, w.Tainted)
		}
		for _, name := range names {
			if n, usable := a.numbers[name]; usable && !yield(n) {
				return
			}
		}
	}
}
