package trex_test

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/engine/trex/neighbor"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// udp is a plain stream of 64-byte frames (FCS included) at 1 pps.
func udp() stream.Stream {
	return stream.Stream{
		Enabled: true, SelfStart: true, CoreID: -1, NextStreamID: -1,
		Mode:   stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: 1}},
		Packet: stream.Packet{Binary: make([]byte, 60)},
	}
}

func latency(id uint32, pps float64) stream.Stream {
	s := udp()
	s.Mode.Rate.Value = pps
	s.FlowStats = stream.Flow{Enabled: true, StreamID: id, RuleType: "latency"}
	return s
}

func ask(t *testing.T, source, target string) neighbor.Query {
	t.Helper()
	mac, err := net.ParseMAC("02:00:00:00:00:10")
	noError(t, err)
	return neighbor.Query{SourceMAC: mac, Source: netip.MustParseAddr(source), Target: netip.MustParseAddr(target)}
}

func TestAWholeSession(t *testing.T) {
	inBubble(t, func(t *testing.T, l simulatedServer) {
		ctx, c := t.Context(), l.client
		for port, local := range map[int]string{0: "198.18.0.2", 1: "198.18.1.2"} {
			noError(t, c.Acquire(ctx, port, false))
			noError(t, c.Reset(ctx, port))
			q := ask(t, local, strings.TrimSuffix(local, "2")+"1")
			mac, err := c.Resolve(ctx, port, q)
			noError(t, err)
			if want := fmt.Sprintf("02:00:00:00:00:2%d", port); mac.String() != want {
				t.Errorf("port %d: the next hop is %s, not %s", port, want, mac)
			}
			noError(t, c.SetL3(ctx, port, q.Source, q.Target, mac))
			noError(t, c.AddStreams(ctx, port, []stream.Stream{udp(), latency(uint32(7+port), 500)}))
			v, err := c.Validate(ctx, port)
			noError(t, err)
			if v.Min.PacketsPerSecond != 500 || v.Max.PacketsPerSecond != 501 {
				t.Errorf("validated as %+v", v)
			}
		}
		start := func(port int) trex.Start {
			return trex.Start{Port: port, Multiplier: trex.PPS(1500), Duration: time.Minute}
		}
		started, err := c.StartTogether(ctx, 200*time.Millisecond, start(0), start(1))
		noError(t, err)
		if len(started) != 2 || started[0].Factor != 1000 {
			t.Errorf("started %+v", started)
		}
		time.Sleep(1200 * time.Millisecond)
		_, err = c.UpdateTraffic(ctx, map[int]trex.Multiplier{0: trex.PPS(10_500), 1: trex.PPS(10_500)}, false)
		noError(t, err)
		time.Sleep(time.Second)
		shot, err := c.Snapshot(ctx, []int{0, 1}, trex.Detail{Status: true, ExtendedStats: []int{1}})
		noError(t, err)
		for port, stats := range shot.Ports { // the question for the next hop and its answer are counted, too
			if stats.SentPackets != 12_001 || stats.ReceivedPackets != 12_001 || stats.SentBytes != 12_001*64 {
				t.Errorf("port %d counted %+v", port, stats)
			}
		}
		if shot.Statuses[0].State != "TX" || len(shot.ExtendedStats[1]) != 12 || shot.Global.CPUPercent != 12.5 {
			t.Errorf("snapshot %+v", shot)
		}
		flows, err := c.FlowStats(ctx, 7, 8)
		noError(t, err)
		if lat := flows.Latency[8]; lat.Average != 34*time.Microsecond ||
			flows.Flows[8].ReceivedPackets.Total() != 1000 {
			t.Errorf("flows %+v", flows)
		}
		noError(t, c.StopTraffic(ctx, 0, 1))
		for _, port := range []int{0, 1} {
			noError(t, c.Reset(ctx, port))
			noError(t, c.Release(ctx, port))
		}
		if crashes := l.generator.Crashes(); len(crashes) > 0 || l.generator.Owners()[0] != "" {
			t.Errorf("crashes %v, owners %v", crashes, l.generator.Owners())
		}
	})
}

func TestCleaningUpAfterAnEarlierClient(t *testing.T) {
	l := newSimulatedServer(t)
	earlier := connect(t, l.Server, func(o *trex.Options) { o.User = "earlier" })
	noError(t, earlier.Acquire(t.Context(), 0, false))
	noError(t, earlier.SetL3(t.Context(), 0, netip.MustParseAddr("198.18.0.2"), netip.MustParseAddr("198.18.0.1"),
		net.HardwareAddr{2, 0, 0, 0, 0, 0x20}))
	noError(t, earlier.AddStreams(t.Context(), 0, []stream.Stream{udp()}))
	_, err := earlier.StartTraffic(t.Context(), trex.Start{Multiplier: trex.PPS(10), Duration: time.Hour})
	noError(t, err)

	conflict := errorOf[*trex.TakenError](t, l.client.Acquire(t.Context(), 0, false))
	if conflict.Owner != "earlier" || conflict.Port != 0 {
		t.Errorf("taken %+v", conflict)
	}
	noError(t, l.client.Acquire(t.Context(), 0, true))
	noError(t, l.client.Reset(t.Context(), 0))
	status, err := l.client.PortStatus(t.Context(), 0)
	if err != nil || status.State != "IDLE" || status.Owner != "us" {
		t.Errorf("after the reset: %+v, %v", status, err)
	}
}

