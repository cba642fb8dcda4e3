package sessions

import (
	"fmt"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// onceItForwards makes the device fail once it has received so many more packets on west, and recover after an
// outage, or never where the outage is 0.
func (r *rig) onceItForwards(t *testing.T, packets int64, fail func() error, outage time.Duration,
	recover func() error) {
	t.Helper()
	first, _ := r.counters(t, "west")
	failure := make(chan error, 1)
	go func() {
		failure <- func() error {
			for { // until the traffic flows, bounded by the test's own time
				count, err := r.received("west")
				if err != nil {
					return err
				}
				if count >= first.Packets+packets {
					break
				}
				if t.Context().Err() != nil {
					return fmt.Errorf("the device received %d packets, and was to die after %d", count-first.Packets,
						packets)
				}
				time.Sleep(10 * time.Millisecond) // between two readings of a counter
			}
			if err := r.dut.Do(fail); err != nil || outage == 0 {
				return err
			}
			time.Sleep(outage) // for how long the device is away
			return r.dut.Do(recover)
		}()
	}()
	t.Cleanup(func() { noError(t, <-failure) })
}

func (r *rig) received(name string) (packets int64, err error) {
	err = r.dut.Do(func() error {
		link, err := netlink.LinkByName(name)
		if err == nil {
			packets = int64(link.Attrs().Statistics.RxPackets)
		}
		return err
	})
	return packets, err
}

// ports set interfaces of the device down or up.
func ports(set func(netlink.Link) error, names ...string) func() error {
	return func() error {
		for _, name := range names {
			link, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			if err := set(link); err != nil {
				return err
			}
		}
		return nil
	}
}

// forwarding turns the forwarding of all interfaces on or off. Links stay up.
func forwarding(values ...string) func() error {
	return func() error {
		for _, value := range values {
			if err := netif.WriteSysctl("ipv4/ip_forward", value); err != nil {
				return err
			}
		}
		return nil
	}
}

// A device that carries sessions may die at any moment. Goodput of the time before, or of a time that includes the
// outage, is no result of the test.
func TestADeviceThatDiesPassesInNoSessions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		traffic       func(*plan.Plan, []End)
		dies, returns func() error
		outage        time.Duration
		want          report.Reason
	}{
		"its ports go down for good": {dies: ports(netlink.LinkSetDown, "west", "east"), want: report.NotHeld},
		"it renegotiates a link": {dies: ports(netlink.LinkSetDown, "east"), outage: 100 * time.Millisecond,
			returns: ports(netlink.LinkSetUp, "east"), want: report.NotHeld},
		"it forwards nothing for a while": {dies: forwarding("1", "0"), outage: 4 * time.Second,
			returns: forwarding("1"), want: report.DeviceLost},
		"datagrams, it forwards nothing": {traffic: iperf3Of(plan.UDP, 10), dies: forwarding("1", "0"),
			want: report.DeviceLost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, queued(), func(p *plan.Plan, ends []End) {
				p.Directions = p.Directions[:1]
				if c.traffic != nil {
					c.traffic(p, ends)
				}
				p.Procedure.ConstantLoad.Duration = plan.Duration(6 * time.Second)
				p.Criteria = []plan.Criterion{{Name: "some", Metric: "GoodputBitsPerSecond", Min: "1"}}
			})
			r.onceItForwards(t, 2000, c.dies, c.outage, c.returns)
			rep := r.run(t)
			t.Logf("%s %s: %s %+v", rep.Ending, rep.Message, rep.Result.Message, rep.Interruptions)
			if rep.Verdict.Outcome == report.Passed || rep.Result.Confirmed || rep.Ending == report.Completed &&
				rep.Result.Reason != c.want {
				for _, w := range rep.Windows {
					s := w.Directions[0].Sessions
					t.Logf("window %d, %s: %s; its ends waited %s, it was disturbed %s; %+v", w.Number, w.Quality,
						w.Reason, s.EndsWaited.Std(), s.Disturbed.Std(), s.Datagrams)
				}
				t.Errorf("%s, %s: %s, confirmed %v", rep.Verdict.Outcome, rep.Ending, rep.Result.Reason,
					rep.Result.Confirmed)
			}
		})
	}
}
