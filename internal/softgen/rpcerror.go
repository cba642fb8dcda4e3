package softgen

import "fmt"

// The error codes of TRex's RPC: JSON-RPC 2.0's own, and the business error.
const (
	codeParse      = -32700
	codeEnvelope   = -32600
	codeNoMethod   = -32601
	codeParameters = -32602
	codeInternal   = -32603
	codeRefused    = -32000
)

// rpcError is the "error" member of an answer. Members are in the order in which TRex's writer prints them.
type rpcError struct {
	Code     int    `json:"code"`
	Message  string `json:"message"`
	Specific string `json:"specific_err,omitempty"`
}

func (e *rpcError) Error() string {
	if e.Specific == "" {
		return e.Message
	}
	return e.Message + ": " + e.Specific
}

// badParameters says that a parameter is missing, of the wrong type or out of range.
func badParameters(format string, args ...any) error {
	return &rpcError{Code: codeParameters, Message: "Bad parameters for method", Specific: fmt.Sprintf(format, args...)}
}

// refused says that the request was understood and can't be done.
func refused(format string, args ...any) error {
	return &rpcError{Code: codeRefused, Message: "Failed To Execute Method", Specific: fmt.Sprintf(format, args...)}
}

// refusedBy turns an error of the data path into the answer's.
func refusedBy(err error) error { return refused("%s", err.Error()) }
