package realpackets

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/cli"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// hosts are two machines with a device between them, and a third one that runs the test.
//
//	runner: control ─────────────┬──────────────────────┐
//	                  198.51.100.2          198.51.100.3    the control network, 198.51.100.0/24
//	              a: g0                              b: g1
//	                 │                                  │
//	        device: d0 ──────────────────────────────── d1
type hosts struct {
	*rig
	runner *netif.Namespace
	host   [2]*host
	secret string // the file
}

// host is one of the two machines.
type host struct {
	*netif.Namespace
	name, address string
	generator     *exec.Cmd
}

// newHosts are two hosts whose device forwards so many packets/s of what enters it on either port.
func newHosts(t *testing.T, limit int64) *hosts {
	t.Helper()
	h := &hosts{rig: &rig{device: space(t), ports: 2}, runner: space(t), secret: filepath.Join(t.TempDir(), "secret")}
	in(t, h.runner, func() error {
		loopbackUp()
		attrs := netlink.NewLinkAttrs()
		attrs.Name = "control"
		if err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: attrs}); err != nil {
			return err
		}
		return addressed("control", "198.51.100.1/24")
	})
	for i, name := range []string{"a", "b"} {
		h.host[i] = &host{Namespace: space(t), name: name, address: fmt.Sprintf("198.51.100.%d:4501", 2+i)}
		h.generatorOf(i).cable(t, i)
		h.join(t, i)
	}
	h.route(t)
	h.limitEach(t, saved, limit, limit)
	return h
}

// generatorOf is the rig as a host's namespace sees it.
func (h *hosts) generatorOf(i int) *rig {
	return &rig{generator: h.host[i].Namespace, device: h.device, ports: 2}
}

// join connects a host to the control network.
func (h *hosts) join(t *testing.T, i int) {
	t.Helper()
	in(t, h.runner, func() error {
		control, err := netlink.LinkByName("control")
		if err != nil {
			return err
		}
		attrs := netlink.NewLinkAttrs()
		attrs.Name, attrs.MasterIndex = h.host[i].name, control.Attrs().Index
		veth := &netlink.Veth{LinkAttrs: attrs, PeerName: "control", PeerNamespace: netlink.NsFd(h.host[i].Fd())}
		if err := netlink.LinkAdd(veth); err != nil {
			return err
		}
		return setUp(attrs.Name)
	})
	in(t, h.host[i].Namespace, func() error {
		return addressed("control", strings.TrimSuffix(h.host[i].address, ":4501")+"/24")
	})
}

// addressed gives an interface an address, and sets it up.
func addressed(name, prefix string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	address, err := netlink.ParseAddr(prefix)
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(link, address); err != nil {
		return err
	}
	return setUp(name)
}

// clock is how a host's clock differs from the runner's.
type clock struct {
	ahead time.Duration
	drift int // parts per million
}

// driftVariable has a program of this test read a clock that drifts by so many parts per million.
const driftVariable = "LINERATE_TEST_CLOCK_DRIFT"

