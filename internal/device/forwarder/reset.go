package forwarder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
)

// Reset removes what the kernel learned since the namespace was set up. These are neighbours on the links,
// addresses behind the ports of bridges, and tracked connections. Static neighbours, routes, rules, and what
// limits counted stay. Reset returns what it removed.
func Reset(ns *netif.Namespace, spec Spec) (report string, err error) {
	err = ns.Do(func() (err error) {
		report, err = reset(spec)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("reset the forwarder: %w", err)
	}
	return report, nil
}

func reset(spec Spec) (string, error) {
	neighbours, learned := 0, 0
	for _, l := range spec.Links {
		link, err := netif.Find(l.Interface)
		if err != nil {
			return "", fmt.Errorf("link %s: %w", l.Interface, err)
		}
		n, err := forget(link, unix.AF_UNSPEC)
		if err != nil {
			return "", fmt.Errorf("link %s: remove neighbours: %w", l.Interface, err)
		}
		neighbours += n
		if link.Attrs().MasterIndex == 0 {
			continue
		}
		if n, err = forget(link, unix.AF_BRIDGE); err != nil {
			return "", fmt.Errorf("link %s: remove learned addresses: %w", l.Interface, err)
		}
		learned += n
	}
	connections, err := forgetConnections()
	if err != nil {
		return "", err
	}
	retracked, err := retrack(spec.Mode)
	return fmt.Sprintf("removed %d neighbours, %d learned addresses, %s%s", neighbours, learned, connections,
		retracked), err
}

// forget removes a link's learned entries of an address family, and returns how many it removed.
func forget(link netlink.Link, family int) (removed int, err error) {
	entries, err := netlink.NeighList(link.Attrs().Index, family)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if e.State&(netlink.NUD_PERMANENT|netlink.NUD_NOARP) != 0 || e.LinkIndex != link.Attrs().Index {
			continue
		}
		if family == unix.AF_BRIDGE {
			e.Flags |= netlink.NTF_MASTER // the bridge's table, not the port's own
		}
		err := netlink.NeighDel(&e)
		if errors.Is(err, unix.ENOENT) {
			continue // it aged out meanwhile
		}
		if err != nil {
			return removed, fmt.Errorf("%s: %w", e.HardwareAddr, err)
		}
		removed++
	}
	return removed, nil
}

// connectionCount is how many connections this namespace's kernel tracks. The file is missing where it tracks none.
const connectionCount = "/proc/sys/net/netfilter/nf_conntrack_count"

// forgetConnections removes all tracked connections, and says how many there were.
func forgetConnections() (string, error) {
	text, err := os.ReadFile(connectionCount)
	if errors.Is(err, fs.ErrNotExist) { // as without the module
		return "and this kernel tracks no connections", nil
	}
	if err != nil {
		return "", fmt.Errorf("count the tracked connections: %w", err)
	}
	count, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return "", fmt.Errorf("count the tracked connections: %w", err)
	}
	if count > 0 {
		if err := netlink.ConntrackTableFlush(netlink.ConntrackTable); err != nil {
			return "", fmt.Errorf("remove %d tracked connections: %w", count, err)
		}
	}
	return fmt.Sprintf("%d tracked connections", count), nil
}
