package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// queued is a device that lets 50 Mb/s of frames through, and has a router's buffer.
func queued() *plan.Limit {
	return &plan.Limit{Layer2BitsPerSecond: 50_000_000, Queue: plan.Duration(50 * time.Millisecond)}
}

// TestTheGoodputIsWhatTheDeviceForwarded holds a Report against the counters of the device's own kernel, which
// know nothing of the ends.
func TestTheGoodputIsWhatTheDeviceForwarded(t *testing.T) {
	t.Parallel()
	r := newRig(t, queued(), func(p *plan.Plan, _ []End) { p.Directions = p.Directions[:1] })
	rep := runner.Run(t.Context(), r.plan, New(r.places, Options{}), runner.Options{Producer: "test"})
	if rep.Ending != report.Completed || !rep.Answer.Measured {
		t.Fatalf("%s: %s; %s", rep.Ending, rep.Message, rep.Answer.EvidenceText())
	}
	_, forwarded := r.counters(t, "east")
	const mtu, header = 1500, 14
	if forwarded.Bytes > forwarded.Packets*(mtu+header) {
		t.Errorf("the device forwarded %d bytes in %d frames: some were larger than its MTU", forwarded.Bytes,
			forwarded.Packets)
	}
	var received, segments int64
	for _, w := range rep.Windows {
		received, segments = received+w.Directions[0].Sessions.ReceivedBytes, segments+w.Directions[0].Sessions.Segments
	}
	if received <= 0 || received > forwarded.Bytes-forwarded.Packets*(header+20+32) {
		t.Errorf("%d bytes of payload were received, of frames of %d bytes", received, forwarded.Bytes)
	}
	if segments < received/1448 {
		t.Errorf("%d segments carried %d bytes", segments, received)
	}
	// Goodput is no more than the limit lets through in the time, and what the burst and the queue held at its begin.
	maxBits := func(duration time.Duration) float64 { return 50e6*duration.Seconds() + 50e6*0.06 }
	d := rep.Answer.Directions[0].Sessions
	if float64(8*d.ReceivedBytes) > maxBits(d.ReceivedIn.Std()) {
		t.Errorf("%d bytes in %s are more than the limit lets through", d.ReceivedBytes, d.ReceivedIn.Std())
	}
	if len(rep.Path) != 1 || !rep.Path[0].Proven || !strings.Contains(rep.Path[0].Message,
		"bound to west (via 198.18.0.1 dev west)") || !strings.Contains(rep.Path[0].Message, "TTL 63, which was 64") {
		t.Errorf("the path: %+v", rep.Path)
	}
	for _, f := range rep.Figures {
		if m, _ := figures.MetricOf(f.Metric); !m.Sessions {
			t.Errorf("sessions claim %s %s", f.Low, f.Metric)
		}
	}
	// The samples are of the same connections. Time is when the driver asked for a sample. The answer came before the
	// driver asked for the next one, so no more had come by then than the limit lets through. Between two samples it may
	// be more, where the receiver read late. The last sample's counters are the windows' and the warm-up's together.
	for i, next := range rep.Samples[1:] {
		s, asked := rep.Samples[i].Directions[0].Sessions, next.Time.Std()
		if _, ok := next.Directions[0].Sessions.GoodputSince(*s); !ok || float64(8*s.ReceivedBytes) > maxBits(asked) {
			t.Errorf("before %s %d bytes had come through a device of 50 Mb/s", asked, s.ReceivedBytes)
		}
	}
	if sample := rep.Samples[len(rep.Samples)-1].Directions[0].Sessions; len(rep.Samples) < 5 ||
		sample.ReceivedBytes < received || sample.ReceivedBytes > forwarded.Bytes {
		t.Errorf("%d samples, the last with %d bytes; windows have %d", len(rep.Samples), sample.ReceivedBytes,
			received)
	}
	path := figures.PathDoubt(rep.Answer.Directions...) == "" // not where this machine was too busy for the ends
	if got := figures.Summary(rep); !strings.Contains(got, "west→east: ") || !strings.Contains(got, "b/s goodput, ") ||
		strings.Contains(got, ", rtt ") != path {
		t.Errorf("the summary is %q", got)
	}
}

