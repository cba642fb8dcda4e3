//go:build full

package faults

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/test/pages/published"
)

// TestSoak plays the same test many times in a row, without any fault, and keeps them all: the operator may not grow, nothing may be left over, and the
// answer may not wander.
func TestSoak(t *testing.T) {
	p := &play{T: t}
	p.begin()
	begun := time.Now()
	s := &soaked{measured: published.Provenance(begun) + "."}
	before := p.traces()
	for i := range *soak {
		test, taken := p.run(fmt.Sprintf("soak-%d", i+1))
		p.claimsNothingElse(test, p.readReport(test))
		if lost := test.Status.Operator.LostRuns; lost != 0 {
			t.Errorf("%s: lostRuns is %d", test.Name, lost)
		}
		p.await("pods and devices to be given back", tidy, p.holdsNothing)
		s.add(test, taken, p.operatorMemory())
		now := s.tests[i]
		t.Logf("%s: %s %s %s, the operator has %d KiB; %s", test.Name, figuresOf(test), verdict(test), now.said, now.memory, taken)
	}
	s.took, s.machine = time.Since(begun), watch.Since(begun).Row()
	p.await("all networks of pods to be gone", tidy, func() (string, error) { return difference(before, p.traces()), nil })
	p.deleteAll()
	for _, fault := range s.faults() {
		t.Error(fault)
	}
	if *table != "" {
		if err := published.Section(pageOf(*table), "soak", s.text()); err != nil {
			t.Error(err)
		}
	}
}

// traces are the interfaces and network namespaces of all nodes.
func (p *play) traces() map[string]bool {
	p.Helper()
	all := map[string]bool{}
	for _, node := range []string{"node-1", "node-2"} {
		// A node that never had a pod has no directory for network namespaces yet.
		names, err := lab.Cluster.Run(p.Context(), "", "exec", node, "--", "find", "/sys/class/net/", "/run/", "-maxdepth", "2", "-path", "*/net*/*")
		p.check(err)
		for _, name := range lines(names) {
			all[node+":"+name] = true
		}
	}
	return all
}

// difference names what is there now and wasn't before.
func difference(before, now map[string]bool) string {
	var more []string
	for name := range now {
		if !before[name] {
			more = append(more, name)
		}
	}
	slices.Sort(more)
	return strings.Join(more, ", ")
}

// operatorMemory is the resident memory of the operator's process, in KiB.
func (p *play) operatorMemory() int64 {
	p.Helper()
	pods, err := lab.Operators(p.Context())
	p.check(err)
	if len(pods) != 1 || len(pods[0].Status.ContainerStatuses) != 1 {
		p.Fatalf("there are %d pods of the operator", len(pods))
	}
	pod := &pods[0]
	_, id, _ := strings.Cut(pod.Status.ContainerStatuses[0].ContainerID, "://")
	tasks, err := lab.Cluster.Run(p.Context(), "", "exec", pod.Spec.NodeName, "--", "ctr", "-n", "k8s.io", "tasks", "ls")
	p.check(err)
	for _, line := range lines(tasks) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == id {
			return p.residentMemory(pod.Spec.NodeName, fields[1])
		}
	}
	p.Fatalf("the operator's container %s doesn't run", id)
	return 0
}

// residentMemory reads VmRSS of proc(5), status.
func (p *play) residentMemory(node, pid string) int64 {
	p.Helper()
	status, err := lab.Cluster.Run(p.Context(), "", "exec", node, "--", "cat", "/proc/"+pid+"/status")
	p.check(err)
	for _, line := range lines(status) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			size, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			p.check(err)
			return size
		}
	}
	p.Fatalf("process %s of %s has no resident memory", pid, node)
	return 0
}
