package fabric_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
	"github.com/linerate-dev/linerate/test/rigs/fabric/fabrictest"
	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

func TestLay(t *testing.T) {
	t.Run("each node has its functions, with their own MACs, and an inventory of them", func(t *testing.T) {
		s := laid(t, "own", 2)
		for _, n := range s.Nodes {
			inventory, err := vf.Load(filepath.Join(n.Root, vf.StateDir, vf.InventoryFile))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s.Inventory(n.Name), inventory); diff != "" {
				t.Errorf("inventory (-want +got):\n%s", diff)
			}
			for d := range inventory.Devices() {
				link := find(t, n.Namespace, d.Interface)
				if link.HardwareAddr.String() != d.MAC || link.MTU != 1500 || link.Flags&net.FlagUp != 0 {
					t.Errorf("%s is %+v, want MAC %s, MTU 1500, down", d.Interface, link, d.MAC)
				}
			}
		}
	})
	t.Run("functions of a wire see each other: across nodes, on one node, on one port", func(t *testing.T) {
		s := laid(t, "see", 2)
		a0, a1, b0 := bringUp(t, s, "a", "westp0v0", 1), bringUp(t, s, "a", "westp0v1", 2),
			bringUp(t, s, "b", "westp1v0", 3)
		for _, pair := range [][2]end{{a0, b0}, {b0, a1}, {a0, a1}} {
			if err := reach(t, pair[0], pair[1], 10*time.Second); err != nil {
				t.Errorf("%s to %s: %v", pair[0].address, pair[1].address, err)
			}
		}
	})
	t.Run("wires are apart", func(t *testing.T) {
		s := laid(t, "apart", 1)
		west, east := bringUp(t, s, "a", "westp0v0", 1), bringUp(t, s, "b", "eastp1v0", 2)
		if err := reach(t, west, east, time.Second); err == nil {
			t.Error("a frame went from west to east")
		}
	})
	t.Run("laying again changes nothing, and mends what is missing", func(t *testing.T) {
		s := laid(t, "again", 2)
		earlier := find(t, s.Nodes[0].Namespace, "westp0v0").Index
		lost := s.Inventory("a").Resources[0].Devices[1]
		if err := vf.InNamespace(s.Nodes[0].Namespace, lost.Unplug); err != nil {
			t.Fatal(err)
		}
		if away, err := s.Away(); err != nil || len(away["a"]) != 1 || away["a"][0].ID != lost.ID {
			t.Fatalf("away: %v %v, want %s", away, err, lost.ID)
		}
		if err := fabric.Lay(s); err != nil {
			t.Fatal(err)
		}
		if away, err := s.Away(); err != nil || len(away) > 0 {
			t.Errorf("away after laying again: %v %v", away, err)
		}
		if later := find(t, s.Nodes[0].Namespace, "westp0v0").Index; later != earlier {
			t.Errorf("westp0v0 was made anew: index %d, then %d", earlier, later)
		}
	})
	t.Run("laying less takes the rest away", func(t *testing.T) {
		s := laid(t, "less", 2)
		s.Wires = s.Wires[:1]
		if err := fabric.Lay(s); err != nil {
			t.Fatal(err)
		}
		if missing(t, s.Nodes[1].Namespace, "westp1v0") || !missing(t, s.Nodes[1].Namespace, "eastp1v0") {
			t.Error("want west's functions only")
		}
	})
	t.Run("a node that is made again gets new functions", func(t *testing.T) {
		s := laid(t, "anew", 1)
		s.Nodes[1].Namespace = fabrictest.Namespace(t)
		if err := vf.InNamespace(s.Nodes[1].Namespace, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		// The old node's functions are still there, as nobody ended its namespace. The namespace's end would remove
		// them.
		for d := range s.Inventory("b").Devices() {
			if err := vf.InNamespace(s.Nodes[0].Namespace, d.Unplug); err != nil {
				t.Fatal(err)
			}
		}
		if err := fabric.Lay(s); err != nil {
			t.Fatal(err)
		}
		if missing(t, s.Nodes[1].Namespace, "westp1v0") {
			t.Error("the new node has no westp1v0")
		}
	})
	t.Run("what is left of a fabric whose nodes ended goes when another is laid", func(t *testing.T) {
		abandoned := laid(t, "left", 1)
		used := laid(t, "used", 1)
		for _, n := range abandoned.Nodes {
			for d := range abandoned.Inventory(n.Name).Devices() {
				if err := vf.InNamespace(n.Namespace, d.Unplug); err != nil { // as the node's end does
					t.Fatal(err)
				}
			}
		}
		laid(t, "new", 1)
		if _, err := os.Stat("/run/linerate/fabric/" + abandoned.Name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("it is still there: %v", err)
		}
		if missing(t, used.Nodes[0].Namespace, "westp0v0") {
			t.Error("a fabric that is in use went with it")
		}
	})
	t.Run("an interface that has the name already is an error", func(t *testing.T) {
		nodes := fabrictest.Nodes(t, "a")
		if err := vf.InNamespace(nodes[0].Namespace, func() error {
			return netlink.LinkAdd(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "westp0v0"}})
		}); err != nil {
			t.Fatal(err)
		}
		s := fabric.Across(fabrictest.Name("taken"), nodes, 1, "west")
		t.Cleanup(func() { _ = fabric.Remove(s.Name) })
		if err := fabric.Lay(s); err == nil {
			t.Error("no error")
		}
	})
}

