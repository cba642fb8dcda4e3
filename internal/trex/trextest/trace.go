package trextest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/linerate-dev/linerate/internal/trex/wire"
)

// Exchange is one recorded call and its answer.
type Exchange struct {
	Call
	Result json.RawMessage // nil if refused
	Error  *wire.Error
}

// ReadTrace reads a recording: a JSON object on each line with "req" and "resp", single or batches; lines without are headings.
func ReadTrace(t testing.TB, path string) []Exchange {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var exchanges []Exchange
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		more, err := parseLine(lines.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		exchanges = append(exchanges, more...)
	}
	if lines.Err() != nil || len(exchanges) == 0 {
		t.Fatalf("%s: %d exchanges, %v", path, len(exchanges), lines.Err())
	}
	return exchanges
}

func parseLine(line []byte) ([]Exchange, error) {
	var l struct {
		Request  json.RawMessage `json:"req"`
		Response json.RawMessage `json:"resp"`
	}
	if err := json.Unmarshal(line, &l); err != nil || l.Request == nil {
		return nil, err
	}
	requests, _, err := wire.ParseRequests(l.Request)
	if err != nil {
		return nil, err
	}
	responses, err := wire.ParseResponses(l.Response)
	if err != nil || len(responses) != len(requests) {
		return nil, fmt.Errorf("%d answers to %d requests: %w", len(responses), len(requests), err)
	}
	exchanges := make([]Exchange, len(requests))
	for i, r := range requests {
		exchanges[i] = Exchange{Call{r.Method, r.Params}, responses[i].Result, responses[i].Error}
	}
	return exchanges, nil
}

// Trace answers as the recorded server did: each call by the next unused answer to the same method with the same parameters, leaving
// aside those that differ in every session (API handle, port handlers, session ids). The last one is repeated.
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

// key is the call without what differs in every session; JSON objects are written with sorted names.
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
