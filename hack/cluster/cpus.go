package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// splitCPUs gives each node half of the cluster's processors to hand out, and has each leave the other's alone:
//
//	processors    0 and 1                        2 and 3
//	node-1        may be given to one container  reserved: never given to one alone
//	node-2        reserved                       may be given to one container
//
// What isn't exclusive runs on the reserved ones too: no container is alone on its processors as on a machine
// of its own.
func splitCPUs(cpus []int) (reserved [2]string, err error) {
	if len(cpus) < 4 {
		return reserved, fmt.Errorf("--exclusive-cpus: there are %d processors to run on (%s), and each node needs two: leave it off", len(cpus), list(cpus))
	}
	half := len(cpus) / 2
	return [2]string{list(cpus[half:]), list(cpus[:half])}, nil
}

// reservedCPUs are those that each node keeps from handing out; none if it hands out none.
func (c *cluster) reservedCPUs() (reserved [2]string, err error) {
	if !c.ExclusiveCPUs {
		return reserved, nil
	}
	cpus, err := c.processors()
	if err != nil {
		return reserved, err
	}
	return splitCPUs(cpus)
}

// processors are those that the cluster runs on.
func (c *cluster) processors() ([]int, error) {
	if len(c.CPUs) > 0 {
		return c.CPUs, nil
	}
	return onlineCPUs()
}

// checkCPUs is an error if a running cluster uses other processors than this process may run on.
func (c *cluster) checkCPUs(allowed []int) error {
	cpus, err := c.processors()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(cpus, func(cpu int) bool { return !slices.Contains(allowed, cpu) }) {
		return fmt.Errorf("cluster %q runs on processors %s, and this command on %s: take it down first, or start this command on the cluster's",
			c.Name, list(cpus), list(allowed))
	}
	return nil
}

// ownCPUs are the processors to which a cluster is bound: those that this process may run on; empty if those are all.
func ownCPUs() ([]int, error) {
	allowed, err := allowedCPUs()
	if err != nil {
		return nil, err
	}
	online, err := onlineCPUs()
	if err != nil || slices.Equal(allowed, online) {
		return nil, err
	}
	return allowed, nil
}

// allowedCPUs are the processors that this process may run on: see sched_getaffinity(2), and taskset(1).
func allowedCPUs() ([]int, error) {
	online, err := onlineCPUs()
	if err != nil {
		return nil, err
	}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("ask which processors we may run on: %w", err)
	}
	return slices.DeleteFunc(online, func(cpu int) bool { return !set.IsSet(cpu) }), nil
}

// runOn keeps this thread, and what it starts, to the processors, if there are any.
func runOn(cpus []int) error {
	if len(cpus) == 0 {
		return nil
	}
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("run on processors %s, as all of the cluster does: %w", list(cpus), err)
	}
	return nil
}

// list writes processors as kubelet reads them.
func list(cpus []int) string {
	var words []string
	for _, cpu := range cpus {
		words = append(words, strconv.Itoa(cpu))
	}
	return strings.Join(words, ",")
}

// onlineFile is where the kernel says which processors work, and where a kubelet learns which its node has.
const onlineFile = "/sys/devices/system/cpu/online"

// writeOnline writes the list of online processors that the boxes of a bound cluster see instead of the
// kernel's. A kubelet that knew of more would promise them to pods, and begin by giving them to its group,
// which may not have them.
func (c *cluster) writeOnline(dir string) (path string, err error) {
	if len(c.CPUs) == 0 {
		return "", nil
	}
	path = filepath.Join(dir, "online")
	return path, os.WriteFile(path, []byte(list(c.CPUs)+"\n"), 0o644)
}

func onlineCPUs() ([]int, error) {
	text, err := os.ReadFile(onlineFile)
	if err != nil {
		return nil, err
	}
	return parseCPUs(strings.TrimSpace(string(text)))
}

// parseCPUs reads a list such as 0-3,6.
func parseCPUs(text string) ([]int, error) {
	var cpus []int
	for item := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(item, "-")
		if !isRange {
			high = low
		}
		first, err := strconv.Atoi(low)
		if err != nil {
			return nil, fmt.Errorf("%q is no list of processors", text)
		}
		last, err := strconv.Atoi(high)
		if err != nil {
			return nil, fmt.Errorf("%q is no list of processors", text)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
