//go:build full

package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// keepsTo looks where everything of a cluster may run: its programs, and all that is in its control groups, pods too.
func (r rig) keepsTo(t *testing.T, cpus []int) {
	t.Helper()
	c, err := place{root: r.dir, name: r.name}.running()
	if err != nil {
		t.Fatal(err)
	}
	groups, err := findCgroups(r.name)
	if err != nil {
		t.Fatal(err)
	}
	pids := groups.members()
	for _, x := range c.Components {
		pids = append(pids, x.Process.PID)
	}
	if len(c.Components) == 0 || len(pids) == len(c.Components) {
		t.Fatalf("%d components, and nothing in control groups", len(c.Components))
	}
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue // it ended meanwhile
		}
		within(t, field(string(text), "Name"), field(string(text), "Cpus_allowed_list"), cpus)
	}
}

// field is one of proc(5)'s status.
func field(status, name string) string {
	for line := range strings.Lines(status) {
		if text, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

func within(t *testing.T, who, list string, cpus []int) {
	t.Helper()
	got, err := parseCPUs(strings.TrimSpace(list))
	if err != nil || slices.ContainsFunc(got, func(cpu int) bool { return !slices.Contains(cpus, cpu) }) {
		t.Errorf("%s may run on %q (%v), where the cluster has %v", who, list, err, cpus)
	}
}

// on makes the commands run on these processors only.
func (r rig) on(cpus []int) rig {
	r.cpus = list(cpus)
	return r
}

// halfOf is for a cluster on fewer processors than we have, where we have more than one.
func halfOf(cpus []int) []int { return cpus[:max(1, len(cpus)/2)] }

const still = `
apiVersion: v1
kind: Pod
metadata: {name: still}
spec:
  nodeName: node-1
  terminationGracePeriodSeconds: 1
  containers: [{name: probe, image: "linerate.dev/probe:1"}]
`

// isConfined has a cluster that was brought up on some of our processors used from all of them.
func (r rig) isConfined(t *testing.T, cpus []int) {
	r.loadProbe(t)
	r.apply(t, still)
	r.kubectl(t, "wait", "--for=condition=Ready", "--timeout=60s", "pod/still")
	within(t, "a pod", r.kubectl(t, "exec", "still", "--", "/probe", "cpus"), cpus)
	r.do(t, "restart", "node-1", "kube-proxy")
	r.do(t, "up")
	r.keepsTo(t, cpus)
	have := strconv.Itoa(len(cpus))
	for _, kind := range []string{"capacity", "allocatable"} {
		if got := r.kubectl(t, "get", "nodes", "-o", "jsonpath={.items[*].status."+kind+".cpu}"); got != have+" "+have {
			t.Errorf("the nodes' processors (%s) are %s, and should be %s each", kind, got, have)
		}
	}
}

// refusesFewer asks for the cluster on some of its processors.
func (r rig) refusesFewer(t *testing.T, cpus []int) {
	if len(cpus) < 2 {
		missing(t, "there is one processor only")
	}
	if out, err := r.on(halfOf(cpus)).try("up"); err == nil || !strings.Contains(out, "take it down first") {
		t.Errorf("answer %v: %s", err, out)
	}
}
