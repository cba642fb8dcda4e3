package trextest

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// Exchange is one recorded call and its answer.
type Exchange struct {
	Call
	Result json.RawMessage // nil if refused
	Error  *wire.Error
}

// recordedLine is a line of a recording, with requests and answers, single or batches, or a heading alone.
type recordedLine struct {
	Note     string
	Instant  float64         `json:"t"`  // when the answer had come, in seconds of some clock, 0 if unknown
	Took     float64         `json:"dt"` // how long the answer took, in seconds
	Request  json.RawMessage `json:"req"`
	Response json.RawMessage `json:"resp"`
}

// readLines reads a recording, a JSON object on each line, compressed if its name says so.
func readLines(t testing.TB, path string) (lines []recordedLine) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var text io.Reader = f
	if filepath.Ext(path) == ".gz" {
		if text, err = gzip.NewReader(f); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	for d := json.NewDecoder(text); ; {
		var l recordedLine
		err := d.Decode(&l)
		switch {
		case err == nil:
			lines = append(lines, l)
		case errors.Is(err, io.EOF) && len(lines) > 0:
			return lines
		default:
			t.Fatalf("%s, after %d lines: %v", path, len(lines), err)
		}
	}
}

// ReadTrace reads a recording's calls.
func ReadTrace(t testing.TB, path string) (exchanges []Exchange) {
	t.Helper()
	for _, l := range readLines(t, path) {
		exchanges = append(exchanges, l.exchanges(t)...)
	}
	return exchanges
}

func (l recordedLine) exchanges(t testing.TB) []Exchange {
	t.Helper()
	if l.Request == nil {
		return nil
	}
	requests, _, err := wire.ParseRequests(l.Request)
	if err != nil {
		t.Fatal(err)
	}
	responses, err := wire.ParseResponses(l.Response)
	if err != nil || len(responses) != len(requests) {
		t.Fatalf("%d answers to %d requests: %v", len(responses), len(requests), err)
	}
	exchanges := make([]Exchange, len(requests))
	for i, r := range requests {
		exchanges[i] = Exchange{Call{r.Method, r.Params}, responses[i].Result, responses[i].Error}
	}
	return exchanges
}

// Trace answers as the recorded server did. A call gets the next unused answer to the same method with the same
// parameters, leaving aside those that differ in every session (API handle, port handlers, session ids). The last
// answer is repeated.
type Trace struct {
	mu      sync.Mutex
	answers map[string][]Exchange
}

// NewTrace makes a recording answer.
func NewTrace(exchanges []Exchange) *Trace {
	t := &Trace{answers: map[string][]Exchange{}}
	for _, e := range exchanges {
		k := key(e.Call)
		t.answers[k] = append(t.answers[k], e)
	}
	return t
}

// Answer implements Answerer. What the recording doesn't have is refused with the call in words.
func (t *Trace) Answer(c Call) (any, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := key(c)
	recorded := t.answers[k]
	if len(recorded) == 0 {
		return nil, &wire.Error{Code: wire.CodeUnknownMethod, Message: "the trace has no answer to " + k}
	}
	if len(recorded) > 1 {
		t.answers[k] = recorded[1:]
	}
	if recorded[0].Error != nil {
		return nil, recorded[0].Error
	}
	return recorded[0].Result, nil
}

// key is the call without what differs in every session. JSON objects are written with sorted names.
func key(c Call) string {
	var p map[string]any
	if json.Unmarshal(c.Params, &p) != nil {
		return c.Method
	}
	for _, name := range []string{"api_h", "handler", "session_id", "core_mask", "start_at_ts"} {
		delete(p, name)
	}
	text, err := json.Marshal(p)
	if err != nil {
		return c.Method
	}
	return c.Method + " " + string(text)
}
