package stl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex"
)

// fault is an error with a sentence for people, its kind for the runner, and its cause.
type fault struct {
	kind  error // one of engine's
	text  string
	cause error
}

func (f *fault) Error() string { return f.kind.Error() + ": " + f.text }

// Unwrap gives both, so that errors.Is finds the kind and errors.As the details.
func (f *fault) Unwrap() []error { return []error{f.kind, f.cause} }

// explain turns an error of the client into a fault with a sentence and the way out. If ctx was cancelled by
// its owner, that is no fault of the server, and the error stays as it is.
func explain(ctx context.Context, server string, err error) error {
	if err == nil {
		return nil
	}
	if already, ok := errors.AsType[*fault](err); ok {
		return already
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%s: %w", server, err)
	}
	text, kind := judge(server, err)
	return &fault{kind: kind, text: text, cause: err}
}

// judge finds the words and the kind of an error.
func judge(server string, err error) (text string, kind error) {
	if e, ok := errors.AsType[*trex.LostError](err); ok {
		return lostText(server, e), engine.ErrLost
	}
	if _, ok := errors.AsType[*trex.RestartedError](err); ok {
		return fmt.Sprintf("the server at %s restarted; its streams and counters are gone, and so is this run", server),
			engine.ErrLost
	}
	if e, ok := errors.AsType[*trex.TakenError](err); ok {
		if e.SameUser || e.Owner == trex.DefaultUser || strings.HasPrefix(e.Owner, trex.UserOfTest) {
			return takenText(server, e), engine.ErrTakenByLinerate
		}
		return takenText(server, e), engine.ErrTaken
	}
	if e, ok := errors.AsType[*trex.IncompatibleError](err); ok {
		return e.Error() + "; use a TRex v3 whose API is STL 5.1 or a later 5, started with -i", engine.ErrIncompatible
	}
	if e, ok := errors.AsType[*trex.UnresolvedError](err); ok {
		return fmt.Sprintf("%s; is the device up, is that its address on this link, and does the cable lead to "+
			"this port?", e), engine.ErrUnresolved
	}
	if e, ok := errors.AsType[*trex.StateError](err); ok && e.TrafficEnded() {
		return fmt.Sprintf("port %d of %s doesn't send any more: the duration of its start ended before the next "+
				"load came, it heard nothing for ten seconds, or somebody stopped it; keep other work off the runner's "+
				"processors", e.Port, server),
			engine.ErrEnded
	}
	if e, ok := errors.AsType[*trex.RPCError](err); ok {
		if _, reason, long := strings.Cut(e.Specific, tooLong); long {
			return reason, engine.ErrTooLong
		}
	}
	if e, ok := errors.AsType[*unsentTrainsError](err); ok {
		return fmt.Sprintf("%s: %s; it heard nothing for ten seconds, its link went down, or somebody stopped it",
			server, e), engine.ErrEnded
	}
	if lost := lostInWords(err); lost != "" {
		return fmt.Sprintf("%s: %s", server, lost), engine.ErrLost
	}
	return fmt.Sprintf("%s: %s%s", server, strings.ReplaceAll(err.Error(), "\n", "; "), hint(err)), engine.ErrRefused
}

// tooLong begins what the software engine says of a frame that is longer than a port takes.
const tooLong = "too long: "

// lostInWords is the sentence for a server that answers but has lost its state. It is empty for other errors.
func lostInWords(err error) string {
	if e, ok := errors.AsType[*resetError](err); ok {
		return e.Error() + ": the server restarted, or its counters were cleared"
	}
	if e, ok := errors.AsType[*stoppedError](err); ok {
		return e.Error()
	}
	return ""
}

func lostText(server string, e *trex.LostError) string {
	if e.Unknown {
		return fmt.Sprintf("%s did not answer %s (%v); it is unknown whether the call took effect", server, e.Method,
			e.Err)
	}
	return fmt.Sprintf("no answer from %s (%v); is the generator running there, and can its RPC port be reached "+
		"from here?", server, e.Err)
}

func takenText(server string, e *trex.TakenError) string {
	switch {
	case e.Owner == "":
		return fmt.Sprintf("port %d of %s has been taken by another session", e.Port, server)
	case strings.HasPrefix(e.Owner, trex.UserOfTest):
		return fmt.Sprintf("port %d of %s is owned by %q, the LoadTest whose runner's Job has %.8s in its name", e.Port,
			server, e.Owner, strings.TrimPrefix(e.Owner, trex.UserOfTest))
	case e.SameUser:
		return fmt.Sprintf("port %d of %s is owned by another session of %q", e.Port, server, e.Owner)
	}
	return fmt.Sprintf("port %d of %s is owned by %q", e.Port, server, e.Owner)
}

// hints are the ways out of refusals that people meet, by the server's words.
func hints() [][2]string {
	return [][2]string{
		{"Link state is DOWN", "check the cable, and that the far end is up"},
		{"exceeds port line rate", "lower the rate"},
		{"dest MAC is " +
			"invalid", "each time the link goes down or up, the server forgets the device's MAC: check the cable, " +
			"and that the far end stays up"},
		{"Effective bandwidth is", "the port's speed is unknown: give rates in packets or bits per second"},
		{"until the common start", "give generator and runner free processors"},
		{"under service mode", "end the capture first"},
		{"minimum rate", "the latency streams alone send more than the rate asked for: raise it, or slow them down"},
		{"Failed allocating stat", "use fewer flow ids"},
		{"not registered", "the server is too old, or not TRex"},
		{"more than '1000' ms", "the server's cores are overloaded or stuck: look at its log"},
		{"middle of configuration", "try again in a moment"},
	}
}

func hint(err error) string {
	for _, h := range hints() {
		if strings.Contains(err.Error(), h[0]) {
			return "; " + h[1]
		}
	}
	return ""
}
