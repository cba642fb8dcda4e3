//go:build full

package e2e

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/verify"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

const (
	// gently is a load that any device carries, each way.
	gently          = "procedure: {type: ConstantLoad, constantLoad: {rate: 1kpps, warmupDuration: 2s, duration: 5s, window: 1s}}"
	gentlyPerSecond = 1_000
	// overheard is how many frames of each wire are looked at: half of them come out of the device.
	overheard = 800
)

// mode is a real device that the kernel is in a pod, and what shows that it was one.
type mode struct {
	name, sample, change string
	makes                making
	// routes: frames take the kernel's own way from one interface to the other.
	routes bool
	// look is called in the pod's network namespace, while there is traffic; what it returns judges what it saw by the Report.
	look func() (judge func(*scene, *report.Report), err error)
}

// TestModesInPods plays the sample of each mode: frames come out of the device as the mode makes them, all are counted, and the pod has what makes its kernel that device. The load is one that
// any machine carries: what is asked for is no figure.
func TestModesInPods(t *testing.T) {
	t.Parallel()
	for _, m := range []mode{
		{"router", "mode-router", "dut: {reference: {mode: {router: {routes: 200}}}}", making{hops: 1}, true, hasRoutes(200)},
		{"bridge", "mode-bridge", "", making{}, false, hasLearned},
		{"filter", "mode-filter", "", making{hops: 1}, true, hasRules(1000)},
		{"filter without rules", "mode-filter", "dut: {reference: {mode: {filter: {rules: 0}}}}", making{hops: 1}, true, hasRules(0)},
		{"NAT", "mode-nat", "dut: {reference: {mode: {nat: {sessions: 1000}}}}", making{hops: 1}, true, hasConnections(1000)},
		{"XDP", "loadtest_reference_xdp", "", making{hops: 1}, false, hasPrograms},
	} {
		t.Run(m.name, func(t *testing.T) {
			s, begun := beside(t), time.Now()
			s.network("west", s.resource("west"))
			s.network("east", s.resource("east"))
			name := s.sample(m.sample, gently, "observers: [{name: device, observed: DUT, type: Interfaces}]", m.change)
			s.running(name)
			device := s.process(name+"-1-dut", "forwarder")
			heard := s.hear(overheard, "west", "east")
			s.routed(device, m.routes)
			var judge func(*scene, *report.Report)
			s.must(vf.InNamespace(filepath.Join(device, "ns/net"), func() (err error) {
				judge, err = m.look()
				return err
			}))
			test := s.complete(name, patience)
			r := s.report(test)
			s.carried(test, gentlyPerSecond)
			s.addsUp(r, s.wires, begun)
			s.makes(r, heard, m.makes)
			s.countedByDevice(r)
			judge(s, r)
			s.released(name)
		})
	}
}

// sample creates the LoadTest of a file of config/samples, with these parts of its spec changed, and returns its name.
func (s *scene) sample(file string, changes ...string) (name string) {
	s.Helper()
	text, err := os.ReadFile("../../../config/samples/" + file + ".yaml")
	s.must(err)
	var test lineratev1alpha1.LoadTest
	s.must(yaml.UnmarshalStrict(text, &test))
	test.Namespace = s.namespace
	for _, change := range changes {
		s.must(yaml.UnmarshalStrict([]byte(change), &test.Spec))
	}
	s.must(lab.Client.Create(s.Context(), &test))
	return test.Name
}

// process is where this machine sees the first process of a container, as in /proc/123.
func (s *scene) process(pod, container string) string {
	s.Helper()
	var p corev1.Pod
	s.must(lab.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: pod}, &p))
	process, err := lab.Process(s.Context(), &p, container)
	s.must(err)
	return process
}

// routed: since it began the kernel of a device's namespace has routed at least all packets that were overheard of it, or hardly any: those of the first moment.
func (s *scene) routed(device string, all bool) {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(device, "net/snmp"))
	s.must(err)
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		if row := strings.Fields(line); row[0] == "Ip:" {
			rows = append(rows, row)
		}
	}
	n, err := strconv.Atoi(rows[1][slices.Index(rows[0], "ForwDatagrams")])
	s.must(err)
	if all && n < overheard || !all && n > overheard/20 {
		s.Errorf("the pod's kernel has routed %d packets by itself; want %d at least where it is the device's way, else %d at most", n, overheard, overheard/20)
	}
}

