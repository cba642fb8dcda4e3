package trextest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/internal/engine/trex/zmtp"
)

// Subject is a server with two ports that is compared with a real one.
type Subject struct {
	Client *zmtp.Client
	// Wait lets time pass by the server's clock.
	Wait func(time.Duration)
	// Receive has a port receive a frame.
	Receive func(port int, frame []byte)
}

// sessions are those of TRex's own client and of others with a real TRex v3.08 on two veths. One server had them one
// after another, earlier ones before those that are compared.
var sessions = []struct {
	name          string
	earlier, play []session
}{
	{"a fresh server, and the next client of it", nil, []session{{recording: "imix"}, {recording: "64"}}},
	{
		"a stolen port, errors and a limited device with a server that others have used",
		[]session{{recording: "imix"}, {recording: "edges"}}, []session{{recording: "imix_limited"},
			{recording: "edges"}},
	},
	{
		"addressing, captures, latency and theft with a server that an earlier client left in use",
		[]session{{recording: "l3", end: "second client steals port 0 while traffic runs"}},
		[]session{{recording: "l3"}},
	},
}

// session is a recording up to a heading. "" stands for the whole recording.
type session struct{ recording, end string }

// untimed are the waits before requests of a recording that has no times, by heading. The recording's numbers of
// frames show how long the waits were.
var untimed = map[string]time.Duration{"latency, running": 2 * time.Second,
	"after the duration has run out": 2 * time.Second}

// CompareSessions plays recorded sessions of a real TRex to servers, one of each group of sessions after
// another to one that run begins, and compares all answers and events. A difference that the judge allows and
// nothing needs is an error, too. Directory has the recordings.
func CompareSessions(t *testing.T, directory string, judge *Judge,
	run func(t *testing.T, play func(*testing.T, Subject))) {
	for _, group := range sessions {
		t.Run(group.name, func(t *testing.T) {
			run(t, func(t *testing.T, subject Subject) {
				p := player{t: t, Subject: subject, names: map[string]map[string]any{"api_h": {}, "handler": {},
					"capture_id": {}}}
				for _, s := range group.earlier {
					p.play(directory, s)
				}
				p.judge = judge
				for _, s := range group.play {
					p.play(directory, s)
				}
			})
		})
	}
	for place, reason := range judge.unneeded {
		t.Errorf("nothing differed at %s (%s)", place, reason)
	}
}

// player puts recorded requests to a server.
type player struct {
	t *testing.T
	Subject
	judge *Judge // nil if nothing is compared
	// names says what the server calls a recorded handle, by the parameter that carries the handle.
	names map[string]map[string]any
	// events are the events that a session got.
	events map[string]*struct{ recorded, heard []any }
}

func (p *player) play(directory string, s session) {
	p.t.Helper()
	p.events = map[string]*struct{ recorded, heard []any }{}
	lines := readLines(p.t, filepath.Join(directory, s.recording+".jsonl.gz"))
	frames, previous := p.captured(lines), 0.0
	for n, l := range lines {
		if s.end != "" && l.Note == s.end {
			return
		}
		if l.Request == nil {
			continue
		}
		if previous != 0 && l.Instant > previous {
			p.Wait(time.Duration((l.Instant - previous) * float64(time.Second)))
		}
		previous = l.Instant
		p.Wait(untimed[l.Note])
		for _, f := range frames[n] {
			p.Receive(f.Port, f.Binary)
		}
		p.exchange(fmt.Sprintf("%s, line %d", s.recording, n+1), l)
	}
	for session, told := range p.events {
		p.compare(s.recording+", events of session "+session, "get_async_events/data", told.recorded, told.heard)
	}
}

func (p *player) compare(context, place string, recorded, heard any) {
	p.t.Helper()
	if p.judge == nil {
		return
	}
	for _, problem := range p.judge.Compare(place, recorded, heard) {
		p.t.Errorf("%s: %s", context, problem)
	}
}

func (p *player) exchange(context string, l recordedLine) {
	p.t.Helper()
	requests, recorded := p.list(l.Request), p.list(l.Response)
	for _, request := range requests {
		p.rename(request)
	}
	var request any = requests
	if l.Request[0] == '{' {
		request = requests[0]
	}
	heard := p.list(p.ask(request))
	if len(heard) != len(recorded) {
		p.t.Fatalf("%s: %d answers, recorded %d", context, len(heard), len(recorded))
	}
	for i, one := range requests {
		method, _ := one["method"].(string)
		p.learn(method, one, recorded[i], heard[i])
		switch method {
		case "get_async_events":
		case "get_supported_cmds": // in no order
			p.compare(context, method+"/result", asSet(recorded[i]["result"]), asSet(heard[i]["result"]))
		default:
			p.compare(context, method, recorded[i], heard[i])
		}
	}
}

