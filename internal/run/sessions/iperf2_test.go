package sessions

import (
	"net"
	"os"
	"os/exec"
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

// The output of iperf 2.1.8 for two streams has rows in any order, with sums and totals among them.
const (
	iperf2TCPServer = `------------------------------------------------------------
Server listening on TCP port 5001 with pid 16581
[  1] local 198.18.1.2%east port 5001 connected with 198.18.0.2 port 59030 (sock=4) (peer 2.1.8) on 2026-03-14 15:09:26 (UTC)
[ ID] Interval            Transfer    Bandwidth       Reads=Dist
[  1] 0.0000-0.5000 sec  3145788 Bytes  50332608 bits/sec  27=2:0:0:1:1:0:0:23
[  2] 0.0000-0.5000 sec  3145788 Bytes  50332608 bits/sec  26=2:0:0:0:0:0:0:24
[SUM] 0.0000-0.5000 sec  6291576 Bytes  100665216 bits/sec  53=4:0:0:1:1:0:0:47
[  2] 0.5000-1.0000 sec  3276800 Bytes  52428800 bits/sec  25=0:0:0:0:0:0:0:25
[  1] 0.5000-1.0000 sec  2883584 Bytes  46137344 bits/sec  22=0:0:0:0:0:0:0:22
[  1] 1.0000-1.5000 sec  3014656 Bytes  48234496 bits/sec  24=0:0:0:1:1:0:0:22`
	iperf2TCPServerEnd = `
[  2] 1.0000-1.4986 sec  3145728 Bytes  50469227 bits/sec  24=0:0:0:0:0:0:0:24
[  2] 0.0000-1.4986 sec  9568316 Bytes  51078000 bits/sec  98=2:0:0:0:0:0:0:96
[  1] 0.0000-1.5000 sec  9044028 Bytes  48234816 bits/sec  101=2:0:0:2:2:0:0:95
[SUM] 0.0000-1.5000 sec  18612344 Bytes  99265834 bits/sec  199=4:0:0:2:2:0:0:191`
	iperf2UDPServer = `[  1] 0.0000-0.5000 sec  330000 Bytes  5280000 bits/sec   0.006 ms 0/329 (0%) 0.082/0.002/24.934/1.372 ms 641 pps 330/0(1) pkts 8001
[  1] 0.0000-0.5000 sec  1 datagrams received out-of-order
[  2] 0.0000-0.5000 sec  334000 Bytes  5344000 bits/sec   0.014 ms 1/335 (0.3%) 0.037/0.002/9.992/0.546 ms 656 pps 334/0(0) pkts 18102
[  1] 0.0000-0.5000 sec  330000 Bytes  5280000 bits/sec   0.006 ms 0/329 (0%) 0.026/0.002/24.934/0.704 ms 634 pps 330/0(0) pkts 24309
[  1] 0.0000-0.5000 sec  1 datagrams received out-of-order`
)

func TestIperf2WritesNoBurstsOfASmallRate(t *testing.T) {
	for _, c := range []struct {
		shape Shape
		want  string
	}{
		{Shape{MessageBytes: 128 << 10, BitsPerSecond: 1_000_000}, "1250"}, {Shape{MessageBytes: 128 << 10}, "131072"},
		{Shape{MessageBytes: 1460, BitsPerSecond: 1000, Datagrams: true}, "1460"},
	} {
		a := socket{local: mustAddr(t, "198.18.0.2"), shape: c.shape}.iperf2Arguments()
		if i := slices.Index(a, "-l"); i < 0 || a[i+1] != c.want {
			t.Errorf("%+v: %q, want -l %s", c.shape, a, c.want)
		}
	}
}

func heard(streams int, text string) *iperf2Output {
	o := newIperf2Output(Shape{Connections: streams})
	for line := range strings.Lines(text) {
		o.parse(strings.TrimRight(line, "\n"))
	}
	return o
}

func TestReadingIperf2sOutput(t *testing.T) {
	for name, c := range map[string]struct {
		streams int
		text    string
		want    iperf2Counted
	}{
		"rows that all streams have": {2, iperf2TCPServer, iperf2Counted{end: time.Second,
			bytes: 2*3145788 + 3276800 + 2883584}},
		"totals in the end are no interval": {2, iperf2TCPServer + iperf2TCPServerEnd,
			iperf2Counted{end: 1500 * time.Millisecond, bytes: 18612344}},
		"a stream that has not come": {3, iperf2TCPServer, iperf2Counted{}},
		"datagrams, one late, told twice of all": {2, iperf2UDPServer, iperf2Counted{end: 500 * time.Millisecond,
			jitter: 14 * time.Microsecond, bytes: 664000, total: 664, lost: 1, late: 1}},
		"nothing": {1, "", iperf2Counted{}},
	} {
		if got := heard(c.streams, c.text).read(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if complaint := heard(1, "Attempt to set 'warp' congestion control failed: No such file or directory\n[  1] local "+
		"0.0.0.0 port 0").complaint(); !strings.Contains(complaint, "'warp' congestion control failed") {
		t.Errorf("it complains %q", complaint)
	}
}

// iperf accepts every client. A run that foreign streams may be in ends.
func TestForeignIperf2ClientsAreReported(t *testing.T) {
	const (
		first = "[  1] local 198.18.1.2%east port 5001 connected with 198.18.0.2 port 59030 (sock=4) (peer 2.1.8) " +
			"on 2026-03-14 15:09:26 (UTC)\n"
		second   = "[  2] local 198.18.1.2%east port 5001 connected with 198.18.0.2 port 59031\n"
		third    = "[  3] local 198.18.1.2%east port 5001 connected with 198.18.0.2 port 59032\n"
		stranger = "[  1] local 198.18.1.2%east port 5001 connected with 198.18.0.9 port 59030\n"
	)
	for name, c := range map[string]struct{ text, want string }{
		"the test's own": {first + second, ""},
		"one that was there before": {stranger + first,
			"198.18.0.9 sends to iperf's port 5001, too, which is 198.18.0.2's alone"},
		"another program of the sender's own": {first + second + third,
			"3 streams came to iperf's port 5001, and the test has 2"},
	} {
		o := heard(2, c.text)
		if got := o.stranger(); got != "" {
			t.Errorf("%s: before the test's connections came: %q", name, got)
		}
		o.expect(mustAddr(t, "198.18.0.2"))
		if got := o.stranger(); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q…", name, got, c.want)
		}
	}
}

func TestDropsOfIperf2sSockets(t *testing.T) {
	const table = `   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
 3192: 0201A8C0:1389 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 1044135 2 000000002ae29a3f 7
 3193: 0201A8C0:1389 0100007F:C1A0 01 00000000:00000000 00:00000000 00000000     0        0 1044134 2 00000000e20d2519 5
 3194: 0201A8C0:0035 0100007F:B443 01 00000000:00000000 00:00000000 00000000     0        0 1044125 2 00000000b42a61b3 90
`
	if got := udpDrops(table, iperf2Port); got != 12 {
		t.Errorf("%d, want 12", got)
	}
}

// iperf2Of has the rig's ends run iperf 2, one way.
func iperf2Of(protocol string, megabits int64) func(*plan.Plan, []End) {
	return func(p *plan.Plan, ends []End) {
		iperf3Of(protocol, megabits)(p, ends)
		p.Sessions.Application = plan.ApplicationIperf2
	}
}

func needsIperf2(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath(iperf2Program); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("this test wants iperf itself: hack/ci-packages installs it")
		}
		t.Skip("needs iperf itself: apt-get install iperf")
	}
}

