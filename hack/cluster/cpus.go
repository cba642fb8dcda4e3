package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// splitCPUs gives each node half of the machine's processors to hand out, and has each leave the other's alone:
//
//	processors    0 and 1                        2 and 3
//	node-1        may be given to one container  reserved: never given to one alone
//	node-2        reserved                       may be given to one container
//
// What isn't exclusive runs on the reserved ones too: no container is alone on its processors as on a machine of its own.
func splitCPUs(online []int) (reserved [2]string, err error) {
	if len(online) < 4 {
		return reserved, fmt.Errorf("--exclusive-cpus: this machine has %d processors, and each node needs two: leave it off", len(online))
	}
	half := len(online) / 2
	return [2]string{list(online[half:]), list(online[:half])}, nil
}

// reservedCPUs are those that each node keeps from handing out; none if it hands out none.
func (c *cluster) reservedCPUs() (reserved [2]string, err error) {
	if !c.ExclusiveCPUs {
		return reserved, nil
	}
	online, err := onlineCPUs()
	if err != nil {
		return reserved, err
	}
	return splitCPUs(online)
}

// list writes processors as kubelet reads them.
func list(cpus []int) string {
	var words []string
	for _, cpu := range cpus {
		words = append(words, strconv.Itoa(cpu))
	}
	return strings.Join(words, ",")
}

func onlineCPUs() ([]int, error) {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, err
	}
	return parseCPUs(strings.TrimSpace(string(text)))
}

// parseCPUs reads a list such as 0-3,6.
func parseCPUs(text string) ([]int, error) {
	var cpus []int
	for item := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(item, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.Atoi(from)
		if err != nil {
			return nil, fmt.Errorf("%q is no list of processors", text)
		}
		last, err := strconv.Atoi(to)
		if err != nil {
			return nil, fmt.Errorf("%q is no list of processors", text)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
