package cni_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/containernetworking/cni/libcni"
	current "github.com/containernetworking/cni/pkg/types/100"
	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
	"github.com/linerate-dev/linerate/test/rigs/fabric/fabrictest"
	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "linerate-vf-")
	if err != nil {
		panic(err)
	}
	binaries = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// binaries is where the plugin is built, once. It is set before any test runs.
var (
	binaries string
	build    sync.Once
)

func mustAddr(text string) *netlink.Addr {
	a, err := netlink.ParseAddr(text)
	if err != nil {
		panic(err)
	}
	return a
}

// node is one with two functions on the wire west, and the plugin as a runtime would call it.
type node struct {
	t      *testing.T
	fabric fabric.Spec
	state  string
	cni    *libcni.CNIConfig
}

func newNode(t *testing.T) node {
	t.Helper()
	netnstest.Root(t)
	build.Do(func() {
		cmd := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(binaries, "linerate-vf"),
			"github.com/linerate-dev/linerate/test/rigs/fabric/plugins/linerate-vf")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as nodes have it
		output, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("build the plugin: %v\n%s", err, output)
		}
	})
	s := fabrictest.Lay(t, fabric.Across(fabrictest.Name("cni"), fabrictest.Nodes(t, "a"), 2, "west"))
	return node{
		t: t, fabric: s, state: filepath.Join(s.Nodes[0].Root, vf.StateDir),
		cni: libcni.NewCNIConfigWithCacheDir([]string{binaries}, t.TempDir(), nil),
	}
}

// pod is an attachment that a container wants.
type pod struct {
	container, namespace, name string
	wants                      map[string]any
	ipam                       string
}

func (n node) pod(container string) pod {
	return pod{container: container, namespace: fabrictest.Namespace(n.t), name: "net1"}
}

// call runs a verb in the node's namespace.
func (n node) call(p pod, device string, verb func(*libcni.NetworkConfigList, *libcni.RuntimeConf) error) error {
	n.t.Helper()
	ipam := ""
	if p.ipam != "" {
		ipam = fmt.Sprintf(`, "ipam": {"type": %q}`, p.ipam)
	}
	list, err := libcni.ConfListFromBytes(fmt.Appendf(nil, `{"cniVersion": "1.0.0", "name": "west", "plugins": [{
		"type": "linerate-vf", "deviceID": %q, "stateDir": %q, "capabilities": {"mac": true, "ips": true, "deviceID": true}%s}]}`, device, n.state, ipam))
	if err != nil {
		n.t.Fatal(err)
	}
	runtime := &libcni.RuntimeConf{ContainerID: p.container, NetNS: p.namespace, IfName: p.name,
		CapabilityArgs: p.wants}
	return vf.InNamespace(n.fabric.Nodes[0].Namespace, func() error { return verb(list, runtime) })
}

func (n node) add(p pod, device string) (*current.Result, error) {
	n.t.Helper()
	var result *current.Result
	err := n.call(p, device, func(list *libcni.NetworkConfigList, rt *libcni.RuntimeConf) error {
		got, err := n.cni.AddNetworkList(n.t.Context(), list, rt)
		if err == nil {
			result, err = current.NewResultFromResult(got)
		}
		return err
	})
	return result, err
}

func (n node) mustAdd(p pod, device string) *current.Result {
	n.t.Helper()
	result, err := n.add(p, device)
	if err != nil {
		n.t.Fatal(err)
	}
	return result
}

func (n node) check(p pod, device string) error {
	n.t.Helper()
	return n.call(p, device, func(list *libcni.NetworkConfigList, rt *libcni.RuntimeConf) error {
		return n.cni.CheckNetworkList(n.t.Context(), list, rt)
	})
}

func (n node) mustDel(p pod, device string) {
	n.t.Helper()
	err := n.call(p, device, func(list *libcni.NetworkConfigList, rt *libcni.RuntimeConf) error {
		return n.cni.DelNetworkList(n.t.Context(), list, rt)
	})
	if err != nil {
		n.t.Fatal(err)
	}
}

func (n node) device(id string) vf.Device {
	d, ok := n.fabric.Inventory("a").Find(id)
	if !ok {
		n.t.Fatalf("no device %s", id)
	}
	return d
}

func (n node) inside(fn func() error) {
	n.t.Helper()
	if err := vf.InNamespace(n.fabric.Nodes[0].Namespace, fn); err != nil {
		n.t.Fatal(err)
	}
}

func (n node) home(id string) (home bool) {
	n.t.Helper()
	n.inside(func() (err error) {
		home, err = n.device(id).Home()
		return err
	})
	return home
}

func (p pod) link(t *testing.T, name string) *netlink.LinkAttrs {
	t.Helper()
	var link netlink.Link
	if err := vf.InNamespace(p.namespace, func() (err error) {
		link, err = netlink.LinkByName(name)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return link.Attrs()
}

func (p pod) addresses(t *testing.T, name string) []string {
	t.Helper()
	var texts []string
	if err := vf.InNamespace(p.namespace, func() error {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return err
		}
		addresses, err := netlink.AddrList(link, netlink.FAMILY_ALL)
		for _, a := range addresses {
			texts = append(texts, a.IPNet.String())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return texts
}
