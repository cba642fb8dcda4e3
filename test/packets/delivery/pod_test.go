package delivery

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// asInAPod turns a shell into what a container of an unprivileged pod is: user 0 without any capability but those named, no way to gain one,
// /proc/sys and the root file system read-only. Only the directory of the termination log can be written.
const asInAPod = `mount --make-rprivate / && mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys &&
	mount --bind "$WRITABLE" "$WRITABLE" && mount -o remount,bind,ro / &&
	exec setpriv --no-new-privs --inh-caps=-all --bounding-set="-all,$CAPABILITIES" "$0" "$@"`

// container is a process that runs like a pod's container.
type container struct {
	cmd  *exec.Cmd
	talk bytes.Buffer
	dir  string
}

// contain starts linerate in the namespace with these capabilities only ("+net_raw,+net_admin"). It is ended with the test.
func contain(t *testing.T, ns *netif.Namespace, capabilities string, args ...string) *container {
	t.Helper()
	c := &container{dir: t.TempDir()}
	if err := os.WriteFile(c.lastWords(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.cmd = exec.CommandContext(t.Context(), "unshare", slices.Concat([]string{"--mount", "sh", "-c", asInAPod, linerate}, args, []string{"--termination-log", c.lastWords()})...)
	c.cmd.Env = append(os.Environ(), "WRITABLE="+c.dir, "CAPABILITIES="+capabilities)
	c.cmd.Stdout, c.cmd.Stderr = &c.talk, &c.talk
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
	c.cmd.WaitDelay = 10 * time.Second
	if err := ns.Do(c.cmd.Start); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Wait() })
	return c
}

// lastWords is the container's termination message.
func (c *container) lastWords() string { return filepath.Join(c.dir, "termination-log") }

// probe asks one of the verbs' own probes in the namespace until it says yes.
func probe(t *testing.T, ns *netif.Namespace, c *container, verb string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		cmd := exec.CommandContext(t.Context(), linerate, verb, "probe")
		if err := ns.Do(cmd.Start); err != nil {
			t.Fatal(err)
		}
		if cmd.Wait() == nil {
			return
		}
	}
	t.Fatalf("%s never became ready:\n%s", verb, c.talk.String())
}

// forwarderSpec is a router between the links, with a limit of 1000 packets/s.
func forwarderSpec(networks ...string) forwarder.Spec {
	spec := forwarder.Spec{Forwarding: plan.L3, Directions: []forwarder.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}},
		Limit: &plan.Limit{PacketsPerSecond: 1000}}
	for i, name := range links {
		spec.Links = append(spec.Links, forwarder.Link{Interface: name,
			Addresses: []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("198.18.%d.1/24", i))},
			Generator: []netip.Addr{netip.MustParseAddr(fmt.Sprintf("198.18.%d.2", i))},
			Networks:  []netip.Prefix{netip.MustParsePrefix(networks[i])}})
	}
	return spec
}

func writeSpec(t *testing.T, spec forwarder.Spec) string {
	t.Helper()
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "forwarder.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAGeneratorReportsItsRights(t *testing.T) {
	needRoot(t)
	ns, far := space(t), space(t)
	cable(t, ns, far)
	t.Run("with NET_RAW and NET_ADMIN it sets its interfaces up, and names the rights that it lacks", func(t *testing.T) {
		c := contain(t, ns, podRights, "generator", "--ports", "west,east", "--speed", "1gbps,2gbps", "--wait", "1s", "--secret-file", "")
		probe(t, ns, c, "generator")
		_ = c.cmd.Process.Signal(syscall.SIGTERM)
		_ = c.cmd.Wait()
		for _, want := range []string{"west: set up", "receives by AF_PACKET (no eBPF: operation not permitted)",
			"privileges: NET_RAW (sockets on the interfaces), NET_ADMIN (interfaces up, AF_XDP)\n"} {
			if !strings.Contains(c.talk.String(), want) {
				t.Errorf("%q is not among what it said:\n%s", want, c.talk.String())
			}
		}
	})
	for name, tt := range map[string]struct {
		capabilities, ports, want string
	}{
		"without NET_ADMIN it can't set an interface up": {"+net_raw", "down", "can't be set up: operation not permitted; that needs the capability NET_ADMIN"},
		"without NET_RAW it can't open an interface":     {"+net_admin", "west", "run it as root, or in a container with the capability NET_RAW and user id 0"},
		"a missing interface is named, with the way out": {podRights, "north", "interface north doesn't exist in this network namespace; in a pod, look at the annotation"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.ports == "down" {
				addDown(t, ns, tt.ports)
			}
			c := contain(t, ns, tt.capabilities, "generator", "--ports", tt.ports, "--wait", "300ms", "--listen", "127.0.0.1:4599", "--secret-file", "")
			words := c.words(t)
			if !strings.Contains(words, tt.want) || strings.Contains(words, "\n") {
				t.Errorf("last words %q, and it said:\n%s", words, c.talk.String())
			}
		})
	}
}

