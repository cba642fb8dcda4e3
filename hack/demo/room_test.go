package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/test/rigs/fabric"
)

// The scheduler places one pod after the other, each where it fits, and knows nothing of those that come: wherever it puts them, the others must find room. That is so even on a machine
// of two processors, which both nodes have.
func TestThePublishedLoadtestsFindRoom(t *testing.T) {
	var nodes []free
	spec := wired([]fabric.Node{{Name: "node-1", Namespace: "/one"}, {Name: "node-2", Namespace: "/two"}})
	for _, n := range spec.Nodes {
		has := free{amounts: map[string]int64{cpu: 2000}}
		for _, r := range spec.Inventory(n.Name).Resources {
			has.amounts[r.Name] = int64(len(r.Devices))
		}
		nodes = append(nodes, has)
	}
	// The runner is placed last. The operator takes no room: it asks for no processor.
	runner := wanting{name: "runner", amounts: map[string]int64{cpu: 250}}
	files, err := filepath.Glob("../../examples/published/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no published loadtests: %v", err)
	}
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, s := range suitesOf(t, server, file) {
			if s.name == "boards-iperf2" {
				continue // linerate's image hasn't iperf 2
			}
			t.Run(s.name, func(t *testing.T) {
				if len(s.tests) == 0 {
					t.Fatal("it has no tests")
				}
				for _, test := range s.tests {
					pods := podsOf(test)
					if len(pods) == 0 {
						t.Errorf("%s: no pod wants functions", test.Name)
					}
					if without := roomless(pods, runner, nodes); without != "" {
						t.Errorf("%s: %s", test.Name, without)
					}
				}
			})
		}
	}
}

type suiteTests struct {
	name  string
	tests []*v1alpha1.LoadTest
}

// suitesOf are the suites of a file, with a test of each of their cells.
func suitesOf(t *testing.T, server *admission.Server, file string) (all []suiteTests) {
	t.Helper()
	objects, err := server.LoadFile(nil, file)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		var tests []*v1alpha1.LoadTest
		m, err := suite.Read(o, suite.JudgeWith(server, func(test *v1alpha1.LoadTest) field.ErrorList {
			test = test.DeepCopy()
			test.Namespace = namespace
			if r := test.Spec.DUT.Reference; r != nil && r.Mode != nil &&
				(r.Mode.Userspace != nil || r.Mode.Tunnel != nil && r.Mode.Tunnel.Kind == v1alpha1.TunnelIPsec) {
				r.Image = "registry.lab/device:1" // some devices need an image that has them
			}
			tests = append(tests, test)
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, suiteTests{m.Suite().Name, tests})
	}
	return all
}

// cpu is the resource of processors, in thousandths.
const cpu = "cpu"

// wanting is a pod that wants a place: what it requests of devices and processors, and the names of the test's pods that it can't share a node with.
type wanting struct {
	name    string
	amounts map[string]int64
	apart   []string
}

// podsOf are a test's pods that want devices, in the order in which they are made.
func podsOf(test *v1alpha1.LoadTest) (wanted []wanting) {
	networks := map[compile.NetworkKey]manifests.Network{}
	for _, w := range wires() {
		key := compile.NetworkKey{Namespace: namespace, Name: w}
		networks[key] = manifests.Network{Key: key, Resource: corev1.ResourceName(fabric.ResourceOf(w)), Plugin: "sriov", MAC: true, IPs: true}
	}
	compiled, errs := compile.ForCluster(test)
	if len(errs) > 0 {
		return nil
	}
	in := manifests.Input{Test: test, Compiled: compiled, Networks: networks, Attempt: 1, Settings: manifests.Settings{Image: "linerate", Namespace: "linerate-system"}}
	pods := append(manifests.Devices(in), manifests.Generators(in)...)
	for _, p := range pods {
		amounts := map[string]int64(lifecycle.Devices(p))
		if len(amounts) == 0 {
			continue
		}
		for _, c := range p.Spec.Containers {
			amounts[cpu] += processorsOf(c)
		}
		for _, c := range p.Spec.InitContainers { // they run one after the other, before the others
			amounts[cpu] = max(amounts[cpu], processorsOf(c))
		}
		wanted = append(wanted, wanting{p.Name, amounts, apartFrom(p, pods)})
	}
	return wanted
}

// processorsOf is what a container requests. A missing request equals the limit, as for the API server.
func processorsOf(c corev1.Container) int64 {
	requests, limits := c.Resources.Requests[corev1.ResourceCPU], c.Resources.Limits[corev1.ResourceCPU]
	return cmp.Or(requests.MilliValue(), limits.MilliValue())
}

// apartFrom are the names of the test's pods that a pod must not share a node with, by its anti-affinity.
func apartFrom(p *corev1.Pod, pods []*corev1.Pod) (names []string) {
	if p.Spec.Affinity == nil || p.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	for _, term := range p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		if err != nil || term.TopologyKey != corev1.LabelHostname {
			continue
		}
		for _, other := range pods {
			if other.Name != p.Name && selector.Matches(labels.Set(other.Labels)) {
				names = append(names, other.Name)
			}
		}
	}
	return names
}

// free is what a node has left, and the pods that it has.
type free struct {
	amounts map[string]int64
	pods    []string
}

// with is the same node with one pod more; false: it has no room for it.
func (f free) with(p wanting) (free, bool) {
	left := map[string]int64{}
	for name, n := range f.amounts {
		left[name] = n - p.amounts[name]
		if left[name] < 0 {
			return f, false
		}
	}
	apart := slices.ContainsFunc(f.pods, func(there string) bool { return slices.Contains(p.apart, there) })
	return free{left, append(slices.Clone(f.pods), p.name)}, !apart
}

// roomless tells how a test's pods may be placed so that one has no room; empty: they can't. Those of a test with pods that are apart are made one after the other, others all at once.
func roomless(pods []wanting, runner wanting, nodes []free) string {
	if len(pods) == 0 {
		return stuck(runner, nil, runner, nodes)
	}
	if slices.ContainsFunc(pods, func(p wanting) bool { return len(p.apart) > 0 }) {
		return stuck(pods[0], pods[1:], runner, nodes)
	}
	for i, p := range pods {
		if words := stuck(p, slices.Delete(slices.Clone(pods), i, i+1), runner, nodes); words != "" {
			return words
		}
	}
	return ""
}

// stuck is roomless where it is a pod's turn: the others come later.
func stuck(pod wanting, others []wanting, runner wanting, nodes []free) string {
	fits := false
	for i, n := range nodes {
		with, has := n.with(pod)
		if !has {
			continue
		}
		fits = true
		next := slices.Clone(nodes)
		next[i] = with
		if pod.name == runner.name {
			continue
		}
		if words := roomless(others, runner, next); words != "" {
			return words
		}
	}
	if fits {
		return ""
	}
	var there []string
	for i, n := range nodes {
		there = append(there, fmt.Sprintf("node %d has ", i+1)+strings.Join(n.pods, ", "))
	}
	return pod.name + " has no room where " + strings.Join(there, ", and ")
}
