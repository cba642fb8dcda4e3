package sessions

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// serverRig is an end, a router that somebody else limits by tc, and a host with somebody else's servers behind it.
//
//	end ── 198.18.0.0/24 ── router ── 203.0.113.0/24 ── host: iperf3 -s, iperf -s
type serverRig struct {
	*rig
	router, host *netif.Namespace
	bits         int64 // of layer 2, that the router carries each way
}

// newServerRig draws a limit that the judge doesn't know.
func newServerRig(t *testing.T, options ...func(*plan.Plan, []End)) *serverRig {
	t.Helper()
	s := &serverRig{rig: &rig{}, router: netnstest.New(t), host: netnstest.New(t), bits: 20e6 + rand.Int64N(60e6)}
	t.Logf("the router carries %d bits per second", s.bits)
	end := End{Link: "west", Interface: "west", Namespace: netnstest.New(t), Product: "linerate sessions"}
	s.ends, s.places = []End{end}, []Place{{Link: "west"}}
	mac := func(link, end byte) net.HardwareAddr { return net.HardwareAddr{2, 0x6c, 0x72, 0, link, end} }
	cable(t, end.Namespace, s.router, "west", mac(0, 2), mac(0, 1))
	cable(t, s.router, s.host, "east", mac(1, 1), mac(1, 2))
	up := func(ns *netif.Namespace, name, address string) {
		noError(t, ns.Do(func() error {
			link, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			if address == "" {
				return nil
			}
			if err := netif.AddAddress(link, netip.MustParsePrefix(address)); err != nil {
				return err
			}
			return netlink.LinkSetUp(link)
		}))
	}
	up(s.router, "west", "198.18.0.1/24")
	up(s.router, "east", "203.0.113.1/24")
	up(s.host, "east", "203.0.113.2/24")
	s.inRouter(t, "sysctl", "-qw", "net.ipv4.ip_forward=1")
	s.limit(t, s.bits)
	noError(t, s.host.Do(func() error {
		return errors.Join(command("ip", "link", "set", "lo", "up"),
			command("ip", "route", "add", "198.18.0.0/24", "via", "203.0.113.1"))
	}))
	s.plan = &plan.Plan{
		Version: plan.Version, Engine: "Software",
		DUT: plan.DUT{Type: "Device", Forwarding: plan.Nothing,
			Server: &plan.Server{Application: plan.ApplicationIperf3, Address: "203.0.113.2:5201"}},
		Links: []plan.Link{{Name: "west", DUT: plan.DUTEnd{
			Addresses: []netip.Prefix{netip.MustParsePrefix("198.18.0.1/24")}}}},
		Sessions: &plan.Sessions{Protocol: plan.TCP, Application: plan.ApplicationIperf3, Parallel: 2,
			MessageBytes: 128 << 10},
		Directions: []plan.Direction{{From: "west", To: plan.DeviceEnd}},
		Generators: []plan.Generator{{Name: "generator-0-west", Ports: []plan.GeneratorPort{{Link: "west",
			Addresses: []netip.Prefix{netip.MustParsePrefix("198.18.0.2/24")}, ShareOf: 1}}}},
		Procedure: plan.Procedure{Type: plan.TypeConstantLoad, ConstantLoad: &plan.ConstantLoad{Unlimited: true,
			WarmupDuration: plan.Duration(time.Second), Duration: plan.Duration(3 * time.Second),
			Window: plan.Duration(time.Second)}},
	}
	for _, o := range options {
		o(s.plan, s.ends)
	}
	s.serve(t)
	return s
}

func command(name string, arguments ...string) error {
	if output, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(arguments, " "), err, output)
	}
	return nil
}

func (s *serverRig) inRouter(t *testing.T, name string, arguments ...string) {
	t.Helper()
	noError(t, s.router.Do(func() error { return command(name, arguments...) }))
}

// limit has the router carry so many bits of layer 2 each way, with a queue of 40 ms.
func (s *serverRig) limit(t *testing.T, bits int64) {
	t.Helper()
	for _, dev := range []string{"west", "east"} {
		s.inRouter(t, "tc", "qdisc", "replace", "dev", dev, "root", "tbf", "rate", fmt.Sprint(bits), "burst", "30000",
			"limit", fmt.Sprint(bits/8/25))
	}
}

