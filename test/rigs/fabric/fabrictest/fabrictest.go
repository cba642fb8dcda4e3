package fabrictest

import (
	"fmt"
	"os"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// Namespace makes an empty network namespace that goes with the test, and returns its path.
func Namespace(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), netnstest.New(t).Fd())
}

// Nodes are that many nodes in scratch namespaces, with scratch file systems.
func Nodes(t *testing.T, names ...string) []fabric.Node {
	t.Helper()
	var nodes []fabric.Node
	for _, name := range names {
		nodes = append(nodes, fabric.Node{Name: name, Namespace: Namespace(t), Root: t.TempDir()})
	}
	return nodes
}

// Lay lays a fabric that goes with the test.
func Lay(t *testing.T, s fabric.Spec) fabric.Spec {
	t.Helper()
	t.Cleanup(func() {
		if err := fabric.Remove(s.Name); err != nil {
			t.Errorf("remove the fabric: %v", err)
		}
	})
	if err := fabric.Lay(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// Name is a fabric's, different in each process.
func Name(suffix string) string { return fmt.Sprintf("test-%d-%s", os.Getpid(), suffix) }

// BringUp sets an interface of the calling thread's namespace up and gives it an address, if any.
func BringUp(name, address string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find %s: %w", name, err)
	}
	if address != "" {
		parsed, err := netlink.ParseAddr(address)
		if err != nil {
			return fmt.Errorf("address %s: %w", address, err)
		}
		if err := netlink.AddrAdd(link, parsed); err != nil {
			return fmt.Errorf("give %s the address %s: %w", name, address, err)
		}
	}
	return netlink.LinkSetUp(link)
}