// TestIperf2 compares iperf's counters with the device's own. When the run is over, no process of iperf is left.
func TestIperf2(t *testing.T) {
	t.Parallel()
	needsIperf2(t)
	for name, c := range map[string]struct {
		protocol string
		megabits int64
	}{"TCP": {plan.TCP, 0}, "UDP": {plan.UDP, 10}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, queued(), iperf2Of(c.protocol, c.megabits))
			rep := runner.Run(t.Context(), r.plan, New(r.places, Options{}), runner.Options{Producer: "test"})
			if rep.Ending != report.Completed {
				t.Fatalf("%s: %s; %s", rep.Ending, rep.Message, rep.Answer.EvidenceText())
			}
			t.Log(rep.Answer.EvidenceText())
			r.awaitSilence(t, DriverSilence)
			if !rep.Answer.Measured { // iperf had no processor to tell anything in
				if !strings.Contains(rep.Answer.EvidenceText(), "nothing about the device") {
					t.Error("it isn't said why there is no figure")
				}
				return
			}
			_, forwarded := r.counters(t, "east")
			d := rep.Answer.Directions[0].Sessions
			if d.ReceivedBytes <= 0 || d.ReceivedBytes > forwarded.Bytes {
				t.Errorf("%d bytes were received, of frames of %d", d.ReceivedBytes, forwarded.Bytes)
			}
			if u := d.Datagrams; (u != nil) != (c.protocol == plan.UDP) || u != nil &&
				(u.Received <= 0 || u.Received > forwarded.Packets) {
				t.Errorf("datagrams: %+v, and the device forwarded %d frames", u, forwarded.Packets)
			}
			if u := d.Datagrams; u != nil && !u.LostAtLeast {
				t.Error("its loss isn't told as a bound")
			}
			if u := d.Datagrams; u == nil && d.Segments <= 0 {
				t.Errorf("%+v", d)
			}
			if len(rep.Path) != 1 || !rep.Path[0].Proven || !strings.Contains(rep.Path[0].Message,
				"iperf 2, after connections of linerate's own") {
				t.Errorf("the path: %+v", rep.Path)
			}
		})
	}
}