// carried: the test is measured, and in each direction so many packets/s came back within 1 %, or fewer for a reason that isn't the device's. The environment names the mode and the kernel.
func (s *scene) carried(t *lineratev1alpha1.LoadTest, packetsPerSecond int64) {
	s.Helper()
	s.want(t, "Accepted=", "Complete=True Measured")
	r := s.report(t)
	if !r.Answer.Measured || len(r.Answer.Directions) == 0 {
		s.Fatalf("%s: %s: %s", t.Name, r.Answer.Reason, r.Answer.EvidenceText())
	}
	if mode := r.Environment.DeviceMode; mode != r.Plan.DUT.Mode().String()+"; Linux "+r.Environment.Generators[0].Machine.Kernel {
		s.Errorf("%s: the environment's device is %q", t.Name, mode)
	}
	if slices.Contains([]report.Reason{report.GeneratorLimited, report.MachineLimited}, r.Answer.Reason) {
		s.Logf("%s is disturbed: %s: %s", t.Name, r.Answer.Reason, r.Answer.EvidenceText())
		for _, d := range r.Answer.Directions {
			if most := packetsPerSecond * 101 / 100; d.Received.PacketsPerSecond > most {
				s.Errorf("%s: %d packets/s came back, of %d sent", d.Name(), d.Received.PacketsPerSecond, packetsPerSecond)
			}
		}
		return
	}
	s.directions(t, packetsPerSecond)
}

// addsUp: what the Report says follows from its counters, no more came back than was sent, and as much went over the wires as is counted: each frame that was sent, and each that came back, once more. ARP and what kernels
// say by themselves are few frames.
func (s *scene) addsUp(r *report.Report, wires *rig.Listener, begun time.Time) {
	s.Helper()
	for _, c := range verify.Report(r, r.Producer).Checks {
		for _, f := range c.Findings {
			s.Errorf("the Report contradicts its counters: %s: %s", c.Name, f.Message)
		}
	}
	var sent, returned int
	for _, p := range r.Path { // before the traffic
		sent, returned = sent+p.Sent, returned+p.Received
		if p.Repeats != nil {
			sent, returned = sent+p.Repeats.Sent, returned+p.Repeats.Received
		}
	}
	for _, t := range r.Totals {
		if !t.Drained || t.Returned.Packets > t.Sent.Packets || t.Returned.Packets == 0 {
			s.Errorf("%s→%s: %d frames sent, %d came back, drained: %v", t.From, t.To, t.Sent.Packets, t.Returned.Packets, t.Drained)
		}
		sent, returned = sent+int(t.Sent.Packets), returned+int(t.Returned.Packets)
	}
	const few = 200
	n := int(wires.Between(begun, time.Now()))
	s.Logf("%d frames went over the wires; %d were sent, and %d came back", n, sent, returned)
	if n < sent+returned || n > 2*sent+few {
		s.Errorf("%d frames went over the wires: want %d to %d, as %d were sent, and %d came back", n, sent+returned, 2*sent+few, sent, returned)
	}
}

// making is what a device makes of frames.
type making struct {
	hops int // by how much the TTL is lower
	// ownMACs: frames leave with the device's MAC addresses though it lowers no TTL. A device without either leaves frames unchanged.
	ownMACs bool
}

