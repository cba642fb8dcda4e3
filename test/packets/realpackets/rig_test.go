package realpackets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// rig is a device that linerate knows nothing of: two namespaces with cables between them.
//
//	generator: g0   g1
//	            │    │
//	device:    d0   d1
type rig struct {
	generator, device *netif.Namespace
	ports             int
	// east is the namespace of the device's second port, where that is in another one.
	east *netif.Namespace
}

func newRig(t *testing.T, ports int) *rig {
	t.Helper()
	r := &rig{generator: space(t), device: space(t), ports: ports}
	for i := range ports {
		r.cable(t, i)
	}
	return r
}

func space(t *testing.T) *netif.Namespace {
	t.Helper()
	ns, err := netif.NewNamespace()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ns.Close() })
	return ns
}

func (r *rig) cable(t *testing.T, i int) {
	t.Helper()
	far := fmt.Sprintf("d%d", i)
	in(t, r.generator, func() error {
		attrs := netlink.NewLinkAttrs()
		attrs.Name = fmt.Sprintf("g%d", i)
		veth := &netlink.Veth{LinkAttrs: attrs, PeerName: far, PeerNamespace: netlink.NsFd(r.device.Fd())}
		if err := netlink.LinkAdd(veth); err != nil {
			return fmt.Errorf("make cable %d: %w", i, err)
		}
		return setUp(attrs.Name)
	})
	in(t, r.device, func() error { return setUp(far) })
}

func in(t *testing.T, ns *netif.Namespace, fn func() error) {
	t.Helper()
	if err := ns.Do(fn); err != nil {
		t.Fatal(err)
	}
}

func setUp(name string) error {
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("1"), 0o600); err != nil {
		return fmt.Errorf("silence %s: %w", name, err)
	}
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}

// networks are those behind each port.
var networks = [2]string{"16.0.0.0/24", "48.0.0.0/24"}

// route makes the device a router with the addresses that a LoadTest has by default.
func (r *rig) route(t *testing.T) {
	t.Helper()
	in(t, r.device, func() error {
		if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o600); err != nil {
			return err
		}
		for i, network := range networks {
			if err := routePort(i, network); err != nil {
				return err
			}
		}
		return nil
	})
}

func routePort(i int, network string) error {
	link, err := netlink.LinkByName(fmt.Sprintf("d%d", i))
	if err != nil {
		return err
	}
	addr, err := netlink.ParseAddr(fmt.Sprintf("198.18.%d.1/24", i))
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(link, addr); err != nil {
		return err
	}
	return routeTo(link, i, network)
}

// routeTo leads to a network behind a port that is up.
func routeTo(link netlink.Link, i int, network string) error {
	_, dst, err := net.ParseCIDR(network)
	if err != nil {
		return err
	}
	return netlink.RouteReplace(&netlink.Route{Dst: dst, Gw: net.IPv4(198, 18, byte(i), 2), LinkIndex: link.Attrs().Index})
}

// limitEach makes the device drop what is above so many packets/s of what enters each port, in their order: nft's token bucket, as deep as the device saves up.
func (r *rig) limitEach(t *testing.T, saves time.Duration, packetsPerSecond ...int64) {
	t.Helper()
	conn, err := nftables.New(nftables.WithNetNSFd(r.device.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "device"})
	chain := conn.AddChain(&nftables.Chain{Name: "limit", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter})
	for i, rate := range packetsPerSecond {
		name := make([]byte, 16)
		copy(name, fmt.Sprintf("d%d", i))
		bucket := uint32(max(1, rate*int64(saves)/int64(time.Second)))
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
			&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: 1},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: name},
			&expr.Limit{Type: expr.LimitTypePkts, Rate: uint64(rate), Unit: expr.LimitTimeSecond, Burst: bucket, Over: true},
			&expr.Counter{},
			&expr.Verdict{Kind: expr.VerdictDrop},
		}})
	}
	if err := conn.Flush(); err != nil {
		t.Fatalf("set the device's limit: %v", err)
	}
}

