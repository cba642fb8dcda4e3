package softgen

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/test/rigs/fakeport"
)

// rig is a server with two ports of 10 Gb/s on a cable, and a client of it without a socket.
type rig struct {
	server     *Server
	clock      *fakeport.Manual
	west, east *fakeport.Port
	handlers   map[int]string
}

func newRig(t testing.TB, change ...func(*Config)) *rig {
	t.Helper()
	clock := fakeport.NewManual(time.Hour)
	r := &rig{clock: clock, handlers: map[int]string{}}
	r.west, r.east = fakeport.NewPair(clock,
		fakeport.Options{Name: "west", MAC: [6]byte{2, 0, 0, 0, 0, 0x10}},
		fakeport.Options{Name: "east", MAC: [6]byte{2, 0, 0, 0, 0, 0x11}, Uncertainty: 3 * time.Microsecond},
		fakeport.Cable{Latency: 47 * time.Microsecond})
	r.server = newServer(t, r.west, r.east, clock, change...)
	return r
}

func newServer(t testing.TB, west, east *fakeport.Port, clock fakeport.Clock, change ...func(*Config)) *Server {
	t.Helper()
	cfg := Config{
		Ports: []PortConfig{{Port: west, NextHop: west.Info().MAC}, {Port: east, NextHop: east.Info().MAC}},
		Now:   clock.Now, Version: "v0.0.0-test",
	}
	for _, c := range change {
		c(&cfg)
	}
	server, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// call sends one request, and returns its result or its error.
func (r *rig) call(t *testing.T, method string, parameters object) (json.RawMessage, *wire.Error) {
	t.Helper()
	members := object{"api_h": r.server.apiH}
	maps.Copy(members, parameters)
	if port, ok := parameters["port_id"].(int); ok && members["handler"] == nil {
		members["handler"] = r.handlers[port]
	}
	text, err := json.Marshal(object{"jsonrpc": "2.0", "id": "1", "method": method, "params": members})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Result json.RawMessage
		Error  *wire.Error
	}
	if err := json.Unmarshal(r.server.Handle(text), &got); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return got.Result, got.Error
}

// succeed sends a request that must succeed, and decodes its result into T.
func succeed[T any](t *testing.T, r *rig, method string, parameters object) (result T) {
	t.Helper()
	text, failed := r.call(t, method, parameters)
	if failed != nil {
		t.Fatalf("%s: %v", method, failed)
	}
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatalf("%s: %v in %s", method, err, text)
	}
	return result
}

// refuses sends a request that must fail with this code and text.
func (r *rig) refuses(t *testing.T, method string, parameters object, code int, text string) {
	t.Helper()
	result, failed := r.call(t, method, parameters)
	switch {
	case failed == nil:
		t.Errorf("%s %v was answered %s; want error %q", method, parameters, result, text)
	case failed.Code != code || !strings.Contains(failed.Error(), text):
		t.Errorf("%s %v: %d %q; want %d %q", method, parameters, failed.Code, failed.Error(), code, text)
	}
}

// acquire acquires the ports.
func (r *rig) acquire(t *testing.T, ports ...int) {
	t.Helper()
	for _, port := range ports {
		r.handlers[port] = succeed[string](t, r, "acquire", object{"port_id": port, "user": "tester", "session_id": 7,
			"force": true})
	}
}

// streamOf is add_stream's parameters of a 64-byte frame at 1 pps, with changes.
func streamOf(port, id int, change ...func(object)) object {
	s := object{
		"enabled": true, "self_start": true, "flags": 0, "action_count": 0, "isg": 0, "next_stream_id": -1,
		"mode":       object{"type": "continuous", "rate": object{"type": "pps", "value": 1}},
		"packet":     object{"binary": make([]byte, 60), "meta": ""},
		"vm":         object{"instructions": []object{}},
		"flow_stats": object{"enabled": false},
	}
	for _, c := range change {
		c(s)
	}
	return object{"port_id": port, "stream_id": id, "stream": s}
}

func perSecond(pps float64) func(object) {
	return func(s object) { s["mode"].(object)["rate"] = object{"type": "pps", "value": pps} }
}

func counted(rule string, id int) func(object) {
	return func(s object) { s["flow_stats"] = object{"enabled": true, "stream_id": id, "rule_type": rule} }
}

func burst(packets int) func(object) {
	return func(s object) {
		s["mode"] = object{"type": "single_burst", "total_pkts": packets, "rate": object{"type": "pps", "value": 1000}}
	}
}

func member(name string, value any) func(object) { return func(s object) { s[name] = value } }

func mul(kind string, value float64) object { return object{"type": kind, "op": "abs", "value": value} }

func start(port int, m object, duration float64) object {
	return object{"port_id": port, "mul": m, "duration": duration, "force": false}
}

// playing is a rig whose port 0 has started one stream.
func playing(t *testing.T, m object, duration float64, change ...func(object)) *rig {
	t.Helper()
	r := newRig(t)
	r.acquire(t, 0)
	succeed[object](t, r, "add_stream", streamOf(0, 1, change...))
	succeed[object](t, r, "start_traffic", start(0, m, duration))
	return r
}

func (r *rig) stateOf(t *testing.T, port int) string {
	t.Helper()
	return succeed[struct{ State string }](t, r, "get_port_status", object{"port_id": port}).State
}

type portStats struct{ Opackets, Obytes, Ipackets, Ibytes int64 }

func (r *rig) statsOf(t *testing.T, port int) portStats {
	t.Helper()
	return succeed[portStats](t, r, "get_port_stats", object{"port_id": port})
}

type toldEvent struct {
	Type int
	Data struct {
		Port  int `json:"port_id"`
		Cause string
	}
}

// events are a session's unread events, as "type:port".
func (r *rig) events(t *testing.T, session int) []string {
	t.Helper()
	list := []string{}
	for _, e := range succeed[struct{ Data []toldEvent }](t, r, "get_async_events",
		object{"session_id": session}).Data {
		text := fmt.Sprintf("%d:%d", e.Type, e.Data.Port)
		if e.Data.Cause != "" {
			text += " " + e.Data.Cause
		}
		list = append(list, text)
	}
	return list
}
