package queue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Devices are counts by the name of a device resource, such as intel.com/sriov_west.
type Devices map[string]int64

// IsDevice says whether a resource is a device plugin's. Then its name has a domain that isn't one of Kubernetes' own.
// Tests queue for these.
func IsDevice(name string) bool {
	domain, _, qualified := strings.Cut(name, "/")
	return qualified && !strings.HasSuffix(domain, "kubernetes.io")
}

// String is the same for equal devices.
func (d Devices) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d)) {
		fmt.Fprintf(&b, "%s=%d ", name, d[name])
	}
	return b.String()
}

func (d Devices) sum() (n int64) {
	for _, amount := range d {
		n += amount
	}
	return n
}

// add adds other devices so many times.
func (d Devices) add(added Devices, times int64) {
	for name, n := range added {
		d[name] += n * times
	}
}

// lacks is the first device, by name, of which there are fewer than wanted. Empty means that there are enough of all.
func (d Devices) lacks(wanted Devices) (first string) {
	for name, n := range wanted {
		if d[name] < n && (first == "" || name < first) {
			first = name
		}
	}
	return first
}

// Snapshot is what a line is made from. The order of its lists doesn't matter.
type Snapshot struct {
	// Nodes are those that take pods now, as they are Ready and not cordoned.
	Nodes  []Node
	Claims []Claim
	// Holdings is what pods hold whose tests no longer claim anything. The tests are over, suspended or deleted, and
	// their pods aren't gone yet.
	Holdings []Holding
	// Began is Line.Began of the line before. It is empty after a restart, when only running tests show which namespace
	// began one last.
	Began map[Tenant]time.Time
	Time  time.Time
}

// Node is what one node has for pods in all, whoever holds it.
type Node struct {
	Name    string
	Devices Devices
}

// Holding is what one pod holds. Test is the pod's, as namespace/name.
type Holding struct {
	Test, Node string
	Devices    Devices
}

// Tenant is a namespace that uses one device resource.
type Tenant struct{ Namespace, Device string }

// Stage is how far a test is with its pods.
type Stage int

const (
	// Waiting is a test without pods.
	Waiting Stage = iota
	// Stuck is a test that couldn't have pods if it were its turn, since somebody has to mend something else first.
	// Nothing is kept for it.
	Stuck
	// Placing is a test that had its turn, and whose pods don't all have nodes yet. The devices that these pods want
	// are kept for it.
	Placing
	// Settled is a test whose pods all have nodes.
	Settled
)

// Claim is what one test wants and has.
type Claim struct {
	// ID is unique. Test is its name for people, namespace/name.
	ID, Test string
	Created  time.Time
	// Began is when the first of its pods with devices was made. Zero means no such pod.
	Began time.Time
	// Takes is how long it measures if nothing ends it sooner, by its spec. 0 means unknown.
	Takes time.Duration
	Stage Stage
	// Pods are all of its pods that want devices, those with a node included.
	Pods []Pod
	// GivenBack is when its pods were given back for lack of nodes, RetryAt when it wants its turn again. Until then it
	// lets others go first. Zero means that no pods were given back.
	GivenBack, RetryAt time.Time

	// wants is all that its pods want or have, placeless what those without a node want, and form is equal for claims
	// where that is equal. See Summed.
	wants     Devices
	placeless []Devices
	form      string
}

// Pod is what one pod wants or has. Node is where it is. Empty means nowhere yet.
type Pod struct {
	Node    string
	Devices Devices
}

// Summed is the same claim with its devices added up once, for callers that arrange it again and again.
func Summed(c Claim) Claim {
	c.wants, c.placeless = Devices{}, largestFirst(c.Pods)
	for _, p := range c.Pods {
		c.wants.add(p.Devices, 1)
	}
	c.form = fmt.Sprint(c.placeless)
	return c
}

// devices are the names of those that a claim's pods want or have, in order.
func (c *Claim) devices() []string { return slices.Sorted(maps.Keys(c.wants)) }

// waits says whether a test has no pods yet.
func (c *Claim) waits() bool { return c.Stage == Waiting || c.Stage == Stuck }

// namespace is its test's.
func (c *Claim) namespace() string { return namespaceOf(c.Test) }

func namespaceOf(test string) string {
	namespace, _, _ := strings.Cut(test, "/")
	return namespace
}

// older is the order within a namespace, by age, and by name among those of the same second, as people list them.
func older(a, b *Claim) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Test, b.Test), cmp.Compare(a.ID, b.ID))
}