// An end behind the device is reached by its outside address, and its packets come from there.
func TestADeviceThatTranslatesAddresses(t *testing.T) {
	for _, application := range []string{"", plan.ApplicationIperf3} {
		t.Run(application, func(t *testing.T) {
			r := newRig(t, nil, func(p *plan.Plan, _ []End) {
				p.DUT.Reference.Mode = &plan.Mode{NAT: &plan.NATMode{Inside: "west",
					Translations: []plan.Translation{{Inside: netip.MustParsePrefix("198.18.0.2/32"),
						Outside: netip.MustParsePrefix("198.19.0.9/32")}}}}
				p.Sessions.Application, p.Sessions.Parallel = application, 1
				p.Procedure.ConstantLoad.Duration = p.Procedure.ConstantLoad.Window
			})
			rep := runner.Run(t.Context(), r.plan, New(r.places, Options{}), runner.Options{Producer: "test"})
			if rep.Ending != report.Completed || !rep.Answer.Measured || len(rep.Path) != 2 {
				t.Fatalf("%s: %s; %s; path %+v", rep.Ending, rep.Message, rep.Answer.EvidenceText(), rep.Path)
			}
			if outward, inward := rep.Path[0], rep.Path[1]; !outward.Proven || !strings.Contains(outward.Message,
				"they came from 198.19.0.9: the device translates addresses") || !inward.Proven {
				t.Errorf("the paths are %+v", rep.Path)
			}
			for i := range rep.Answer.Directions {
				if d := &rep.Answer.Directions[i]; d.Sessions.ReceivedBytes <= 0 {
					t.Errorf("%s→%s: nothing came", d.From, d.To)
				}
			}
		})
	}
}

// The Report tells what the ends run on, and by which congestion control connections were sent where the Plan
// leaves that to the kernels.
func TestTheReportDescribesTheSessionsEnvironment(t *testing.T) {
	r := newRig(t, nil, func(p *plan.Plan, _ []End) {
		p.Directions = p.Directions[:1]
		p.Procedure.ConstantLoad.Duration = p.Procedure.ConstantLoad.Window
	})
	rep := runner.Run(t.Context(), r.plan, New(r.places, Options{}), runner.Options{Producer: "linerate test"})
	local := machine.Local()
	hostname, _ := os.Hostname()
	kernels, err := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control")
	noError(t, err)
	port := func(link, congestionControl string) report.PortEnvironment {
		return report.PortEnvironment{Link: link, Driver: "veth", Path: "TCP sockets",
			CongestionControl: congestionControl}
	}
	want := &report.Environment{Linerate: "linerate test",
		Generators: []report.GeneratorEnvironment{{Name: "generator-0", Product: "linerate sessions",
			Machine: report.Machine{Node: hostname, CPUModel: local.CPUModel, Processors: local.Processors,
				Kernel: local.Kernel, Hypervisor: local.Hypervisor, Tuning: local.Tuning, Allowed: local.Allowed},
			// nothing is sent from east
			Ports: []report.PortEnvironment{port("west", strings.TrimSpace(string(kernels))), port("east", "")}}}}
	if rep.Ending != report.Completed || !reflect.DeepEqual(rep.Environment, want) {
		t.Errorf("%s: %s\nenvironment %+v\nwant        %+v", rep.Ending, rep.Message, rep.Environment, want)
	}
}

func TestASlowReceiverIsNeverTheDevicesLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t, queued(), func(p *plan.Plan, ends []End) {
		p.Directions = p.Directions[:1]
		ends[1].SlowReader = 250_000 // 4 connections of 8 Mb/s, of the 47.7 that come through
	})
	rep := r.run(t)
	if rep.Answer.Reason != report.GeneratorLimited || !rep.Answer.LowerBound() || !strings.Contains(rep.Answer.EvidenceText(),
		"the receiver was too slow") {
		t.Errorf("%s: %s", rep.Answer.Reason, rep.Answer.EvidenceText())
	}
	for _, f := range rep.Figures {
		if f.Metric == figures.GoodputBitsPerSecond && (f.High != "" || f.Reason != report.GeneratorLimited) {
			t.Errorf("it claims %+v", f)
		}
	}
}

