package sessions

import (
	"slices"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// dying makes the device fail once it carries traffic after the warm-up, and recover after an outage, or never where
// the outage is 0. The run tells its progress, and waits until the device has failed, so the rest of the hold is
// after the failure, however late a busy machine gets there.
func (r *rig) dying(t *testing.T, fail func() error, outage time.Duration, recover func() error) func(runner.Progress) {
	t.Helper()
	failed, recovered := false, make(chan error, 1)
	t.Cleanup(func() {
		if !failed {
			t.Error("the device was to die once it carried traffic after the warm-up, and it lives")
		} else if outage > 0 {
			noError(t, <-recovered)
		}
	})
	return func(p runner.Progress) {
		if failed || p.Window == nil || p.GoodputBitsPerSecond == nil || *p.GoodputBitsPerSecond == 0 {
			return
		}
		failed = true
		if err := r.dut.Do(fail); err != nil {
			t.Error(err)
		}
		if outage > 0 {
			time.AfterFunc(outage, func() { recovered <- r.dut.Do(recover) }) // for how long the device is away
		}
	}
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
			rep := runner.Run(t.Context(), r.plan, New(r.places, Options{}),
				runner.Options{Progress: r.dying(t, c.dies, c.outage, c.returns)})
			t.Logf("%s %s: %s %+v", rep.Ending, rep.Message, rep.Answer.EvidenceText(), rep.Interruptions)
			expected := rep.Answer.Reason == c.want || rep.Answer.Reason == report.NotHeld && endsWaited(rep)
			if rep.Verdict.Outcome == report.Passed || rep.Answer.Confirmed ||
				rep.Ending == report.Completed && !expected {
				for _, w := range rep.Windows {
					s := w.Directions[0].Sessions
					t.Logf("window %d, %s: %s; its ends waited %s, it was disturbed %s; %+v", w.Number, w.Quality,
						w.Reason, s.EndsWaited.Std(), s.Disturbed.Std(), s.Datagrams)
				}
				t.Errorf("%s, %s: %s, confirmed %v", rep.Verdict.Outcome, rep.Ending, rep.Answer.Reason,
					rep.Answer.Confirmed)
			}
		})
	}
}

// endsWaited says that a silence of the run was seen, and that the machine was too busy to say whose it was.
func endsWaited(r *report.Report) bool {
	return slices.ContainsFunc(r.Interruptions, func(i report.Interruption) bool { return i.EndsWaited })
}
