//go:build full

package sessions

import (
	"math"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/impaired"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

func TestMain(m *testing.M) {
	impaired.Main() // a device is this program, started once more
	os.Exit(m.Run())
}

// newImpairedRig is two ends with a wire between them that has known faults, one for what enters from each end,
// and the device.
func newImpairedRig(
	t *testing.T, ports [2]impaired.Impairment, options ...func(*plan.Plan, []End),
) (*rig, *impaired.Device) {
	t.Helper()
	r := &rig{dut: netnstest.New(t)}
	r.plan = &plan.Plan{
		Version: plan.Version, Engine: "Software", DUT: plan.DUT{Type: "Device", Forwarding: plan.L2},
		Sessions:   &plan.Sessions{Protocol: plan.TCP, Parallel: 4, MessageBytes: 128 << 10},
		Directions: []plan.Direction{{From: "west", To: "east"}}, Generators: []plan.Generator{{Name: "generator-0"}},
		Procedure: plan.Procedure{Type: plan.TypeConstantLoad, ConstantLoad: &plan.ConstantLoad{Unlimited: true,
			WarmupDuration: plan.Duration(time.Second),
			Duration:       plan.Duration(10 * time.Second), Window: plan.Duration(time.Second)}},
	}
	for i, name := range []string{"west", "east"} {
		address := netip.MustParsePrefix("198.18.0." + string(rune('2'+i)) + "/24")
		r.plan.Links = append(r.plan.Links, plan.Link{Name: name})
		r.plan.Generators[0].Ports = append(r.plan.Generators[0].Ports, plan.GeneratorPort{Link: name,
			Addresses: []netip.Prefix{address}, ShareOf: 1})
		end := End{Link: name, Interface: name, Namespace: netnstest.New(t), Product: "linerate sessions"}
		cable(t, end.Namespace, r.dut, name, net.HardwareAddr{2, 0x6c, 0x72, 0, byte(i), 2},
			net.HardwareAddr{2, 0x6c, 0x72, 0, byte(i), 1})
		noError(t, r.dut.Do(func() error {
			for _, o := range []netif.Offload{netif.TransmitChecksum, netif.TCPSegmentation, netif.GenericSegmentation,
				netif.GenericReceive} {
				if err := netif.SetOffload(name, o, false); err != nil {
					return err
				}
			}
			link, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			return netlink.LinkSetUp(link)
		}))
		r.ends, r.places = append(r.ends, end), append(r.places, Place{Link: name})
	}
	for _, o := range options {
		o(r.plan, r.ends)
	}
	device, err := impaired.Start(r.dut, impaired.Spec{Interfaces: [2]string{"west", "east"}, Ports: ports})
	noError(t, err)
	t.Cleanup(func() { noError(t, device.Close()) })
	r.serve(t)
	return r, device
}

// The loss is within 0.1 points, over 100 000 datagrams.
func TestLossOfADeviceThatDropsOneInAHundred(t *testing.T) {
	r, device := newImpairedRig(t, [2]impaired.Impairment{{LoseOneIn: 100}, {}}, func(p *plan.Plan, _ []End) {
		p.Sessions = &plan.Sessions{Protocol: plan.UDP, Application: plan.ApplicationIperf3, Parallel: 2,
			MessageBytes: 1000}
		p.Procedure.ConstantLoad.Unlimited, p.Procedure.ConstantLoad.Rate = false, units.Rate{Kind: units.Packets,
			Micros: 10_000 * 1_000_000}
	})
	rep := r.run(t)
	counts, err := device.Counts()
	noError(t, err)
	if !rep.Answer.Measured {
		t.Fatalf("%s: %s", rep.Ending, rep.Message)
	}
	d := rep.Answer.Directions[0].Sessions.Datagrams
	t.Logf("%s; the device: %+v", rep.Answer.EvidenceText(), counts[0])
	if counts[0].Missed > 0 {
		t.Fatalf("the device missed %d frames: it wasn't what it claims to be", counts[0].Missed)
	}
	if share := float64(d.Lost) / float64(d.Lost+d.Received); math.Abs(share-0.01) > 0.001 || d.Sent < 99_000 ||
		d.DroppedByReceiver > 0 {
		t.Errorf("a loss of %.4f %% of %d datagrams", 100*share, d.Sent)
	}
}

// Of 64 first datagrams, and as many answers, each tenth frame is lost, and the path is proven all the same.
func TestManyStreamsOpenThroughALossyDevice(t *testing.T) {
	const streams = 64
	r, _ := newImpairedRig(t, [2]impaired.Impairment{{LoseOneIn: 10}, {LoseOneIn: 10}}, func(p *plan.Plan, _ []End) {
		p.Sessions = &plan.Sessions{Protocol: plan.UDP, Application: plan.ApplicationIperf3, Parallel: streams,
			MessageBytes: 1000}
		p.Procedure.ConstantLoad.Unlimited, p.Procedure.ConstantLoad.Rate = false, units.Rate{Kind: units.Packets,
			Micros: 10 * streams * 1_000_000}
		p.Procedure.ConstantLoad.Duration = plan.Duration(2 * time.Second)
	})
	rep := r.run(t)
	if len(rep.Path) != 1 || !rep.Path[0].Proven || rep.Path[0].Received != streams {
		t.Errorf("%s: %s; %+v", rep.Ending, rep.Message, rep.Path)
	}
}

// The round trip is within 0.5 ms of 10 ms, with connections that are asked for less than they carry, so that nothing
// waits.
func TestRoundTripOfADeviceThatDelays(t *testing.T) {
	r, _ := newImpairedRig(t, [2]impaired.Impairment{{Delay: 10 * time.Millisecond}, {}}, func(p *plan.Plan, _ []End) {
		p.Sessions.Application, p.Sessions.Parallel, p.Sessions.MessageBytes = plan.ApplicationIperf3, 1, 1400
		p.Procedure.ConstantLoad.Unlimited, p.Procedure.ConstantLoad.Rate = false, units.Rate{Kind: units.Layer2Bits,
			Micros: 2e6 * 1e6}
	})
	rep := r.run(t)
	if !rep.Answer.Measured {
		t.Fatalf("%s: %s", rep.Ending, rep.Message)
	}
	rtt := rep.Answer.Directions[0].Sessions.RoundTrip
	t.Logf("%s; %+v", rep.Answer.EvidenceText(), rtt)
	if rep.Answer.Reason != report.TargetReached || rtt == nil || math.Abs(float64(rtt.MeanMicroseconds)-10_000) > 500 {
		t.Errorf("%s: %+v", rep.Answer.Reason, rtt)
	}
}

// The goodput is within 2 % of what a Reference's limit leaves of payload.
func TestGoodputOfIperf3ThroughFiftyMegabits(t *testing.T) {
	for _, application := range []string{plan.ApplicationIperf3, plan.ApplicationIperf2} {
		t.Run(application, func(t *testing.T) {
			r := newRig(t, queued(), iperf3Of(plan.TCP, 0), func(p *plan.Plan, _ []End) {
				p.Sessions.Application, p.Procedure.ConstantLoad.Duration = application, plan.Duration(8*time.Second)
			})
			rep := r.run(t)
			if !rep.Answer.Measured {
				t.Fatalf("%s: %s", rep.Ending, rep.Message)
			}
			t.Log(rep.Answer.EvidenceText())
			const want = 50e6 * 1448 / 1518
			if got := float64(rep.Answer.Directions[0].Sessions.GoodputBitsPerSecond); math.Abs(got/want-1) > 0.02 {
				t.Errorf("%.3f Mb/s, want %.3f within 2 %%", got/1e6, want/1e6)
			}
		})
	}
}

// The receiver's sockets have no room for what a device without faults carries.
func TestAWeakReceiverOfDatagramsIsNeverTheDevice(t *testing.T) {
	r, _ := newImpairedRig(t, [2]impaired.Impairment{}, func(p *plan.Plan, _ []End) {
		p.Sessions = &plan.Sessions{Protocol: plan.UDP, Application: plan.ApplicationIperf3, Parallel: 1,
			MessageBytes: 1400, WindowBytes: 4 << 10}
		p.Procedure.ConstantLoad.Unlimited, p.Procedure.ConstantLoad.Rate = false, units.Rate{Kind: units.Layer2Bits,
			Micros: 100e6 * 1e6}
	})
	rep := r.run(t)
	d := rep.Answer.Directions[0].Sessions
	t.Log(rep.Answer.EvidenceText())
	if d.Datagrams.Lost > 0 && (rep.Answer.Reason == report.PathLimited || d.Datagrams.DroppedByReceiver == 0) {
		t.Errorf("%s: %+v", rep.Answer.Reason, d.Datagrams)
	}
}