// sendingRig has connections that send, and the driver that has them send.
func sendingRig(t *testing.T) (*rig, *driver) {
	t.Helper()
	r := newRig(t, queued(), func(p *plan.Plan, _ []End) { p.Directions = p.Directions[:1] })
	d := prepared(t, r)
	noError(t, d.start(t.Context()))
	return r, d
}

func prepared(t *testing.T, r *rig) *driver {
	t.Helper()
	d := New(r.places, Options{}).(*driver)
	noError(t, d.Prepare(t.Context(), journal(r.plan)))
	t.Cleanup(func() { d.Release(context.Background()) })
	return d
}

// awaitSilence waits until the device forwards nothing any more, for so long at most.
func (r *rig) awaitSilence(t *testing.T, bound time.Duration) time.Duration {
	t.Helper()
	began := time.Now()
	previous, _ := r.counters(t, "west")
	for time.Since(began) < bound {
		time.Sleep(200 * time.Millisecond) // a device that forwards moves its counters by then
		current, _ := r.counters(t, "west")
		if current == previous {
			return time.Since(began)
		}
		previous = current
	}
	t.Fatalf("something is still sent after %s", bound)
	return 0
}

func TestNothingIsSentAfterTheDriver(t *testing.T) {
	t.Parallel()
	t.Run("whose connection closed", func(t *testing.T) {
		t.Parallel()
		r, d := sendingRig(t)
		d.Release(t.Context()) // as the kernel does for a driver that was killed
		r.awaitSilence(t, DriverSilence)
	})
	t.Run("who fell silent", func(t *testing.T) {
		t.Parallel()
		r, _ := sendingRig(t)
		took := r.awaitSilence(t, 2*DriverSilence)
		t.Logf("silence after %s", took)
	})
	t.Run("whose context ended, which Stop outlives", func(t *testing.T) {
		t.Parallel()
		r, d := sendingRig(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		noError(t, d.Stop(ctx))
		d.Release(ctx)
		r.awaitSilence(t, time.Second)
	})
}

func TestAnEndHaltsAtOnceWithOtherClientsConnected(t *testing.T) {
	r := newRig(t, queued())
	d := prepared(t, r)
	noError(t, r.dut.Do(func() error {
		// The stranger shows no token.
		stranger, err := net.Dial("tcp4", net.JoinHostPort("198.18.1.2", strconv.Itoa(DataPort)))
		if err == nil {
			t.Cleanup(func() { _ = stranger.Close() })
		}
		return err
	}))
	noError(t, d.Stop(t.Context()))
}

// Beside other work on all processors an answer takes seconds. The driver waits until an end that hears nothing would
// have stopped, too.
func TestAnEndMayTakeSecondsToStop(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		lost  bool
	}{
		"as long as one that hears nothing": {DriverSilence, false},
		"for ever":                          {time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, end := net.Pipe()
				var answers sync.WaitGroup
				defer answers.Wait()
				answers.Go(func() {
					defer func() { _ = end.Close() }()
					var asked request
					if err := json.NewDecoder(end).Decode(&asked); err != nil || asked.Verb != doHalt {
						t.Errorf("the end was asked %q: %v", asked.Verb, err)
					}
					time.Sleep(c.takes)
					say(end, answer{})
				})
				r := &driver{remotes: &remotes{[]Place{{Link: "west"}}, []*remote{newRemote(conn)}}}
				began := time.Now()
				err := r.Stop(t.Context())
				if lost := errors.Is(err, engine.ErrSilent) || errors.Is(err, engine.ErrLost); lost != c.lost ||
					(err == nil) == c.lost {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
				if c.lost && time.Since(began) != stopTimeout {
					t.Errorf("it was given up after %s, want %s", time.Since(began), stopTimeout)
				}
			})
		})
	}
}

func TestATransferEndsByItself(t *testing.T) {
	r := newRig(t, queued(), func(p *plan.Plan, _ []End) { p.Directions = p.Directions[:1] })
	d := prepared(t, r)
	_, err := d.remotes.ends[0].ask(t.Context(), answerTimeout,
		request{Verb: doSend, Send: &sendRequest{Lasts: 300 * time.Millisecond}})
	noError(t, err)
	d.journal.Driving = true
	w, err := d.Measure(t.Context(), procedure.Step{Kind: procedure.Hold, Judge: 5 * readEvery})
	if err == nil || w == nil || w.Quality != report.Invalid ||
		!strings.Contains(w.Reason, "its own time, 300ms, was over") {
		t.Errorf("%+v, %v", w, err)
	}
}

