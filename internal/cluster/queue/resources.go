package queue

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Resources are counts by resource name: devices such as intel.com/sriov_west, and what pods with devices need besides on the same node: cpu in
// thousandths, memory and huge pages in bytes.
type Resources map[string]int64

// CPU and Memory are the resources that each node has.
const (
	CPU    = "cpu"
	Memory = "memory"
)

// IsDevice says whether a resource is a device plugin's: its name has a domain that isn't one of Kubernetes' own. Tests queue for these.
func IsDevice(name string) bool {
	domain, _, qualified := strings.Cut(name, "/")
	return qualified && !strings.HasSuffix(domain, "kubernetes.io")
}

// IsCounted says whether a resource matters for where pods with devices fit.
func IsCounted(name string) bool {
	return name == CPU || name == Memory || strings.HasPrefix(name, "hugepages-") || IsDevice(name)
}

// plenty is more than any node has, and small enough that sums over all nodes don't overflow.
const plenty = 1 << 50

// directory numbers the resources that nodes have: devices come first, in the order of their names.
type directory struct {
	names   []string
	numbers map[string]int
	// devices is how many of them are devices.
	devices int
}

func directoryOf(nodes []Node) directory {
	numbers := map[string]int{CPU: 0, Memory: 0}
	for _, n := range nodes {
		for name := range n.Resources {
			numbers[name] = 0
		}
	}
	d := directory{numbers: numbers}
	d.names = slices.SortedFunc(maps.Keys(numbers), func(a, b string) int {
		return cmp.Or(cmp.Compare(oneIf(!IsDevice(a)), oneIf(!IsDevice(b))), cmp.Compare(a, b))
	})
	for i, name := range d.names {
		d.numbers[name] = i
		d.devices += oneIf(IsDevice(name))
	}
	return d
}

func oneIf(so bool) int {
	if so {
		return 1
	}
	return 0
}

// amounts are counts by a resource's number.
type amounts []int64

func (d *directory) none() amounts { return make(amounts, len(d.names)) }

// of converts resources to amounts; known: nodes have all of these resources.
func (d *directory) of(r Resources) (a amounts, known bool) {
	a, known = d.none(), true
	for name, n := range r {
		if i, is := d.numbers[name]; is {
			a[i] = n
		} else if n > 0 {
			known = false
		}
	}
	return a, known
}

// capacity is what a node has.
func (d *directory) capacity(n Node) amounts {
	a, _ := d.of(n.Resources)
	for _, name := range []string{CPU, Memory} {
		if _, said := n.Resources[name]; !said {
			a[d.numbers[name]] = plenty
		}
	}
	return a
}

func (a amounts) add(other amounts, times int64) {
	for i, n := range other {
		a[i] += n * times
	}
}

// covers says whether the amounts are at least as wanted, of the resources below upTo.
func (a amounts) covers(want amounts, upTo int) bool {
	for i, n := range want[:upTo] {
		if n > 0 && a[i] < n {
			return false
		}
	}
	return true
}
