//go:build full

package delivery

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/pod/launch"
)

// perLink is a replica whose two ports are on different machines, with the forwarder between them.
func perLink(t *testing.T) *rig {
	t.Helper()
	needRoot(t)
	r := &rig{files: t.TempDir()}
	device := space(t)
	p := planOf(t, strings.Replace(known("16s"), "engine: Software", "engine: Software, layout: PerLink", 1))
	sites := plan.Sites{Version: plan.SitesVersion}
	for i, name := range links {
		machine := space(t)
		cableOf(t, machine, device, name)
		c := contain(t, machine, steadyRights, "generator", "--ports", name, "--listen", "127.0.0.1:4501", "--speed", "1gbps", "--secret-file", "")
		probe(t, machine, c, "generator")
		sites.Generators = append(sites.Generators, plan.Site{Generator: p.Generators[i].Name, RPC: relay(t, machine), PortOfLink: map[string]int{name: 0}})
	}
	forward(t, device)
	r.writeDocuments(t, p, sites)
	r.makeObjects(t)
	return r
}

func cableOf(t *testing.T, generator, device *netif.Namespace, name string) {
	t.Helper()
	err := generator.Do(func() error {
		lo, err := netlink.LinkByName("lo")
		if err != nil {
			return err
		}
		if err := netlink.LinkSetUp(lo); err != nil {
			return err
		}
		attrs := netlink.NewLinkAttrs()
		attrs.Name = name
		if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: name, PeerNamespace: netlink.NsFd(device.Fd())}); err != nil {
			return fmt.Errorf("make cable %s: %w", name, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAGeneratorForEachLink(t *testing.T) {
	t.Parallel()
	r := perLink(t)
	if code := r.start(t, "a").wait(t); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	got, _ := r.report(t)
	for _, d := range got.Answer.Directions {
		if answer := d.Received.PacketsPerSecond; !got.Answer.Saturated || answer < 970 || answer > 1010 {
			t.Errorf("%s→%s: %d packets/s, %s", d.From, d.To, answer, got.Answer.EvidenceText())
		}
	}
	for _, total := range got.Totals {
		if !total.Drained || total.Returned.Packets > total.Sent.Packets {
			t.Errorf("total %+v", total)
		}
	}
	if shares := got.Answer.Generators; len(shares) != 2 || shares[0].Name != "generator-0-west" || shares[1].OfferedPacketsPerSecond < 970 {
		t.Errorf("shares %+v", shares)
	}
}

// launcher answers as TRex's launcher does, until stop is called.
func launcher(t *testing.T, device string) (address string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	hello := launch.Report{Version: launch.ReportVersion, Started: time.Unix(1e9, 0), Links: []launch.LinkDevice{{Link: "west", Network: "lab/sriov-west", PCIAddress: device}},
		Notices: []launch.Notice{{Code: launch.SharedCPUs, Notable: "the CPUs are shared"}}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = launch.ReceiveHeartbeats(t.Context(), l, hello, func() {})
	}()
	return l.Addr().String(), func() { _ = l.Close() }
}

func TestALauncherThatNeedsHeartbeats(t *testing.T) {
	t.Parallel()
	needRoot(t)
	t.Run("reports its devices", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, known("8s"))
		address, _ := launcher(t, "0000:03:02.1")
		r.heartbeat(t, address)
		if code := r.start(t, "a").wait(t); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		got, _ := r.report(t)
		if port := got.Generators[0].Ports[0]; port.Device != "0000:03:02.1" || port.Network != "lab/sriov-west" {
			t.Errorf("port %+v", port)
		}
		if !strings.Contains(fmt.Sprint(got.Notes), "the CPUs are shared") {
			t.Errorf("notes %v", got.Notes)
		}
	})
	t.Run("can't be done without", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, known("8s"))
		r.heartbeat(t, "127.0.0.1:1")
		if code := r.start(t, "a", "--patience", "3s").wait(t); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		if got, _ := r.report(t); got.Ending != report.GeneratorLost || !strings.Contains(got.Message, "its launcher can't be reached") {
			t.Errorf("%s: %s", got.Ending, got.Message)
		}
	})
}
