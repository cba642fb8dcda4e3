package lab

import (
	"fmt"
	"os"

	"github.com/vishvananda/netlink"
)

// FarEnd knows the processes of a device on this machine, which are those in the network namespaces of the far
// ends of the test's interfaces. It knows none of a device that is cabled to real interfaces, nor of one in the
// machine's own namespace (that of process 1), whose processes can't be told from all others. It is for one
// goroutine.
type FarEnd struct {
	namespaces map[int]bool    // by their number in ours
	belongs    map[string]bool // whether a namespace, by its name in the kernel, is the device's
}

// FarEndOf finds where the far ends of these interfaces are.
func FarEndOf(interfaces []string) (*FarEnd, error) {
	f := &FarEnd{namespaces: map[int]bool{}, belongs: map[string]bool{}}
	if machines, err := os.Readlink("/proc/1/ns/net"); err == nil {
		f.belongs[machines] = false
	}
	for _, name := range interfaces {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return nil, fmt.Errorf("find the far end of %s: %w", name, err)
		}
		if id := link.Attrs().NetNsID; id >= 0 && link.Type() == "veth" {
			f.namespaces[id] = true
		}
	}
	return f, nil
}

// Holds says whether a process is in one of these namespaces.
func (f *FarEnd) Holds(pid int) bool {
	if f == nil || len(f.namespaces) == 0 {
		return false
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return false // it has ended, or isn't ours to look at
	}
	holds, cached := f.belongs[name]
	if !cached {
		id, err := netlink.GetNetNsIdByPid(pid)
		holds = err == nil && f.namespaces[id]
		f.belongs[name] = holds
	}
	return holds
}

// AllVirtualCables says whether each of these interfaces is an end of a virtual cable, whose other end is on this
// machine, too.
func AllVirtualCables(interfaces []string) (bool, error) {
	for _, name := range interfaces {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return false, fmt.Errorf("find the interface %s: %w", name, err)
		}
		if link.Type() != "veth" {
			return false, nil
		}
	}
	return true, nil
}
