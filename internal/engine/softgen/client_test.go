package softgen

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/engine/trex/neighbor"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// ours connects linerate's own client to the rig's server, over a socket.
func (r *rig) ours(t *testing.T, user string) *trex.Client {
	t.Helper()
	client, err := trex.Dial(t.Context(), serve(t, r.server), trex.Options{User: user, Compress: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// serve serves on loopback until the test ends, and returns the address.
func serve(t *testing.T, server *Server) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	go func() { served <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return listener.Addr().String()
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestLineratesClientDrivesTheEngine makes all calls of a measurement (claim, resolve, load, start together,
// update, read, end).
func TestLineratesClientDrivesTheEngine(t *testing.T) {
	r := newRig(t)
	client, ctx := r.ours(t, "tester"), t.Context()
	if got := client.Version().String(); got != "linerate software engine v0.0.0-test" {
		t.Errorf("product %q", got)
	}
	local := []netip.Addr{netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("198.18.0.2")}
	for port := range 2 {
		ok(t, client.Acquire(ctx, port, false))
		ok(t, client.Reset(ctx, port))
		ok(t, client.SetL3(ctx, port, local[port], local[1-port], nil))
	}
	for port := range 2 {
		source := net.HardwareAddr{2, 0, 0, 0, 0, byte(0x10 + port)}
		mac, err := client.Resolve(ctx, port, neighbor.Query{SourceMAC: source, Source: local[port],
			Target: local[1-port]})
		ok(t, err)
		if want := (net.HardwareAddr{2, 0, 0, 0, 0, byte(0x11 - port)}); mac.String() != want.String() {
			t.Errorf("port %d found %s, want %s", port, mac, want)
		}
		ok(t, client.SetL3(ctx, port, local[port], local[1-port], mac))
		ok(t, client.AddStreams(ctx, port, []stream.Stream{frames(64, 1), latencyOf(uint32(5 + port))}))
		valid, err := client.Validate(ctx, port)
		ok(t, err)
		if valid.Max.PacketsPerSecond != 501 {
			t.Errorf("validated as %+v", valid)
		}
	}
	begin := trex.Start{Multiplier: trex.PPS(1500), Duration: time.Minute}
	second := begin
	second.Port = 1
	started, err := client.StartTogether(ctx, time.Second, begin, second)
	ok(t, err)
	if started[1].Factor != 1000 {
		t.Errorf("started %+v", started)
	}
	r.clock.Advance(2 * time.Second)
	_, err = client.UpdateTraffic(ctx, map[int]trex.Multiplier{0: trex.PPS(2500), 1: trex.PPS(2500)}, false)
	ok(t, err)
	r.clock.Advance(2 * time.Second)
	shot, err := client.Snapshot(ctx, []int{0, 1}, trex.Detail{Status: true, ExtendedStats: []int{0}})
	ok(t, err)
	for port, stats := range shot.Ports {
		readAt, width, reported := stats.ReadTime()
		// Each port sends one packet more than the streams, an ARP request to the other port or the answer to it.
		if stats.SentPackets != 1500+5000+2 || stats.ReceivedPackets != stats.SentPackets || !reported ||
			readAt != r.clock.Now() {
			t.Errorf("port %d: %+v at %v", port, stats, readAt)
		}
		if want := time.Duration(port) * 3 * time.Microsecond; width != want {
			t.Errorf("port %d: read at a time give or take %v, want %v", port, width, want)
		}
		if shot.Statuses[port].State != "TX" {
			t.Errorf("port %d: status %+v", port, shot.Statuses[port])
		}
	}
	flows, err := client.FlowStats(ctx, 5, 6)
	ok(t, err)
	if late := flows.Latency[6]; late.Average != 47*time.Microsecond || flows.Flows[6].ReceivedPackets.Total() != 1500 {
		t.Errorf("flow 6: %+v, %+v", late, flows.Flows[6])
	}
	ok(t, client.StopTraffic(ctx, 0, 1))
	for port := range 2 {
		ok(t, client.Reset(ctx, port))
		ok(t, client.Release(ctx, port))
	}
}

func latencyOf(id uint32) stream.Stream {
	s := latency(64, 500)
	s.FlowStats.StreamID = id
	return s
}

func TestLineratesClientUnderstandsRefusals(t *testing.T) {
	r := newRig(t)
	address := serve(t, r.server)
	connect := func(user string) *trex.Client {
		client, err := trex.Dial(t.Context(), address, trex.Options{User: user})
		ok(t, err)
		t.Cleanup(func() { _ = client.Close() })
		return client
	}
	first, second, ctx := connect("first"), connect("second"), t.Context()
	ok(t, first.Acquire(ctx, 0, false))
	if refusal, ok := errors.AsType[*trex.TakenError](second.Acquire(ctx, 0, false)); !ok || refusal.Owner != "first" {
		t.Errorf("taken: %+v", refusal)
	}
	ok(t, first.AddStreams(ctx, 0, []stream.Stream{frames(64, 1)}))
	_, err := first.StartTraffic(ctx, trex.Start{Multiplier: trex.Multiplier{Type: "percentage", Op: "abs", Value: 150},
		Duration: time.Minute})
	if refusal, ok := errors.AsType[*wire.Error](err); !ok ||
		refusal.Specific != "Expected L1 B/W: '15 Gbps' exceeds port line rate: '10 Gbps'" {
		t.Errorf("over line rate: %v", err)
	}
	_, err = first.StartTraffic(ctx, trex.Start{Multiplier: trex.PPS(10), Duration: time.Minute})
	ok(t, err)
	if state, ok := errors.AsType[*trex.StateError](first.AddStreams(ctx, 0, []stream.Stream{frames(64, 1)})); !ok ||
		state.State != "TX" {
		t.Errorf("adding while sending: %+v", state)
	}
	ok(t, second.Acquire(ctx, 0, true))
	if refusal, ok := errors.AsType[*trex.TakenError](first.StopTraffic(ctx, 0)); !ok {
		t.Errorf("robbed: %+v", refusal)
	}
	events, err := first.Events(ctx)
	ok(t, err)
	var types []trex.EventType
	for _, e := range events {
		types = append(types, e.Type)
	}
	want := []trex.EventType{trex.PortAcquired, trex.ProfileStarted, trex.PortStarted, trex.PortAcquired}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestFramesThatLineratesClientPushesAreSent makes the calls of a path check.
func TestFramesThatLineratesClientPushesAreSent(t *testing.T) {
	r := newRig(t)
	client, ctx := r.ours(t, "tester"), t.Context()
	for port := range 2 {
		ok(t, client.Acquire(ctx, port, false))
		ok(t, client.SetService(ctx, port, true))
	}
	capture, err := client.StartCapture(ctx, []int{1}, 100, "")
	ok(t, err)
	marked := append([]byte{2, 0, 0, 0, 0, 0x11, 2, 0, 0, 0, 0, 0x10, 8, 0}, make([]byte, 46)...)
	foreign := append([]byte{2, 9, 9, 9, 9, 9}, marked[6:]...)
	ok(t, client.PushFrames(ctx, 0, [][]byte{marked, foreign}))
	got, err := capture.Fetch(ctx)
	ok(t, err)
	if len(got) != 1 || cmp.Diff(got[0].Bytes, marked) != "" || got[0].Port != 1 || got[0].Instant != r.clock.Now() {
		t.Errorf("captured %+v; want the one frame for this port", got)
	}
	ok(t, capture.Close(ctx))
}
