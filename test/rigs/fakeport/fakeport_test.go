package fakeport_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/fakeport"
)

func stream64(pps float64) stream.Stream {
	return stream.Stream{
		Enabled: true, SelfStart: true, NextStreamID: -1, Packet: stream.Packet{Binary: make([]byte, 60)},
		Mode: stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: pps}},
	}
}

func run(factor float64, duration time.Duration, streams ...stream.Stream) datapath.Run {
	r := datapath.Run{Factor: factor, Duration: duration}
	for i, s := range streams {
		r.Streams = append(r.Streams, datapath.RunStream{ID: uint32(i + 1), Stream: s})
	}
	return r
}

func start(t *testing.T, p *fakeport.Port, r datapath.Run) {
	t.Helper()
	if err := p.Start(r); err != nil {
		t.Fatal(err)
	}
}

func TestTraffic(t *testing.T) {
	for name, c := range map[string]struct {
		sender, receiver fakeport.Options
		cable            fakeport.Cable
		sent, received   int64
		ierrors, behind  int64
	}{
		"all arrives on a plain cable":           {sent: 10_000, received: 10_000},
		"a cable with a limit lets that through": {cable: fakeport.Cable{Limit: 300}, sent: 10_000, received: 3_000},
		"a lossy cable loses a share":            {cable: fakeport.Cable{Loss: 0.25}, sent: 10_000, received: 7_500},
		"a weak sender says how far it is behind": {sender: fakeport.Options{Capacity: 400}, sent: 4_000,
			received: 4_000, behind: 6_000},
		"a weak receiver counts what it dropped": {receiver: fakeport.Options{ReceiveLoss: 0.1}, sent: 10_000,
			received: 9_000, ierrors: 1_000},
	} {
		t.Run(name, func(t *testing.T) {
			clock := fakeport.NewManual(0)
			west, east := fakeport.NewPair(clock, c.sender, c.receiver, c.cable)
			start(t, west, run(10, 0, stream64(100)))
			clock.Advance(10 * time.Second)
			sender, receiver := west.Counters(), east.Counters()
			if want := (units.Traffic{Packets: c.sent, Bytes: 64 * c.sent}); sender.Sent != want ||
				sender.Behind != c.behind {
				t.Errorf("sent %+v behind %d, want %+v and %d", sender.Sent, sender.Behind, want, c.behind)
			}
			if want := (units.Traffic{Packets: c.received, Bytes: 64 * c.received}); receiver.Received != want ||
				receiver.ReceiveErrors != c.ierrors {
				t.Errorf("received %+v errors %d, want %+v and %d", receiver.Received, receiver.ReceiveErrors, want,
					c.ierrors)
			}
		})
	}
}

// TestFramesThatAreInjectedCountWithTheirFCS compares them with frames of streams, padded to what Ethernet carries,
// at both ends.
func TestFramesThatAreInjectedCountWithTheirFCS(t *testing.T) {
	for size, bytes := range map[int]int64{42: 64, 60: 64, 61: 65, 1514: 1518} {
		west, east := fakeport.NewPair(fakeport.NewManual(0), fakeport.Options{}, fakeport.Options{}, fakeport.Cable{})
		frame := make([]byte, size)
		frame[0] = 0xff // to everybody
		if err := west.Inject([][]byte{frame, frame}, 0); err != nil {
			t.Fatal(err)
		}
		want := units.Traffic{Packets: 2, Bytes: 2 * bytes}
		if sent, received := west.Counters().Sent, east.Counters().Received; sent != want || received != want {
			t.Errorf("frames of %d bytes: sent %+v, received %+v, want %+v", size, sent, received, want)
		}
	}
}

