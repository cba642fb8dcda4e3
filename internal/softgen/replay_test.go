package softgen

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/machine"
	"github.com/linerate-dev/linerate/internal/softgen/fakeport"
	"github.com/linerate-dev/linerate/internal/trex/zmtp"
)

// TestRecordedSessionsReplay sends every request of recorded sessions between TRex's Python client and a TRex server to the software
// engine, over a real socket and compressed as the client does, and compares the answers: members, types, strings, truths, errors,
// events and multipliers. What may differ, and why, stands in allowances.
func TestRecordedSessionsReplay(t *testing.T) {
	judge := newJudge(allowances())
	t.Run("a fresh server, and the next client of it", func(t *testing.T) {
		replay := newReplay(t, judge)
		replay.play(t, "imix", readTrace(t, "imix"))
		replay.play(t, "64", readTrace(t, "64"))
	})
	t.Run("a stolen port, errors and a limited device with a server that others have used", func(t *testing.T) {
		replay := newReplay(t, judge)
		replay.prepare(t, readTrace(t, "imix"))
		replay.prepare(t, readTrace(t, "edges"))
		replay.play(t, "imix_limited", readTrace(t, "imix_limited"))
		replay.play(t, "edges", readTrace(t, "edges"))
	})
	t.Run("addressing, captures, latency and theft with a server that an earlier client left in use", func(t *testing.T) {
		replay := newReplay(t, judge)
		trace := readTrace(t, "l3")
		left := slices.IndexFunc(trace, func(e exchange) bool { return e.Note == "second client steals port 0 while traffic runs" })
		replay.prepare(t, trace[:left])
		replay.play(t, "l3", trace)
	})
	for _, a := range judge.allowed {
		if !a.used {
			t.Errorf("allowance %q was not needed", a.at)
		}
	}
}

// exchange is one line of a trace.
type exchange struct {
	Note string          `json:"note"`
	T    float64         `json:"t"`
	Req  json.RawMessage `json:"req"`
	Resp json.RawMessage `json:"resp"`
}

func readTrace(t *testing.T, name string) []exchange {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "traces", name+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var trace []exchange
	lines := bufio.NewScanner(plain)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e exchange
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		trace = append(trace, e)
	}
	if len(trace) == 0 || lines.Err() != nil {
		t.Fatalf("trace %s: %d lines, %v", name, len(trace), lines.Err())
	}
	return trace
}

// replay is a server with two ports, and a client that speaks a recorded client's lines.
type replay struct {
	judge  *judge
	clock  *fakeport.Manual
	ports  []*fakeport.Port
	client *zmtp.Client
	zipper zipper
	// names says what a recorded handle is called here, by the parameter that carries it.
	names map[string]map[string]any
	// told is what a session was told, there and here.
	told map[string]*story
}

type story struct{ recorded, heard []any }

