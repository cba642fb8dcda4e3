package trextest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// Replay plays a recording's requests to a server, each at its time since the recording began, and returns what both answered about ports, heading by heading. It waits by time.Sleep, so it belongs into
// a bubble of testing/synctest. The judge compares the answers. Ask puts a request to the server, with an api_h and a handler that it knows; without an answer it has done before what is asked.
func Replay(t testing.TB, path string, judge *Judge, ask func(Call) (json.RawMessage, *wire.Error)) []Replayed {
	t.Helper()
	r := replay{t: t, began: time.Now(), judge: judge, ask: ask}
	for _, l := range readLines(t, path) {
		r.line(l)
	}
	return r.parts
}

// Replayed is the part of a recording under one heading.
type Replayed struct {
	Note   string
	Points []Point
}

// Point is what the recorded server and the one that is compared with it answered about a port at one time.
type Point struct {
	At   time.Duration // since the recording began
	Port int
	// Recorded and Heard are the port's state (get_port_status), or its counters since the part began (get_port_stats).
	Recorded, Heard PortAnswer
}

// PortAnswer is an answer about a port: a state, or counters.
type PortAnswer struct {
	State          string
	Sent, Received int64
}

type replay struct {
	t     testing.TB
	began time.Time
	judge *Judge
	ask   func(Call) (json.RawMessage, *wire.Error)
	parts []Replayed
	ahead float64 // by how much the server's clock is ahead of the recorded one
	base  map[int][2]PortAnswer
	last  map[int][2]PortAnswer
}

func (r *replay) line(l recordedLine) {
	exchanges := l.exchanges(r.t)
	reading := len(exchanges) > 0 && strings.HasPrefix(exchanges[0].Method, "get_") // a note beside it is about it alone
	if l.Note != "" && !reading || len(r.parts) == 0 {
		r.parts = append(r.parts, Replayed{Note: l.Note})
		r.base, r.last = r.last, map[int][2]PortAnswer{}
	}
	time.Sleep(time.Duration((l.At-l.Took)*float64(time.Second)) - time.Since(r.began))
	for _, e := range exchanges {
		r.exchange(e)
	}
}

// exchange puts one request to the server and compares the answers.
func (r *replay) exchange(e Exchange) {
	heard, refused := r.ask(Call{e.Method, r.moved(e.Params)})
	if refused != nil || e.Error != nil {
		r.t.Fatalf("%s %s: recorded %s %v, heard %s %v", e.Method, e.Params, e.Result, e.Error, heard, refused)
	}
	if heard == nil {
		return
	}
	for _, problem := range r.judge.Compare(e.Method+"/result", numbered(r.t, e.Result), numbered(r.t, heard)) {
		r.t.Errorf("%v after the beginning, port %d: %s", time.Since(r.began), e.Port(), problem)
	}
	switch e.Method {
	case "ping", "start_traffic":
		var recorded, now struct{ TS float64 }
		r.decode(e.Result, &recorded)
		r.decode(heard, &now)
		r.ahead = now.TS - recorded.TS
	case "get_port_stats", "get_port_status":
		r.point(e, heard)
	}
}

// moved are a request's parameters with the time of a common start by the server's clock.
func (r *replay) moved(params json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	r.decode(params, &all)
	if text, is := all["start_at_ts"]; is {
		var at float64
		r.decode(text, &at)
		all["start_at_ts"] = r.encode(at + r.ahead)
	}
	return r.encode(all)
}

func (r *replay) encode(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		r.t.Fatal(err)
	}
	return text
}

func (r *replay) point(e Exchange, heard json.RawMessage) {
	port, part := e.Port(), &r.parts[len(r.parts)-1]
	now := [2]PortAnswer{r.answer(e.Result), r.answer(heard)}
	if e.Method == "get_port_stats" {
		if r.last == nil {
			r.last = map[int][2]PortAnswer{}
		}
		r.last[port] = now
		base, known := r.base[port]
		if !known { // the recorded server had sent before
			base = now
			if r.base == nil {
				r.base = map[int][2]PortAnswer{}
			}
			r.base[port] = base
		}
		for i := range now {
			now[i].Sent, now[i].Received = now[i].Sent-base[i].Sent, now[i].Received-base[i].Received
		}
	}
	part.Points = append(part.Points, Point{At: time.Since(r.began), Port: port, Recorded: now[0], Heard: now[1]})
}

func (r *replay) answer(text json.RawMessage) PortAnswer {
	var a struct {
		State    string
		Sent     int64 `json:"opackets"`
		Received int64 `json:"ipackets"`
	}
	r.decode(text, &a)
	return PortAnswer(a)
}

func (r *replay) decode(text json.RawMessage, v any) {
	if err := json.Unmarshal(text, v); err != nil {
		r.t.Fatalf("%v in %s", err, text)
	}
}