func TestARunEnds(t *testing.T) {
	burst := stream64(1000)
	burst.Mode.Type, burst.Mode.TotalPackets = "single_burst", 2000
	for name, c := range map[string]struct {
		run  datapath.Run
		ends time.Duration
		sent int64
	}{
		"with its duration":                          {run(1, 3*time.Second, stream64(1000)), 3 * time.Second, 3000},
		"with its last burst":                        {run(1, 0, burst), 2 * time.Second, 2000},
		"with its duration, before its bursts":       {run(1, time.Second, burst), time.Second, 1000},
		"with its bursts, faster at a higher factor": {run(4, 0, burst), time.Second / 2, 2000},
		"with its duration, though a burst was short": {run(1, 3*time.Second, burst, stream64(1)), 3 * time.Second,
			2003},
	} {
		t.Run(name, func(t *testing.T) {
			clock := fakeport.NewManual(time.Hour)
			west, _ := fakeport.NewPair(clock, fakeport.Options{}, fakeport.Options{}, fakeport.Cable{})
			start(t, west, c.run)
			ended := west.Done()
			clock.Advance(c.ends - time.Millisecond)
			if closed(ended) {
				t.Fatal("too early")
			}
			clock.Advance(2 * time.Millisecond)
			if !closed(ended) || west.Done() != nil {
				t.Fatal("not at its end")
			}
			if got := west.Counters().Sent.Packets; got != c.sent {
				t.Errorf("sent %d, want %d", got, c.sent)
			}
			if got := west.Counters().Sending; got != 0 && got != c.ends || got == 0 && c.run.Duration == 0 {
				t.Errorf("it says that it sent for %v, want %v where streams are finite", got, c.ends)
			}
		})
	}
}

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// TestCountersAreExactHoweverOftenTheyAreRead checks that reading, updating and pausing never lose or invent a
// packet.
func TestCountersAreExactHoweverOftenTheyAreRead(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	clock := fakeport.NewManual(0)
	west, east := fakeport.NewPair(clock, fakeport.Options{}, fakeport.Options{}, fakeport.Cable{})
	start(t, west, run(1, 0, stream64(1000)))
	want, previous := 0.0, int64(0)
	for range 5000 {
		factor, elapsed := 10*random.Float64(), time.Duration(random.IntN(1e9))
		if err := west.SetFactor(factor); err != nil {
			t.Fatal(err)
		}
		clock.Advance(elapsed)
		want += factor * 1000 * elapsed.Seconds()
		got := west.Counters().Sent.Packets
		if got < previous || math.Abs(float64(got)-want) > 1.01 {
			t.Fatalf("sent %d after %d; want %f", got, previous, want)
		}
		previous = got
	}
	if err := west.Stop(); err != nil {
		t.Fatal(err)
	}
	if sent, received := west.Counters().Sent, east.Counters().Received; sent != received || sent.Packets != previous {
		t.Errorf("sent %+v, received %+v, last reading %d", sent, received, previous)
	}
}

func TestSystemClockInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		west, east := fakeport.NewPair(fakeport.System(), fakeport.Options{}, fakeport.Options{}, fakeport.Cable{})
		start(t, west, run(1, 5*time.Second, stream64(1000)))
		<-west.Done()
		if got := east.Counters().Received.Packets; got != 5000 {
			t.Errorf("received %d", got)
		}
	})
}

func TestMisuseIsRefused(t *testing.T) {
	west, _ := fakeport.NewPair(fakeport.NewManual(0), fakeport.Options{}, fakeport.Options{}, fakeport.Cable{})
	percent := stream64(1)
	percent.Mode.Rate.Type = "percentage"
	if err := west.Start(run(1, 0, percent)); err == nil {
		t.Error("a rate that isn't in packets per second")
	}
	if err := west.SetFactor(2); err == nil {
		t.Error("a factor for nothing")
	}
	start(t, west, run(1, 0, stream64(1)))
	if err := west.Start(run(1, 0, stream64(1))); err == nil {
		t.Error("a second run")
	}
	if err := west.Close(); err != nil {
		t.Fatal(err)
	}
	if err := west.Start(run(1, 0, stream64(1))); err == nil {
		t.Error("a closed port")
	}
}

func TestLinkFlapsAreCounted(t *testing.T) {
	west, _ := fakeport.NewPair(fakeport.NewManual(0), fakeport.Options{}, fakeport.Options{}, fakeport.Cable{})
	west.SetLink(true)
	west.SetLink(false)
	west.SetLink(true)
	if got := west.Info(); !got.LinkUp || got.LinkFlaps != 2 {
		t.Errorf("up %v, flaps %d", got.LinkUp, got.LinkFlaps)
	}
}
