package trex

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// RPCError is a server's refusal as it came, with its code, its general message and, mostly, specific words. Every
// error that stems from an answer unwraps to it.
type RPCError = wire.Error

// LostError says that no answer came. The server can't be reached, closed the connection, or didn't answer in time.
type LostError struct {
	Address string
	Method  string // the call's method, or the first method of a batch
	// Unknown means that the request had left, so that nobody knows whether it took effect. Read the state again
	// before trusting it.
	Unknown bool
	Err     error
}

func (e *LostError) Error() string {
	if e.Unknown {
		return fmt.Sprintf("no answer from %s to %s, whether it took effect is unknown: %v", e.Address, e.Method, e.Err)
	}
	return fmt.Sprintf("no connection to %s for %s: %v", e.Address, e.Method, e.Err)
}

// Unwrap gives the cause, a context's error or a net.Error.
func (e *LostError) Unwrap() error { return e.Err }

// RestartedError says that another server process answers than the one that was greeted. Ownership, streams and
// counters are gone.
type RestartedError struct {
	Address string
	Err     error
}

func (e *RestartedError) Error() string {
	return fmt.Sprintf("the server at %s restarted: its ports, streams and counters are gone", e.Address)
}

// Unwrap gives the server's words.
func (e *RestartedError) Unwrap() error { return e.Err }

// TakenError says that a port belongs to someone else.
type TakenError struct {
	Port int
	// Owner is the other owner's user name. It is "" when the port is free, as this client has lost it and nobody has
	// taken it.
	Owner string
	// SameUser means that another session of this client's user name owns the port.
	SameUser bool
	Err      error
}

func (e *TakenError) Error() string {
	switch {
	case e.Owner == "":
		return fmt.Sprintf("port %d is no longer owned by this session", e.Port)
	case e.SameUser:
		return fmt.Sprintf("port %d is owned by another session of the same user %q", e.Port, e.Owner)
	}
	return fmt.Sprintf("port %d is owned by %q", e.Port, e.Owner)
}

// Unwrap gives the server's words.
func (e *TakenError) Unwrap() error { return e.Err }

// StateError says that a port's state forbids the call, such as to start without streams, or to add streams while
// sending.
type StateError struct {
	Port    int
	Command string // as the server names it: "start", "update", "add_stream"
	State   string // as in PortStatus
	Err     error
}

func (e *StateError) Error() string {
	return fmt.Sprintf("port %d can't %s in state %s", e.Port, e.Command, e.State)
}

// Unwrap gives the server's words.
func (e *StateError) Unwrap() error { return e.Err }

// TrafficEnded says whether an update came after the port's traffic had ended.
func (e *StateError) TrafficEnded() bool { return e.Command == "update" && e.State == stateStreams }

// LateError says that a common start was refused because its instant had passed, or was too close, when the server
// processed the request. Ports whose requests the server processed before may start at that instant, so the caller
// must stop all of them.
type LateError struct {
	Lead time.Duration // how far ahead the instant was
	Err  error
}

func (e *LateError) Error() string {
	return fmt.Sprintf("the server took longer than the %v until the common start: %v", e.Lead, e.Err)
}

// Unwrap gives the server's words.
func (e *LateError) Unwrap() error { return e.Err }

// IncompatibleError says that the server isn't one that this client can drive.
type IncompatibleError struct {
	Address string
	Version string // of the server: "v3.08"; "" unknown
	Mode    string // "STL", "ASTF" …; "" unknown
	Reason  string
	Err     error
}

func (e *IncompatibleError) Error() string {
	return fmt.Sprintf("the server at %s (version %s, mode %s) can't be driven: %s", e.Address, orUnknown(e.Version),
		orUnknown(e.Mode), e.Reason)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// Unwrap gives the server's words, if it was the server who refused.
func (e *IncompatibleError) Unwrap() error { return e.Err }

// TooLargeError says that a request exceeds what a server takes.
type TooLargeError struct {
	Method string
	Bytes  int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s of %d bytes: a server takes %d at most", e.Method, e.Bytes, wire.MaxRequest)
}

// UnsafeError says that the client refused to send what is known to abort a server, or would leave it sending for ever.
type UnsafeError struct {
	Object string // the object and its value
	Reason string
}

func (e *UnsafeError) Error() string { return e.Object + ": " + e.Reason }

// UnresolvedError says that no neighbour answered for an address.
type UnresolvedError struct {
	Port     int
	Target   string
	Requests int // how often
}

func (e *UnresolvedError) Error() string {
	return fmt.Sprintf("no answer on port %d for %s (asked %d times)", e.Port, e.Target, e.Requests)
}

var (
	takenBy      = regexp.MustCompile(`^port is already taken by '(.*)'`)
	takenSession = regexp.MustCompile(`^port is already owned by another session of '(.*)'`)
	wrongState   = regexp.MustCompile(`^command '([^']*)' cannot be executed on current state: '([A-Z_]+)`)
)

// classify turns a refusal into a typed error by its code and its words, as the code alone says little.
func classify(address string, port int, e *RPCError) error {
	words := e.Specific
	if e.Code != wire.CodeRefused {
		return e
	}
	if m := takenBy.FindStringSubmatch(words); m != nil {
		return &TakenError{Port: port, Owner: m[1], Err: e}
	}
	if m := takenSession.FindStringSubmatch(words); m != nil {
		return &TakenError{Port: port, Owner: m[1], SameUser: true, Err: e}
	}
	if m := wrongState.FindStringSubmatch(words); m != nil {
		return &StateError{Port: port, Command: m[1], State: m[2], Err: e}
	}
	switch {
	case strings.HasPrefix(words, "API verification failed"):
		return &RestartedError{Address: address, Err: e}
	case strings.HasPrefix(words, "please acquire the port"), strings.HasPrefix(words, "port is not owned by you"):
		return &TakenError{Port: port, Err: e}
	case strings.HasPrefix(words, "RPC configuration mismatch"), strings.Contains(words, "ersion mismatch"):
		return &IncompatibleError{Address: address, Reason: firstLine(words), Err: e}
	}
	return e
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
