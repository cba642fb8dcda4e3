package datapath

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/softgen/fieldengine"
	"github.com/linerate-dev/linerate/internal/units"
)

// obeyed waits until a port's threads have carried out all orders, and have given up the frames that an order
// makes them give up.
func obeyed(t *testing.T, p Port) {
	t.Helper()
	pl := p.(*port).running()
	eventually(t, "orders are carried out", func() bool {
		return !slices.ContainsFunc(pl.threads,
			func(th *thread) bool { return th.executed.Load() != pl.version.Load() })
	})
}

// keeps gives a port a factor, and checks whether it keeps that many packets/s for a while. Each order settles
// the frames that a port owes or has given up, so the frames are compared with the time between two orders,
// however late a thread carried them out.
//
//	order ── obeyed ── first count ──────────── order again ── obeyed ── second count
//	│                             └─ at least ─┘                                    │
//	└─ at most ─────────────────────────────────────────────────────────────────────┘
//
// The pacer's own tests check how exactly a rate is kept, by a virtual clock.
func keeps(t *testing.T, p Port, factor float64) {
	t.Helper()
	keepsWithin(t, p, factor, factor, 0.05, 10, func() { obeyed(t, p) })
}

// keepsWithin allows this relative error of the rate, and a burst of frames of another rate that may leave at once.
func keepsWithin(t *testing.T, p Port, perSecond, factor, tolerance, burst float64, awaitOrder func()) {
	t.Helper()
	asked := Now()
	noError(t, p.SetFactor(factor))
	awaitOrder()
	initial, earliest := p.Counters(), Now()
	sleep(300 * time.Millisecond)
	begin := Now()
	noError(t, p.SetFactor(factor))
	awaitOrder()
	final, latest := p.Counters(), Now()
	got := float64(final.Sent.Packets - initial.Sent.Packets + final.Behind - initial.Behind)
	lower := (1-tolerance)*perSecond*(begin-earliest).Seconds() - burst
	upper := (1+tolerance)*perSecond*(latest-asked).Seconds() + burst
	if got < lower || got > upper {
		t.Errorf("%v frames at %v packets/s, want %.0f to %.0f; %d of them given up", got, perSecond, lower, upper,
			final.Behind-initial.Behind)
	}
}

func TestRun(t *testing.T) {
	a, b := cable(t, Options{}, Options{})
	endless := runTo(b, 1000, continuous(1, frame(60)))

	t.Run("a second start is refused, and so are orders without traffic", func(t *testing.T) {
		if err := a.SetFactor(2); !errors.Is(err, ErrIdle) {
			t.Errorf("a factor without traffic: %v", err)
		}
		noError(t, a.Start(endless))
		if err := a.Start(endless); !errors.Is(err, ErrRunning) {
			t.Errorf("a second start: %v", err)
		}
		noError(t, a.Stop())
		noError(t, a.Stop())
	})
	t.Run("a factor changes the rate at once, up and down", func(t *testing.T) {
		noError(t, a.Start(endless))
		for _, factor := range []float64{1000, 20_000, 500, 5000} {
			keeps(t, a, factor)
		}
		noError(t, a.Stop())
	})
	t.Run("a pause sends nothing, and the rest follows after it", func(t *testing.T) {
		noError(t, a.Start(endless))
		noError(t, a.Pause())
		if err := a.Pause(); err == nil {
			t.Error("a pause in a pause went through")
		}
		obeyed(t, a)
		initial := a.Counters().Sent.Packets
		sleep(50 * time.Millisecond)
		if got := a.Counters().Sent.Packets - initial; got != 0 {
			t.Errorf("%v packets in a pause", got)
		}
		noError(t, a.Resume())
		keeps(t, a, 1000)
		noError(t, a.Stop())
	})
	t.Run("a start in the future waits, and a run with a duration can't be paused", func(t *testing.T) {
		initial := a.Counters()
		run := endless
		run.Start, run.Duration = Now()+100*time.Millisecond, 200*time.Millisecond
		noError(t, a.Start(run))
		if err := a.Pause(); err == nil {
			t.Error("a run with a duration was paused")
		}
		sleep(50 * time.Millisecond)
		if got := a.Counters().Sent.Sub(initial.Sent); Now() < run.Start && got.Packets != 0 {
			t.Errorf("sent %v before the start", got)
		}
		finish(t, a)
		c := a.Counters()
		if got := c.Sent.Sub(initial.Sent).Packets + c.Behind - initial.Behind; got < 199 || got > 200 {
			t.Errorf("sent %d frames in 200 ms at 1000 a second", got)
		}
	})
	t.Run("a factor of 0 is refused", func(t *testing.T) {
		run := endless
		run.Factor = 0
		if err := a.Start(run); err == nil || !strings.Contains(err.Error(), "must be positive") {
			t.Errorf("factor 0: %v", err)
		}
	})
}

func TestKindsOfFrames(t *testing.T) {
	for name, o := range receivers {
		t.Run(name, func(t *testing.T) { kindsOfFrames(t, o) })
	}
}

