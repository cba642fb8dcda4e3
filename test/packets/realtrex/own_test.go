//go:build trex

package realtrex

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/impaired"
)

var root = flag.String("trex-root", "", "folder with a TRex's _t-rex-64: it is started on two veths with a device between them, both in namespaces of their own, instead of -server (root only)")

// ownBench starts the TRex of -trex-root with a device of the test's between its ports:
//
//	TRex:    p0   p1      a router whose kernel has a limit, or without addresses a device that holds each frame for a while
//	         │    │
//	device:  d0   d1
func ownBench(t *testing.T, delay time.Duration) *bench {
	t.Helper()
	generator, between := space(t), space(t)
	for i := range ports {
		lay(t, generator, between, i)
	}
	b := &bench{server: "127.0.0.1:4501", space: generator, forwarding: "L3", delay: delay}
	if delay == 0 {
		b.device = newRouter(t, between)
	} else {
		b.device, b.forwarding = &holder{space: between, delay: delay}, "L2"
	}
	b.startTRex(t)
	return b
}

func space(t *testing.T) *netif.Namespace {
	t.Helper()
	ns, err := netif.NewNamespace()
	must(t, err)
	t.Cleanup(func() { _ = ns.Close() })
	return ns
}

// lay lays the cable from TRex's port to the device's.
func lay(t *testing.T, generator, between *netif.Namespace, i int) {
	t.Helper()
	near, far := fmt.Sprintf("p%d", i), fmt.Sprintf("d%d", i)
	must(t, generator.Do(func() error {
		attrs := netlink.NewLinkAttrs()
		attrs.Name = near
		return errors.Join(netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: far, PeerNamespace: netlink.NsFd(between.Fd())}), raise("lo"), raise(near))
	}))
	must(t, between.Do(func() error { return raise(far) }))
}

// raise brings an interface up, and keeps the kernel from sending of its own accord.
func raise(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	if name != "lo" {
		netif.DisableOffloads(name)
	}
	return errors.Join(netif.WriteSysctl("ipv6/conf/"+name+"/disable_ipv6", "1"), netlink.LinkSetUp(link))
}

// router is a device of the kernel's, which forwards by IPv4.
type router struct{ space *netif.Namespace }

func newRouter(t *testing.T, ns *netif.Namespace) router {
	t.Helper()
	must(t, ns.Do(func() error {
		if err := netif.WriteSysctl("ipv4/ip_forward", "1"); err != nil {
			return err
		}
		for i := range ports {
			link, err := netlink.LinkByName(fmt.Sprintf("d%d", i))
			if err != nil {
				return err
			}
			err = errors.Join(
				netlink.AddrAdd(link, &netlink.Addr{IPNet: netif.IPNet(netip.PrefixFrom(nextHops[i], 24))}),
				netlink.RouteAdd(&netlink.Route{Dst: netif.IPNet(networks[i]), Gw: net.IP(locals[i].AsSlice()), LinkIndex: link.Attrs().Index}))
			if err != nil {
				return err
			}
		}
		return nil
	}))
	return router{ns}
}

func (r router) limit(t *testing.T, packetsPerSecond int64, saves time.Duration) {
	t.Helper()
	conn, err := nftables.New(nftables.WithNetNSFd(r.space.Fd()))
	must(t, err)
	conn.FlushRuleset()
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "device"})
	chain := conn.AddChain(&nftables.Chain{Name: "limit", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter})
	for i := range ports {
		name := make([]byte, 16)
		copy(name, fmt.Sprintf("d%d", i))
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
			&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: 1},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: name},
			&expr.Limit{Type: expr.LimitTypePkts, Rate: uint64(packetsPerSecond), Unit: expr.LimitTimeSecond, Burst: uint32(bucket(packetsPerSecond, saves)), Over: true},
			&expr.Verdict{Kind: expr.VerdictDrop},
		}})
	}
	must(t, conn.Flush())
}

func (router) saves() bool { return true }

func (r router) count(t *testing.T) ([ports]counters, bool) {
	t.Helper()
	return kernelCounters(t, r.space), true
}

// kernelCounters are those of the device's interfaces.
func kernelCounters(t *testing.T, ns *netif.Namespace) (all [ports]counters) {
	t.Helper()
	must(t, ns.Do(func() error {
		for i := range ports {
			link, err := netlink.LinkByName(fmt.Sprintf("d%d", i))
			if err != nil {
				return err
			}
			all[i] = counters{int64(link.Attrs().Statistics.RxPackets), int64(link.Attrs().Statistics.TxPackets)}
		}
		return nil
	}))
	return all
}

// holder is a device without addresses that holds each frame for a while.
type holder struct {
	space *netif.Namespace
	delay time.Duration
}

func (h *holder) limit(t *testing.T, packetsPerSecond int64, saves time.Duration) {
	t.Helper()
	i := impaired.Impairment{Limit: packetsPerSecond, Saves: saves, Delay: h.delay}
	d, err := impaired.Start(h.space, impaired.Spec{Interfaces: [2]string{"d0", "d1"}, Ports: [2]impaired.Impairment{i, i}})
	must(t, err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

func (*holder) saves() bool { return true }

func (h *holder) count(t *testing.T) ([ports]counters, bool) {
	t.Helper()
	return kernelCounters(t, h.space), true
}

// configuration is of a TRex on kernel interfaces that shares one processor with whoever else wants it.
const configuration = `- version: 2
  interfaces: ["p0", "p1"]
  port_limit: 2
  c: 1
  low_end: true
  prefix: realtrex%d
  port_info:
  - {ip: %s, default_gw: %s}
  - {ip: %s, default_gw: %s}
`

// startTRex starts the TRex of -trex-root, which ends with the test.
func (b *bench) startTRex(t *testing.T) {
	t.Helper()
	folder, err := filepath.Abs(*root)
	must(t, err)
	config := filepath.Join(t.TempDir(), "trex.yaml")
	must(t, os.WriteFile(config, fmt.Appendf(nil, configuration, os.Getpid(), locals[0], nextHops[0], locals[1], nextHops[1]), 0o600))
	log, err := os.Create(filepath.Join(t.TempDir(), "trex.log"))
	must(t, err)
	cmd := exec.Command("./_t-rex-64", "-i", "-c", "1", "--cfg", config, "--software", "--hdrh", "--iom", "0", "--no-key", "--no-termio", "--no-watchdog")
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, log, log
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+folder+":"+filepath.Join(folder, "so/x86_64"))
	ended := make(chan struct{})
	must(t, b.space.Start(cmd, func() {
		_ = cmd.Wait()
		close(ended)
	}))
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		_ = log.Close()
	})
	for begun := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		c, err := b.dial(t.Context(), trex.Options{User: "realtrex"})
		if err == nil {
			must(t, c.Close())
			return
		}
		select {
		case <-ended:
		default:
			if time.Since(begun) < time.Minute {
				continue
			}
		}
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("TRex doesn't answer: %v\n%s", err, text[max(0, len(text)-2000):])
	}
}