func TestAPortTakenByAnotherClient(t *testing.T) {
	l := newSimulatedServer(t)
	l.claim(t, 0)
	l.generator.Steal(0, "thief")
	err := l.client.StopTraffic(t.Context(), 0)
	if conflict := errorOf[*trex.TakenError](t, err); conflict.Owner != "thief" {
		t.Errorf("%q doesn't name the thief", err)
	}
	events, err := l.client.Events(t.Context())
	noError(t, err)
	latest := events[len(events)-1]
	if latest.Type != trex.PortAcquired || latest.User != "thief" || !latest.Force || latest.Port != 0 ||
		latest.Session == 4711 {
		t.Errorf("event %+v", latest)
	}
}

func TestARunningSessionIsContinued(t *testing.T) {
	l := newSimulatedServer(t)
	l.claim(t, 0, 1)
	t.Run("by a new client of the same user and session", func(t *testing.T) {
		successor := connect(t, l.Server)
		noError(t, successor.Acquire(t.Context(), 0, false))
		if successor.Owned()[0] != l.client.Owned()[0] {
			t.Error("another handler was given")
		}
	})
	t.Run("not by another session of the same user", func(t *testing.T) {
		stranger := connect(t, l.Server, func(o *trex.Options) { o.Session = 5 })
		if conflict := errorOf[*trex.TakenError](t, stranger.Acquire(t.Context(), 0, false)); !conflict.SameUser {
			t.Errorf("taken %+v", conflict)
		}
	})
}

func TestARestartedServer(t *testing.T) {
	l := newSimulatedServer(t)
	l.claim(t, 0)
	l.generator.Restart()
	_, err := l.client.Snapshot(t.Context(), []int{0}, trex.Detail{})
	_ = errorOf[*trex.RestartedError](t, err)
	_ = errorOf[*trex.RestartedError](t, l.client.Acquire(t.Context(), 0, false))
}

func TestManyStreams(t *testing.T) {
	// 3 000 of them in one request are much work where others have the processors
	l := newSimulatedServer(t, func(o *trex.Options) { o.Timeout = 5 * time.Minute })
	l.claim(t, 0)
	streams := make([]stream.Stream, 3000)
	for i := range streams {
		streams[i] = udp()
		streams[i].Mode.Rate.Value = float64(i + 1)
		streams[i].Packet.Binary = make([]byte, 300)
	}
	noError(t, l.client.AddStreams(t.Context(), 0, streams))
	added := l.Calls("add_stream")
	if len(added) != len(streams) || !strings.Contains(string(added[2999].Params), `"stream_id":3000`) {
		t.Errorf("%d streams were added, the last as %s", len(added), added[len(added)-1].Params)
	}
}

func TestARefusedStreamIsNamed(t *testing.T) {
	l := newSimulatedServer(t)
	l.claim(t, 0)
	noError(t, l.client.AddStreams(t.Context(), 0, []stream.Stream{udp()}))
	err := l.client.AddStreams(t.Context(), 0, []stream.Stream{udp()})
	if err == nil || !strings.Contains(err.Error(), "stream 1") || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("got %v", err)
	}
}

func TestTrafficEndsByItself(t *testing.T) {
	inBubble(t, func(t *testing.T, l simulatedServer) {
		l.claim(t, 0)
		noError(t, l.client.SetL2(t.Context(), 0, net.HardwareAddr{2, 0, 0, 0, 0, 0x20}))
		noError(t, l.client.AddStreams(t.Context(), 0, []stream.Stream{udp()}))
		_, err := l.client.StartTraffic(t.Context(), trex.Start{Multiplier: trex.PPS(100), Duration: 3 * time.Second})
		noError(t, err)
		time.Sleep(10 * time.Second)
		shot, err := l.client.Snapshot(t.Context(), []int{0}, trex.Detail{})
		if err != nil || shot.Ports[0].SentPackets != 300 {
			t.Errorf("sent %d, %v", shot.Ports[0].SentPackets, err)
		}
	})
}

