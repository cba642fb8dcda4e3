package sessions

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

// iperf3Of has the rig's ends speak iperf3, one way, at a rate of payload per direction, or 0 for all that TCP
// carries.
func iperf3Of(protocol string, megabits int64) func(*plan.Plan, []End) {
	return func(p *plan.Plan, _ []End) {
		p.Sessions.Protocol, p.Sessions.Application, p.Directions = protocol, plan.ApplicationIperf3, p.Directions[:1]
		if protocol == plan.UDP {
			p.Sessions.MessageBytes = 1000
		}
		if megabits > 0 {
			p.Procedure.ConstantLoad.Unlimited, p.Procedure.ConstantLoad.Rate = false,
				units.Rate{Kind: units.Layer2Bits, Micros: megabits * 1e12}
		}
		p.Procedure.ConstantLoad.Duration = plan.Duration(2 * time.Second)
	}
}

// TestReceivedDatagramsAreThoseThatTheDeviceForwarded compares a Report with the counters of the device's own kernel.
// A device of 10 Mb/s loses about half of 20 Mb/s.
func TestReceivedDatagramsAreThoseThatTheDeviceForwarded(t *testing.T) {
	t.Parallel()
	r := newRig(t, &plan.Limit{Layer2BitsPerSecond: 10_000_000, Queue: plan.Duration(10 * time.Millisecond)},
		iperf3Of(plan.UDP, 20))
	rep := runner.Run(t.Context(), r.plan, New(r.places, Options{}), runner.Options{Producer: "test"})
	if rep.Ending != report.Completed || !rep.Answer.Measured {
		t.Fatalf("%s: %s; %s", rep.Ending, rep.Message, rep.Answer.EvidenceText())
	}
	came, _ := r.counters(t, "west")
	_, forwarded := r.counters(t, "east")
	var sent, received, lost int64
	for _, w := range rep.Windows {
		d := w.Directions[0].Sessions.Datagrams
		sent, received, lost = sent+d.Sent, received+d.Received, lost+d.Lost
	}
	t.Log(rep.Answer.EvidenceText())
	if received <= 0 || received > forwarded.Packets || sent > came.Packets {
		t.Errorf("%d datagrams were sent and %d received; the device took %d frames and forwarded %d", sent, received,
			came.Packets, forwarded.Packets)
	}
	if lost <= 0 || lost > came.Packets-forwarded.Packets {
		t.Errorf("%d datagrams were lost, and the device lost %d frames", lost, came.Packets-forwarded.Packets)
	}
	if len(rep.Path) != 1 || !rep.Path[0].Proven || !strings.Contains(rep.Path[0].Message,
		"UDP, datagrams of 1000 bytes; TTL 63, which was 64") {
		t.Errorf("the path: %+v", rep.Path)
	}
	losses := figures.OfAnswer(rep, figures.DatagramLossRatio)
	if len(losses) == 0 || len(figures.OfAnswer(rep, figures.RetransmitRatio)) > 0 {
		t.Errorf("figures of loss %+v, and of retransmits, which UDP has none of", losses)
	}
}

// TestTCPByIperf3 makes the same connections by another protocol, and holds them at a rate that the device carries.
func TestTCPByIperf3(t *testing.T) {
	t.Parallel()
	for name, megabits := range map[string]int64{"all that it carries": 0, "10 Mb/s of it": 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, queued(), iperf3Of(plan.TCP, megabits))
			rep := runner.Run(t.Context(), r.plan, New(r.places, Options{}), runner.Options{Producer: "test"})
			if rep.Ending != report.Completed || !rep.Answer.Measured {
				t.Fatalf("%s: %s; %s", rep.Ending, rep.Message, rep.Answer.EvidenceText())
			}
			t.Log(rep.Answer.EvidenceText())
			d := rep.Answer.Directions[0].Sessions
			limit := 50e6 * 1448 / 1518 * 1.1
			if megabits > 0 {
				limit = float64(megabits) * 1.05e6
			}
			if d.Datagrams != nil || d.ReceivedBytes <= 0 || d.Segments <= 0 ||
				float64(d.GoodputBitsPerSecond) > limit || d.RoundTrip == nil {
				t.Errorf("%+v", d)
			}
			if len(rep.Path) != 1 || !rep.Path[0].Proven || !strings.Contains(rep.Path[0].Message,
				"4 of 4 connections") {
				t.Errorf("the path: %+v", rep.Path)
			}
		})
	}
}

// After the driver no payload is sent, and no server has the port.
func TestNothingOfIperf3GoesOnAfterTheDriver(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{plan.TCP, plan.UDP} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, queued(), iperf3Of(protocol, 5))
			d := prepared(t, r)
			noError(t, d.start(t.Context()))
			d.Release(t.Context()) // as the kernel does for a driver that was killed
			r.awaitSilence(t, DriverSilence)
			successor := prepared(t, r) // which needs both ends and the port
			noError(t, successor.Stop(t.Context()))
		})
	}
}

