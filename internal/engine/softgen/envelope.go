package softgen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// reply is the JSON-RPC 2.0 answer. Its members are in the order of TRex's writer.
type reply struct {
	Error   *wire.Error     `json:"error,omitempty"`
	ID      json.RawMessage `json:"id"`
	Version string          `json:"jsonrpc"`
	Result  any             `json:"result,omitempty"`
}

// call carries out one method. The envelope handles the request's id.
type call func(method string, parameters json.RawMessage) (any, error)

// answer reads a request, a single one or a batch, compressed or not, and returns the answer in the same form.
// A batch of one is answered with a plain object and an empty one with null, as TRex does. Commands after a
// failed one in a batch still run.
func answer(request []byte, handle call, zipper *zipper) []byte {
	inside, zipped := unzip(request, wire.MaxRequest)
	if !zipped {
		inside = request
	}
	text := encode(answerPlain(inside, max(len(request), len(inside)), handle))
	if zipped {
		return zipper.zip(text)
	}
	return text
}

func answerPlain(request []byte, size int, handle call) any {
	if size > wire.MaxRequest {
		return failure(nil, &wire.Error{Code: wire.CodeInternal, Message: fmt.Sprintf(
			"Request is too large (%d bytes). Consider splitting to smaller chunks.", size)})
	}
	if !json.Valid(request) {
		return failure(nil, &wire.Error{Code: wire.CodeParse, Message: "Bad JSON Format"})
	}
	if kindOf(request) != "array" {
		return answerOne(request, handle)
	}
	var batch []json.RawMessage
	_ = json.Unmarshal(request, &batch) // a valid array
	replies := make([]reply, len(batch))
	for i, request := range batch {
		replies[i] = answerOne(request, handle)
	}
	switch len(replies) {
	case 0:
		return nil
	case 1:
		return replies[0]
	default:
		return replies
	}
}

func answerOne(request json.RawMessage, handle call) reply {
	var envelope struct {
		Version json.RawMessage `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  json.RawMessage `json:"method"`
		Params  json.RawMessage `json:"params"`
	}
	_ = json.Unmarshal(request, &envelope) // valid JSON, but a text that isn't an object has no members and fails below
	if kind := kindOf(envelope.ID); kind != "string" && kind != "number" {
		return failure(nil, &wire.Error{Code: wire.CodeEnvelope, Message: "Missing 'id' field"})
	}
	if string(envelope.Version) != `"2.0"` {
		return failure(envelope.ID, &wire.Error{Code: wire.CodeEnvelope, Message: "Invalid JSONRPC Version"})
	}
	var method string
	if kindOf(envelope.Method) != "string" || json.Unmarshal(envelope.Method, &method) != nil || method == "" {
		return failure(envelope.ID, &wire.Error{Code: wire.CodeEnvelope, Message: "Missing Method Name"})
	}
	result, err := handle(method, envelope.Params)
	if err != nil {
		return failure(envelope.ID, err)
	}
	return reply{ID: envelope.ID, Version: "2.0", Result: result}
}

func failure(id json.RawMessage, err error) reply {
	answered, ok := errors.AsType[*wire.Error](err)
	if !ok {
		answered = &wire.Error{Code: wire.CodeInternal, Message: "Internal Server Error", Specific: err.Error()}
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	return reply{Error: answered, ID: id, Version: "2.0"}
}

// encode writes JSON as TRex does, with no escapes for HTML and a newline at the end.
func encode(value any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		text.Reset()
		_ = encoder.Encode(failure(nil, err)) // plain strings
	}
	return text.Bytes()
}
