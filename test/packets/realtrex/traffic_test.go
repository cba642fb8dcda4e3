//go:build trex

package realtrex

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex"
)

// networks are behind the ports.
var networks = [ports]netip.Prefix{netip.MustParsePrefix("16.0.0.0/24"), netip.MustParsePrefix("48.0.0.0/24")}

// udp are a port's streams: 64-byte frames of some flows, to the other port's network.
func udp(t *testing.T, port int) []stream.Stream {
	t.Helper()
	p, err := profile.Build(profile.Spec{
		Kind: profile.FixedSize, FrameSize: 64, Source: networks[port], Destination: networks[1-port],
		Flows: profile.Flows{Count: 100, Vary: []profile.Field{profile.SourceAddress, profile.DestinationAddress, profile.SourcePort}},
	})
	must(t, err)
	return p.Streams
}

func latency(t *testing.T, port int, id uint32, pps float64) stream.Stream {
	t.Helper()
	s := udp(t, port)[0]
	s.VM = stream.VM{}
	s.Mode.Rate = stream.Rate{Type: "pps", Value: pps}
	s.FlowStats = stream.Flow{Enabled: true, StreamID: id, RuleType: "latency"}
	return s
}

// count is both ports' counters.
func count(t *testing.T, c *trex.Client) map[int]trex.PortStats {
	t.Helper()
	shot, err := c.Snapshot(context.WithoutCancel(t.Context()), []int{0, 1}, trex.Detail{Status: true})
	must(t, err)
	return shot.Ports
}

// settle waits until nothing more is counted.
func settle(t *testing.T, c *trex.Client) map[int]trex.PortStats {
	t.Helper()
	last := count(t, c)
	for range 40 {
		time.Sleep(500 * time.Millisecond)
		now := count(t, c)
		if now[0].ReceivedPackets == last[0].ReceivedPackets && now[1].ReceivedPackets == last[1].ReceivedPackets {
			return now
		}
		last = now
	}
	t.Fatal("counters never stood still")
	return nil
}

func TestPortsStartTogetherAndAllComesBack(t *testing.T) {
	c := claim(t)
	point(t, c)
	for port := range ports {
		must(t, c.AddStreams(t.Context(), port, udp(t, port)))
		v, err := c.Validate(t.Context(), port)
		must(t, err)
		if v.Max.PacketsPerSecond <= 0 || v.Duration != -1 {
			t.Errorf("validated as %+v", v)
		}
	}
	before := settle(t, c)
	at, err := c.Ping(t.Context())
	must(t, err)
	order := func(port int) trex.Start {
		return trex.Start{Port: port, Multiplier: trex.PPS(1000), Duration: 4 * time.Second}
	}
	started, err := c.StartTogether(t.Context(), 500*time.Millisecond, order(0), order(1))
	must(t, err)
	if len(started) != 2 || started[0].Factor != started[1].Factor || math.IsInf(float64(started[0].Factor), 0) {
		t.Errorf("asked at %v, started as %+v", at, started)
	}
	time.Sleep(1500 * time.Millisecond)
	_, err = c.UpdateTraffic(t.Context(), map[int]trex.Multiplier{0: trex.PPS(2000), 1: trex.PPS(2000)}, false)
	must(t, err)
	time.Sleep(time.Second)
	must(t, c.StopTraffic(t.Context(), 0, 1))
	after := settle(t, c)
	for port := range ports {
		sent := after[port].SentPackets - before[port].SentPackets
		back := after[1-port].ReceivedPackets + after[1-port].ReceiveErrors - before[1-port].ReceivedPackets - before[1-port].ReceiveErrors
		t.Logf("port %d sent %d, %d came back", port, sent, back)
		if sent < 1000 || back != sent {
			t.Errorf("port %d sent %d, and %d came back", port, sent, back)
		}
	}
}

