package softgen

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/fakeport"
)

func TestTraffic(t *testing.T) {
	t.Run("a run of a finite duration ends by itself, and clients are told", func(t *testing.T) {
		r := newRig(t)
		r.acquire(t, 0)
		succeed[object](t, r, "add_stream", streamOf(0, 1))
		r.events(t, 7)
		succeed[object](t, r, "start_traffic", start(0, mul("pps", 1000), 3))
		r.clock.Advance(2 * time.Second)
		if got := r.stateOf(t, 0); got != "TX" {
			t.Errorf("after 2 of 3 s the state is %s", got)
		}
		r.clock.Advance(2 * time.Second)
		if got := r.stateOf(t, 0); got != "STREAMS" {
			t.Errorf("after 4 of 3 s the state is %s", got)
		}
		if diff := cmp.Diff([]string{"10:0", "0:0", "14:0", "4:0"}, r.events(t, 7)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		want := portStats{Opackets: 3000, Obytes: 192_000}
		if got := r.statsOf(t, 0); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if got := r.statsOf(t, 1); got.Ipackets != 3000 || got.Ibytes != 192_000 {
			t.Errorf("received %+v", got)
		}
	})
	t.Run("an update changes the rate without a gap", func(t *testing.T) {
		r := playing(t, mul("pps", 1000), 100)
		r.clock.Advance(time.Second)
		succeed[object](t, r, "update_traffic", object{"port_id": 0, "mul": mul("pps", 5000), "force": false})
		r.clock.Advance(time.Second)
		if got := r.statsOf(t, 0).Opackets; got != 6000 {
			t.Errorf("sent %d, want 1000 + 5000", got)
		}
	})
	t.Run("updates add to and subtract from the factor, not below nothing", func(t *testing.T) {
		r := playing(t, mul("pps", 1000), 100)
		change := func(op, kind string, value float64) object {
			return object{"port_id": 0, "mul": object{"op": op, "type": kind, "value": value}, "force": false}
		}
		for _, c := range []struct {
			op, kind    string
			value, want float64
		}{{"add", "pps", 500, 1500}, {"sub", "pps", 300, 1200}, {"add", "percentage", 50, 1800},
			{"sub", "percentage", 50, 900}} {
			got := succeed[struct{ Multiplier float64 }](t, r, "update_traffic", change(c.op, c.kind, c.value))
			if got.Multiplier != c.want {
				t.Errorf("%s %v %s: factor %v, want %v", c.op, c.value, c.kind, got.Multiplier, c.want)
			}
		}
		r.refuses(t, "update_traffic", change("sub", "pps", 5000), wire.CodeRefused,
			"will lower traffic to less than zero")
	})
	t.Run("endless continuous traffic pauses and resumes", func(t *testing.T) {
		r := playing(t, mul("pps", 1000), -1)
		r.clock.Advance(time.Second)
		succeed[object](t, r, "pause_traffic", object{"port_id": 0})
		if got := r.stateOf(t, 0); got != "PAUSE" {
			t.Errorf("state %s", got)
		}
		r.clock.Advance(time.Second)
		succeed[object](t, r, "resume_traffic", object{"port_id": 0})
		r.clock.Advance(time.Second)
		succeed[object](t, r, "stop_traffic", object{"port_id": 0})
		if got := r.statsOf(t, 0).Opackets; got != 2000 {
			t.Errorf("sent %d, want 2 s of 1000", got)
		}
	})
	t.Run("a run that ends by itself can't be paused", func(t *testing.T) {
		r := playing(t, mul("pps", 1000), 10)
		r.refuses(t, "pause_traffic", object{"port_id": 0}, wire.CodeRefused,
			"pause is supported when duration is not enable is start command")
		succeed[object](t, r, "stop_traffic", object{"port_id": 0})
		succeed[object](t, r, "remove_all_streams", object{"port_id": 0})
		succeed[object](t, r, "add_stream", streamOf(0, 1, burst(10)))
		succeed[object](t, r, "start_traffic", start(0, mul("raw", 1), -1))
		r.refuses(t, "pause_traffic", object{"port_id": 0}, wire.CodeRefused, "continuous")
	})
	t.Run("a burst ends when it is sent", func(t *testing.T) {
		r := playing(t, mul("raw", 1), -1, burst(5000))
		r.clock.Advance(6 * time.Second)
		if state, sent := r.stateOf(t, 0), r.statsOf(t, 0).Opackets; state != "STREAMS" || sent != 5000 {
			t.Errorf("state %s, sent %d", state, sent)
		}
	})
	t.Run("the shortest duration is not taken for an endless one", func(t *testing.T) {
		r := playing(t, mul("pps", 1000), 1e-12)
		r.clock.Advance(time.Millisecond)
		if got := r.stateOf(t, 0); got != "STREAMS" {
			t.Errorf("state %s", got)
		}
	})
	t.Run("a stop without traffic, or of every profile, succeeds", func(t *testing.T) {
		r := playing(t, mul("pps", 10), 10)
		succeed[object](t, r, "stop_traffic", object{"port_id": 0, "profile_id": "*"})
		succeed[object](t, r, "stop_traffic", object{"port_id": 0, "profile_id": "*"})
		succeed[object](t, r, "stop_traffic", object{"port_id": 0})
		if got := r.stateOf(t, 0); got != "STREAMS" {
			t.Errorf("state %s", got)
		}
	})
	t.Run("traffic starts at its time", func(t *testing.T) {
		r := newRig(t)
		r.acquire(t, 0)
		succeed[object](t, r, "add_stream", streamOf(0, 1))
		instant := succeed[struct{ TS float64 }](t, r, "ping", nil).TS
		soon := start(0, mul("pps", 1000), 10)
		soon["start_at_ts"] = instant + 0.05
		r.refuses(t, "start_traffic", soon, wire.CodeRefused, "too soon")
		soon["start_at_ts"] = instant + 2
		succeed[object](t, r, "start_traffic", soon)
		r.clock.Advance(3 * time.Second)
		if got := r.statsOf(t, 0).Opackets; got != 1000 {
			t.Errorf("sent %d in the one second after the start", got)
		}
	})
}

func TestStartIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		streams []object
		change  func(*rig)
		request object
		code    int
		text    string
	}{
		"without streams": {request: start(0, mul("pps", 10), 1), code: wire.CodeRefused,
			text: "command 'start' cannot be executed on current state: 'IDLE on profile_id(_)."},
		"at rate 0": {request: start(0, mul("pps", 0), 1), code: wire.CodeParams,
			text: "multiplier can't be zero"},
		"at a negative rate": {request: start(0, mul("pps", -1), 1), code: wire.CodeParams,
			text: "multiplier can't be negative"},
		"in an unknown unit": {request: start(0, mul("furlongs", 1), 1), code: wire.CodeParams,
			text: "field 'type' can only be one of"},
		"relative to nothing": {streams: []object{streamOf(0, 1)},
			request: start(0, object{"type": "pps", "op": "add", "value": 1}, 1), code: wire.CodeRefused,
			text: "absolute"},
		"over line rate": {streams: []object{streamOf(0, 1)}, request: start(0, mul("percentage", 120), 1),
			code: wire.CodeRefused, text: "exceeds port line rate: '10 Gbps'"},
		"of an unknown profile": {request: object{"port_id": 0, "profile_id": "x", "mul": mul("pps", 1), "duration": 1,
			"force": false}, code: wire.CodeRefused, text: "profile_id x does not exists"},
		"of every profile": {request: object{"port_id": 0, "profile_id": "*", "mul": mul("pps", 1), "duration": 1,
			"force": false}, code: wire.CodeRefused, text: "profile_id * does not exists"},
		"without a duration": {request: object{"port_id": 0, "mul": mul("pps", 1), "force": false},
			code: wire.CodeParams, text: "field 'duration' value is null"},
		"with the link down": {streams: []object{streamOf(0, 1)}, change: func(r *rig) { r.west.SetLink(false) },
			request: start(0, mul("pps", 1), 1), code: wire.CodeRefused, text: "Link state is DOWN."},
		"on no core": {streams: []object{streamOf(0, 1)}, request: object{"port_id": 0, "mul": mul("pps", 1),
			"duration": 1, "force": false, "core_mask": 2}, code: wire.CodeRefused,
			text: "core_mask: '0x2' for 1 cores generates an empty set"},
		"of one latency flow twice": {streams: []object{streamOf(0, 1, counted("latency", 5)),
			streamOf(1, 1, counted("latency", 5))}, request: start(0, mul("raw", 1), 1), code: wire.CodeRefused,
			text: "Can't have two streams with same pg_id"},
		"of disabled streams only": {streams: []object{streamOf(0, 1, member("enabled", false))},
			request: start(0, mul("raw", 1), 1), code: wire.CodeRefused, text: "Effective bandwidth must be positive"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.acquire(t, 0, 1)
			for _, s := range c.streams {
				succeed[object](t, r, "add_stream", s)
			}
			if c.change != nil {
				c.change(r)
			}
			r.refuses(t, "start_traffic", c.request, c.code, c.text)
			if r.west.Done() != nil {
				t.Error("and yet it sends")
			}
		})
	}
}

