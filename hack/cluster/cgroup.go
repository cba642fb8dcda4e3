package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// cgroups is one cluster's part of the machine's control groups. Everything the cluster runs is below its name
// there, so that it can be found without anything written down:
//
//	/linerate-NAME/daemons   our own processes (version 2 only)
//	/linerate-NAME/node-1    the pods of a node
type cgroups struct {
	hierarchies []hierarchy
	name        string
}

// hierarchy is one mounted tree of control groups.
type hierarchy struct {
	mount   string
	unified bool // version 2
}

// pathOf is the cluster's part of every hierarchy, as kubelet's cgroupRoot names it.
func pathOf(cluster string) string { return "/linerate-" + cluster }

func findCgroups(cluster string) (cgroups, error) {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return cgroups{}, err
	}
	defer func() { _ = file.Close() }()
	found, err := parseHierarchies(file)
	if err == nil && len(found) == 0 {
		err = errors.New("no control groups are mounted: mount cgroup2 on /sys/fs/cgroup")
	}
	return cgroups{hierarchies: found, name: pathOf(cluster)}, err
}

// parseHierarchies reads proc(5)'s mountinfo: the mount point is the fifth field, and the type follows a dash.
func parseHierarchies(mountinfo io.Reader) ([]hierarchy, error) {
	var found []hierarchy
	lines := bufio.NewScanner(mountinfo)
	for lines.Scan() {
		mount, options, _ := strings.Cut(lines.Text(), " - ")
		fields, kind := strings.Fields(mount), strings.Fields(options)
		if len(fields) < 5 || len(kind) == 0 || !strings.HasPrefix(fields[4], "/sys/fs/cgroup") {
			continue
		}
		if kind[0] == "cgroup" || kind[0] == "cgroup2" {
			found = append(found, hierarchy{mount: fields[4], unified: kind[0] == "cgroup2"})
		}
	}
	return found, lines.Err()
}

// create makes the cluster's group and the named ones below it, in each hierarchy, ready for a kubelet to put
// pods there. If processors are given, whatever joins a group is kept to them: it loses the affinity that it
// had from whoever started it.
func (g cgroups) create(cpus []int, names ...string) error {
	for _, h := range g.hierarchies {
		if err := errors.Join(h.create(g.name), h.confine(g.name, cpus)); err != nil {
			return err
		}
		for _, name := range names {
			if err := h.create(filepath.Join(g.name, name)); err != nil {
				return err
			}
		}
		if h.unified {
			if err := os.MkdirAll(filepath.Join(h.mount, g.name, "daemons"), 0o755); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h hierarchy) create(path string) error {
	dir := filepath.Join(h.mount, path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make control group %s: %w", dir, err)
	}
	if h.unified {
		return h.delegate(filepath.Dir(dir))
	}
	// A version 1 group has no processors and no memory nodes until it is given some.
	for _, file := range []string{"cpuset.mems", "cpuset.cpus"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(dir), file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), text, 0)
		}
		if err != nil {
			return fmt.Errorf("give %s its %s: %w", dir, file, err)
		}
	}
	return nil
}

// confine keeps a group, and those made below it later, to the processors. A hierarchy without the controller
// has no say in that.
func (h hierarchy) confine(path string, cpus []int) error {
	file := filepath.Join(h.mount, path, "cpuset.cpus")
	if _, err := os.Stat(file); len(cpus) == 0 || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.WriteFile(file, []byte(list(cpus)), 0); err != nil {
		return fmt.Errorf("keep the cluster to processors %s: %w", list(cpus), err)
	}
	return nil
}

// delegate lets a group's children have all controllers that it has itself.
func (h hierarchy) delegate(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return err
	}
	for controller := range strings.FieldsSeq(string(text)) {
		err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+controller), 0)
		if err != nil && controller != "hugetlb" && controller != "misc" && controller != "rdma" {
			return fmt.Errorf("let the children of %s use controller %s: %w", dir, controller, err)
		}
	}
	return nil
}

// startIn starts a command as a member of the cluster's group, from its first instant.
func (g cgroups) startIn(cmd *exec.Cmd, start func() error) error {
	i := slices.IndexFunc(g.hierarchies, func(h hierarchy) bool { return h.unified })
	if i < 0 {
		return start() // without version 2 there is only what was written down
	}
	dir, err := os.Open(filepath.Join(g.hierarchies[i].mount, g.name, "daemons"))
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(dir.Fd())
	return start()
}

// groups lists the cluster's groups that exist, children before their parents.
func (g cgroups) groups() []string {
	var dirs []string
	for _, h := range g.hierarchies {
		_ = filepath.WalkDir(filepath.Join(h.mount, g.name), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				dirs = append(dirs, path)
			}
			return nil // one that vanished meanwhile is what we are after
		})
	}
	slices.Reverse(dirs)
	return dirs
}

// members lists the processes in the cluster's groups.
func (g cgroups) members() []int {
	var pids []int
	for _, dir := range g.groups() {
		text, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for field := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
	}
	slices.Sort(pids)
	return slices.Compact(pids)
}

// homes are the directories of the boxes whose first processes are in the groups.
func (g cgroups) homes() []string {
	var dirs []string
	for _, pid := range g.members() {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // one that ended meanwhile has no home
		words := strings.Split(string(text), "\x00")
		if len(words) > 2 && strings.HasPrefix(words[0], "linerate-") && words[1] == initVerb {
			dirs = append(dirs, words[2])
		}
	}
	return dirs
}

// remove ends what is left in the groups, and removes them. A process leaves its group shortly before it is
// gone: each is waited for.
func (g cgroups) remove(ctx context.Context) error {
	dying := map[process]bool{}
	return await(ctx, fmt.Sprintf("the removal of control groups %s", g.name), func() bool {
		for _, pid := range g.members() {
			if p, err := identify(pid); err == nil {
				dying[p] = true
			}
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		maps.DeleteFunc(dying, func(p process, _ bool) bool { return !p.alive() })
		for _, dir := range g.groups() {
			_ = unix.Rmdir(dir)
		}
		return len(g.groups()) == 0 && len(dying) == 0
	})
}
