package queue

import (
	"cmp"
	"slices"
	"time"
)

// Lab is what a line is made from. Its order is of no importance.
type Lab struct {
	// Nodes are those that pods may be placed on now: Ready and not cordoned.
	Nodes []Node
	// Where has the nodes for each Pod.Where.
	Where  map[string]Where
	Claims []Claim
	// Held is what pods hold whose tests claim nothing any more: they are over, suspended or deleted, and their pods aren't gone yet.
	Held []Holding
	// Released is when a pod last let devices of a resource go. It may be empty, as it is after a restart: then who gave its pods back waits
	// until its RetryAt.
	Released map[string]time.Time
	// Had are the turns that tests had, as far as they are known: the line goes round by namespace, from the one that had its last turn longest ago. It may be
	// empty, as it is after a restart: then the oldest tests' namespaces begin.
	Had []Had
	Now time.Time
}

// Node is what one node can give to pods in all, whoever has it at the moment. One that says nothing of cpu or memory has plenty of it.
type Node struct {
	Name      string
	Resources Resources
}

// Where are nodes by their names, as pods' node selectors, affinities and tolerations have it.
type Where struct {
	// Nodes are those that pods may be on.
	Nodes []string
	// Tainted are those that only taints keep them off. Admission can add what tolerates taints, so where no choice of Nodes would do, the
	// scheduler is asked for these, too.
	Tainted []string
}

// Holding is what one pod has.
type Holding struct {
	// Test is whose it is, as namespace/name.
	Test, Node string
	Resources  Resources
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
	// Takes is how long it measures where nothing ends it sooner, as its spec says; 0: that isn't known.
	Takes time.Duration
	Stage Stage
	// Pods are all of its pods that want devices, those with a node included.
	Pods []Pod
	// Avoid are nodes that it can't use.
	Avoid []string
	// GivenBack is when its pods were given back for want of nodes, RetryAt when it wants its turn again at the latest. Until then it lets
	// others go first, unless a test lets devices go that it wants. Zero: that didn't happen.
	GivenBack, RetryAt time.Time

	// form is Claim.shape where that is known; see Shaped.
	form string
}

// Pod is what one pod wants or has.
type Pod struct {
	// Name is unlike those of the claim's other pods, where any of them is apart from this one.
	Name string
	// Node is where it is; empty: nowhere yet.
	Node string
	// Where is the key in Lab.Where of the nodes that it may be on; empty: all.
	Where string
	// Apart are the names of the claim's pods that it can't share a node with, nor they with it.
	Apart     []string
	Resources Resources
}

// Shaped is the same claim, for who draws it again and again: what it wants is written down once.
func Shaped(c Claim) Claim {
	c.form = c.shape()
	return c
}

// older is the order within a namespace: by age, and by name among those of the same second, as people list them.
func older(a, b *Claim) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Test, b.Test), cmp.Compare(a.ID, b.ID))
}

// yields says whether a claim lets others go first for now.
func (l *Lab) yields(c *Claim) bool {
	if !l.Now.Before(c.RetryAt) {
		return false
	}
	return !slices.ContainsFunc(c.devices(), func(name string) bool { return l.Released[name].After(c.GivenBack) })
}

// devices are the names of those that a claim's pods want or have, in order.
func (c *Claim) devices() []string {
	var names []string
	for _, p := range c.Pods {
		for name := range p.Resources {
			if IsDevice(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// placeless says whether any of its pods has no node.
func (c *Claim) placeless() bool {
	return slices.ContainsFunc(c.Pods, func(p Pod) bool { return p.Node == "" })
}