func TestFailedTrafficIsReportedAsFailed(t *testing.T) {
	begin := func(t *testing.T) *rig {
		t.Helper()
		r := playing(t, mul("pps", 1000), 60)
		r.events(t, 7)
		r.west.Fail(errors.New("the interface is gone"))
		return r
	}
	want := []string{"17:0 the interface is gone", "7:0 the interface is gone"}
	t.Run("a failure is reported at the next request", func(t *testing.T) {
		r := begin(t)
		if got := r.stateOf(t, 0); got != "STREAMS" {
			t.Errorf("state %s", got)
		}
		if diff := cmp.Diff(want, r.events(t, 7)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
	t.Run("a failure is reported by a stop", func(t *testing.T) {
		r := begin(t)
		succeed[object](t, r, "stop_traffic", object{"port_id": 0})
		if diff := cmp.Diff(want, r.events(t, 7)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestLinkChangesAreReported(t *testing.T) {
	r := newRig(t)
	r.events(t, 7)
	r.west.SetLink(false)
	r.east.SetLink(false)
	r.east.SetLink(true)
	if diff := cmp.Diff([]string{"8:0"}, r.events(t, 7)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	status := succeed[struct {
		Attr struct {
			Link struct {
				Up    bool
				Flaps int
			}
		}
	}](t, r, "get_port_status", object{"port_id": 1})
	if link := status.Attr.Link; !link.Up || link.Flaps != 2 {
		t.Errorf("a link that came back: %+v", link)
	}
}

func TestDestinationMAC(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Ports[0].NextHop = [6]byte{} })
	r.acquire(t, 0)
	succeed[object](t, r, "add_stream", streamOf(0, 1))
	r.refuses(t, "start_traffic", start(0, mul("pps", 1), 1), wire.CodeRefused, "Port 0 dest MAC is invalid")
	succeed[object](t, r, "remove_all_streams", object{"port_id": 0})
	succeed[object](t, r, "add_stream", streamOf(0, 1, member("flags", 3)))
	succeed[object](t, r, "start_traffic", start(0, mul("pps", 1), 1))
}

func TestOneProfilePlaysAtATime(t *testing.T) {
	r := newRig(t)
	r.acquire(t, 0)
	second := streamOf(0, 1)
	second["profile_id"] = "other"
	succeed[object](t, r, "add_stream", streamOf(0, 1))
	succeed[object](t, r, "add_stream", second)
	succeed[object](t, r, "start_traffic", start(0, mul("pps", 1), 10))
	repeated := start(0, mul("pps", 1), 10)
	repeated["profile_id"] = "other"
	r.refuses(t, "start_traffic", repeated, wire.CodeRefused, "stop profile_id(_) first")
	succeed[object](t, r, "stop_traffic", object{"port_id": 0})
	succeed[object](t, r, "start_traffic", repeated)
	if got := succeed[[]string](t, r, "get_profile_list", object{"port_id": 0}); !slices.Equal(got,
		[]string{"_", "other"}) {
		t.Errorf("profiles %v", got)
	}
}

// TestPercentIsOfTheConfiguredSpeed uses a veth, which has no speed of its own.
func TestPercentIsOfTheConfiguredSpeed(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Ports[0].Speed = 672 * units.Mbps })
	r.acquire(t, 0)
	succeed[object](t, r, "add_stream", streamOf(0, 1))
	if got := succeed[struct{ Multiplier float64 }](t, r, "start_traffic", start(0, mul("percentage", 50),
		1)).Multiplier; got != 500_000 {
		t.Errorf("50%% of 672 Mb/s are %v frames of 64 bytes, want 500000", got)
	}
	speed := succeed[struct{ Attr struct{ Speed float64 } }](t, r, "get_port_status", object{"port_id": 0}).Attr.Speed
	if speed != 0.672 {
		t.Errorf("speed %v Gb/s", speed)
	}
}

// TestLargeFlowIDs: flow ids above the data path's range are counted too, and don't mix with those in it.
func TestLargeFlowIDs(t *testing.T) {
	r := newRig(t)
	r.acquire(t, 0)
	succeed[object](t, r, "add_stream", streamOf(0, 1, perSecond(10), counted("stats", 4_000_000_000)))
	succeed[object](t, r, "add_stream", streamOf(0, 2, perSecond(20), counted("stats", maxFlows-1)))
	succeed[object](t, r, "add_stream", streamOf(0, 3, perSecond(30), counted("stats", maxFlows)))
	succeed[object](t, r, "start_traffic", start(0, mul("raw", 1), 1))
	r.clock.Advance(2 * time.Second)
	for id := range r.west.Flows() {
		if id >= maxFlows {
			t.Errorf("the data path got flow id %d", id)
		}
	}
	got := succeed[struct {
		Flow map[string]struct{ TP map[string]int64 } `json:"flow_stats"`
	}](t, r, "get_pgid_stats", object{"pgids": []int{}}).Flow
	for id, want := range map[string]int64{"4000000000": 10, "1022": 20, "1023": 30} {
		if got[id].TP["0"] != want {
			t.Errorf("flow %s: %+v, want %d sent", id, got[id], want)
		}
	}
}

// TestEveryFramesStamp: frames of a stream with a scaled rate bear stamps if the client asks for them, and the
// client gets the stamps' evidence.
func TestEveryFramesStamp(t *testing.T) {
	clock := fakeport.NewManual(0)
	west, east := fakeport.NewPair(clock, fakeport.Options{MAC: [6]byte{2}}, fakeport.Options{MAC: [6]byte{2, 1}},
		fakeport.Cable{Latency: 47 * time.Microsecond})
	r := &rig{clock: clock, west: west, east: east, handlers: map[int]string{}, server: newServer(t, west, east, clock)}
	r.acquire(t, 0)
	stamped := func(o object) { o["flow_stats"].(object)["stamped"] = true }
	succeed[object](t, r, "add_stream", streamOf(0, 1, perSecond(100), counted("stats", 5), stamped))
	succeed[object](t, r, "add_stream", streamOf(0, 2, perSecond(100), counted("stats", 6)))
	succeed[object](t, r, "start_traffic", start(0, mul("raw", 3), 2))
	clock.Advance(3 * time.Second)
	got := succeed[struct {
		Followed map[string]map[string]int64 `json:"followed"`
		Transits map[string]map[string]int64 `json:"transits"`
	}](t, r, "get_pgid_stats", object{"pgids": []int{}, "transits": true})
	if want := map[string]map[string]int64{"5": {"received": 600, "lost": 0, "duplicate": 0, "late": 0, "stale": 0,
		"merged": 0, "uncounted": 0, "varied": 0, "changes": 0, "anew": 0}}; !cmp.Equal(got.Followed, want) {
		t.Errorf("followed %+v, want %+v", got.Followed, want)
	}
	if want := map[string]map[string]int64{"5": {"46848": 600}}; !cmp.Equal(got.Transits, want) {
		t.Errorf("transit times %+v, want %+v", got.Transits, want)
	}
}

// TestWhatSequenceNumbersShow gives each count a value of its own, so that a swapped or missing count fails.
func TestWhatSequenceNumbersShow(t *testing.T) {
	latency := datapath.Latency{Received: 1, Dropped: 2, Duplicate: 3, OutOfOrder: 4, Stale: 5, Merged: 6, Uncounted: 7,
		Varied: 8, Changes: 9, SequenceTooHigh: 10, SequenceTooLow: 20}
	s := flowStatistics{flows: newFlows()}
	s.flows.active[7] = &flow{slot: 2, stamped: true}
	want := object{"7": object{"received": int64(1), "lost": int64(2), "duplicate": int64(3), "late": int64(4),
		"stale": int64(5), "merged": int64(6), "uncounted": int64(7), "varied": int64(8),
		"changes": int64(9), "anew": int64(30)}}
	if diff := cmp.Diff(want, s.followed([]uint32{7}, []map[uint32]datapath.Latency{{}, {2: latency}})); diff != "" {
		t.Errorf("followed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(object{"drp": int64(2), "ooo": int64(4), "dup": int64(3), "sth": int64(10), "stl": int64(20)},
		delays(latency).report()["er"]); diff != "" {
		t.Errorf("a latency stream's (-want +got):\n%s", diff)
	}
}

func TestFlowStatistics(t *testing.T) {
	clock := fakeport.NewManual(0)
	west, east := fakeport.NewPair(clock, fakeport.Options{MAC: [6]byte{2}}, fakeport.Options{MAC: [6]byte{2, 1}},
		fakeport.Cable{Loss: 0.5, Latency: 47 * time.Microsecond})
	r := &rig{clock: clock, west: west, east: east, handlers: map[int]string{}, server: newServer(t, west, east, clock)}
	r.acquire(t, 0)
	succeed[object](t, r, "add_stream", streamOf(0, 1, perSecond(100), counted("stats", 5)))
	succeed[object](t, r, "add_stream", streamOf(0, 2, perSecond(1000), counted("latency", 9)))
	succeed[object](t, r, "start_traffic", start(0, mul("raw", 3), 2))
	clock.Advance(3 * time.Second)

	type statistics struct {
		Flow map[string]struct{ TP, RP map[string]int64 } `json:"flow_stats"`
		Late map[string]*struct {
			Lat struct {
				Average   float64
				Histogram map[string]int64
			}
		} `json:"latency"`
		Versions map[string]int              `json:"ver_id"`
		Transits map[string]map[string]int64 `json:"transits"`
	}
	got := succeed[statistics](t, r, "get_pgid_stats", object{"pgids": []int{}})
	if f := got.Flow["5"]; f.TP["0"] != 600 || f.RP["1"] != 300 || f.TP["1"] != 0 {
		t.Errorf("flow 5: %+v; want 600 sent by port 0, 300 received by port 1", f)
	}
	if f := got.Flow["9"]; f.TP["0"] != 2000 || f.RP["1"] != 1000 {
		t.Errorf("flow 9: %+v; the factor must not touch a latency stream", f)
	}
	if late := got.Late["9"]; late == nil || late.Lat.Average != 47 || late.Lat.Histogram["40"] != 1000 {
		t.Errorf("latency: %+v", late)
	}
	if got.Transits != nil {
		t.Errorf("nobody asked for %+v", got.Transits)
	}
	fine := succeed[statistics](t, r, "get_pgid_stats", object{"pgids": []int{}, "transits": true}).Transits
	if want := map[string]map[string]int64{"9": {"46848": 1000}}; !cmp.Equal(fine, want) {
		t.Errorf("transit times %+v, want %+v: 47 µs are in the bucket from 46.848 on", fine, want)
	}
	succeed[object](t, r, "remove_all_streams", object{"port_id": 0})
	succeed[object](t, r, "add_stream", streamOf(0, 1, counted("stats", 5)))
	second := succeed[statistics](t, r, "get_pgid_stats", object{"pgids": []int{5, 77}})
	if second.Versions["5"] != got.Versions["5"]+1 || second.Flow["5"].TP["0"] != 0 || len(second.Flow) != 1 {
		t.Errorf("an id made anew: %+v", second)
	}
}
