package trex_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// replay is a client of a recorded server.
func replay(t *testing.T, trace string, change ...func(*trex.Options)) (*trex.Client, *trextest.Server) {
	t.Helper()
	s := trextest.Serve(t, trextest.NewTrace(trextest.ReadTrace(t, filepath.Join("testdata", trace))))
	// the edges ask for other versions
	s.Script("api_sync_v2", func(trextest.Call) (any, error) { return map[string]string{"api_h": "recorded"}, nil })
	return connect(t, s, change...), s
}

func as111(o *trex.Options) { o.User, o.Session = "a", 111 }

func TestARecordedServerDescribesItself(t *testing.T) {
	c, _ := replay(t, "l3.jsonl.gz")
	info, err := c.SystemInfo(t.Context())
	noError(t, err)
	if info.CoreType != "AMD EPYC" || info.Hostname != "lab" || !info.Software || len(info.Ports) != 2 {
		t.Errorf("system %+v", info)
	}
	for i, p := range info.Ports {
		if p.Index != i || p.Driver != "net_af_packet" || !p.Virtual || p.FlowControl || p.Receive.Counters != 1023 {
			t.Errorf("port %d is %+v", i, p)
		}
	}
	status, err := c.PortStatus(t.Context(), 0)
	noError(t, err)
	if a := status.Attributes; a.SpeedGbps != 10 || !a.Link.Up || a.FlowControlMode() != -1 ||
		a.Layer.Ether.Source != "02:00:00:00:00:10" {
		t.Errorf("status %+v", status)
	}
	commands, err := c.SupportedCommands(t.Context())
	if err != nil || !slices.Contains(commands, "validate") {
		t.Errorf("commands %v, %v", commands, err)
	}
	stats, err := c.ExtendedStatNames(t.Context(), 0)
	if err != nil || !slices.Contains(stats, "rx_missed_errors") {
		t.Errorf("names %v, %v", stats, err)
	}
}

func TestRecordedRefusals(t *testing.T) {
	c, _ := replay(t, "edges.jsonl.gz", as111)
	if _, err := c.PortStatus(t.Context(), 9); err == nil {
		t.Error("port 9 exists")
	}
	noError(t, c.Acquire(t.Context(), 0, true))
	conflict := errorOf[*trex.TakenError](t, acquireAs(t, "edges.jsonl.gz", "b", 333))
	if conflict.Owner != "a" || conflict.SameUser {
		t.Errorf("taken %+v", conflict)
	}
}

func acquireAs(t *testing.T, trace, user string, session uint32) error {
	t.Helper()
	c, _ := replay(t, trace, func(o *trex.Options) { o.User, o.Session = user, session })
	return c.Acquire(t.Context(), 0, false)
}

// checkEach decodes all recorded answers of a method with T, in order.
func checkEach[T any](t *testing.T, method string, check func(v T)) {
	t.Helper()
	checked := 0
	for _, trace := range []string{"edges.jsonl.gz", "l3.jsonl.gz", "imix_limited.jsonl.gz", "settings.jsonl"} {
		for _, e := range trextest.ReadTrace(t, filepath.Join("testdata", trace)) {
			if e.Method != method || e.Error != nil {
				continue
			}
			var v T
			if err := json.Unmarshal(e.Result, &v); err != nil {
				t.Errorf("%s in %s: %v", method, trace, err)
			}
			check(v)
			checked++
		}
	}
	if checked == 0 {
		t.Errorf("no trace has %s", method)
	}
}

func TestEveryRecordedAnswerIsUnderstood(t *testing.T) {
	t.Run("counters", func(t *testing.T) {
		var highest int64
		checkEach(t, "get_port_stats", func(s trex.PortStats) {
			if s.SentBytes < 63*s.SentPackets { // a few ARP frames are shorter than 64
				t.Errorf("%d packets in %d bytes", s.SentPackets, s.SentBytes)
			}
			if _, _, ok := s.ReadTime(); ok {
				t.Error("TRex doesn't tell the time of counters")
			}
			highest = max(highest, int64(s.SentPackets))
		})
		if highest < 100_000 {
			t.Errorf("the largest counter is %d", highest)
		}
	})
	t.Run("flow statistics", func(t *testing.T) {
		latencies := 0
		checkEach(t, "get_pgid_stats", func(s trex.FlowStats) {
			for id, l := range s.Latency {
				var slow int64
				for bound, n := range l.Histogram {
					if bound > 0 { // the server doesn't reset the lowest bucket when a flow id is used again
						slow += n
					}
				}
				received := s.Flows[id].ReceivedPackets.Total()
				if slow == 0 || slow > received || l.Min <= 0 || l.Max < l.Min || l.Errors.Dropped != 0 {
					t.Errorf("flow %d: %d packets above 10 µs, %d received, %+v", id, slow, received, l)
				}
				latencies++
			}
		})
		if latencies < 4 {
			t.Errorf("%d latency flows seen", latencies)
		}
	})
	t.Run("events", func(t *testing.T) {
		kinds := map[trex.EventType]bool{}
		checkEach(t, "get_async_events", func(l struct{ Data []trex.Event }) {
			for _, e := range l.Data {
				kinds[e.Type] = true
				if e.Port < 0 || e.Type == trex.PortAcquired && (e.User == "" || e.Session == 0) {
					t.Errorf("event %+v", e)
				}
			}
		})
		for _, k := range []trex.EventType{trex.PortStarted, trex.PortStopped, trex.PortFinished, trex.PortAcquired,
			trex.PortReleased} {
			if !kinds[k] {
				t.Errorf("no event of type %d seen", k)
			}
		}
	})
	t.Run("server statistics", func(t *testing.T) {
		checkEach(t, "get_global_stats", func(g trex.GlobalStats) {
			if !(g.CPUPercent >= 0 && g.CPUPercent <= 100) {
				t.Errorf("CPU %v %%", g.CPUPercent)
			}
		})
	})
	t.Run("port states", func(t *testing.T) {
		checkEach(t, "get_port_status", func(s trex.PortStatus) {
			if s.State == "" || s.Attributes.SpeedGbps != 10 {
				t.Errorf("status %+v", s)
			}
		})
	})
}

