package trex

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// params are a call's parameters. The API handle is added when the call is sent.
type params map[string]any

// call is one remote call with the place for its outcome.
type call struct {
	method     string
	port       int // for errors, -1 if the call concerns no port
	params     params
	result     any   // where the result is decoded to, nil if it isn't needed
	unrepeated bool  // the call isn't repeated if the server is busy
	err        error // the server's refusal, classified
}

// invoke makes a single call and returns its refusal.
func (c *Connection) invoke(ctx context.Context, k call) error {
	if err := c.invokeBatch(ctx, &k); err != nil {
		return err
	}
	return k.err
}

// invokeBatch sends the calls as one request, a batch if they are several, and fills in their outcomes. The returned
// error concerns all calls, as no readable answer came. Calls after a refused call still run. A call is repeated
// while the server answers that it is busy, or still working on the call, until patience ends.
func (c *Connection) invokeBatch(ctx context.Context, calls ...*call) error {
	patient, cancel := context.WithTimeout(ctx, c.options.Patience)
	defer cancel()
	if err := c.exchange(ctx, calls); err != nil {
		return err
	}
	for _, k := range calls {
		if err := c.awaitDone(ctx, patient, k); err != nil {
			return err
		}
	}
	return nil
}

// awaitDone repeats a call that the server has deferred, until it is done or patient ends.
func (c *Connection) awaitDone(ctx, patient context.Context, k *call) error {
	for {
		next := followUp(k)
		if next == nil {
			return nil
		}
		if err := bounded.Pause(patient, c.options.Poll); err != nil {
			k.err = fmt.Errorf("%s is still not done: %w", k.method, errors.Join(err, k.err))
			return nil
		}
		if err := c.exchange(ctx, []*call{next}); err != nil {
			return err
		}
		k.err = next.err
	}
}

// followUp is the call that asks for the outcome of a deferred call, nil if the call wasn't deferred.
func followUp(k *call) *call {
	refusal, ok := errors.AsType[*RPCError](k.err)
	if !ok || k.unrepeated {
		return nil
	}
	switch refusal.Code {
	case wire.CodeTryAgain:
		return &call{method: k.method, port: k.port, params: k.params, result: k.result}
	case wire.CodeWorkInProgress:
		ticket, err := strconv.ParseUint(refusal.Specific, 10, 64)
		if err != nil {
			return nil
		}
		return &call{method: "get_async_results", port: k.port, params: params{"ticket_id": ticket}, result: k.result}
	}
	return nil
}

// exchange is one request and its answer on the wire.
func (c *Connection) exchange(ctx context.Context, calls []*call) error {
	requests, err := c.requests(calls)
	if err != nil {
		return err
	}
	text, err := encode(requests)
	if err != nil {
		return fmt.Errorf("%s: %w", calls[0].method, err)
	}
	if len(text) >= wire.MaxRequest {
		return &TooLargeError{Method: calls[0].method, Bytes: len(text)}
	}
	answer, err := c.roundTrip(ctx, calls[0].method, text)
	if err != nil {
		return err
	}
	return c.distribute(calls, requests, answer)
}

func (c *Connection) roundTrip(ctx context.Context, method string, text []byte) ([]byte, error) {
	c.options.Logger.LogAttrs(ctx, slog.LevelDebug, "rpc request", slog.String("server", c.Address()),
		slog.String("body", string(text)))
	timed, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	answer, sent, err := c.wire.exchange(timed, text)
	if err != nil {
		return nil, &LostError{Address: c.Address(), Method: method, Unknown: sent, Err: c.timeoutInWords(ctx, err)}
	}
	c.options.Logger.LogAttrs(ctx, slog.LevelDebug, "rpc answer", slog.String("server", c.Address()),
		slog.String("body", string(bytes.TrimSpace(answer))))
	return answer, nil
}

// timeoutInWords says in the error if the client's own time limit was reached, and not the caller's.
func (c *Connection) timeoutInWords(ctx context.Context, err error) error {
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("nothing within %v: %w", c.options.Timeout, err)
	}
	return err
}

// requests numbers the calls and adds the API handle where the method wants it.
func (c *Connection) requests(calls []*call) ([]wire.Request, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	requests := make([]wire.Request, len(calls))
	for i, k := range calls {
		p := maps.Clone(k.params)
		if p == nil {
			p = params{}
		}
		if !handshakeMethods[k.method] {
			p["api_h"] = c.handle
		}
		text, err := json.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.method, err)
		}
		c.nextID++
		id := strconv.AppendQuote(nil, strconv.Itoa(c.nextID))
		requests[i] = wire.Request{JSONRPC: wire.Version, ID: id, Method: k.method, Params: text}
	}
	return requests, nil
}

// encode writes one request as a plain object, several as a batch.
func encode(requests []wire.Request) ([]byte, error) {
	if len(requests) == 1 {
		return json.Marshal(requests[0])
	}
	return json.Marshal(requests)
}

// distribute gives each call its answer.
func (c *Connection) distribute(calls []*call, requests []wire.Request, answer []byte) error {
	responses, err := parse(answer, len(requests))
	if err == nil {
		err = matching(requests, responses)
	}
	if err != nil {
		c.wire.reset()
		return &LostError{Address: c.Address(), Method: calls[0].method, Unknown: true, Err: err}
	}
	for i, k := range calls {
		k.err = c.outcome(k, responses[i])
	}
	return nil
}

// answerLimits bound an answer. All streams of a full port are some 30 MB of text.
var answerLimits = intake.Limits{Bytes: 64 << 20, Memory: 256 << 20}

// parse reads the envelopes of the answers to that many requests. A server may answer with millions of empty ones.
func parse(answer []byte, requests int) ([]wire.Response, error) {
	var envelope reflect.Type
	if envelope = reflect.TypeFor[wire.Response](); bytes.HasPrefix(bytes.TrimSpace(answer), []byte("[")) {
		envelope = reflect.TypeFor[[]wire.Response]()
	}
	if _, err := intake.Measure(answer, answerLimits, envelope); err != nil {
		return nil, fmt.Errorf("answer to %d requests: %w", requests, err)
	}
	return wire.ParseResponses(answer)
}

// matching makes sure that each answer answers its request. An error of the envelope has a null id.
func matching(requests []wire.Request, responses []wire.Response) error {
	if len(responses) == 1 && responses[0].Error != nil && len(requests) > 1 {
		return responses[0].Error
	}
	if len(responses) != len(requests) {
		return fmt.Errorf("%d answers to %d requests", len(responses), len(requests))
	}
	for i, r := range responses {
		if !bytes.Equal(r.ID, requests[i].ID) && (r.Error == nil || string(r.ID) != "null") {
			return fmt.Errorf("answer has id %s where %s was asked", r.ID, requests[i].ID)
		}
	}
	return nil
}

func (c *Connection) outcome(k *call, r wire.Response) error {
	if r.Error != nil {
		return fmt.Errorf("%s%s: %w", k.method, onPort(k.port), classify(c.Address(), k.port, r.Error))
	}
	if k.result == nil {
		return nil
	}
	if err := intake.JSON(r.Result, k.result, answerLimits); err != nil {
		return fmt.Errorf("%s%s: answer can't be read: %w", k.method, onPort(k.port), err)
	}
	return nil
}

func onPort(port int) string {
	if port < 0 {
		return ""
	}
	return fmt.Sprintf(" on port %d", port)
}