// program runs one of Debian's programs on the host, until the test ends or stop is called.
func (s *serverRig) program(t *testing.T, name string, arguments ...string) (stop func()) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("this test wants %s itself: hack/ci-packages installs it", name)
		}
		t.Skipf("needs %s itself", name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd, ended := exec.CommandContext(ctx, path, arguments...), make(chan struct{})
	noError(t, s.host.Start(cmd, func() { _ = cmd.Wait(); close(ended) }))
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

// listening waits until a program on the host has a port.
func (s *serverRig) listening(t *testing.T, file string, port int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var table []byte
		noError(t, s.host.Do(func() (err error) {
			table, err = os.ReadFile("/proc/thread-self/net/" + file)
			return err
		}))
		if len(ofPort(string(table), port)) > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("nobody listens on port %d", port)
		}
	}
}

// iperf3 serves iperf3's protocol on the host.
func (s *serverRig) iperf3(t *testing.T) (stop func()) {
	t.Helper()
	stop = s.program(t, "iperf3", "-s", "-B", "203.0.113.2")
	s.listening(t, "tcp", 5201)
	return stop
}

func (s *serverRig) measured(t *testing.T) *report.Report {
	t.Helper()
	rep := s.run(t)
	if rep.Ending != report.Completed || !rep.Answer.Measured {
		t.Fatalf("%s: %s; %s", rep.Ending, rep.Message, rep.Answer.EvidenceText())
	}
	for _, d := range rep.Answer.Directions {
		rows := d.Sessions.Each
		if len(rows) != s.plan.Sessions.Parallel {
			t.Fatalf("%s to %s: %d rows of connections", d.From, d.To, len(rows))
		}
		var received, lost int64
		for _, row := range rows {
			if received += row.ReceivedBytes; row.Datagrams != nil {
				lost += row.Datagrams.Lost
			}
		}
		if g := d.Sessions.Datagrams; received != d.Sessions.ReceivedBytes || g != nil && lost != g.Lost {
			t.Errorf("%s to %s: rows of %d bytes and %d lost datagrams, the sum says %d, %+v", d.From, d.To, received, lost,
				d.Sessions.ReceivedBytes, g)
		}
		t.Logf("%s to %s: %s", d.From, d.To, d.Reason)
	}
	t.Logf("%s: %s", rep.Answer.Reason, rep.Answer.Message)
	return rep
}

const (
	tcpPayload, tcpFrame = 1448, 1514 // with timestamps
	udpPayload, udpFrame = 1460, 1502
)

func overUDP(p *plan.Plan, _ []End) {
	p.Sessions.Protocol, p.Sessions.MessageBytes = plan.UDP, udpPayload
}

// setRate asks for so many bits of payload per second each way.
func setRate(p *plan.Plan, bits int64) {
	p.Procedure.ConstantLoad.Unlimited = false
	p.Procedure.ConstantLoad.Rate = units.Rate{Kind: units.Layer2Bits, Micros: bits * 1e6}
}

func from(p *plan.Plan, _ []End) {
	p.Directions = []plan.Direction{{From: plan.DeviceEnd, To: "west"}}
}

// oneStream is for Debian's iperf 2.1.8, which crashes now and then at several streams of UDP, of its own client, too.
func oneStream(p *plan.Plan, _ []End) { p.Sessions.Parallel = 1 }

func bothWays(p *plan.Plan, _ []End) {
	p.Directions = []plan.Direction{{From: "west", To: plan.DeviceEnd}, {From: plan.DeviceEnd, To: "west"}}
}

// byIperf2 has Debian's iperf 2 as the server.
func byIperf2(p *plan.Plan, _ []End) {
	p.DUT.Server = &plan.Server{Application: plan.ApplicationIperf2, Address: "203.0.113.2:5001"}
	p.Sessions.Application = plan.ApplicationIperf2
}

// start serves what the Plan asks for on the host.
func (s *serverRig) start(t *testing.T) (stop func()) {
	t.Helper()
	switch udp := s.plan.Sessions.Protocol == plan.UDP; {
	case s.plan.DUT.Server.Application == plan.ApplicationIperf3:
		return s.iperf3(t)
	case udp:
		stop = s.program(t, "iperf", "-s", "-u")
		s.listening(t, "udp", 5001)
	default:
		stop = s.program(t, "iperf", "-s")
		s.listening(t, "tcp", 5001)
	}
	return stop
}

