package sessions

import (
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// droppedOf is by how much a counter of a link's end grew in the result.
func droppedOf(rep *report.Report, link, counter string) (n int64) {
	for _, d := range rep.Answer.Directions {
		if d.Sessions == nil || d.Sessions.Ends == nil {
			continue
		}
		for _, e := range d.Sessions.Ends.Dropped {
			if e.Link == link && e.Interface == link && e.Counter == counter {
				n += e.Packets
			}
		}
	}
	return n
}

// dropsUnknown says that an end could not tell in time what it drops, on a machine that is too busy.
func dropsUnknown(rep *report.Report) bool {
	return slices.ContainsFunc(rep.Answer.Directions, func(d report.Direction) bool {
		return d.Sessions != nil && d.Sessions.Ends != nil && strings.Contains(d.Sessions.Ends.Unknown,
			"did not come within")
	})
}

func oneWay50(p *plan.Plan, _ []End) {
	p.Directions = p.Directions[:1]
	p.Sessions.CongestionControl = "cubic"
}

// The ends' own kernels drop packets, and count their drops themselves.
func TestWhatAnEndDropsIsNeverTheDevicesLimit(t *testing.T) {
	t.Parallel()
	t.Run("segments for which a socket has no room", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, queued(), oneWay50, func(_ *plan.Plan,
			ends []End) {
			ends[1].Forgetful = 300 * time.Millisecond
		})
		rep := r.run(t)
		if n := droppedOf(rep, "east", "TCPRcvQDrop") + droppedOf(rep, "east", "TCPOFODrop"); n <= 0 &&
			!dropsUnknown(rep) || rep.Answer.Reason == report.PathLimited || !rep.Answer.LowerBound() {
			t.Errorf("%d segments dropped at the socket; %s: %s", n, rep.Answer.Reason, rep.Answer.EvidenceText())
		} else {
			t.Logf("%d segments dropped at the socket; %s: %s", n, rep.Answer.Reason, rep.Answer.EvidenceText())
		}
		if got := figures.Summary(rep); strings.Contains(got, "rtt") || !strings.Contains(got, " retransmit") {
			t.Errorf("the summary tells a round trip that may be the end's own: %q", got)
		}
	})
	t.Run("frames that the kernel has no use for", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, queued(), oneWay50)
		const frames = 7 // nobody can tell them from what is sent again for the limit
		sent := false
		rep := runner.Run(t.Context(), r.plan, New(r.places, Options{}),
			runner.Options{Progress: func(p runner.Progress) {
				if p.Phase == report.Hold && p.GoodputBitsPerSecond != nil && !sent {
					sent = true
					r.sendNonsense(t, "east", frames)
				}
			}})
		if n := droppedOf(rep, "east", "rx_dropped"); n < frames && !dropsUnknown(rep) ||
			rep.Answer.Reason == report.PathLimited || !rep.Answer.LowerBound() {
			t.Errorf("%d of %d frames dropped by the interface; %s: %s", n, frames, rep.Answer.Reason,
				rep.Answer.EvidenceText())
		}
	})
	for _, protocol := range []string{plan.UDP, plan.TCP} {
		t.Run("what the sender's queue has no room for, with "+protocol, func(t *testing.T) {
			r := newRig(t, nil, iperf3Of(protocol, 20), func(_ *plan.Plan, ends []End) { narrow(t, ends[0]) })
			rep := r.run(t)
			if rep.Ending != report.Completed {
				t.Fatalf("%s: %s", rep.Ending, rep.Message)
			}
			d := rep.Answer.Directions[0]
			if n := droppedOf(rep, "west", measure.QueueDrops); n <= 0 && !dropsUnknown(rep) ||
				rep.Answer.Reason == report.PathLimited || !rep.Answer.LowerBound() || figures.PathDoubt(d) == "" {
				t.Errorf("%d packets dropped by the sender's queue; %s: %s", n, rep.Answer.Reason, rep.Answer.EvidenceText())
			}
			if g := d.Sessions.Datagrams; protocol == plan.UDP && g.Lost < g.Sent/10 {
				t.Errorf("the queue was to drop half of the datagrams: %+v", g)
			}
		})
	}
	t.Run("nothing, where ends have what they need", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, queued(), oneWay50)
		rep := r.run(t)
		if rep.Ending != report.Completed {
			t.Fatalf("%s: %s", rep.Ending, rep.Message)
		}
		if ends := rep.Answer.Directions[0].Sessions.Ends; ends != nil &&
			(len(ends.Dropped) > 0 || !dropsUnknown(rep) || !rep.Answer.LowerBound()) {
			t.Errorf("the device's own drops are charged to the ends: %+v", ends)
		}
	})
}