func newReplay(t *testing.T, judge *judge) *replay {
	t.Helper()
	clock := fakeport.NewManual(700 * time.Second)
	west, east := fakeport.NewPair(clock,
		fakeport.Options{Name: "west", MAC: [6]byte{2, 0, 0, 0, 0, 0x10}},
		fakeport.Options{Name: "east", MAC: [6]byte{2, 0, 0, 0, 0, 0x11}}, fakeport.Cable{Latency: 47 * time.Microsecond})
	server, err := New(Config{
		Ports: []PortConfig{
			{Port: west, NextHop: [6]byte{2, 0, 0, 0, 0, 0x20}},
			{Port: east, NextHop: [6]byte{2, 0, 0, 0, 0, 0x21}},
		},
		Now: clock.Now, Version: "v0.0.0-test", Hostname: "lab", Machine: machine.Machine{CPUModel: "AMD EPYC"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &replay{
		judge: judge, clock: clock, ports: []*fakeport.Port{west, east}, client: dial(t, server),
		names: map[string]map[string]any{"api_h": {}, "handler": {}, "capture_id": {}}, told: map[string]*story{},
	}
}

// dial serves on loopback until the test ends and connects to it.
func dial(t *testing.T, server *Server) *zmtp.Client {
	t.Helper()
	client, err := zmtp.Dial(t.Context(), serve(t, server))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// prepare brings the server where the recorded one was, as another session.
func (r *replay) prepare(t *testing.T, trace []exchange) {
	t.Helper()
	judge := r.judge
	r.judge = nil
	r.play(t, "before", trace)
	r.judge = judge
}

func (r *replay) play(t *testing.T, name string, trace []exchange) {
	t.Helper()
	r.told = map[string]*story{}
	last, sent := 0.0, 0
	for i, e := range trace {
		if e.Req == nil {
			continue
		}
		if last != 0 && e.T > last {
			r.clock.Advance(time.Duration((e.T - last) * float64(time.Second)))
		}
		if last = e.T; e.Note == "after the duration has run out" {
			r.clock.Advance(4 * time.Second) // this trace has no times
		}
		r.exchange(t, name, i, e)
		sent++
	}
	for session, s := range r.told {
		if diff := cmp.Diff(s.recorded, s.heard); diff != "" && r.judge != nil {
			t.Errorf("%s: session %s was told of other events (-recorded +heard):\n%s", name, session, diff)
		}
	}
	t.Logf("%s: %d requests", name, sent)
}

func (r *replay) exchange(t *testing.T, name string, line int, e exchange) {
	t.Helper()
	requests, recorded := asList(t, e.Req), asList(t, e.Resp)
	for i, request := range requests {
		r.rename(request)
		r.deliver(request, recorded[i])
	}
	heard := asList(t, r.ask(t, request(e.Req, requests)))
	if len(heard) != len(recorded) {
		t.Fatalf("%s line %d: %d answers, recorded %d", name, line+1, len(heard), len(recorded))
	}
	for i, one := range requests {
		method := textOf(one["method"])
		r.learn(method, one, recorded[i], heard[i])
		if method == "get_async_events" || r.judge == nil {
			continue
		}
		for _, problem := range r.judge.compare(method, recorded[i], heard[i]) {
			t.Errorf("%s line %d: %s", name, line+1, problem)
		}
	}
}

// request is the recorded request with our names in it, in its own form.
func request(recorded json.RawMessage, with []map[string]any) any {
	if kindOf(recorded) == "array" {
		return with
	}
	return with[0]
}

// ask sends one request compressed and wants the answer so.
func (r *replay) ask(t *testing.T, request any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := r.client.Do(t.Context(), r.zipper.zip(text))
	if err != nil {
		t.Fatal(err)
	}
	inside, zipped := unzip(answer, 1<<24)
	if !zipped {
		t.Fatalf("a compressed request was answered with %q", answer)
	}
	return inside
}

// rename puts our handles in the place of the recorded ones.
func (r *replay) rename(request map[string]any) {
	parameters, _ := request["params"].(map[string]any)
	if _, ok := parameters["session_id"]; ok && r.judge == nil {
		parameters["session_id"] = 1
	}
	for parameter, names := range r.names {
		if ours, ok := names[textOf(parameters[parameter])]; ok && parameters != nil {
			parameters[parameter] = ours
		}
	}
}

// learn remembers what we call a handle, and keeps events for later.
func (r *replay) learn(method string, request, recorded, heard map[string]any) {
	there, _ := recorded["result"].(map[string]any)
	here, _ := heard["result"].(map[string]any)
	switch method {
	case "api_sync_v2":
		r.names["api_h"][textOf(there["api_h"])] = here["api_h"]
	case "acquire":
		r.names["handler"][textOf(recorded["result"])] = heard["result"]
	case "capture":
		if there["capture_id"] != nil {
			r.names["capture_id"][textOf(there["capture_id"])] = here["capture_id"]
		}
	case "get_async_events":
		session := textOf(request["params"].(map[string]any)["session_id"])
		if r.told[session] == nil {
			r.told[session] = &story{}
		}
		s := r.told[session]
		recordedEvents, _ := there["data"].([]any)
		heardEvents, _ := here["data"].([]any)
		s.recorded, s.heard = append(s.recorded, recordedEvents...), append(s.heard, heardEvents...)
	}
}

// deliver puts the frames on the wire that the recorded capture got.
func (r *replay) deliver(request, recorded map[string]any) {
	result, _ := recorded["result"].(map[string]any)
	frames, _ := result["pkts"].([]any)
	if textOf(request["method"]) != "capture" {
		return
	}
	for _, f := range frames {
		var frame struct {
			Binary []byte
			Port   int
		}
		text, _ := json.Marshal(f)
		_ = json.Unmarshal(text, &frame)
		r.ports[frame.Port].Deliver(frame.Binary)
	}
}