// A machine that is busy with other things makes lower bounds, which its Report says. These are below the limit, too.
func (s *serverRig) judge(t *testing.T, rep *report.Report) {
	t.Helper()
	payload, frame := float64(tcpPayload), float64(tcpFrame)
	if s.plan.Sessions.Protocol == plan.UDP {
		payload, frame = udpPayload, udpFrame
	}
	for _, d := range rep.Answer.Directions {
		want := float64(s.bits) * payload / frame
		off, limit := float64(d.Sessions.GoodputBitsPerSecond)/want-1, measure.LimitOfSessions(*d.Sessions)
		t.Logf("%s to %s: %+.2f %% of what the limit carries; %s", d.From, d.To, 100*off, limit.Sentence)
		least := -0.01
		if len(s.plan.Directions) > 1 && s.plan.Sessions.Protocol == plan.TCP { // the other way's acknowledgements
			if least = -0.05; !tier.Full { // a connection that recovers from a loss took 10 % of three seconds
				least = -0.2
			}
		}
		if off > 0.01 || limit.ByDevice() && off < least {
			t.Errorf("%s to %s: %d bit/s goodput, and the limit carries %.0f", d.From, d.To,
				d.Sessions.GoodputBitsPerSecond, want)
		}
		if tier.Full && !limit.ByDevice() {
			t.Errorf("%s to %s: %s", d.From, d.To, limit.Sentence)
		}
	}
}

// TCP and UDP to and from Debian's servers come to what the router's limit carries, and each connection's part adds up.
func TestAServerBehindAForeignLimit(t *testing.T) {
	type options = []func(*plan.Plan, []End)
	cases := []struct {
		name    string
		options options
	}{
		{"iperf3 UDP to", options{overUDP}}, {"iperf3 both", options{bothWays}},
		{"iperf2 both", options{byIperf2, bothWays}}, {"iperf2 UDP to", options{byIperf2, overUDP, oneStream}},
		// its server may close its socket before its answer has passed its own datagrams, on a busy machine
		{"iperf2 UDP both", options{byIperf2, overUDP, oneStream, bothWays}},
		{"iperf3 to", nil}, {"iperf3 from", options{from}}, {"iperf3 UDP from", options{overUDP, from}},
		{"iperf3 UDP both", options{overUDP, bothWays}}, {"iperf2 to", options{byIperf2}},
		{"iperf2 from", options{byIperf2, from}},
		{"iperf2 UDP from", options{byIperf2, overUDP, oneStream, from}},
	}
	for _, c := range tier.Sample(4, cases) {
		t.Run(c.name, func(t *testing.T) {
			s := newServerRig(t, c.options...)
			s.start(t)
			if s.plan.Sessions.Protocol == plan.UDP {
				setRate(s.plan, 100e6)
				s.plan.Procedure.ConstantLoad.Window = s.plan.Procedure.ConstantLoad.Duration
			}
			s.judge(t, s.measured(t))
		})
	}
}

// A test waits while somebody else uses the server, says so, and then measures. It waits for so long at most.
func TestABusyServer(t *testing.T) {
	s := newServerRig(t, func(p *plan.Plan, _ []End) { p.Procedure.ConstantLoad.Duration = plan.Duration(time.Second) })
	s.iperf3(t)
	occupy := func(seconds string) func() {
		stop := s.program(t, "iperf3", "-c", "203.0.113.2", "-t", seconds, "-b", "1M")
		s.established(t, 5201)
		return stop
	}
	stop := occupy("60")
	rep := runner.Run(t.Context(), s.plan, New(s.places, Options{serverPatience: time.Second}), runner.Options{})
	if rep.Answer.Measured || rep.Fault == nil || rep.Fault.Detail != report.ServerBusy ||
		!strings.Contains(rep.Message, "start a second server there") {
		t.Errorf("%s: %s; %+v", rep.Ending, rep.Message, rep.Fault)
	}
	var waited atomic.Bool
	forced := New(s.places, Options{Force: true}) // the first driver may still be leaving
	rep = runner.Run(t.Context(), s.plan, forced, runner.Options{Progress: func(p runner.Progress) {
		if strings.Contains(p.Message, "the iperf3 server at 203.0.113.2:5201 runs another test") && !waited.Swap(true) {
			stop()
		}
	}})
	if !waited.Load() || !rep.Answer.Measured {
		t.Errorf("%s: %s; it said that it waits: %v", rep.Ending, rep.Message, waited.Load())
	}
}

