package fabric

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

// namespaceFolder is where the wires' namespaces are held, by a mount each. It is no place of "ip netns", which mounts
// its own over itself.
const namespaceFolder = "/run/linerate/fabric"

func (s Spec) path() string { return filepath.Join(namespaceFolder, s.Name) }

// makeNamespace makes a network namespace that lasts until the mount at path goes, unless there is one.
func makeNamespace(path string) error {
	if mounted(path) {
		return nil
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return fmt.Errorf("hold the wires' namespace: %w", err)
	}
	namespace, err := netif.NewNamespace()
	if err != nil {
		return err
	}
	defer func() { _ = namespace.Close() }()
	if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", namespace.Fd()), path, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("hold the wires' namespace: %w", err)
	}
	return nil
}

// mounted says whether a namespace is mounted there.
func mounted(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Type == unix.NSFS_MAGIC
}

// Remove takes the fabric of that name away, functions in pods included. One that isn't there is no error.
func Remove(name string) error {
	if !fabricName.MatchString(name) {
		return fmt.Errorf("fabric %q: a name is 1 to 32 lower-case letters, digits and -", name)
	}
	unlock, err := lock()
	if err != nil {
		return err
	}
	defer unlock()
	return remove(name)
}

func remove(name string) error {
	path := Spec{Name: name}.path()
	if mounted(path) {
		// Other mount namespaces may hold copies of the mount, so the interfaces don't go with it.
		if err := vf.InNamespace(path, Spec{Name: name}.clear); err != nil {
			return fmt.Errorf("fabric %s: %w", name, err)
		}
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
			return fmt.Errorf("fabric %s: let go of the wires' namespace: %w", name, err)
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("fabric %s: %w", name, err)
	}
	return nil
}

// removeAbandoned removes all fabrics except one that nobody can use any more. Functions go with their nodes'
// namespaces, so a fabric without functions has no nodes.
func removeAbandoned(except string) error {
	entries, err := os.ReadDir(namespaceFolder)
	if err != nil {
		return fmt.Errorf("look for old fabrics: %w", err)
	}
	for _, e := range entries {
		if e.Name() == except {
			continue
		}
		used, err := inUse(filepath.Join(namespaceFolder, e.Name()))
		if err == nil && !used {
			err = remove(e.Name())
		}
		if err != nil {
			return fmt.Errorf("look after the old fabric %s: %w", e.Name(), err)
		}
	}
	return nil
}

// inUse says whether the fabric has a function.
func inUse(path string) (used bool, err error) {
	if !mounted(path) {
		return false, nil
	}
	err = vf.InNamespace(path, func() error {
		links, err := vf.Links()
		used = slices.ContainsFunc(links, func(l netlink.Link) bool { return l.Type() == "veth" })
		return err
	})
	return used, err
}

// lock keeps other processes from laying and removing fabrics.
func lock() (unlock func(), err error) { return vf.LockFolder(namespaceFolder) }
