package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// MaxRequest is the size in bytes from which TRex refuses a request, counted before and after decompression.
const MaxRequest = 999_999

// Version is the value of every envelope's "jsonrpc".
const Version = "2.0"

// Request is one call. Params is always an object, {} if there are none, as TRex refuses null.
type Request struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // a string or an integer, echoed as it is
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// Response answers one Request with a Result (which may be null) or an Error.
type Response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Error codes of the RPC.
const (
	CodeParse          = -32700 // not JSON
	CodeEnvelope       = -32600 // not a JSON-RPC 2.0 request
	CodeUnknownMethod  = -32601
	CodeParams         = -32602 // a parameter is missing or of the wrong kind
	CodeInternal       = -32603 // also if the request is too large
	CodeRefused        = -32000 // every refused call, for ownership, state or rates
	CodeTryAgain       = -32001 // busy, so the same call has to be sent again
	CodeWorkInProgress = -32002 // Specific is the ticket to ask for the result with
	CodeNoResult       = -32003 // the ticket is unknown or expired
)

// Error is the error member of a Response.
type Error struct {
	Code     int    `json:"code"`
	Message  string `json:"message"`                // the same for all errors of one code
	Specific string `json:"specific_err,omitempty"` // what was wrong, in the server's words
}

// Error is the server's message.
func (e *Error) Error() string {
	if e.Specific != "" {
		return fmt.Sprintf("%s (code %d)", e.Specific, e.Code)
	}
	return fmt.Sprintf("%s (code %d)", e.Message, e.Code)
}

// ParseRequests reads one request or a batch of them.
func ParseRequests(b []byte) (requests []Request, batch bool, err error) {
	return parse[Request](b)
}

// ParseResponses reads the answer to a request or a batch. A batch of one is answered by a plain object, an
// empty one by null.
func ParseResponses(b []byte) ([]Response, error) {
	if string(bytes.TrimSpace(b)) == "null" {
		return nil, nil
	}
	responses, _, err := parse[Response](b)
	if err != nil {
		return nil, fmt.Errorf("answer is not JSON-RPC: %w", err)
	}
	for i, r := range responses {
		if r.Error == nil && r.Result == nil {
			return nil, fmt.Errorf("answer %d has neither result nor error", i+1)
		}
	}
	return responses, nil
}

func parse[T any](b []byte) (items []T, list bool, err error) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return nil, false, errors.New("empty message")
	}
	if b[0] == '[' {
		err = json.Unmarshal(b, &items)
		return items, true, err
	}
	var item T
	err = json.Unmarshal(b, &item)
	return []T{item}, false, err
}
