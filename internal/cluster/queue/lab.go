package queue

import (
	"cmp"
	"slices"
	"time"
)

// Lab is what a line is made from. The order of its lists doesn't matter.
type Lab struct {
	// Nodes are those that pods may be placed on now: Ready and not cordoned.
	Nodes []Node
	// Where has the nodes for each Pod.Where.
	Where  map[string]Where
	Claims []Claim
	// Held is what pods hold whose tests no longer claim anything: the tests are over, suspended or deleted, and their pods aren't gone yet.
	Held []Holding
	// Released is when a pod last released devices of a resource. It may be empty, as after a restart: then tests that gave their pods back wait
	// until their RetryAt.
	Released map[string]time.Time
	// Had are the turns that tests had, as far as they are known: namespaces take turns, beginning with the one whose last turn was longest ago. It may be empty,
	// as after a restart: then the namespaces of the oldest tests begin.
	Had []Had
	Now time.Time
}

// Node is what one node has for pods in all, whoever holds it. A node without cpu or memory in Resources has plenty of it.
type Node struct {
	Name      string
	Resources Resources
}

// Where are the nodes that a pod may be placed on, by its node selector, affinity and tolerations.
type Where struct {
	// Nodes are those that pods may be on.
	Nodes []string
	// Tainted are those that only taints keep it off. Admission may add a toleration, so if no choice of Nodes fits, the scheduler is left to try
	// these, too.
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
	// Stuck is a test that couldn't have pods if it were its turn, since somebody has to mend something else first. Nothing is reserved for it.
	Stuck
	// Placing is a test that had its turn, and whose pods don't all have nodes yet: what these want is reserved.
	Placing
	// Settled is a test whose pods all have nodes.
	Settled
)

// Claim is what one test wants and has.
type Claim struct {
	// ID is unique; Test is its name for people, namespace/name.
	ID, Test string
	Created  time.Time
	// Takes is how long it measures if nothing ends it sooner, by its spec; 0: that isn't known.
	Takes time.Duration
	Stage Stage
	// Pods are all of its pods that want devices, those with a node included.
	Pods []Pod
	// Avoid are nodes that it can't use.
	Avoid []string
	// GivenBack is when its pods were given back for lack of nodes, RetryAt when it wants its turn again at the latest. Until then it lets
	// others go first, unless a test releases devices that it wants. Zero: that didn't happen.
	GivenBack, RetryAt time.Time

	// form is the result of Claim.shape, once it is known; see Shaped.
	form string
}

// Pod is what one pod wants or has.
type Pod struct {
	// Name is unique in the claim, if any pod of it must not share a node with this one.
	Name string
	// Node is where it is; empty: nowhere yet.
	Node string
	// Where is the key in Lab.Where of the nodes that it may be on; empty: all.
	Where string
	// Apart are the names of the claim's pods that it can't share a node with, nor they with it.
	Apart     []string
	Resources Resources
}

// Shaped is the same claim with its shape computed once, for callers that arrange it again and again.
func Shaped(c Claim) Claim {
	c.form = c.shape()
	return c
}

// older is the order within a namespace: by age, and by name among those of the same second, as people list them.
func older(a, b *Claim) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Test, b.Test), cmp.Compare(a.ID, b.ID))
}

// yields says whether a claim lets others go first now.
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