// ask sends one request compressed, and wants the answer compressed.
func (p *player) ask(request any) json.RawMessage {
	p.t.Helper()
	text, err := json.Marshal(request)
	if err != nil {
		p.t.Fatal(err)
	}
	answer, err := p.Client.Do(p.t.Context(), wire.Compress(text))
	if err != nil {
		p.t.Fatalf("%s: %v", text, err)
	}
	plain, compressed, err := wire.Decompress(answer)
	if err != nil || !compressed {
		p.t.Fatalf("a compressed request was answered with %q, %v", answer, err)
	}
	return plain
}

// rename puts the server's handles in the place of the recorded ones.
func (p *player) rename(request map[string]any) {
	params, _ := request["params"].(map[string]any)
	if params["session_id"] != nil && p.judge == nil {
		params["session_id"] = 1 // another session than those that are compared
	}
	for param, names := range p.names {
		if recorded := params[param]; recorded != nil && names[fmt.Sprint(recorded)] != nil {
			params[param] = names[fmt.Sprint(recorded)]
		}
	}
}

// learn remembers the server's own handles, and keeps events for later, as a server may report an event one poll
// later than another.
func (p *player) learn(method string, request, recorded, heard map[string]any) {
	recordedResult, _ := recorded["result"].(map[string]any)
	heardResult, _ := heard["result"].(map[string]any)
	switch method {
	case "api_sync_v2":
		p.names["api_h"][fmt.Sprint(recordedResult["api_h"])] = heardResult["api_h"]
	case "acquire":
		p.names["handler"][fmt.Sprint(recorded["result"])] = heard["result"]
	case "capture":
		p.names["capture_id"][fmt.Sprint(recordedResult["capture_id"])] = heardResult["capture_id"]
	case "get_async_events":
		session := fmt.Sprint(request["params"].(map[string]any)["session_id"])
		if p.events[session] == nil {
			p.events[session] = &struct{ recorded, heard []any }{recorded: []any{}, heard: []any{}}
		}
		events := p.events[session]
		recordedEvents, _ := recordedResult["data"].([]any)
		heardEvents, _ := heardResult["data"].([]any)
		events.recorded, events.heard = append(events.recorded, recordedEvents...), append(events.heard, heardEvents...)
	}
}

type capturedFrame struct {
	Binary []byte
	Port   int
}

// captured are the frames of a recording's captures, by the line with whose request they must have arrived. That is
// the line that fetched them, or that stopped the capture.
func (p *player) captured(lines []recordedLine) map[int][]capturedFrame {
	p.t.Helper()
	frames, stopped := map[int][]capturedFrame{}, map[int]int{}
	for n, l := range lines {
		for _, e := range l.exchanges(p.t) {
			var params struct {
				Command string
				ID      int `json:"capture_id"`
			}
			var answer struct {
				Packets []capturedFrame `json:"pkts"`
			}
			if e.Method != "capture" || e.Decode(&params) != nil || params.Command != "stop" &&
				params.Command != "fetch" {
				continue
			}
			if params.Command == "stop" {
				stopped[params.ID] = n
			}
			if err := json.Unmarshal(e.Result, &answer); err != nil {
				p.t.Fatal(err)
			}
			latest, ok := stopped[params.ID]
			if !ok {
				latest = n
			}
			frames[latest] = append(frames[latest], answer.Packets...)
		}
	}
	return frames
}

func asSet(list any) any {
	set, names := map[string]any{}, list.([]any)
	for _, name := range names {
		set[fmt.Sprint(name)] = true
	}
	return set
}

// list decodes a request or an answer, either a batch or a single one as a batch of one.
func (p *player) list(text json.RawMessage) (calls []map[string]any) {
	p.t.Helper()
	decoded, items := numbered(p.t, text), []any{}
	if list, ok := decoded.([]any); ok {
		items = list
	} else {
		items = append(items, decoded)
	}
	for _, one := range items {
		call, ok := one.(map[string]any)
		if !ok {
			p.t.Fatalf("no object in %q", text)
		}
		calls = append(calls, call)
	}
	return calls
}