func TestARunThatIsCutShortKeepsItsWindow(t *testing.T) {
	t.Parallel()
	r := newRig(t, queued(), func(p *plan.Plan, _ []End) {
		p.Procedure.ConstantLoad.Window = plan.Duration(20 * time.Second)
		p.Procedure.ConstantLoad.Duration = p.Procedure.ConstantLoad.Window
	})
	ctx, cancel := context.WithCancel(t.Context())
	rep := runner.Run(ctx, r.plan, New(r.places, Options{}), runner.Options{Progress: func(p runner.Progress) {
		if p.Phase == report.Hold && p.GoodputBitsPerSecond != nil {
			cancel()
		}
	}})
	window := rep.Windows[len(rep.Windows)-1]
	if rep.Ending != report.Interrupted || window.Phase != report.Hold || window.Quality != report.Invalid ||
		!strings.Contains(window.Reason, "cut short after") {
		t.Errorf("%s, %s %s: %s", rep.Ending, window.Phase, window.Quality, window.Reason)
	}
}

func TestAnEndHasOneDriver(t *testing.T) {
	r := newRig(t, queued())
	first := prepared(t, r)
	_, err := meet(t.Context(), r.places[0].Server, credential.Key{}, "west", false)
	if !errors.Is(err, engine.ErrTaken) || !strings.Contains(err.Error(), "link west: it has a driver already") {
		t.Errorf("a second driver: %v", err)
	}
	second, err := meet(t.Context(), r.places[0].Server, credential.Key{}, "west", true)
	noError(t, err)
	defer func() { _ = second.conn.Close() }()
	if _, err := first.remotes.ends[0].ask(t.Context(), answerTimeout, request{Verb: doRead}); !errors.Is(err,
		engine.ErrLost) {
		t.Errorf("the first driver after that: %v", err)
	}
}

func TestAnEndRefuses(t *testing.T) {
	r := newRig(t, queued())
	for name, c := range map[string]struct {
		say  request
		want string
	}{
		"a driver of another version": {request{Verb: doHello, Hello: &hello{Version: "linerate.dev/sessions.v0",
			Link: "west"}}, "use the same linerate for both"},
		"a link that isn't there": {request{Verb: doHello, Hello: &hello{Version: Version, Link: "north"}},
			`there is no link "north" here`},
		"anything before it is addressed": {request{Verb: doRead}, "hello comes first"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", r.places[0].Server)
			noError(t, err)
			defer func() { _ = conn.Close() }()
			noError(t, json.NewEncoder(conn).Encode(c.say))
			var a answer
			if err := json.NewDecoder(conn).Decode(&a); err != nil || !strings.Contains(a.Error, c.want) {
				t.Errorf("%+v, %v; want %q", a, err, c.want)
			}
		})
	}
	end, err := meet(t.Context(), r.places[0].Server, credential.Key{}, "west", false)
	noError(t, err)
	defer func() { _ = end.conn.Close() }()
	for _, c := range []struct {
		ask  request
		want string
	}{
		{request{Verb: doSend, Send: &sendRequest{time.Second}}, `this end can't do "send" now`},
		{request{Verb: doListen, Listen: &listenRequest{Shape: Shape{Connections: 1 << 20, MessageBytes: 1}}},
			"an end makes 1 to 1024"},
		{request{Verb: doListen, Listen: &listenRequest{Shape: Shape{Connections: 1, MessageBytes: 1}, Token: "short"}},
			"a token has 32 bytes, and this one 5"},
		{request{Verb: "dance"}, `this end can't do "dance" now`},
	} {
		if _, err := end.ask(t.Context(), answerTimeout, c.ask); err == nil || !strings.Contains(err.Error(), c.want) ||
			fromPath(err) {
			t.Errorf("%s: %v, as the path's: %t; want %q, as the end's own", c.ask.Verb, err, fromPath(err), c.want)
		}
	}
}

