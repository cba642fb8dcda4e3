package fabric

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/lab/netspace"
	"github.com/linerate-dev/linerate/test/fabric/vf"
)

// holds is where the wires' namespaces are held, by a mount each. It is no place of "ip netns", which mounts its own over itself.
const holds = "/run/linerate/fabric"

func (s Spec) path() string { return filepath.Join(holds, s.Name) }

// hold makes a network namespace that lasts until the mount at path goes, unless there is one.
func hold(path string) error {
	if held(path) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("hold the wires' namespace: %w", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return fmt.Errorf("hold the wires' namespace: %w", err)
	}
	made, err := netspace.New()
	if err != nil {
		return err
	}
	defer func() { _ = made.Close() }()
	if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", made.Fd()), path, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("hold the wires' namespace: %w", err)
	}
	return nil
}

// held says whether a namespace is mounted there.
func held(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Type == unix.NSFS_MAGIC
}

// Remove takes the fabric of that name away, functions in pods included. One that isn't there is no error.
func Remove(name string) error {
	if !fabricName.MatchString(name) {
		return fmt.Errorf("fabric %q: a name is 1 to 32 lower-case letters, digits and -", name)
	}
	path := Spec{Name: name}.path()
	if held(path) {
		// Other mount namespaces may hold copies of the mount, so the interfaces don't go with it.
		if err := vf.In(path, Spec{Name: name}.clear); err != nil {
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

// SetPort pulls the cable of a port (its functions' interfaces lose their carrier, wherever they are), or plugs it in again. Ports are
// numbered along their wire, from 0. A function that is lost meanwhile comes back with its cable plugged in.
func (s Spec) SetPort(wire string, index int, up bool) error {
	name := fmt.Sprintf("%sp%d", wire, index)
	for _, p := range s.ports() {
		if p.name == name {
			return vf.In(s.path(), func() error { return setEnds(p.devices, up) })
		}
	}
	return fmt.Errorf("fabric %s: wire %s has no port %d", s.Name, wire, index)
}

func setEnds(devices []vf.Device, up bool) error {
	for _, d := range devices {
		link, err := netlink.LinkByName(d.Interface)
		if err != nil {
			return fmt.Errorf("find %s on its wire: %w", d.Interface, err)
		}
		set := netlink.LinkSetDown
		if up {
			set = netlink.LinkSetUp
		}
		if err := set(link); err != nil {
			return fmt.Errorf("set %s: %w", d.Interface, err)
		}
	}
	return nil
}

// Away lists the functions, by node, that are not at home: in a pod, or destroyed. Nodes without any are not in it.
func (s Spec) Away() (map[string][]vf.Device, error) {
	away := map[string][]vf.Device{}
	for _, n := range s.Nodes {
		err := vf.In(n.Namespace, func() error {
			for d := range s.Inventory(n.Name).All() {
				home, err := d.Home()
				if err != nil {
					return err
				}
				if !home {
					away[n.Name] = append(away[n.Name], d)
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("fabric %s: node %s: %w", s.Name, n.Name, err)
		}
	}
	return away, nil
}
