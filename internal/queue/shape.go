package queue

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// shape is what the pods without a node of a claim want: it is the same for all claims that want the same.
type shape struct {
	// kinds are the pods', in the claim's order.
	kinds []*kind
	// demands are what they want together, by the nodes that they may be on.
	demands []demand
	// ground are all nodes that any of them may be on.
	ground bitset
	// first is the number of the first device that they want; -1: they want none.
	first int
	// possible: they could all be placed if they had all nodes to themselves, as far as is known.
	possible bool
	// narrow: some can't be on all nodes. crowded: it isn't for want of devices that they aren't possible.
	narrow, crowded bool
}

// kind is what pods have in common that want the same on the same nodes.
type kind struct {
	wants amounts
	// may are the nodes that such a pod may be on and that have as much, whoever holds it; now those of them where as much is free; could those
	// that have as many devices.
	may        *nodeset
	now, could bitset
	// narrow: some nodes are closed to this pod, whatever devices they have; nowhere: all are.
	narrow, nowhere bool
}

// demand is what pods of a claim want together of the same nodes; within is what pods of the claim want that have no others.
type demand struct {
	set           *nodeset
	wants, within amounts
}

// shape is the same text for claims whose pods without a node want the same, and can't be where the same of their other pods are.
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

// called is by name what a pod is called in a shape: its number among those without a node, or its node.
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

// shape is the same text for pods that want the same on the same nodes.
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

// shapeOf finds out what a claim wants, once for all that want the same.
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

// shaped is a claim's shape, with the nodes that are tainted or without them.
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

// kindOf is what a pod wants where; known: there is nothing in it that no node has.
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
