package launch

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// mount is a line of /proc/self/mountinfo (proc_pid_mountinfo(5)).
type mount struct {
	root, point string // which part of the file system is mounted, and where
	kind        string // "cgroup", "cgroup2", "hugetlbfs"
	options     []string
}

func (t tree) mounts() []mount {
	var mounts []mount
	for line := range strings.Lines(t.text("/proc/self/mountinfo")) {
		head, tail, ok := strings.Cut(line, " - ")
		place, kind := strings.Fields(head), strings.Fields(tail)
		if ok && len(place) >= 5 && len(kind) >= 3 {
			mounts = append(mounts, mount{root: place[3], point: place[4], kind: kind[0],
				options: strings.Split(kind[2], ",")})
		}
	}
	return mounts
}

// cgroups finds the process's limits, in version 1 (a hierarchy per controller), version 2 (one for all) or the
// two side by side.
type cgroups struct {
	tree   tree
	mounts []mount
	// paths are the process's groups by controller. Version 2 has none, and is "".
	paths map[string]string
}

func (t tree) cgroups(mounts []mount) cgroups {
	g := cgroups{tree: t, mounts: mounts, paths: map[string]string{}}
	for line := range strings.Lines(t.text("/proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			g.paths[controller] = parts[2]
		}
	}
	return g
}

// read is the first file of a controller for this process, name1 in version 1, name2 in version 2.
func (g cgroups) read(controller, name1, name2 string) string {
	for _, m := range g.mounts {
		switch {
		case m.kind == "cgroup" && slices.Contains(m.options, controller):
			if text := g.tree.text(path.Join(g.dir(m, g.paths[controller]), name1)); text != "" {
				return text
			}
		case m.kind == "cgroup2":
			if text := g.tree.text(path.Join(g.dir(m, g.paths[""]), name2)); text != "" {
				return text
			}
		}
	}
	return ""
}

// dir is where a group's files are. A container mostly sees its own group as the mount's root, however the
// group is called outside.
func (g cgroups) dir(m mount, group string) string {
	relative, ok := strings.CutPrefix(group, strings.TrimSuffix(m.root, "/"))
	if !ok || !strings.HasPrefix(relative, "/") {
		return m.point
	}
	if dir := path.Join(m.point, relative); g.tree.exists(dir) {
		return dir
	}
	return m.point
}

// limit is a limit in bytes.
func (g cgroups) limit(controller, name1, name2 string) int64 {
	return parseLimit(g.read(controller, name1, name2))
}

// parseLimit reads version 2's "max" and version 1's absurdly high figures as Unlimited.
func parseLimit(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n >= 1<<60 {
		return Unlimited
	}
	return n
}

// milliCPU is the CPU bandwidth that the group may use.
func (g cgroups) milliCPU() int64 {
	quota, period := g.read("cpu", "cpu.cfs_quota_us", "cpu.max"), ""
	if first, second, version2 := strings.Cut(quota, " "); version2 {
		quota, period = first, second
	} else {
		period = g.read("cpu", "cpu.cfs_period_us", "")
	}
	q, p := parseLimit(quota), parseLimit(period)
	if q == Unlimited || p == Unlimited || p == 0 {
		return Unlimited
	}
	return q * 1000 / p
}