// bridge joins ports of the device as a switch would: what enters one leaves by the others. A port that is bridged alone gets its own
// frames back, as by a looped cable.
func (r *rig) bridge(t *testing.T, name string, ports ...int) {
	t.Helper()
	in(t, r.device, func() error {
		attrs := netlink.NewLinkAttrs()
		attrs.Name = name
		bridge := &netlink.Bridge{LinkAttrs: attrs}
		if err := netlink.LinkAdd(bridge); err != nil {
			return fmt.Errorf("make bridge %s: %w", name, err)
		}
		for _, i := range ports {
			port, err := netlink.LinkByName(fmt.Sprintf("d%d", i))
			if err != nil {
				return err
			}
			if err := netlink.LinkSetMaster(port, bridge); err != nil {
				return err
			}
			if err := netlink.LinkSetHairpin(port, len(ports) == 1); err != nil {
				return fmt.Errorf("loop port %d: %w", i, err)
			}
		}
		return setUp(name)
	})
}

// measure runs the LoadTest on the rig's generator ports.
func (r *rig) measure(t *testing.T, yaml string, args ...string) *report.Report {
	t.Helper()
	return r.report(t, append([]string{"run", writeFile(t, "test.yaml", yaml), "-o", "json", "--save", "", "--ports", r.portList()}, args...)...)
}

// report runs linerate and reads the Report that it prints.
func (r *rig) report(t *testing.T, args ...string) *report.Report {
	t.Helper()
	return reportFrom(t, r.generator, args...)
}

// reportFrom is report of a run in a namespace.
func reportFrom(t *testing.T, ns *netif.Namespace, args ...string) *report.Report {
	t.Helper()
	got := callIn(t, ns, args...)
	var rep report.Report
	if err := json.Unmarshal([]byte(got.stdout), &rep); err != nil {
		t.Fatalf("exit code %d, no report: %v\nstderr:\n%s", got.code, err, got.stderr)
	}
	t.Logf("%s %s", rep.Message, rep.Answer.EvidenceText())
	return &rep
}

func (r *rig) portList() string {
	names := make([]string, r.ports)
	for i := range names {
		names[i] = fmt.Sprintf("g%d", i)
	}
	return strings.Join(names, ",")
}

// call runs linerate in the generator's namespace.
func (r *rig) call(t *testing.T, args ...string) outcome {
	t.Helper()
	return callIn(t, r.generator, args...)
}

// callIn runs linerate in a namespace.
func callIn(t *testing.T, ns *netif.Namespace, args ...string) outcome {
	t.Helper()
	return callProgram(t, linerate, ns, args...)
}

// callProgram runs a build of linerate in a namespace.
func callProgram(t *testing.T, program string, ns *netif.Namespace, args ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	in(t, ns, func() error {
		loopbackUp()
		return cmd.Start()
	})
	_ = cmd.Wait()
	return outcome{cmd.ProcessState.ExitCode(), out.String(), talk.String()}
}

// loopbackUp makes RPC possible in a namespace: a child is in the namespace of the thread that starts it.
func loopbackUp() {
	if lo, err := netlink.LinkByName("lo"); err == nil {
		_ = netlink.LinkSetUp(lo)
	}
}

// generate serves the software engine on the rig's ports, as throttled or crippled as the flags say, until the test ends.
func (r *rig) generate(t *testing.T, flags ...string) {
	t.Helper()
	r.generateOn(t, r.portList(), flags...)
}

// generateOn serves it on some of the rig's ports.
func (r *rig) generateOn(t *testing.T, ports string, flags ...string) {
	t.Helper()
	cmd := exec.Command(linerate, append([]string{"generator", "--ports", ports, "--speed", "1gbps"}, flags...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	talk, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	in(t, r.generator, func() error {
		loopbackUp()
		return cmd.Start()
	})
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	awaitLine(t, newReader(talk), "answering on")
}

// sent is what the device's ports have received.
func (r *rig) sent(t *testing.T) uint64 {
	t.Helper()
	var sum uint64
	in(t, r.device, func() error {
		for i := range r.ports {
			link, err := netlink.LinkByName(fmt.Sprintf("d%d", i))
			if err != nil {
				return err
			}
			sum += link.Attrs().Statistics.RxPackets
		}
		return nil
	})
	return sum
}