// iperf's server reports nothing of the datagrams that are sent after that, and all of them may be lost.
func TestIperf2ThroughADeviceThatStopsForwarding(t *testing.T) {
	t.Parallel()
	needsIperf2(t)
	const lasts, forwards = 4 * time.Second, 3300 * time.Millisecond
	r := newRig(t, queued(), iperf2Of(plan.UDP, 5), func(p *plan.Plan, _ []End) {
		p.Procedure.ConstantLoad.WarmupDuration, p.Procedure.ConstantLoad.Duration, p.Procedure.ConstantLoad.Window = 0,
			plan.Duration(lasts), plan.Duration(lasts)
	})
	var came time.Time
	linkDown := false
	rep := runner.Run(t.Context(), r.plan, New(r.places, Options{}), runner.Options{Progress: func(p runner.Progress) {
		switch {
		case came.IsZero() && p.GoodputBitsPerSecond != nil && *p.GoodputBitsPerSecond > 0:
			came = time.Now()
		case !linkDown && !came.IsZero() && time.Since(came) > forwards-time.Second:
			linkDown = true
			noError(t, r.dut.Do(func() error { return setDown("east") }))
		}
	}})
	if rep.Ending != report.Completed || len(rep.Windows) != 1 || !linkDown {
		t.Fatalf("%s: %s", rep.Ending, rep.Message)
	}
	t.Log(rep.Windows[0].Directions[0].Reason)
	d := rep.Windows[0].Directions[0].Sessions.Datagrams
	for _, f := range figures.OfAnswer(rep, figures.DatagramLossRatio) {
		// To the billionth of a Report, because the bound may be this very share.
		if untold := units.RatioOf(d.Sent-d.Received, d.Sent); f.Missing == "" && f.High != "" &&
			f.High.Float() < untold.Float() {
			t.Errorf("at most %s was lost, and of %s nothing was told: %+v", f.High, untold, d)
		}
	}
}

func TestIperf2sFaultsNameTheWayOut(t *testing.T) {
	needsIperf2(t)
	t.Run("a port that is taken", func(t *testing.T) {
		r := newRig(t, queued(), iperf2Of(plan.TCP, 0))
		noError(t, r.ends[1].Namespace.Do(func() error {
			l, err := net.Listen("tcp4", ":"+strconv.Itoa(iperf2Port))
			if err == nil {
				t.Cleanup(func() { _ = l.Close() })
			}
			return err
		}))
		rep := r.run(t)
		if rep.Ending != report.Failed || !strings.Contains(rep.Message, "the port is taken") {
			t.Errorf("%s: %s", rep.Ending, rep.Message)
		}
	})
	t.Run("a machine without it", func(t *testing.T) {
		r := newRig(t, queued(), iperf2Of(plan.TCP, 0))
		t.Setenv("PATH", t.TempDir())
		rep := r.run(t)
		if rep.Ending != report.Failed || !strings.Contains(rep.Message, "apt install iperf") {
			t.Errorf("%s: %s", rep.Ending, rep.Message)
		}
	})
}
