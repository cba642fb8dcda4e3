package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
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
		has := free{amounts: queue.Resources{queue.CPU: 2000}}
		for _, r := range spec.Inventory(n.Name).Resources {
			has.amounts[r.Name] = int64(len(r.Devices))
		}
		nodes = append(nodes, has)
	}
	// The runner is placed last. The operator takes no room: it asks for no processor.
	runner := lifecycle.Want{Name: "runner", Pod: queue.Pod{Resources: queue.Resources{queue.CPU: 250}}}
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
			if r := test.Spec.DUT.Reference; r != nil {
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

// podsOf are a test's pods, in the order in which they are made.
func podsOf(test *v1alpha1.LoadTest) []lifecycle.Want {
	networks := map[compile.NetworkKey]manifests.Network{}
	for _, w := range wires() {
		key := compile.NetworkKey{Namespace: namespace, Name: w}
		networks[key] = manifests.Network{Key: key, Resource: corev1.ResourceName(fabric.ResourceOf(w)), Plugin: "sriov", MAC: true, IPs: true}
	}
	return lifecycle.Wants(lifecycle.Observed{Test: test, Lab: lifecycle.Lab{Multus: true, Networks: networks}, Settings: manifests.Settings{Image: "linerate", Namespace: "linerate-system"}})
}

// free is what a node has left, and the pods that it has.
type free struct {
	amounts queue.Resources
	pods    []string
}

// with is the same node with one pod more; false: it has no room for it.
func (f free) with(p lifecycle.Want) (free, bool) {
	left := queue.Resources{}
	for name, n := range f.amounts {
		left[name] = n - p.Resources[name]
		if left[name] < 0 {
			return f, false
		}
	}
	apart := slices.ContainsFunc(f.pods, func(there string) bool { return slices.Contains(p.Apart, there) })
	return free{left, append(slices.Clone(f.pods), p.Name)}, !apart
}

// roomless tells how a test's pods may be placed so that one has no room; empty: they can't. Those of a test with pods that are apart are made one after the other, others all at once.
func roomless(pods []lifecycle.Want, runner lifecycle.Want, nodes []free) string {
	if len(pods) == 0 {
		return stuck(runner, nil, runner, nodes)
	}
	if slices.ContainsFunc(pods, func(p lifecycle.Want) bool { return len(p.Apart) > 0 }) {
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
func stuck(pod lifecycle.Want, others []lifecycle.Want, runner lifecycle.Want, nodes []free) string {
	fits := false
	for i, n := range nodes {
		with, has := n.with(pod)
		if !has {
			continue
		}
		fits = true
		next := slices.Clone(nodes)
		next[i] = with
		if pod.Name == runner.Name {
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
	return pod.Name + " has no room where " + strings.Join(there, ", and ")
}