// A link is the device's and whoever else is on it, and no network policy sees it.
func TestAnEndCannotBeDrivenFromItsLink(t *testing.T) {
	end, device := netnstest.New(t), netnstest.New(t)
	cable(t, end, device, "west", net.HardwareAddr{2, 0x6c, 0x72, 0, 0, 2}, net.HardwareAddr{2, 0x6c, 0x72, 0, 0, 1})
	layOut := func(ns *netif.Namespace, address string) {
		noError(t, ns.Do(func() error {
			lo, err := netlink.LinkByName("lo")
			_, _, layErr := setUpNetwork("west", Network{Address: netip.MustParsePrefix(address)})
			return errors.Join(err, layErr, netlink.LinkSetUp(lo))
		}))
	}
	layOut(end, "198.18.0.2/24")
	layOut(device, "198.18.0.1/24")
	var listener net.Listener
	noError(t, end.Do(func() (err error) {
		listener, err = net.Listen("tcp4", ":0")
		lo, loErr := netlink.LinkByName("lo")
		// as the pod network's
		return errors.Join(err, loErr, netlink.AddrReplace(lo,
			&netlink.Addr{IPNet: netif.IPNet(netip.MustParsePrefix("192.0.2.1/32"))}))
	}))
	noError(t, device.Do(func() error {
		return netlink.RouteReplace(&netlink.Route{Dst: netif.IPNet(netip.MustParsePrefix("192.0.2.1/32")),
			Gw: net.IP{198, 18, 0, 2}})
	}))
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Ends{{Link: "west", Interface: "west", Namespace: end}}.Serve(ctx, listener) }()
	defer func() {
		cancel()
		noError(t, <-served)
	}()
	for _, c := range []struct {
		driver    string
		namespace *netif.Namespace
		address   string
		want      string
	}{
		{"somebody in the pod", end, "127.0.0.1", ""},
		{"somebody who asks for the link's address", end, "198.18.0.2", "hosts on a link may not drive it"},
		{"the device", device, "198.18.0.2", "hosts on a link may not drive it"},
		{"the device, by another address of the pod's", device, "192.0.2.1", "hosts on a link may not drive it"},
	} {
		t.Run(c.driver, func(t *testing.T) {
			var meetErr error
			noError(t, c.namespace.Do(func() error {
				r, err := meet(t.Context(), net.JoinHostPort(c.address,
					strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)), credential.Key{}, "west", true)
				if meetErr = err; err == nil {
					return r.conn.Close()
				}
				return nil
			}))
			if (meetErr == nil) != (c.want == "") || meetErr != nil && !strings.Contains(meetErr.Error(), c.want) {
				t.Errorf("%v, want %q", meetErr, c.want)
			}
		})
	}
}

func TestFaultsOfEndsNameTheWayOut(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*rig)
		want   string
		ending report.Ending
	}{
		"a congestion control that the kernel hasn't": {func(r *rig) { r.plan.Sessions.CongestionControl = "warp" },
			"traffic.sessions.congestionControl: warp", report.Failed},
		"a device that forwards nothing": {func(r *rig) {
			noError(t, r.dut.Do(func() error { return setDown("east") }))
		}, "check that the device forwards between the links", report.PathNotProven},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, queued())
			c.change(r)
			rep := r.run(t)
			if rep.Ending != c.ending || !strings.Contains(rep.Message, c.want) {
				t.Errorf("%s: %s; want %s: …%s…", rep.Ending, rep.Message, c.ending, c.want)
			}
		})
	}
}