// makes: what came out of the device on each wire went in on the other as the generators send it, and has changed as said. Addresses are those that the Report says hosts have there.
func (s *scene) makes(r *report.Report, heard map[string][]packet, m making) {
	s.Helper()
	for _, way := range r.Plan.Directions {
		from, to := portOn(r, way.From), portOn(r, way.To)
		own, known := behind(r, way.From)
		far, farKnown := behind(r, way.To)
		var ttl byte
		sent, out, flows := 0, 0, map[string]bool{}
		for _, p := range heard[way.From] {
			if p.source.String() == from.MAC {
				sent, ttl, flows[p.from.String()+p.to.String()] = sent+1, p.ttl, true
				if !own.Contains(p.from.Addr()) || !farKnown.Contains(p.to.Addr()) {
					s.Errorf("%s: a frame from %s to %s was sent, want from %s to %s", way.Name(), p.from, p.to, own, farKnown)
				}
			}
		}
		for _, p := range heard[way.To] {
			if p.source.String() == to.MAC {
				continue // sent by the generator there
			}
			out++
			source := to.NextHopMAC
			if m == (making{}) {
				source = from.MAC
			}
			if p.source.String() != source || p.destination.String() != to.MAC || p.ttl != ttl-byte(m.hops) || !known.Contains(p.from.Addr()) || !far.Contains(p.to.Addr()) {
				s.Errorf("%s: a frame came out from %s %s to %s %s with TTL %d, want from %s %s to %s %s with TTL %d", way.Name(),
					p.source, p.from, p.destination, p.to, p.ttl, source, known, to.MAC, far, ttl-byte(m.hops))
				break
			}
		}
		s.Logf("%s: %d frames of %d flows were sent with TTL %d, %d came out", way.Name(), sent, len(flows), ttl, out)
		if sent < overheard/4 || out < overheard/4 {
			s.Errorf("%s: %d frames were overheard before the device, and %d behind it, of %d on each wire", way.Name(), sent, out, overheard)
		}
	}
}

// portOn is the generators' port on a link.
func portOn(r *report.Report, link string) report.GeneratorPort {
	for _, g := range r.Generators {
		for _, p := range g.Ports {
			if p.Link == link {
				return p
			}
		}
	}
	return report.GeneratorPort{}
}

// behind is the network of the hosts behind a link, and the one by which others know them: another one where the device translates addresses.
func behind(r *report.Report, link string) (own, known netip.Prefix) {
	for _, g := range r.Plan.Generators {
		for _, p := range g.Ports {
			if p.Link == link && len(p.Networks) == 1 {
				own, known = p.Networks[0], p.Networks[0]
			}
		}
	}
	if nat := r.Plan.DUT.Mode().NAT; nat != nil && nat.Inside == link {
		i := slices.IndexFunc(nat.Translations, func(t plan.Translation) bool { return t.Inside == own })
		known = nat.Translations[i].Outside
	}
	return own, known
}

// countedByDevice: in each window that counts the kernel of the device's interfaces counted what the generators did, or it is said why it wasn't asked in time.
func (s *scene) countedByDevice(r *report.Report) {
	s.Helper()
	for _, w := range r.Windows {
		if w.Phase == report.WarmUp || !w.Counts() { // a warm-up's edge is where traffic begins
			continue
		}
		if i := slices.IndexFunc(w.Observed, func(o report.Observed) bool { return o.Missing != "" }); i >= 0 {
			s.Logf("window %d is disturbed: %s", w.Number, w.Observed[i].Missing)
			continue
		}
		for _, d := range w.Directions {
			s.nearly(d.Name()+" came to the device", seenIn(w.Observed, "device", "received", d.From), float64(d.Offered.PacketsPerSecond))
			s.nearly(d.Name()+" left the device", seenIn(w.Observed, "device", "sent", d.To), float64(d.Received.PacketsPerSecond))
		}
	}
}

// hasRoutes: so many routes lead to the network behind each link.
func hasRoutes(want int) func() (func(*scene, *report.Report), error) {
	return func() (func(*scene, *report.Report), error) {
		routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
		return func(s *scene, r *report.Report) {
			for _, link := range r.Plan.Links {
				own, _ := behind(r, link.Name)
				to := slices.DeleteFunc(slices.Clone(routes), func(route netlink.Route) bool {
					return route.Dst == nil || !own.Contains(address(route.Dst.IP))
				})
				if len(to) != want {
					s.Errorf("%d routes lead to %s, want %d", len(to), own, want)
				}
			}
		}, err
	}
}

// hasLearned: the links are ports of one bridge, which has learned at which of them the generators' ports are.
func hasLearned() (func(*scene, *report.Report), error) {
	known, err := netlink.NeighList(0, unix.AF_BRIDGE)
	if err != nil {
		return nil, err
	}
	links, err := netlink.LinkList()
	names := map[int]string{}
	for _, l := range links {
		if l.Attrs().MasterIndex != 0 {
			names[l.Attrs().Index] = l.Attrs().Name
		}
	}
	return func(s *scene, r *report.Report) {
		for _, link := range r.Plan.Links {
			mac := portOn(r, link.Name).MAC
			if !slices.ContainsFunc(known, func(n netlink.Neigh) bool {
				return n.HardwareAddr.String() == mac && names[n.LinkIndex] == link.Name && n.State&netlink.NUD_PERMANENT == 0
			}) {
				s.Errorf("of the ports %v none has learned %s, which is on %s: %v", names, mac, link.Name, known)
			}
		}
	}, err
}