// words waits for the container's end and returns its termination message.
func (c *container) words(t *testing.T) string {
	t.Helper()
	_ = c.cmd.Wait()
	words, err := os.ReadFile(c.lastWords())
	if err != nil {
		t.Fatal(err)
	}
	return string(words)
}

func addDown(t *testing.T, ns *netif.Namespace, name string) {
	t.Helper()
	err := ns.Do(func() error {
		attrs := netlink.NewLinkAttrs()
		attrs.Name = name
		return netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: "far-" + name})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAForwarderInAPod(t *testing.T) {
	needRoot(t)
	ns, far := space(t), space(t)
	cable(t, far, ns)
	t.Run("is not ready before it is set up", func(t *testing.T) {
		cmd := exec.CommandContext(t.Context(), linerate, "forwarder", "probe")
		if err := ns.Do(cmd.Start); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Error("it is")
		}
	})
	t.Run("leaves one sentence with the way out when it can't: IPv6 takes a /proc/sys that forwards", func(t *testing.T) {
		spec := forwarderSpec("16.0.0.0/24", "2001:2:1::/64")
		words := contain(t, ns, "+net_admin", "forwarder", "--spec", writeSpec(t, spec)).words(t)
		if !strings.Contains(words, "set net.ipv6.conf.all.forwarding=1 by the tuning CNI plugin") {
			t.Errorf("last words %q", words)
		}
	})
	t.Run("names missing interfaces", func(t *testing.T) {
		spec := forwarderSpec("16.0.0.0/24", "48.0.0.0/24")
		spec.Links[0].Interface, spec.Directions = "north", nil
		words := contain(t, ns, "+net_admin", "forwarder", "--spec", writeSpec(t, spec), "--wait", "200ms").words(t)
		if !strings.Contains(words, "no interface north in this network namespace") {
			t.Errorf("last words %q", words)
		}
	})
	t.Run("forwards with NET_ADMIN alone, until it is stopped", func(t *testing.T) {
		c := contain(t, ns, "+net_admin", "forwarder", "--spec", writeSpec(t, forwarderSpec("16.0.0.0/24", "48.0.0.0/24")))
		probe(t, ns, c, "forwarder")
		_ = c.cmd.Process.Signal(syscall.SIGTERM)
		_ = c.cmd.Wait()
		if code := c.cmd.ProcessState.ExitCode(); code != 0 || !strings.Contains(c.talk.String(), "limit west to east: 1000 packets/s") {
			t.Errorf("exit code %d:\n%s", code, c.talk.String())
		}
	})
}

func TestLinksOfAPod(t *testing.T) {
	dir := t.TempDir()
	static, status, output := filepath.Join(dir, "static.json"), filepath.Join(dir, "network-status"), filepath.Join(dir, "links.json")
	write(t, static, `{"version":"linerate.dev/links.v1alpha1","test":"t","forwarding":"L3","links":[
		{"name":"west","interface":"west","vlan":0,"generators":[]},{"name":"east","interface":"east","vlan":0,"generators":[],"macAddress":"02:00:00:00:00:99"}]}`)
	run := func() (string, error) {
		cmd := exec.CommandContext(t.Context(), linerate, "links", "--plan", static, "--network-status", status, "--output", output, "--wait", "300ms")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	t.Run("a missing network status is named, with the way out", func(t *testing.T) {
		write(t, status, "")
		if out, err := run(); err == nil || !strings.Contains(out, "stayed empty") {
			t.Errorf("%v: %s", err, out)
		}
	})
	t.Run("what the pod was given is added, but not over the spec's MAC", func(t *testing.T) {
		write(t, status, `[{"name":"cni","interface":"eth0","mac":"0A:00:00:00:00:01","default":true},
			{"name":"lab/sriov-west","interface":"west","mac":"02:00:00:00:00:0A","device-info":{"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:03:02.1"}}},
			{"name":"lab/sriov-east","interface":"east","mac":"02:00:00:00:00:0b"}]`)
		if out, err := run(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		text, err := os.ReadFile(output)
		if err != nil {
			t.Fatal(err)
		}
		var got plan.Links
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		west, east := got.Links[0], got.Links[1]
		if west.MAC != "02:00:00:00:00:0a" || west.Device != "0000:03:02.1" || east.MAC != "02:00:00:00:00:99" {
			t.Errorf("west %+v, east %+v", west, east)
		}
		if info, err := os.Stat(output); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%v, %v: all containers must read it", info.Mode(), err)
		}
	})
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
