package queue

import (
	"cmp"
	"slices"
	"time"
)

// Devices are counts by resource name, such as intel.com/sriov_west.
type Devices map[string]int64

// Lab is what a line is made from. Its order is of no importance.
type Lab struct {
	// Nodes are those that pods may be placed on now: Ready and not cordoned.
	Nodes  []Node
	Claims []Claim
	// Held is what pods hold whose tests claim nothing any more: they are over, suspended or deleted, and their pods aren't gone yet.
	Held []Holding
	// Released is when a pod last let devices of a resource go. It may be empty, as it is after a restart: then who gave its pods back waits
	// until its RetryAt.
	Released map[string]time.Time
	Now      time.Time
}

// Node is what one node can give to pods in all, whoever has it at the moment.
type Node struct {
	Name    string
	Devices Devices
}

// Holding is what one pod has.
type Holding struct {
	// Test is whose it is, as namespace/name.
	Test, Node string
	Devices    Devices
}

// Stage is how far a test is with its pods.
type Stage int

const (
	// Waiting is a test without pods.
	Waiting Stage = iota
	// Stuck is one that couldn't have any if it were its turn: something else is to be mended first. Nothing is reserved for it.
	Stuck
	// Placing is one that had its turn, and whose pods don't all have nodes: what those want is reserved.
	Placing
	// Settled is one that has all that it will have.
	Settled
)

// Claim is what one test wants and has.
type Claim struct {
	// ID is unlike all others; Test is what people call it, as namespace/name.
	ID, Test string
	Created  time.Time
	Stage    Stage
	// Pods are all of its pods that want devices, those with a node included.
	Pods []Pod
	// Apart: pods of different sides can't share a node.
	Apart bool
	// Avoid are nodes that it can't use.
	Avoid []string
	// GivenBack is when its pods were given back for want of nodes, RetryAt when it wants its turn again at the latest. Until then it lets
	// others go first, unless a test lets devices go that it wants. Zero: that didn't happen.
	GivenBack, RetryAt time.Time
}

// Pod is what one pod wants or has.
type Pod struct {
	// Side is which side of the links it is on, where that matters to Claim.Apart.
	Side string
	// Node is where it is; empty: nowhere yet.
	Node    string
	Devices Devices
}

// older is the order of the line: by age, and by name among those of the same second, as people list them.
func older(a, b *Claim) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Test, b.Test), cmp.Compare(a.ID, b.ID))
}

// yields says whether a claim lets others go first for now.
func (l *Lab) yields(c *Claim) bool {
	if !l.Now.Before(c.RetryAt) {
		return false
	}
	return !slices.ContainsFunc(c.resources(), func(name string) bool { return l.Released[name].After(c.GivenBack) })
}

// resources are those that a claim's pods want or have, in order.
func (c *Claim) resources() []string {
	var names []string
	for _, p := range c.Pods {
		for name := range p.Devices {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// wants is what the pods without a node want together.
func (c *Claim) wants() Devices {
	together := Devices{}
	for _, p := range c.Pods {
		if p.Node == "" {
			together.add(p.Devices, 1)
		}
	}
	return together
}

func (d Devices) add(other Devices, times int64) {
	for name, n := range other {
		d[name] += n * times
	}
}

// covers says whether all of other is in d.
func (d Devices) covers(other Devices) bool {
	for name, n := range other {
		if d[name] < n {
			return false
		}
	}
	return true
}
