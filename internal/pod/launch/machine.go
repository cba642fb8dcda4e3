package launch

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// cpus are those of the cpuset, or without a cgroup those that the scheduler may use for this process.
func (t tree) cpus(g cgroups) []CPU {
	list := g.read("cpuset", "cpuset.effective_cpus", "cpuset.cpus.effective")
	if list == "" {
		list = g.read("cpuset", "cpuset.cpus", "cpuset.cpus")
	}
	if list == "" {
		list = t.status("Cpus_allowed_list")
	}
	node := t.nodes()
	var cpus []CPU
	for _, id := range parseList(list) {
		c := CPU{ID: id, Node: node[id], Core: id}
		siblings := parseList(t.text(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", id)))
		if len(siblings) > 0 {
			c.Core = siblings[0]
		}
		cpus = append(cpus, c)
	}
	return cpus
}

// nodes are the CPUs' NUMA nodes.
func (t tree) nodes() map[int]int {
	nodes := map[int]int{}
	for _, name := range t.names("/sys/devices/system/node") {
		node, err := strconv.Atoi(strings.TrimPrefix(name, "node"))
		if err != nil {
			continue
		}
		for _, id := range parseList(t.text(path.Join("/sys/devices/system/node", name, "cpulist"))) {
			nodes[id] = node
		}
	}
	return nodes
}

// maxCPU bounds what a list of CPUs may name. The kernel's own bound is 8192.
const maxCPU = 1 << 16

// parseList reads the kernel's lists of numbers, such as "0-3,8". It leaves out what is no number.
func parseList(text string) []int {
	var ids []int
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.Atoi(low)
		end := first
		if isRange && err == nil {
			end, err = strconv.Atoi(high)
		}
		if err != nil || first < 0 || end >= maxCPU {
			continue
		}
		for id := first; id <= end; id++ {
			ids = append(ids, id)
		}
	}
	return ids
}

// status is a field of /proc/self/status (proc_pid_status(5)).
func (t tree) status(field string) string {
	for line := range strings.Lines(t.text("/proc/self/status")) {
		if name, value, _ := strings.Cut(line, ":"); name == field {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Bits of the effective capabilities (capabilities(7)).
const (
	capNetAdmin = 12
	capNetRaw   = 13
	capIPCLock  = 14
)

func (t tree) rights() Rights {
	effective, err := strconv.ParseUint(t.status("CapEff"), 16, 64)
	if err != nil {
		effective = 0
	}
	capable := func(bit uint) bool { return effective>>bit&1 == 1 }
	ids := strings.Fields(t.status("Uid")) // real, effective, saved, file system
	return Rights{
		Root:     len(ids) > 1 && ids[1] == "0",
		NetAdmin: capable(capNetAdmin), NetRaw: capable(capNetRaw), IPCLock: capable(capIPCLock),
	}
}

const hugepageSizes = "/sys/kernel/mm/hugepages"

func (t tree) hugepages(g cgroups, mounts []mount) []Hugepages {
	var sizes []Hugepages
	for _, name := range t.names(hugepageSizes) {
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(name, "hugepages-"), "kB"), 10, 64)
		if err != nil || kib <= 0 {
			continue
		}
		cgroupName := sizeName(kib)
		sizes = append(sizes, Hugepages{
			PageKiB: kib,
			Free:    t.number(path.Join(hugepageSizes, name, "free_hugepages"), 0),
			Total:   t.number(path.Join(hugepageSizes, name, "nr_hugepages"), 0),
			Limit:   g.limit("hugetlb", "hugetlb."+cgroupName+".limit_in_bytes", "hugetlb."+cgroupName+".max"),
			Mounts:  t.hugepageMounts(mounts, kib),
		})
	}
	return sizes
}

// sizeName is how hugetlb's cgroup files spell a page size.
func sizeName(kib int64) string {
	switch {
	case kib >= 1<<20:
		return fmt.Sprintf("%dGB", kib>>20)
	case kib >= 1<<10:
		return fmt.Sprintf("%dMB", kib>>10)
	}
	return fmt.Sprintf("%dKB", kib)
}

// hugepageMounts are where pages of a size can be had as files. A mount that names no size has the kernel's
// default one.
func (t tree) hugepageMounts(mounts []mount, kib int64) []string {
	var points []string
	for _, m := range mounts {
		if m.kind != "hugetlbfs" {
			continue
		}
		size := t.defaultHugepageKiB()
		for _, option := range m.options {
			if value, ok := strings.CutPrefix(option, "pagesize="); ok {
				size = parsePageSize(value)
			}
		}
		if size == kib {
			points = append(points, m.point)
		}
	}
	return points
}

// parsePageSize reads a mount's pagesize, "2M" or "1024M", in KiB.
func parsePageSize(text string) int64 {
	unit := map[byte]int64{'K': 1, 'M': 1 << 10, 'G': 1 << 20}
	if text == "" {
		return 0
	}
	factor, ok := unit[text[len(text)-1]]
	n, err := strconv.ParseInt(text[:len(text)-1], 10, 32)
	if err != nil || !ok {
		return 0
	}
	return n * factor
}

func (t tree) defaultHugepageKiB() int64 {
	for line := range strings.Lines(t.text("/proc/meminfo")) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == "Hugepagesize:" {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			if err == nil {
				return n
			}
		}
	}
	return 0
}