func TestOnlyLatencyStreams(t *testing.T) {
	l := newSimulatedServer(t)
	l.claim(t, 0)
	noError(t, l.client.SetL2(t.Context(), 0, net.HardwareAddr{2, 0, 0, 0, 0, 0x20}))
	noError(t, l.client.AddStreams(t.Context(), 0, []stream.Stream{latency(7, 1000)}))
	started, err := l.client.StartTraffic(t.Context(), trex.Start{Multiplier: trex.PPS(1000), Duration: time.Second})
	if err != nil || !math.IsNaN(float64(started[0].Factor)) && !math.IsInf(float64(started[0].Factor), 1) {
		t.Errorf("an infinite factor became %v, %v", started, err)
	}
}

func TestWrongStates(t *testing.T) {
	l := newSimulatedServer(t)
	l.claim(t, 0)
	err := l.client.AddStreams(t.Context(), 1, []stream.Stream{udp()})
	_ = errorOf[*trex.TakenError](t, err)
	noError(t, l.client.SetL2(t.Context(), 0, net.HardwareAddr{2, 0, 0, 0, 0, 0x20}))
	noError(t, l.client.AddStreams(t.Context(), 0, []stream.Stream{udp()}))
	_, err = l.client.UpdateTraffic(t.Context(), map[int]trex.Multiplier{0: trex.PPS(10)}, false)
	if state := errorOf[*trex.StateError](t, err); state.State != "STREAMS" || state.Command != "update" ||
		!state.TrafficEnded() {
		t.Errorf("state error %+v", state)
	}
	noError(t, l.client.Reset(t.Context(), 0))
	_, err = l.client.UpdateTraffic(t.Context(), map[int]trex.Multiplier{0: trex.PPS(10)}, false)
	if state := errorOf[*trex.StateError](t, err); state.State != "IDLE" || state.TrafficEnded() {
		t.Errorf("without streams: state error %+v", state)
	}
}

func TestStatesWithTraffic(t *testing.T) {
	for state, want := range map[string]bool{"IDLE": false, "STREAMS": false, "DOWN": false, "TX": true, "PAUSE": true,
		"PCAP_TX": true} {
		if got := (trex.PortStatus{State: state}).HasTraffic(); got != want {
			t.Errorf("%s has traffic: %t, want %t", state, got, want)
		}
	}
}

func TestAnAddressWithoutAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, l simulatedServer) {
		l.claim(t, 0)
		began := time.Now()
		_, err := l.client.Resolve(t.Context(), 0, ask(t, "198.18.0.2", "198.18.0.99"))
		if unresolved := errorOf[*trex.UnresolvedError](t, err); unresolved.Requests != 6 ||
			unresolved.Target != "198.18.0.99" {
			t.Errorf("got %+v", unresolved)
		}
		if took := time.Since(began); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("it took %v", took)
		}
		status, err := l.client.PortStatus(t.Context(), 0)
		if err != nil || status.Service {
			t.Errorf("service mode was left on: %+v, %v", status, err)
		}
	})
}

func TestResolvingByNeighborDiscovery(t *testing.T) {
	l := newSimulatedServer(t)
	l.claim(t, 0)
	mac, err := l.client.Resolve(t.Context(), 0, ask(t, "2001:2::2", "2001:2::1"))
	if err != nil || mac.String() != "02:00:00:00:00:20" {
		t.Errorf("got %v, %v", mac, err)
	}
}

func TestFramesThroughTheDevice(t *testing.T) {
	l := newSimulatedServer(t)
	l.claim(t, 0, 1)
	noError(t, l.client.SetService(t.Context(), 1, true))
	capture, err := l.client.StartCapture(t.Context(), []int{1}, 100, "")
	noError(t, err)
	frame := make([]byte, 60)
	copy(frame, "\x02\x00\x00\x00\x00\x20\x02\x00\x00\x00\x00\x10\x08\x00\x45")
	frame[22] = 64
	noError(t, l.client.PushFrames(t.Context(), 0, [][]byte{frame, frame}))
	got, err := capture.Fetch(t.Context())
	noError(t, err)
	if len(got) != 2 || got[1].Port != 1 || got[1].Bytes[22] != 63 || got[1].Bytes[11] != 0x21 ||
		got[1].Instant < time.Second {
		t.Errorf("captured %+v", got)
	}
	noError(t, capture.Close(t.Context()))
	if _, err := capture.Fetch(t.Context()); err == nil {
		t.Error("a closed capture still fetches")
	}
}

func TestABusyStatusDoesNotHoldUpASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := trextest.ServeInMemory(t, trextest.NewGenerator(trextest.TwoPorts()...))
		c := connect(t, s)
		s.Script("get_port_status", refusal("Interface is in the middle of configuration"))
		shot, err := c.Snapshot(t.Context(), []int{0}, trex.Detail{Status: true})
		if err != nil || len(shot.Statuses) != 0 || len(shot.Ports) != 1 {
			t.Errorf("got %+v, %v", shot, err)
		}
	})
}