func TestARecordedRunIsReadRight(t *testing.T) {
	c, _ := replay(t, "edges.jsonl.gz", as111)
	noError(t, c.Acquire(t.Context(), 0, true))
	events, err := c.Events(t.Context())
	if err != nil || len(events) == 0 {
		t.Errorf("events %v, %v", events, err)
	}
	flows, err := c.FlowStats(t.Context(), 7)
	noError(t, err)
	if l := flows.Latency[7]; l.Average != 47*time.Microsecond || l.Max != 6500*time.Microsecond ||
		l.Histogram[10*time.Microsecond] != 629 {
		t.Errorf("latency %+v", l)
	}
	if flows.Flows[7].SentPackets[0] != 996 || flows.Flows[7].ReceivedPackets[1] != 996 {
		t.Errorf("flows %+v", flows.Flows)
	}
}

func TestRecordedStateErrors(t *testing.T) {
	refusals := map[string]int{}
	for _, e := range trextest.ReadTrace(t, "testdata/edges.jsonl.gz") {
		if e.Error == nil {
			continue
		}
		s := trextest.Serve(t, trextest.NewGenerator(trextest.TwoPorts()...))
		c := connect(t, s)
		s.Script("get_owner", func(trextest.Call) (any, error) { return nil, e.Error })
		_, err := c.Owner(t.Context(), 0)
		if err == nil || !strings.Contains(err.Error(), "get_owner on port 0") {
			t.Errorf("%v became %v", e.Error, err)
		}
		if got := errorOf[*trex.RPCError](t, err); got.Code != e.Error.Code {
			t.Errorf("%v lost its code: %v", e.Error, got)
		}
		refusals[kind(err)]++
	}
	for _, k := range []string{"taken", "state", "incompatible", "other"} {
		if refusals[k] < 2 {
			t.Errorf("%d refusals of kind %q among %v", refusals[k], k, refusals)
		}
	}
}

func kind(err error) string {
	if _, ok := errors.AsType[*trex.TakenError](err); ok {
		return "taken"
	}
	if _, ok := errors.AsType[*trex.StateError](err); ok {
		return "state"
	}
	if _, ok := errors.AsType[*trex.IncompatibleError](err); ok {
		return "incompatible"
	}
	return "other"
}

func FuzzFlowStats(f *testing.F) {
	f.Add([]byte(`{"ver_id":{"5":1},"flow_stats":{"g":{"rx_err":{"1":3}},"5":{"rp":{"0":0,"1":1000}}},"latency":null}`))
	f.Add([]byte(`{"latency":{"g":null,"7":{"lat":{"average":1e+9999,"histogram":{"0":3}},"er":{"drp":1}}}}`))
	f.Add([]byte(`{"latency":{"7":{}},"flow_stats":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s trex.FlowStats
		if json.Unmarshal(b, &s) == nil && (s.Flows == nil || s.Latency == nil) {
			t.Error("a missing section became nil")
		}
	})
}

func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"data":{"force":true,"port_id":0,"session_id":333,"who":"b"},"name":"trex-event","seq":5,"type":5}`))
	f.Add([]byte(`{"data":{"port_id":0,"attr":{"link":{"up":false}}},"type":8}`))
	f.Add([]byte(`{"type":100}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var e trex.Event
		var members map[string]json.RawMessage
		if json.Unmarshal(b, &e) != nil || json.Unmarshal(b, &members) != nil {
			return
		}
		for name := range members {
			if strings.EqualFold(name, "data") {
				return
			}
		}
		if e.Port != -1 || e.User != "" || e.LinkUp != nil {
			t.Errorf("%+v out of nothing", e)
		}
	})
}

// TestARecordedServerCountsBytesWithFCS checks that each frame of 60 bytes counts as 64 in the ports' counters, where
// it leaves and where it arrives. So a reader of these counters adds no FCS.
func TestARecordedServerCountsBytesWithFCS(t *testing.T) {
	latest, compared := map[int]trex.PortStats{}, 0
	for _, e := range trextest.ReadTrace(t, filepath.Join("testdata", "l3.jsonl.gz")) {
		switch e.Method {
		case "add_stream":
			var params struct {
				Stream struct {
					Packet struct{ Binary []byte }
				}
			}
			noError(t, e.Decode(&params))
			if n := len(params.Stream.Packet.Binary); n != 60 {
				t.Fatalf("it was given a frame of %d bytes", n)
			}
		case "get_port_stats":
			var stats trex.PortStats
			noError(t, json.Unmarshal(e.Result, &stats))
			earlier, ok := latest[e.Port()]
			latest[e.Port()] = stats
			sent, received := stats.SentPackets-earlier.SentPackets, stats.ReceivedPackets-earlier.ReceivedPackets
			if !ok || sent < 100 { // without traffic there are a few ARP frames, which its driver doesn't pad
				continue
			}
			compared++
			if sentBytes, receivedBytes := stats.SentBytes-earlier.SentBytes,
				stats.ReceivedBytes-earlier.ReceivedBytes; sentBytes != 64*sent || receivedBytes != 64*received {
				t.Errorf("port %d: %d frames sent with %d bytes, %d received with %d", e.Port(), sent, sentBytes,
					received, receivedBytes)
			}
		}
	}
	if compared < 6 {
		t.Errorf("%d readings were compared", compared)
	}
}