// narrow has an end send 10 Mb/s at most, with room for few packets before its interface.
func narrow(t *testing.T, e End) {
	t.Helper()
	noError(t, e.Namespace.Do(func() error {
		link, err := netlink.LinkByName(e.Interface)
		if err != nil {
			return err
		}
		const rate, burst = 10_000_000 / 8, 3000 // bytes, a second and at once
		return netlink.QdiscAdd(&netlink.Tbf{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link.Attrs().Index,
			Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
			Rate: rate, Buffer: netlink.Xmittime(rate, burst), Limit: 3 * burst})
	}))
}

// sendNonsense sends frames of a protocol that nobody speaks (0x88b5, for experiments) from the device to the
// end of a link.
func (r *rig) sendNonsense(t *testing.T, name string, frames int) {
	t.Helper()
	noError(t, r.dut.Do(func() error {
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		i, err := net.InterfaceByName(name)
		if err != nil {
			return err
		}
		frame := append([]byte{2, 0x6c, 0x72, 0, 1, 2, 2, 0x6c, 0x72, 0, 1, 1, 0x88, 0xb5}, make([]byte, 46)...)
		for range frames {
			if err := unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: i.Index, Halen: 6}); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestTCPInfoOfTheKernel(t *testing.T) {
	got := countersOf("TcpExt:", "IpExt: A B\nIpExt: 1 2\nTcpExt: SyncookiesSent TCPRcvQDrop OfoPruned\nTcpExt: 3 4 "+
		"5\nMPTcpExt: X\nMPTcpExt: 6\n")
	if len(got) != 3 || got["TCPRcvQDrop"] != 4 || got["OfoPruned"] != 5 {
		t.Errorf("%v", got)
	}
}

func TestDropsThatCannotBeReadAreNamed(t *testing.T) {
	d := (&end{End: End{Link: "west", Interface: "nowhere"}}).drops()
	if d.Counters != nil || !strings.Contains(d.Unread, "interface nowhere") {
		t.Errorf("%+v", d)
	}
	if d = (&end{End: End{Link: "west", Interface: "lo"}}).drops(); d.Unread != "" || len(d.Counters) != 13 {
		t.Errorf("the loopback interface: %+v", d)
	}
}

// While interfaces change, the kernel delays answers about an interface's counters.
func TestAReadingWaitsForNobodyWhoChangesInterfaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, changed := &end{End: End{Link: "west", Interface: "net1"}}, make(chan struct{})
		var asked atomic.Int64
		kernel := func() *measure.Drops {
			n := asked.Add(1)
			<-changed
			return &measure.Drops{Interface: "net1", Counters: map[string]int64{"rx_dropped": n}}
		}
		for range 3 {
			began := time.Now()
			if d := e.dropsBy(kernel); d.Counters != nil ||
				!strings.Contains(d.Unread, "interface net1 did not come within 2s") {
				t.Errorf("%+v", d)
			}
			if waited := time.Since(began); waited >= answerTimeout || asked.Load() != 1 {
				t.Errorf("the reading came after %s, and the kernel was asked %d times", waited, asked.Load())
			}
		}
		close(changed)
		if d := e.dropsBy(kernel); d.Unread != "" || d.Counters["rx_dropped"] != 2 { // not what the first one found
			t.Errorf("afterwards: %+v", d)
		}
	})
}