// established waits until a program on the host has two connections from a port of the host's.
func (s *serverRig) established(t *testing.T, port int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var table []byte
		noError(t, s.host.Do(func() (err error) {
			table, err = os.ReadFile("/proc/thread-self/net/tcp")
			return err
		}))
		n := 0
		for _, socket := range ofPort(string(table), port) {
			if socket[3] == "01" {
				n++
			}
		}
		if n >= 2 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("nobody is connected to port %d", port)
		}
	}
}

// Each of these servers ends the test with one sentence, which says what to do.
func TestServersThatCantBeMeasuredWith(t *testing.T) {
	for name, c := range map[string]struct {
		options []func(*plan.Plan, []End)
		serve   func(*testing.T, *serverRig)
		want    string
	}{
		"none":        {want: "start one there (iperf3 -s -p 5201)"},
		"none, iperf": {options: []func(*plan.Plan, []End){byIperf2}, want: "start one there (iperf -s -p 5001)"},
		"iperf 2 that is named iperf3": {options: []func(*plan.Plan, []End){func(p *plan.Plan, _ []End) {
			p.DUT.Server.Address = "203.0.113.2:5001"
		}}, serve: func(t *testing.T, s *serverRig) {
			s.program(t, "iperf", "-s")
			s.listening(t, "tcp", 5001)
		}, want: "iperf 2, which has another protocol"},
		"iperf3 that is named iperf 2": {options: []func(*plan.Plan, []End){byIperf2, func(p *plan.Plan, _ []End) {
			p.DUT.Server.Address = "203.0.113.2:5201"
		}}, serve: func(t *testing.T, s *serverRig) { s.iperf3(t) }, want: "name it as iperf3"},
		"UDP that is refused": {options: []func(*plan.Plan, []End){overUDP}, serve: func(t *testing.T, s *serverRig) {
			s.iperf3(t)
			s.inRouter(t, "ip", "rule", "add", "ipproto", "udp", "blackhole")
		}, want: "firewalls let UDP port 5201 through"},
		"TCP alone, and UDP is asked for": {options: []func(*plan.Plan, []End){byIperf2, overUDP, oneStream},
			serve: func(t *testing.T, s *serverRig) {
				s.program(t, "iperf", "-s")
				s.listening(t, "tcp", 5001)
			}, want: "start one there for UDP (iperf -s -u -p 5001)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServerRig(t, c.options...)
			if s.plan.Sessions.Protocol == plan.UDP {
				setRate(s.plan, 10e6)
			}
			if c.serve != nil {
				c.serve(t, s)
			}
			rep := s.run(t)
			if rep.Answer.Measured || !strings.Contains(rep.Message, c.want) || strings.Contains(rep.Message, "\n") {
				t.Errorf("%s: %s\nwant %s", rep.Ending, rep.Message, c.want)
			}
			t.Log(rep.Message)
		})
	}
}

// A server that is stopped in the middle leaves the windows before, and one sentence.
func TestAServerThatVanishes(t *testing.T) {
	for _, option := range []func(*plan.Plan, []End){bothWays, byIperf2} {
		s := newServerRig(t, option, func(p *plan.Plan, _ []End) {
			p.Procedure.ConstantLoad.Duration = plan.Duration(time.Hour)
		})
		stop := s.start(t)
		var vanished atomic.Bool
		progress := func(p runner.Progress) {
			if p.Window != nil && p.Window.Number > 1 && !vanished.Swap(true) {
				stop()
			}
		}
		rep := runner.Run(t.Context(), s.plan, New(s.places, Options{}), runner.Options{Progress: progress})
		if rep.Ending == report.Completed || !strings.Contains(rep.Message, "start it again") {
			t.Errorf("%s: %s", rep.Ending, rep.Message)
		}
		t.Log(rep.Message)
	}
}

// A server that reads too slowly isn't the path.
func TestAServerOnABusyProcessor(t *testing.T) {
	s := newServerRig(t)
	s.inRouter(t, "tc", "qdisc", "del", "dev", "west", "root")
	s.inRouter(t, "tc", "qdisc", "del", "dev", "east", "root")
	s.program(t, "sh", "-c", `iperf3 -s -B 203.0.113.2 & p=$!; trap "kill -9 $p" TERM EXIT; while :; do sleep 0.05; kill -STOP $p; sleep 0.15; kill -CONT $p; done`)
	s.listening(t, "tcp", 5201)
	rep := s.measured(t)
	if rep.Answer.Reason == report.PathLimited || rep.Answer.Reason == report.TargetReached {
		t.Errorf("%s: %s", rep.Answer.Reason, rep.Answer.Message)
	}
}