func TestIperf3sFaultsNameTheWayOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		protocol string
		change   func(*testing.T, *rig)
		want     []string
		ending   report.Ending
	}{
		"a port that is taken": {plan.TCP, func(t *testing.T, r *rig) {
			noError(t, r.ends[1].Namespace.Do(func() error {
				l, err := net.Listen("tcp4", ":"+strconv.Itoa(DataPort))
				if err == nil {
					t.Cleanup(func() { _ = l.Close() })
				}
				return err
			}))
		}, []string{"link east", "the port is taken: end the program that has it"}, report.Failed},
		"a congestion control that the kernel hasn't": {plan.TCP,
			func(_ *testing.T, r *rig) { r.plan.Sessions.CongestionControl = "warp" },
			[]string{"congestion control warp"}, report.Failed},
		"a device that forwards nothing": {plan.TCP, func(t *testing.T, r *rig) {
			noError(t, r.dut.Do(func() error { return setDown("east") }))
		}, []string{"no iperf3 server answers", "check that the device forwards between the links"},
			report.PathNotProven},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, queued(), iperf3Of(c.protocol, 5))
			c.change(t, r)
			rep := r.run(t)
			if rep.Ending != c.ending || slices.ContainsFunc(c.want,
				func(words string) bool { return !strings.Contains(rep.Message, words) }) {
				t.Errorf("%s: %s; want %s: …%s…", rep.Ending, rep.Message, c.ending, c.want)
			}
		})
	}
}

// Datagrams that are sent after that are lost, though no later one shows a gap.
func TestADeviceThatStopsForwarding(t *testing.T) {
	t.Parallel()
	r := newRig(t, queued(), iperf3Of(plan.UDP, 5), func(p *plan.Plan, _ []End) {
		p.Procedure.ConstantLoad.WarmupDuration, p.Procedure.ConstantLoad.Duration, p.Procedure.ConstantLoad.Window = 0,
			plan.Duration(4*time.Second), plan.Duration(4*time.Second)
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	linkDown := false
	rep := runner.Run(ctx, r.plan, New(r.places, Options{}), runner.Options{Progress: func(p runner.Progress) {
		if !linkDown && p.GoodputBitsPerSecond != nil && *p.GoodputBitsPerSecond > 0 {
			linkDown = true
			noError(t, r.dut.Do(func() error { return setDown("east") }))
		}
	}})
	if rep.Ending != report.Completed || len(rep.Windows) != 1 {
		t.Fatalf("%s: %s", rep.Ending, rep.Message)
	}
	d := rep.Windows[0].Directions[0]
	if g := d.Sessions.Datagrams; g.Lost < g.Received/10 || g.Received+g.Lost > g.Sent {
		t.Errorf("%+v: %s", g, d.Reason)
	}
}

func TestFramesOfADatagram(t *testing.T) {
	for _, c := range []struct {
		message, mtu int64
		six          bool
		want         int64
	}{
		{16, 1500, false, 1}, {1472, 1500, false, 1}, {1473, 1500, false, 2}, {2952, 1500, false, 2},
		{2953, 1500, false, 3}, {65507, 1500, false, 45},
		{1452, 1500, true, 1}, {1453, 1500, true, 2}, {2 * 1448, 1500, true, 3}, {2*1448 - 8, 1500, true, 2},
		{8972, 9000, false, 1},
	} {
		if got := framesOf(c.message, c.mtu, c.six); got != c.want {
			t.Errorf("%d bytes by an MTU of %d (IPv6 %v): %d frames, want %d", c.message, c.mtu, c.six, got, c.want)
		}
	}
}

// Datagrams of any size go in as many frames as the Report says. The sender's kernel made so many fragments, and the
// device forwarded no fewer.
func TestDatagramsInFragmentsAndTheSmallest(t *testing.T) {
	for message, frames := range map[int64]int64{16: 1, 4000: 3, 65507: 45} {
		t.Run(strconv.FormatInt(message, 10), func(t *testing.T) {
			r := newRig(t, queued(), iperf3Of(plan.UDP, 4), func(p *plan.Plan, _ []End) {
				p.Sessions.MessageBytes, p.Sessions.Parallel, p.Sessions.WindowBytes = message, 2, 1<<20
				p.Directions = p.Directions[:1]
				p.Procedure.ConstantLoad.WarmupDuration, p.Procedure.ConstantLoad.Duration,
					p.Procedure.ConstantLoad.Window = 0, plan.Duration(time.Second), plan.Duration(time.Second)
				if message == 16 {
					p.Procedure.ConstantLoad.Rate = units.Rate{Kind: units.Packets, Micros: 1000 * 1_000_000}
				}
			})
			rep := r.run(t)
			if rep.Ending != report.Completed || !rep.Answer.Measured {
				t.Fatalf("%s: %s; %s", rep.Ending, rep.Message, rep.Answer.EvidenceText())
			}
			d := rep.Answer.Directions[0].Sessions.Datagrams
			if reported := max(1, d.FramesEach); reported != frames || d.Received <= 0 {
				t.Errorf("%d frames each are told, want %d; %+v", reported, frames, d)
			}
			if frames == 1 {
				return
			}
			var ipCounters map[string]int64
			noError(t, r.ends[0].Namespace.Do(func() error {
				text, err := os.ReadFile("/proc/thread-self/net/snmp")
				ipCounters = countersOf("Ip:", string(text))
				return err
			}))
			const foreign = 100 // the control connection's, and ARP's
			entered, _ := r.counters(t, "west")
			if created := ipCounters["FragCreates"]; created != frames*ipCounters["FragOKs"] ||
				created < frames*d.Sent || entered.Packets < created || entered.Packets > created+foreign {
				t.Errorf("%d datagrams were cut into %d fragments, and %d frames came to the device",
					ipCounters["FragOKs"], created, entered.Packets)
			}
			if want := fmt.Sprintf("in %d fragments each", frames); !strings.Contains(rep.Path[0].Message, want) ||
				!strings.Contains(rep.Answer.EvidenceText(), fmt.Sprintf("each went in %d fragments", frames)) {
				t.Errorf("%q; %q", rep.Path[0].Message, rep.Answer.EvidenceText())
			}
		})
	}
}
