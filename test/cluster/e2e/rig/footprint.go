package rig

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"k8s.io/apimachinery/pkg/util/wait"
)

// footprint is what of this machine's a rig could leave behind: interfaces, mounts and control groups, by their names.
type footprint map[string]bool

func readFootprint() (footprint, error) {
	f := footprint{}
	links, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list the machine's interfaces: %w", err)
	}
	for _, l := range links {
		f["interface "+l.Attrs().Name] = true
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, fmt.Errorf("list the machine's mounts: %w", err)
	}
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 1 {
			f["mount "+fields[1]] = true
		}
	}
	for _, pattern := range []string{"/sys/fs/cgroup/linerate-*", "/sys/fs/cgroup/*/linerate-*", "/run/netns/*",
		"/run/linerate/fabric/*"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			f["path "+p] = true
		}
	}
	return f, nil
}

// ours are the names that are new since before and contain the rig's name: other programs use this machine, too.
func (f footprint) ours(current footprint, name string) []string {
	var leftovers []string
	for _, item := range slices.Sorted(maps.Keys(current)) {
		if !f[item] && strings.Contains(item, name) {
			leftovers = append(leftovers, item)
		}
	}
	return leftovers
}

// awaitAgain waits until nothing of the rig's is left: what the kernel takes away by itself takes a moment.
func (f footprint) awaitAgain(ctx context.Context, name string) error {
	var leftovers []string
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 10*time.Second, true, func(context.Context) (bool,
		error) {
		current, err := readFootprint()
		leftovers = f.ours(current, name)
		return len(leftovers) == 0, err
	})
	if err != nil {
		return fmt.Errorf("of the rig there is left: %s: %w", strings.Join(leftovers, ", "), err)
	}
	return nil
}