func TestRemove(t *testing.T) {
	t.Run("takes everything away, also from pods", func(t *testing.T) {
		s := laid(t, "all", 1)
		pod := fabrictest.Namespace(t)
		move(t, s.Nodes[0].Namespace, "westp0v0", pod)
		if err := fabric.Remove(s.Name); err != nil {
			t.Fatal(err)
		}
		if !missing(t, pod, "westp0v0") || !missing(t, s.Nodes[0].Namespace, "eastp0v0") {
			t.Error("a function is left")
		}
		if _, err := os.Stat("/run/linerate/fabric/" + s.Name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the hold is left: %v", err)
		}
	})
	t.Run("is content where there is nothing, or half a hold", func(t *testing.T) {
		netnstest.Root(t)
		name := fabrictest.Name("half")
		if err := fabric.Remove(name); err != nil {
			t.Error(err)
		}
		if err := os.MkdirAll("/run/linerate/fabric", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("/run/linerate/fabric/"+name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := fabric.Remove(name); err != nil {
			t.Error(err)
		}
	})
}

func TestSetPort(t *testing.T) {
	s := laid(t, "port", 2)
	pod := fabrictest.Namespace(t)
	move(t, s.Nodes[0].Namespace, "westp0v1", pod)
	for _, at := range []end{{namespace: s.Nodes[0].Namespace, name: "westp0v0"}, {namespace: pod, name: "westp0v1"},
		{namespace: s.Nodes[1].Namespace, name: "westp1v0"}} {
		if err := vf.InNamespace(at.namespace, func() error { return fabrictest.BringUp(at.name, "") }); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetPort("west", 0, false); err != nil {
		t.Fatal(err)
	}
	if carrier(t, s.Nodes[0].Namespace, "westp0v0") || carrier(t, pod, "westp0v1") {
		t.Error("a function of the port has a carrier, with its cable pulled")
	}
	if !carrier(t, s.Nodes[1].Namespace, "westp1v0") {
		t.Error("the other port lost its carrier, too")
	}
	if err := s.SetPort("west", 0, true); err != nil {
		t.Fatal(err)
	}
	if !carrier(t, pod, "westp0v1") {
		t.Error("no carrier after the cable was plugged in again")
	}
	if err := s.SetPort("west", 2, true); err == nil {
		t.Error("a port that isn't there was set")
	}
}

// laid is two nodes, a and b, with the wires west and east.
func laid(t *testing.T, name string, functions int) fabric.Spec {
	t.Helper()
	return fabrictest.Lay(t, fabric.Across(fabrictest.Name(name), fabrictest.Nodes(t, "a", "b"), functions, "west",
		"east"))
}

type end struct{ namespace, name, address string }

func bringUp(t *testing.T, s fabric.Spec, node, name string, host int) end {
	t.Helper()
	for _, n := range s.Nodes {
		if n.Name == node {
			e := end{fabrictest.Namespace(t), name, fmt.Sprintf("198.18.0.%d", host)}
			move(t, n.Namespace, name, e.namespace)
			if err := vf.InNamespace(e.namespace,
				func() error { return fabrictest.BringUp(name, e.address+"/24") }); err != nil {
				t.Fatal(err)
			}
			return e
		}
	}
	t.Fatalf("no node %s", node)
	return end{}
}

// reach sends UDP datagrams from one end to the other until one arrives, or the limit has passed, as a switch's port
// takes a moment to come up.
func reach(t *testing.T, sender, receiver end, limit time.Duration) error {
	t.Helper()
	var server net.PacketConn
	var client net.Conn
	err := vf.InNamespace(receiver.namespace, func() (err error) {
		server, err = net.ListenPacket("udp4", receiver.address+":9")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	err = vf.InNamespace(sender.namespace, func() (err error) {
		client, err = net.Dial("udp4", receiver.address+":9")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	for start := time.Now(); time.Since(start) < limit; {
		if _, err := client.Write([]byte("hello")); err != nil {
			return err
		}
		if err = receive(server, "hello", sender.address); err == nil {
			return nil
		}
	}
	return err
}

func receive(server net.PacketConn, text, from string) error {
	if err := server.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		return err
	}
	got := make([]byte, 64)
	n, sender, err := server.ReadFrom(got)
	if err == nil && (string(got[:n]) != text || sender.(*net.UDPAddr).IP.String() != from) {
		return fmt.Errorf("got %q from %v", got[:n], sender)
	}
	return err
}

func move(t *testing.T, source, name, to string) {
	t.Helper()
	target, err := os.Open(to)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = target.Close() }()
	err = vf.InNamespace(source, func() error {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return err
		}
		return netlink.LinkSetNsFd(link, int(target.Fd()))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, namespace, name string) *netlink.LinkAttrs {
	t.Helper()
	var link netlink.Link
	err := vf.InNamespace(namespace, func() (err error) {
		link, err = netlink.LinkByName(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return link.Attrs()
}

func missing(t *testing.T, namespace, name string) bool {
	t.Helper()
	err := vf.InNamespace(namespace, func() error {
		_, err := netlink.LinkByName(name)
		return err
	})
	_, missing := errors.AsType[netlink.LinkNotFoundError](err)
	if err != nil && !missing {
		t.Fatal(err)
	}
	return missing
}

func carrier(t *testing.T, namespace, name string) bool {
	t.Helper()
	return find(t, namespace, name).RawFlags&0x10000 != 0 // IFF_LOWER_UP
}
