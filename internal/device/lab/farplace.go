package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/host/reception"
)

// FarPlacement reads where a device on this machine receives frames: the one whose interfaces are the far ends of these
// virtual cables, one for each of the links. It is nil for a device that is cabled to real interfaces, or whose
// namespace no process and no file of /run/netns shows.
func FarPlacement(interfaces, links []string) func(context.Context) (reception.Reading, error) {
	type end struct {
		namespace  *netif.Namespace
		interfaces []reception.Interface
	}
	var ends []*end
	byID := map[int]*end{}
	for i, name := range interfaces {
		cable, err := netlink.LinkByName(name)
		if err != nil || cable.Type() != "veth" || i >= len(links) {
			return nil
		}
		id := cable.Attrs().NetNsID
		if byID[id] == nil {
			namespace, err := namespaceOf(id)
			if err != nil {
				return nil
			}
			byID[id] = &end{namespace: namespace}
			ends = append(ends, byID[id])
		}
		err = byID[id].namespace.Do(func() error {
			far, err := netlink.LinkByIndex(cable.Attrs().ParentIndex)
			if err == nil {
				byID[id].interfaces = append(byID[id].interfaces, reception.Interface{Link: links[i],
					Name: far.Attrs().Name})
			}
			return err
		})
		if err != nil {
			return nil
		}
	}
	if len(ends) == 0 {
		return nil
	}
	return func(context.Context) (whole reception.Reading, err error) {
		for i, e := range ends {
			err := e.namespace.Do(func() error {
				reading, err := reception.Read(e.interfaces)
				if i > 0 {
					reading.Processors, reading.Ports, reading.Table = whole.Processors,
						append(whole.Ports, reading.Ports...), whole.Table
				}
				whole = reading
				return err
			})
			if err != nil {
				return whole, fmt.Errorf("where the device receives frames: %w", err)
			}
		}
		return whole, nil
	}
}

// namespaceOf is the namespace that has this number in ours, which some process or a file of ip-netns(8) shows. A
// negative number is our own.
func namespaceOf(id int) (*netif.Namespace, error) {
	if id < 0 {
		return netif.CurrentNamespace()
	}
	visited := map[string]bool{}
	for _, pattern := range []string{"/run/netns/*", "/proc/[0-9]*/ns/net"} {
		files, _ := filepath.Glob(pattern) // the pattern is well-formed
		for _, file := range files {
			if name, err := os.Readlink(file); err == nil {
				if visited[name] {
					continue
				}
				visited[name] = true
			}
			namespace, err := netif.OpenNamespace(file)
			if err != nil {
				continue
			}
			if found, err := netlink.GetNetNsIdByFd(namespace.Fd()); err == nil && found == id {
				return namespace, nil
			}
			_ = namespace.Close()
		}
	}
	return nil, errors.New("no process of this machine is in the device's namespace")
}
