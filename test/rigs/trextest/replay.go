package trextest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// Replay plays a recording's requests to a server, each at its time since the recording began, and returns what both
// servers answered about ports, heading by heading. Replay waits by time.Sleep, so it belongs into a bubble of
// testing/synctest. The judge compares the answers. ask puts a request to the server, with an api_h and a handler
// that the server knows. Where ask returns no answer, the server has done before what the request asks for.
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
	Elapsed time.Duration // since the recording began
	Port    int
	// Recorded and Heard are the port's state (get_port_status), or its counters since the part began (get_port_stats).
	Recorded, Heard PortAnswer
}

// PortAnswer is an answer about a port, either a state or counters.
type PortAnswer struct {
	State          string
	Sent, Received int64
}

type replay struct {
	t      testing.TB
	began  time.Time
	judge  *Judge
	ask    func(Call) (json.RawMessage, *wire.Error)
	parts  []Replayed
	ahead  float64 // by how much the server's clock is ahead of the recorded one
	base   map[int][2]PortAnswer
	latest map[int][2]PortAnswer
}

func (r *replay) line(l recordedLine) {
	exchanges := l.exchanges(r.t)
	// A note beside a reading concerns that reading only, and is no heading.
	reading := len(exchanges) > 0 && strings.HasPrefix(exchanges[0].Method, "get_")
	if l.Note != "" && !reading || len(r.parts) == 0 {
		r.parts = append(r.parts, Replayed{Note: l.Note})
		r.base, r.latest = r.latest, map[int][2]PortAnswer{}
	}
	time.Sleep(time.Duration((l.Instant-l.Took)*float64(time.Second)) - time.Since(r.began))
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
		var recordedTime, heardTime struct{ TS float64 }
		r.decode(e.Result, &recordedTime)
		r.decode(heard, &heardTime)
		r.ahead = heardTime.TS - recordedTime.TS
	case "get_port_stats", "get_port_status":
		r.point(e, heard)
	}
}

// moved are a request's parameters with the time of a common start by the server's clock.
func (r *replay) moved(params json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	r.decode(params, &members)
	if text, ok := members["start_at_ts"]; ok {
		var instant float64
		r.decode(text, &instant)
		members["start_at_ts"] = r.encode(instant + r.ahead)
	}
	return r.encode(members)
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
	answers := [2]PortAnswer{r.answer(e.Result), r.answer(heard)}
	if e.Method == "get_port_stats" {
		if r.latest == nil {
			r.latest = map[int][2]PortAnswer{}
		}
		r.latest[port] = answers
		base, ok := r.base[port]
		if !ok { // the recorded server had sent before
			base = answers
			if r.base == nil {
				r.base = map[int][2]PortAnswer{}
			}
			r.base[port] = base
		}
		for i := range answers {
			answers[i].Sent, answers[i].Received = answers[i].Sent-base[i].Sent, answers[i].Received-base[i].Received
		}
	}
	part.Points = append(part.Points, Point{Elapsed: time.Since(r.began), Port: port, Recorded: answers[0],
		Heard: answers[1]})
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