func TestWhatConnectionsProve(t *testing.T) {
	address := func(host int) string { return fmt.Sprintf("198.18.%d.2", host) }
	for name, c := range map[string]struct {
		forwarding plan.Forwarding
		ttls       []int
		came       int
		proven     bool
		message    string
	}{
		"a router takes one hop":           {plan.L3, []int{63, 63}, 2, true, "TTL 63, which was 64"},
		"no router was passed":             {plan.L3, []int{64, 64}, 2, false, "what forwards L3 makes it 63"},
		"two routers were passed":          {plan.L3, []int{62, 62}, 2, false, "TTL [62]"},
		"one connection took another way":  {plan.L3, []int{63, 62}, 2, false, "TTL [62 63]"},
		"a bridge takes none":              {plan.L2, []int{64, 64}, 2, true, "TTL 64, which was 64"},
		"a bridge that routes":             {plan.L2, []int{63, 63}, 2, false, "what forwards L2 makes it 64"},
		"a kernel that doesn't keep it":    {plan.L3, nil, 2, false, "so nothing shows that the device routed them"},
		"a bridge, and such a kernel":      {plan.L2, nil, 2, true, "the kernel doesn't keep the first segments' TTL"},
		"a connection that is missing":     {plan.L3, []int{63}, 1, false, "1 of 2 connections"},
		"as it is configured, any will do": {plan.AsConfigured, []int{57}, 2, true, "TTL 57"},
	} {
		check := report.PathCheck{From: "west", To: "east", Sent: 2}
		went, came := &Opened{Connections: 2, Local: mustAddr(t, address(0))}, &Opened{Connections: c.came,
			Local: mustAddr(t, address(1)), Remote: mustAddr(t, address(0)), TTLs: c.ttls}
		prove(&check, plan.DUT{Type: "Device", Forwarding: c.forwarding}, went, came)
		if check.Proven != c.proven || (check.Fault == nil) != c.proven || !strings.Contains(check.Message, c.message) {
			t.Errorf("%s: %v, %s, %+v", name, check.Proven, check.Message, check.Fault)
		}
	}
}

// Connections that come from another address than the device makes of theirs did not go through it as the test says.
func TestWhatAddressesProve(t *testing.T) {
	nat := &plan.Reference{Mode: &plan.Mode{NAT: &plan.NATMode{Inside: "west", Translations: []plan.Translation{
		{Inside: netip.MustParsePrefix("198.18.0.2/32"), Outside: netip.MustParsePrefix("198.19.1.0/32")},
	}}}}
	const inside, outside, wrong, far = "198.18.0.2", "198.19.1.0", "198.19.1.1", "198.18.1.2"
	for name, c := range map[string]struct {
		device           plan.DUT
		sender, receiver string
		local            string // of the sender
		came             string
		proven           bool
		message          string
	}{
		"NAT, from the inside": {plan.DUT{Type: "Reference", Reference: nat}, "west", "east", inside, outside, true,
			"they came from 198.19.1.0: the device translates addresses"},
		"NAT that translates not": {plan.DUT{Type: "Reference", Reference: nat}, "west", "east", inside, inside, false,
			"they came from 198.18.0.2 instead of 198.19.1.0: check how the device translates addresses"},
		"NAT to another address": {plan.DUT{Type: "Reference", Reference: nat}, "west", "east", inside, wrong, false,
			"they came from 198.19.1.1 instead of 198.19.1.0"},
		"NAT, from the outside": {plan.DUT{Type: "Reference", Reference: nat}, "east", "west", far, far, true,
			"TTL 63"},
		"NAT of outside addresses": {plan.DUT{Type: "Reference", Reference: nat}, "east", "west", far, wrong, false,
			"they came from 198.19.1.1 instead of 198.18.1.2"},
		"a router": {plan.DUT{Type: "Reference"}, "west", "east", inside, inside, true, "TTL 63"},
		"a router that translates": {plan.DUT{Type: "Reference"}, "west", "east", inside, outside, false,
			"they came from 198.19.1.0 instead of 198.18.0.2"},
		"a device of one's own": {plan.DUT{Type: "Device"}, "west", "east", inside, outside, true,
			"they came from 198.19.1.0: the device translates addresses"},
	} {
		c.device.Forwarding = plan.L3
		check := report.PathCheck{From: c.sender, To: c.receiver, Sent: 1}
		prove(&check, c.device, &Opened{Local: mustAddr(t, c.local), Remote: mustAddr(t, far)},
			&Opened{Connections: 1, Remote: mustAddr(t, c.came), TTLs: []int{63}})
		if check.Proven != c.proven || (check.Fault == nil) != c.proven || !strings.Contains(check.Message, c.message) {
			t.Errorf("%s: %v, %s, %+v", name, check.Proven, check.Message, check.Fault)
		}
	}
}
