package datapath

import (
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// addressed is a stream to the far port whose packets leave the MACs to the port.
func addressed(s stream.Stream) stream.Stream {
	s.Flags = 0
	return s
}

// runTo is a run of such streams to the far port.
func runTo(far Port, factor float64, list ...stream.Stream) Run {
	for i := range list {
		list[i] = addressed(list[i])
	}
	return Run{Streams: streams(list...), Factor: factor, NextHop: macOf(far)}
}

func finish(t testing.TB, p Port) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the run didn't end")
	}
}

func TestCable(t *testing.T) {
	for name, o := range map[string]Options{"one thread": {}, "two threads": {Cores: 2}, "plain sockets": {Plain: true},
		"two threads on plain sockets": {Cores: 2, Plain: true}} {
		t.Run(name, func(t *testing.T) { overCable(t, o) })
	}
}

func overCable(t *testing.T, o Options) {
	a, b := cable(t, o, Options{Plain: o.Plain})
	t.Log(a.Info().Path)
	{
		// The kernel keeps a thousand frames between a veth's two ends (net.core.netdev_max_backlog), however late a
		// busy machine reads them.
		t.Run("a burst arrives to the last frame", func(t *testing.T) {
			initial := b.Counters()
			sent := a.Counters().Sent
			noError(t, a.Start(runTo(b, 1, burst(800, 100_000, frame(60)))))
			finish(t, a)
			noError(t, a.Stop())
			want := units.Traffic{Packets: 800, Bytes: 800 * 64}
			if got := a.Counters().Sent.Sub(sent); got != want {
				t.Errorf("sent %v, want %v", got, want)
			}
			if took := a.Counters().Sending; took < 7*time.Millisecond {
				t.Errorf("800 frames at 100 000 a second took %v", took)
			}
			arrived(t, b, initial, want)
		})
		t.Run("three sizes keep their weights and their pace", func(t *testing.T) {
			initial := b.Counters()
			earlier := a.Counters()
			run := Run{Streams: streams(addressed(continuous(28, frame(60))), addressed(continuous(16, frame(590))),
				addressed(continuous(4, frame(1514)))),
				Factor: 100, NextHop: macOf(b), Duration: 500 * time.Millisecond}
			noError(t, a.Start(run))
			finish(t, a)
			c := a.Counters()
			want := units.Traffic{Packets: 2400, Bytes: 50 * 17368}
			got, behind := c.Sent.Sub(earlier.Sent), c.Behind-earlier.Behind
			if math.Abs(float64(got.Packets+behind-want.Packets)) > 2 {
				t.Errorf("sent %v and %d behind, want %v", got, behind, want)
			}
			arrived(t, b, initial, got)
		})
		t.Run("a latency stream is timed and in order", func(t *testing.T) {
			s := addressed(burst(200, 2000, frame(60)))
			s.FlowStats = stream.Flow{Enabled: true, StreamID: 7, RuleType: "latency"}
			second := addressed(burst(1000, 10000, frame(60)))
			second.FlowStats = stream.Flow{Enabled: true, StreamID: 5, RuleType: "stats"}
			noError(t, a.Start(Run{Streams: streams(s, second), Factor: 1, NextHop: macOf(b)}))
			finish(t, a)
			eventually(t, "all stamps read", func() bool { return b.Latency()[7].Received == 200 })
			eventually(t, "flows counted", func() bool { return b.Flows()[5].Received.Packets == 1000 })
			l := b.Latency()[7]
			if l.Dropped+l.OutOfOrder+l.Duplicate+l.SequenceTooHigh+l.SequenceTooLow != 0 || l.Min <= 0 ||
				l.Max > time.Second {
				t.Errorf("latency %+v", l)
			}
			if got := a.Flows()[5].Sent; got != (units.Traffic{Packets: 1000, Bytes: 64000}) {
				t.Errorf("flow 5 sent %v", got)
			}
			if got := b.Flows()[7].Received; got != (units.Traffic{Packets: 200, Bytes: 12800}) {
				t.Errorf("flow 7 received %v", got)
			}
			b.ForgetFlows([]uint32{5, 7})
			if f := b.Flows(); len(f) != 0 {
				t.Errorf("forgotten flows are still %v", f)
			}
		})
		t.Run("addresses are answered for, and frames captured", func(t *testing.T) {
			got := make(chan Frame, 100)
			stop, err := b.Capture(func(f Frame) { got <- f })
			noError(t, err)
			defer stop()
			noError(t, a.Answer([]netip.Addr{netip.MustParseAddr("198.18.0.2"), netip.MustParseAddr("2001:2::2")}, 0))
			ask := &neighbours{mac: macOf(b)}
			noError(t, b.Inject([][]byte{ask.arp(arpRequest, broadcast, netip.MustParseAddr("198.18.0.1"),
				netip.MustParseAddr("198.18.0.2"))}, 0))
			deadline := time.After(5 * time.Second)
			for {
				select {
				case f := <-got:
					if _, p, kind := untag(f.Bytes); kind == etherARP && p[7] == arpReply &&
						[6]byte(p[8:14]) == macOf(a) {
						return
					}
				case <-deadline:
					t.Fatal("no ARP reply")
				}
			}
		})
	}
}

// arrived waits until a port has received this much since the initial reading. Frames that a busy machine read
// too late are receive errors, and never received.
func arrived(t testing.TB, p Port, initial Counters, want units.Traffic) {
	t.Helper()
	ring, _ := p.(*port).receiver.(*packetReceiver)
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); sleep(time.Millisecond) {
		c := p.Counters()
		got, late := c.Received.Sub(initial.Received), c.ReceiveErrors-initial.ReceiveErrors
		if got == want || ring != nil && got.Packets < want.Packets && got.Bytes < want.Bytes && got.Packets+
			late >= want.Packets {
			return
		}
	}
	c := p.Counters()
	t.Fatalf("received %v of %v; counters %+v", c.Received.Sub(initial.Received), want, c)
}

// walks calls fn, which sends this many frames to the port, and waits until a port with a ring has read them
// all. A reading of counters in between may give up the rest.
func walks(t testing.TB, p Port, frames int64, fn func()) {
	t.Helper()
	ring, ok := p.(*port).receiver.(*packetReceiver)
	if !ok {
		fn()
		return
	}
	walked := func() int64 {
		ring.tally.mutex.Lock()
		defer ring.tally.mutex.Unlock()
		return ring.tally.walked
	}
	initial := walked()
	fn()
	eventually(t, "the ring is read", func() bool { return walked() >= initial+frames })
}
