package faults

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/e2e/rig"
	"github.com/linerate-dev/linerate/test/published"
)

// TestSoak plays the same test many times in a row, without any fault, and keeps them all: the operator may not grow, nothing may be left over, and the
// answer may not wander.
func TestSoak(t *testing.T) {
	p := begin(t, row{})
	s := &soaked{begun: time.Now(), measured: published.Provenance(time.Now()) + "."}
	before := p.traces()
	for i := range *soak {
		name := fmt.Sprintf("soak-%d", i+1)
		test := p.run(name)
		p.verdictIsTrue(test)
		if lost := test.Status.LostRuns; lost != 0 {
			t.Errorf("%s: lostRuns is %d", name, lost)
		}
		p.await("pods and devices to be given back", tidy, p.holdsNothing)
		s.add(test, p.operatorMemory(), p.others > busyShare)
		t.Logf("%s: %s %s, the operator has %d KiB", name, told(test), verdict(test), last(s.memory))
	}
	s.took = time.Since(s.begun)
	p.await("all networks of pods to be gone", tidy, func() (string, error) { return difference(before, p.traces()), nil })
	p.deleteAll()
	s.judge(t)
	if *table != "" {
		if err := published.Section(pageOf(*table), "soak", s.text()); err != nil {
			t.Error(err)
		}
	}
}

// soaked is what a soak found.
type soaked struct {
	begun time.Time
	took  time.Duration
	// measured says when that was, and with which tree.
	measured string
	// figures are those of all directions, in packets/s; missing counts tests without any.
	figures []int64
	missing int
	// outside counts figures that are more than 1 % off.
	outside, tests int
	// wrong are those of them, and unmeasured counts what is missing, where others didn't use the machine so much that it can't be told from that.
	wrong      []int64
	unmeasured int
	// memory is the operator's resident memory after each test, in KiB.
	memory []int64
}

func (s *soaked) add(test *lineratev1alpha1.LoadTest, memory int64, busy bool) {
	s.tests++
	s.memory = append(s.memory, memory)
	all := figures(test)
	if len(all) == 0 {
		s.missing++
		if !busy {
			s.unmeasured++
		}
	}
	for _, f := range all {
		s.figures = append(s.figures, f)
		if off(f) > 0.01 {
			s.outside++
		}
		if off(f) > 0.01 && !busy {
			s.wrong = append(s.wrong, f)
		}
	}
}

// judge: the median is the known answer, of fifty figures one may be more than 1 % off, none more than 2 %, and none is missing; and the operator doesn't grow
// from test to test. How much it has at first says little: it has just begun to fill its cache.
func (s *soaked) judge(t *testing.T) {
	t.Helper()
	if len(s.figures) == 0 {
		t.Fatal("no test has a figure")
	}
	slices.Sort(s.figures)
	if middle := s.figures[len(s.figures)/2]; off(middle) > 0.01 {
		t.Errorf("the median of %v is %d", s.figures, middle)
	}
	if s.unmeasured > 0 {
		t.Errorf("%d of %d tests have no figure", s.unmeasured, s.tests)
	}
	if allowed := (len(s.figures) + 49) / 50; len(s.wrong) > allowed || slices.ContainsFunc(s.wrong, func(f int64) bool { return off(f) > 0.02 }) {
		t.Errorf("%v of %d figures are more than 1 %% off: %d may be, by 2 %%", s.wrong, len(s.figures), allowed)
	}
	const mebibyte, each = 1 << 10, 1 << 9 // in KiB
	first, now := s.memory[0], last(s.memory)
	if allowed := 16*mebibyte + int64(s.tests)*each; now-first > allowed {
		t.Errorf("the operator grew from %d to %d KiB in %d tests, more than %d", first, now, s.tests, allowed)
	}
}

// text is what the document says of it.
func (s *soaked) text() string {
	m := s.memory
	return strings.Join([]string{
		"| | |", "|---|---|",
		fmt.Sprintf("| tests in a row, all kept to the end | %d, in %s |", s.tests, s.took.Round(time.Second)),
		fmt.Sprintf("| the known answer, %d packets/s in each direction: least, median, most | %d, %d, %d |", known,
			s.figures[0], s.figures[len(s.figures)/2], s.figures[len(s.figures)-1]),
		fmt.Sprintf("| figures more than 1 %% off, of %d; tests without a figure | %d; %d |", len(s.figures), s.outside, s.missing),
		fmt.Sprintf("| the operator's resident memory after the first test, in the middle, after the last | %.1f, %.1f, %.1f MiB |",
			float64(m[0])/1024, float64(m[len(m)/2])/1024, float64(last(m))/1024),
		"| pods, Jobs, functions in pods, interfaces and network namespaces left over | none |",
		"| objects of any kind left after the LoadTests were deleted | none |",
		"", s.measured, "",
	}, "\n")
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
	var pods corev1.PodList
	p.check(lab.Client.List(p.Context(), &pods, client.InNamespace(rig.Namespace)))
	if len(pods.Items) != 1 || len(pods.Items[0].Status.ContainerStatuses) != 1 {
		p.Fatalf("there are %d pods of the operator", len(pods.Items))
	}
	pod := &pods.Items[0]
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