// hasRules: so many rules stand before what is forwarded, and packets that are forwarded come past all of them: to a rule behind them that counts.
func hasRules(want int) func() (func(*scene, *report.Report), error) {
	return func() (func(*scene, *report.Report), error) {
		conn, err := nftables.New()
		if err != nil {
			return nil, err
		}
		table := &nftables.Table{Family: nftables.TableFamilyINet, Name: "linerate"}
		chain := &nftables.Chain{Table: table, Name: "filter"}
		rules, err := conn.GetRules(table, chain)
		if err != nil {
			return nil, err
		}
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{&expr.Counter{}}})
		if err := conn.Flush(); err != nil {
			return nil, err
		}
		var came uint64
		for begun := time.Now(); came < overheard && time.Since(begun) < 2*time.Second; time.Sleep(50 * time.Millisecond) {
			all, err := conn.GetRules(table, chain)
			if err != nil {
				return nil, err
			}
			if counter, is := all[len(all)-1].Exprs[0].(*expr.Counter); is {
				came = counter.Packets
			}
		}
		return func(s *scene, _ *report.Report) {
			if len(rules) != want || came < overheard {
				s.Errorf("there are %d rules, want %d; within two seconds %d packets came past them, want %d at least", len(rules), want, came, overheard)
			}
		}, nil
	}
}

// hasConnections: each connection of the traffic is tracked, with the address that the Report says the host behind the first link has for others, beside those of so many silent hosts.
func hasConnections(silent int) func() (func(*scene, *report.Report), error) {
	return func() (func(*scene, *report.Report), error) {
		all, err := netlink.ConntrackTableList(netlink.ConntrackTable, unix.AF_INET)
		return func(s *scene, r *report.Report) {
			inside := r.Plan.DUT.Mode().NAT.Inside
			own, known := behind(r, inside)
			if own == known {
				s.Errorf("the Report says that hosts behind %s are %s to others, too", inside, known)
			}
			ofTraffic := 0
			for _, c := range all {
				if host := address(c.Forward.SrcIP); own.Contains(host) { // spoke first, to outside
					ofTraffic++
					if seen := address(c.Reverse.DstIP); seen != r.Plan.DUT.ReachedAt(inside, host) || !known.Contains(seen) {
						s.Errorf("%s is known outside as %s, and the Report says %s", host, seen, r.Plan.DUT.ReachedAt(inside, host))
					}
				} else if seen := address(c.Forward.DstIP); known.Contains(seen) { // was spoken to first
					ofTraffic++
					if host := address(c.Reverse.SrcIP); r.Plan.DUT.ReachedAt(inside, host) != seen {
						s.Errorf("what was for %s went to %s, who is %s outside, as the Report says", seen, host, r.Plan.DUT.ReachedAt(inside, host))
					}
				}
			}
			s.Logf("%d connections are tracked, %d of them of the traffic", len(all), ofTraffic)
			if ofTraffic < 254 || len(all)-ofTraffic < silent {
				s.Errorf("%d connections of the traffic are tracked, and %d others; want 254 at least, and %d", ofTraffic, len(all)-ofTraffic, silent)
			}
		}, err
	}
}

func address(ip net.IP) netip.Addr {
	a, _ := netip.AddrFromSlice(ip)
	return a.Unmap()
}

// hasPrograms: each link has a program before the kernel's stack.
func hasPrograms() (func(*scene, *report.Report), error) {
	links, err := netlink.LinkList()
	var with []string
	for _, l := range links {
		if xdp := l.Attrs().Xdp; xdp != nil && xdp.Attached {
			with = append(with, l.Attrs().Name)
		}
	}
	slices.Sort(with)
	return func(s *scene, _ *report.Report) {
		if fmt.Sprint(with) != "[east west]" {
			s.Errorf("of the links %q have a program, want both", with)
		}
	}, err
}