// TRex counts a duration from the request, and ends the second port at its next timer: ports that start together send for as long as they were asked to, and a few milliseconds more.
func TestPortsThatStartTogetherSendForTheirWholeDuration(t *testing.T) {
	c := claim(t)
	point(t, c)
	for port := range ports {
		must(t, c.AddStreams(t.Context(), port, udp(t, port)))
	}
	before := settle(t, c)
	order := func(port int) trex.Start {
		return trex.Start{Port: port, Multiplier: trex.PPS(1000), Duration: time.Second}
	}
	_, err := c.StartTogether(t.Context(), 500*time.Millisecond, order(0), order(1))
	must(t, err)
	time.Sleep(2 * time.Second)
	after := settle(t, c)
	for port := range ports {
		if sent := after[port].SentPackets - before[port].SentPackets; sent < 1000 || sent > 1040 {
			t.Errorf("port %d sent %d frames in 1 s at 1000 packets/s", port, sent)
		}
	}
}

func TestTrafficEndsByItsDuration(t *testing.T) {
	c := claim(t)
	point(t, c)
	must(t, c.AddStreams(t.Context(), 0, udp(t, 0)))
	_, err := c.Events(t.Context())
	must(t, err)
	_, err = c.StartTraffic(t.Context(), trex.Start{Multiplier: trex.PPS(500), Duration: 1500 * time.Millisecond})
	must(t, err)
	awaitEvent(t, c, func(e trex.Event) bool { return e.Type == trex.PortFinished && e.Port == 0 })
	status, err := c.PortStatus(t.Context(), 0)
	must(t, err)
	if status.State != "STREAMS" {
		t.Errorf("state %s after the end", status.State)
	}
}

func TestLatencyStreams(t *testing.T) {
	c := claim(t)
	point(t, c)
	id := uint32(time.Now().Unix()%500) + 7
	must(t, c.AddStreams(t.Context(), 0, append(udp(t, 0), latency(t, 0, id, 200))))
	v, err := c.Validate(t.Context(), 0)
	must(t, err)
	if v.Min.PacketsPerSecond != 200 {
		t.Errorf("validated as %+v", v)
	}
	_, err = c.StartTraffic(t.Context(), trex.Start{Multiplier: trex.PPS(100), Duration: 5 * time.Second})
	if err == nil {
		t.Error("a rate below the latency stream's was taken")
	}
	_, err = c.StartTraffic(t.Context(), trex.Start{Multiplier: trex.PPS(700), Duration: 5 * time.Second})
	must(t, err)
	time.Sleep(2500 * time.Millisecond)
	must(t, c.StopTraffic(t.Context(), 0))
	settle(t, c)
	flows, err := c.FlowStats(t.Context(), id)
	must(t, err)
	f, l := flows.Flows[id], flows.Latency[id]
	if f.SentPackets[0] < 200 || f.ReceivedPackets[1] != f.SentPackets[0] || l.Max < l.Min || l.Min <= 0 || l.Errors.Dropped != 0 {
		t.Errorf("flow %d: %+v, latency %+v", id, f, l)
	}
}

// TestPortsTakenByOthers: event 5 tells a client that another one took its port, and its calls are refused with the new owner's name.
func TestPortsTakenByOthers(t *testing.T) {
	c := claim(t)
	point(t, c)
	must(t, c.AddStreams(t.Context(), 0, udp(t, 0)))
	_, err := c.Events(t.Context())
	must(t, err)
	_, err = c.StartTraffic(t.Context(), trex.Start{Multiplier: trex.PPS(100), Duration: 20 * time.Second})
	must(t, err)

	thief := dial(t, "thief")
	taken, ok := errors.AsType[*trex.TakenError](thief.Acquire(t.Context(), 0, false))
	if !ok || taken.Owner != "realtrex" {
		t.Errorf("without force: %v", taken)
	}
	must(t, thief.Acquire(t.Context(), 0, true))
	e := awaitEvent(t, c, func(e trex.Event) bool { return e.Type == trex.PortAcquired && e.Port == 0 })
	if e.User != "thief" || !e.Force {
		t.Errorf("event %+v", e)
	}
	taken, ok = errors.AsType[*trex.TakenError](c.StopTraffic(t.Context(), 0))
	if !ok || taken.Owner != "thief" {
		t.Errorf("the robbed one's stop: %v", taken)
	}
	must(t, thief.Reset(t.Context(), 0))
	must(t, thief.Release(t.Context(), 0))
	must(t, c.Acquire(t.Context(), 0, false))
}