// driftingGenerator is linerate with a clock that drifts, where a test started this program as such.
func driftingGenerator() {
	drift := os.Getenv(driftVariable)
	if drift == "" {
		return
	}
	if _, err := fmt.Sscan(drift, &datapath.Drift); err != nil {
		fmt.Fprintln(os.Stderr, driftVariable, err)
		os.Exit(1)
	}
	os.Exit(cli.Main("linerate", os.Args[1:], cli.Streams{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
}

// generateOn serves linerate's own engine on a host's port.
func (h *hosts) generateOn(t *testing.T, i int, c clock, flags ...string) {
	t.Helper()
	h.serve(t, i, c, "answering on", append([]string{"generator", "--ports", fmt.Sprintf("g%d", i), "--speed", "1gbps"}, flags...)...)
}

// serve starts one of linerate's servers on a host, and waits for the words by which it says that it answers.
func (h *hosts) serve(t *testing.T, i int, c clock, words string, args ...string) {
	t.Helper()
	host, program := h.host[i], linerate
	if c.drift != 0 {
		program = os.Args[0]
	}
	line := append([]string{program}, append(args, "--listen", host.address, "--secret-file", h.secret)...)
	if c.ahead != 0 { // a time namespace, whose clocks the kernel's own programs don't have
		ahead := fmt.Sprint(int(c.ahead.Seconds()))
		line = append([]string{"unshare", "--time", "--monotonic", ahead, "--boottime", ahead}, line...)
	}
	host.generator = exec.Command(line[0], line[1:]...)
	host.generator.Env = append(os.Environ(), fmt.Sprintf("%s=%d", driftVariable, c.drift))
	if c.drift == 0 {
		host.generator.Env = os.Environ()
	}
	host.generator.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	talk, err := host.generator.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	in(t, host.Namespace, host.generator.Start)
	t.Cleanup(func() {
		_ = host.generator.Process.Kill()
		_ = host.generator.Wait()
	})
	awaitLine(t, newReader(talk), words)
}

// file writes a LoadTest of the two hosts, and returns how the third one runs it.
func (h *hosts) file(t *testing.T, rest string) []string {
	t.Helper()
	return []string{"run", writeFile(t, "hosts.yaml", fmt.Sprintf(`apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: hosts}
spec:
  generator: {engine: Software, placement: {servers: [{link: west, address: "%s"}, {link: east, address: "%s"}]}}
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  %s
`, h.host[0].address, h.host[1].address, rest)), "-o", "json", "--save", "", "--secret-file", h.secret}
}

// dropped is what the device's limit dropped of what came from west and from east, by its own counters.
func (h *hosts) dropped(t *testing.T) (frames []int64) {
	t.Helper()
	conn, err := nftables.New(nftables.WithNetNSFd(h.device.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	table := &nftables.Table{Family: nftables.TableFamilyIPv4, Name: "device"}
	rules, err := conn.GetRules(table, &nftables.Chain{Name: "limit", Table: table})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		for _, e := range rule.Exprs {
			if counter, ok := e.(*expr.Counter); ok {
				frames = append(frames, int64(counter.Packets))
			}
		}
	}
	return frames
}

// TestTwoHosts: source and sink are different machines, whose clocks differ by 3 s and 50 ppm, and a third one runs the test. What was lost is what the device
// dropped, to the frame: in all trials together, and in a whole search.
func TestTwoHosts(t *testing.T) {
	beside(t)
	limit := 4_000 + rand.Int64N(5_001)
	h := newHosts(t, limit)
	h.generateOn(t, 0, clock{3 * time.Second, 50}, "--path", "af_xdp") // the kernel, which sends live frames, has the machine's clock
	h.generateOn(t, 1, clock{})
	device := truth.Device{Limits: map[string]int64{"west→east": limit, "east→west": limit}, Burst: saved, Stall: 50 * time.Millisecond} // nobody watches the device's machine
	links := []string{"west", "east"}
	for _, procedure := range []string{hostsCurve, sceneRamp} {
		before := h.dropped(t)
		r := reportFrom(t, h.runner, h.file(t, "procedure: "+procedure)...)
		for _, fault := range device.Faults(r) {
			t.Error(fault)
		}
		after := h.dropped(t)
		for i, from := range links {
			numbered := numberedOf(r, from, links[1-i])
			dropped := after[i] - before[i] - int64(numbered.Sent-numbered.Received)
			for _, total := range r.Totals {
				if lost := total.Sent.Packets - total.Returned.Packets - total.ReceiveErrors; total.From == from && (lost != dropped || !total.Drained || lost == 0) {
					t.Errorf("from %s %d frames are lost (drained: %v), and the device dropped %d", from, lost, total.Drained, dropped)
				}
			}
			if lost := lostInWindows(r, from); procedure == hostsCurve && lost != dropped {
				t.Errorf("from %s the trials lost %d frames, and the device dropped %d", from, lost, dropped)
			}
		}
	}
}

// hostsCurve is trials alone.
const hostsCurve = "{type: FrameLoss, frameLoss: {maxRate: 21kpps, minRate: 1kpps, step: 10kpps, warmupDuration: 0s, trialDuration: 1s, cleanTrials: 0}}"

// lostInWindows is what all windows lost of what came from a link.
func lostInWindows(r *report.Report, from string) (frames int64) {
	for _, w := range r.Windows {
		for _, d := range w.Directions {
			if d.From == from {
				frames += d.Sent.Packets - d.Returned.Packets - d.ReceiveErrors
			}
		}
	}
	return frames
}
