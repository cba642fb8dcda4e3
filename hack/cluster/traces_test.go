//go:build full

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// traces is what a cluster could leave on a machine.
type traces map[string][]string

// look collects them. What other programs come and go with is left out: mounts and files that no node makes.
func look(t *testing.T) traces {
	t.Helper()
	found := traces{
		"files":   names("/run", "*"),
		"netns":   names("/run/netns", "cni-*"),
		"kubelet": names("/var/lib/kubelet", "*"),
		"cni":     names("/var/lib/cni", "*"),
		"opt":     names("/opt", "*"),
		"links":   names("/sys/class/net", "lr-lr*"),
		"cgroups": append(names("/sys/fs/cgroup", "linerate-lr*"), names("/sys/fs/cgroup", "*/linerate-lr*")...),
	}
	tables, err := exec.Command("nft", "list", "tables").Output()
	if err != nil {
		t.Fatal(err)
	}
	found["nftables"] = strings.Split(strings.TrimSpace(string(tables)), "\n")
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); strings.Contains(line, "kube") || strings.Contains(line, "containerd") || strings.Contains(line, "lrtest") {
			found["mounts"] = append(found["mounts"], fields[4])
		}
	}
	for _, path := range names("/proc", "[0-9]*/cgroup") {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), "/linerate-lr") && runsStill(path) {
			found["processes"] = append(found["processes"], path)
		}
	}
	return found
}

// runsStill is whether a path below /proc/NUMBER is of a process that was not ended: one that only waits for the machine's first process to
// take notice is.
func runsStill(path string) bool {
	pid, err := strconv.Atoi(strings.Split(path, "/")[2])
	if err != nil {
		return false
	}
	stat, err := stateOf(pid)
	return err == nil && lives(stat)
}

func names(dir, pattern string) []string {
	found, _ := filepath.Glob(filepath.Join(dir, pattern)) // the only error is a bad pattern
	return found
}

func (before traces) same(t *testing.T, after traces) {
	t.Helper()
	for kind, now := range after {
		for _, one := range now {
			if !slices.Contains(before[kind], one) {
				t.Errorf("left in %s: %s", kind, one)
			}
		}
	}
}

// namespacesOf names the network and process namespaces of all boxes.
func namespacesOf(t *testing.T, c *cluster) []string {
	t.Helper()
	var all []string
	for _, b := range c.Boxes {
		for _, kind := range []string{"net", "pid"} {
			link, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(b.Init.PID), "ns", kind))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, link)
		}
	}
	return all
}

func processesIn(t *testing.T, namespaces []string) []string {
	t.Helper()
	if len(namespaces) == 0 {
		t.Fatal("no namespaces to look for")
	}
	var found []string
	for _, path := range append(names("/proc", "[0-9]*/ns/net"), names("/proc", "[0-9]*/ns/pid")...) {
		if link, err := os.Readlink(path); err == nil && slices.Contains(namespaces, link) && runsStill(path) {
			found = append(found, path)
		}
	}
	return found
}