func kindsOfFrames(t *testing.T, o Options) {
	a, b := cable(t, Options{Cores: 2, Plain: o.Plain}, o)
	for _, name := range []string{"west", "east"} {
		l, err := netlink.LinkByName(name)
		noError(t, err)
		noError(t, netlink.LinkSetMTU(l, 9300))
	}
	tagged := append(append(append([]byte{}, frame(60)[:12]...), 0x81, 0, 0, 100), frame(60)[12:]...)
	six := make([]byte, 62)
	copy(six[12:], []byte{0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 17, 64})
	random := stream.VM{Instructions: []stream.Instruction{
		{Type: "flow_var", Name: "v", Size: 4, Op: "random", MaxValue: 1 << 31, Step: 1},
		{Type: "write_flow_var", Name: "v", PacketOffset: 26, BigEndian: true}, {Type: "fix_checksum_ipv4",
			PacketOffset: 14}}}
	for _, c := range []struct {
		name  string
		frame []byte
		vm    stream.VM
		wire  int64
	}{
		{"jumbo frames", frame(9000), stream.VM{}, 9004},
		{"frames with a VLAN tag", tagged, stream.VM{}, 68},
		{"IPv6", six, stream.VM{}, 66},
		{"frames made while sending", frame(100), random, 104},
		{"short frames are padded", frame(60)[:52], stream.VM{}, 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := addressed(burst(1000, 50_000, c.frame))
			s.VM, s.FlowStats = c.vm, stream.Flow{Enabled: true, StreamID: 3, RuleType: "stats"}
			a.ForgetFlows([]uint32{3})
			b.ForgetFlows([]uint32{3})
			initial := b.Counters()
			noError(t, a.Start(Run{Streams: streams(s), Factor: 1, NextHop: macOf(b)}))
			finish(t, a)
			noError(t, a.Stop())
			want := units.Traffic{Packets: 1000, Bytes: 1000 * c.wire}
			arrived(t, b, initial, want)
			if got := b.Flows()[3].Received; got != want {
				t.Errorf("flow 3 received %v, want %v", got, want)
			}
			if got := a.Flows()[3].Sent; got != want {
				t.Errorf("flow 3 sent %v, want %v", got, want)
			}
		})
	}
	t.Run("a captured frame is what the wire carried", func(t *testing.T) { captured(t, a, b, tagged) })
	t.Run("frames for others count only when promiscuous", func(t *testing.T) { promiscuous(t, a, b) })
}

func captured(t *testing.T, a, b Port, want []byte) {
	got := make(chan Frame, 10)
	stop, err := b.Capture(func(f Frame) { got <- f })
	noError(t, err)
	defer stop()
	long := frame(1500)
	mac := macOf(b)
	copy(want, mac[:])
	copy(long, mac[:])
	noError(t, a.Inject([][]byte{want, long}, time.Millisecond))
	for i, expected := range [][]byte{want, long} {
		select {
		case f := <-got:
			if string(f.Bytes) != string(expected) || f.Sent || Now()-f.Time > time.Minute || f.Time > Now() {
				t.Errorf("frame %d: % x at %v, want % x", i, f.Bytes, f.Time, expected)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("nothing captured")
		}
	}
}

func promiscuous(t *testing.T, a, b Port) {
	foreign, addressed := frame(60), frame(60)
	mac := macOf(b)
	copy(addressed, mac[:])
	copy(foreign, []byte{2, 9, 9, 9, 9, 9})
	initial := b.Counters()
	send := func() { noError(t, a.Inject([][]byte{foreign, addressed}, 0)) }
	walks(t, b, 2, send)
	arrived(t, b, initial, units.Traffic{Packets: 1, Bytes: 64})
	noError(t, b.SetPromiscuous(true))
	walks(t, b, 2, send)
	arrived(t, b, initial, units.Traffic{Packets: 3, Bytes: 192})
	noError(t, b.SetPromiscuous(false))
}

func TestChecksumOfStampedFrames(t *testing.T) {
	f := frame(100)
	f[40], f[41] = 1, 1
	stamp{1, 7, 8, 9}.write(f, 14)
	sum := binary.BigEndian.Uint16(f[40:])
	fieldengine.FixTransport(f, 14)
	if s, ok := readStamp(f); !ok || (s != stamp{1, 7, 8, 9}) || binary.BigEndian.Uint16(f[40:]) != sum {
		t.Errorf("stamp %+v, checksum %#x", s, sum)
	}
}

func TestLink(t *testing.T) {
	for name, o := range receivers {
		t.Run(name, func(t *testing.T) { linkFlap(t, o) })
	}
}

func linkFlap(t *testing.T, o Options) {
	a, b := cable(t, o, o)
	east, err := netlink.LinkByName("east")
	noError(t, err)
	eventually(t, "the link is up", func() bool { return a.Info().LinkUp && b.Info().LinkUp })
	noError(t, a.Start(runTo(b, 1, continuous(1000, frame(60)))))
	noError(t, netlink.LinkSetDown(east))
	eventually(t, "the link is down", func() bool { return !a.Info().LinkUp })
	eventually(t, "what can't be sent is an error", func() bool { return a.Counters().SendErrors > 10 })
	noError(t, netlink.LinkSetUp(east))
	eventually(t, "the link is up again", func() bool { return a.Info().LinkUp })
	sent := a.Counters().Sent
	eventually(t, "traffic goes on", func() bool { return a.Counters().Sent.Packets > sent.Packets+10 })
	received := b.Counters().Received
	eventually(t, "and arrives", func() bool { return b.Counters().Received.Packets > received.Packets+10 })
	if flaps := a.Info().LinkFlaps; flaps != 1 {
		t.Errorf("%d flaps, want 1", flaps)
	}
	noError(t, a.Stop())
}

func TestOpen(t *testing.T) {
	enterNamespace(t)
	if _, err := Open(Options{Interface: "nowhere"}); err == nil ||
		!strings.Contains(err.Error(), "interface nowhere doesn't exist in this network namespace") {
		t.Errorf("an interface that isn't there: %v", err)
	}
	if _, err := Open(Options{Interface: "lo"}); err == nil ||
		!strings.Contains(err.Error(), "not an Ethernet interface") {
		t.Errorf("loopback: %v", err)
	}
}
