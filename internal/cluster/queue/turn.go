package queue

// lack is what a test waits for.
type lack struct {
	// resource is the number of the first resource that there isn't enough of; -1: there is enough of all.
	resource int
	// kept: there is enough, but reserved for earlier tests.
	kept bool
	// crowded: there are enough devices, but on nodes that lack something else.
	crowded bool
}

// turn is the turn of a test without pods.
func (a *arrangement) turn(c *Claim) Turn {
	sh := a.shapeOf(c)
	switch {
	case !sh.possible:
		return Turn{Waits: true, Impossible: true, Message: a.neverWords(c, sh)}
	case sh.first < 0: // places are for devices
		return Turn{}
	case a.lab.yields(c):
		return Turn{Waits: true, Message: a.yieldWords(c), Brief: yieldBrief, Until: c.RetryAt}
	case c.Stage == Stuck:
		return a.stuck(c, sh)
	}
	l, idle := a.lacks(sh), a.idle(sh)
	if l.resource < 0 {
		seated, crowded := a.seat(c, sh)
		if seated || idle {
			a.promise(c, sh)
			return Turn{}
		}
		l.crowded = crowded
	}
	turn := a.waits(c, sh, l)
	a.claim(sh, a.claimed(l))
	a.wait(sh, l)
	return turn
}

// claimed is up to which resource a waiting test reserves what it wants. It reserves CPUs and the like only if it waits for them: a thousand tests in line
// for one device must not keep CPUs from tests that want other devices.
func (a *arrangement) claimed(l lack) int {
	if l.crowded || l.resource >= a.resources.devices {
		return len(a.resources.names)
	}
	return a.resources.devices
}

// stuck is the turn of a test that waits for something else than devices: its place is reported, and it blocks no other test. When one change frees several of
// them at once, as when their node comes back, only the oldest goes on; the others join the line again, so that they don't all go for the same devices.
func (a *arrangement) stuck(c *Claim, sh *shape) Turn {
	l := a.lacks(sh)
	if l.resource < 0 && (a.idle(sh) || a.fits(a.room, c, sh, len(a.resources.names)) == fits) {
		r := a.contended(sh)
		if r < 0 {
			a.freed = append(a.freed, sh)
			return Turn{}
		}
		l = lack{resource: r, kept: true}
	}
	return a.waits(c, sh, l)
}

// contended is a device that both this test and an earlier freed test want on the same nodes; -1: there is none.
func (a *arrangement) contended(sh *shape) int {
	for _, before := range a.freed {
		if !before.ground.meets(sh.ground) {
			continue
		}
		for r := range a.resources.devices {
			if sh.wants(r) > 0 && before.wants(r) > 0 {
				return r
			}
		}
	}
	return -1
}

// lacks is what there isn't enough of for a shape, wherever the scheduler places the pods that are being placed, and these.
func (a *arrangement) lacks(sh *shape) lack {
	first := lack{resource: -1}
	for _, d := range sh.demands {
		for r, n := range d.wants {
			if n > 0 && d.set.free[r]-d.set.promised[r] < d.within[r] {
				first = first.or(r, false)
			}
		}
	}
	return a.keptFrom(sh, first)
}

// keptFrom adds to a lack what there is enough of, but reserved for earlier tests.
func (a *arrangement) keptFrom(sh *shape, first lack) lack {
	for _, s := range a.order {
		if !s.contested {
			continue
		}
		for r, n := range a.take(sh, s) {
			if n > 0 && (s.closed[r] || s.own[r] > 0 && a.left(s, r) < n) {
				first = first.or(r, true)
			}
		}
	}
	return first
}

// or is the lack of whichever resource comes first.
func (l lack) or(resource int, kept bool) lack {
	if l.resource < 0 || resource < l.resource {
		return lack{resource: resource, kept: kept}
	}
	return l
}

// take is what the pods of a shape take from a nodeset at most: those that may be nowhere else, and those that could be placed there now.
func (a *arrangement) take(sh *shape, s *nodeset) amounts {
	take := a.resources.none()
	for _, k := range sh.kinds {
		if k.may.nodes.within(s.nodes) || k.now.meets(s.nodes) {
			take.add(k.wants, 1)
		}
	}
	return take
}

// idle says whether no other test has or gets any of what a test wants on its nodes: then the scheduler is left to try, even if no places were
// found here.
func (a *arrangement) idle(sh *shape) bool {
	for _, d := range sh.demands {
		for r, n := range d.wants {
			if n > 0 && (d.set.free[r] != d.set.total[r] || d.set.promised[r] > 0) {
				return false
			}
		}
		for _, s := range a.order {
			if s.contested && s.nodes.meets(d.set.nodes) && a.share(s, d) {
				return false
			}
		}
	}
	return true
}

// share says whether earlier tests have reserved any of what a demand wants in a nodeset.
func (a *arrangement) share(s *nodeset, d demand) bool {
	for r, n := range d.wants {
		if n > 0 && (s.own[r] > 0 || s.closed[r]) {
			return true
		}
	}
	return false
}

// queueOf are the tests that wait for places on the nodes of a shape.
func (a *arrangement) queueOf(sh *shape) *waiters {
	key := sh.ground.key()
	w := a.queues[key]
	if w == nil {
		w = &waiters{sh.ground, make([]int, len(a.resources.names)), make([]int, len(a.resources.names))}
		a.queues[key] = w
	}
	return w
}

// wait counts a test that waits.
func (a *arrangement) wait(sh *shape, l lack) {
	w := a.queueOf(sh)
	for r := range a.resources.names {
		wants, lacks := false, false
		for _, d := range sh.demands {
			if d.wants[r] > 0 {
				wants = true
				lacks = lacks || r == l.resource || d.set.closed[r] || d.set.free[r]-d.set.promised[r]-d.set.own[r] < 0
			}
		}
		w.want[r] += oneIf(wants)
		w.lacking[r] += oneIf(lacks)
	}
}
