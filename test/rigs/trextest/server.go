package trextest

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/internal/engine/trex/zmtp"
)

// Errors that an answer function may return to make the server fail.
var (
	ErrStall  = errors.New("never answer")
	ErrHangUp = errors.New("drop the connection")
	ErrDie    = errors.New("the server process ends")
)

// Call is one remote call as it came in.
type Call struct {
	Method string
	Params json.RawMessage
}

// Decode decodes the parameters into v. Parameters that v doesn't have are ignored.
func (c Call) Decode(v any) error { return json.Unmarshal(c.Params, v) }

// Port is the call's port_id, -1 if it has none.
func (c Call) Port() int {
	p := struct {
		Port int `json:"port_id"`
	}{-1}
	if c.Decode(&p) != nil {
		return -1
	}
	return p.Port
}

// AnswerFunc answers a call with a result that becomes JSON, with a *wire.Error (a refusal), or with one of the
// errors above.
type AnswerFunc func(Call) (result any, err error)

// Answerer answers calls, several at once.
type Answerer interface{ Answer(Call) (any, error) }

// Server is a scripted server on a loopback port, and on in-memory connections for simulated time.
type Server struct {
	answerer Answerer
	listener net.Listener
	pipes    *pipes
	end      context.CancelFunc
	ended    chan struct{}

	mu     sync.Mutex
	script map[string]AnswerFunc
	calls  []Call
}

// Serve starts a server, which ends with the test.
func Serve(t testing.TB, a Answerer) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("no loopback port to listen on: %v", err)
	}
	s := newServer(a)
	s.listener = l
	s.run(t, l)
	return s
}

// ServeInMemory is Serve without a network, so that it works inside a synctest bubble. Clients connect with
// Options.Dial = server.Dial.
func ServeInMemory(t testing.TB, a Answerer) *Server {
	t.Helper()
	s := newServer(a)
	s.pipes = newPipes()
	s.run(t, s.pipes)
	return s
}

// ServeOn answers whoever connects to the listener, until ctx ends. A program that stands for TRex uses it.
func ServeOn(ctx context.Context, l net.Listener, a Answerer) error {
	s := newServer(a)
	ctx, s.end = context.WithCancel(ctx)
	defer s.end()
	return zmtp.Serve(ctx, l, s.handle)
}

func newServer(a Answerer) *Server {
	return &Server{answerer: a, script: map[string]AnswerFunc{}, ended: make(chan struct{})}
}

func (s *Server) run(t testing.TB, l net.Listener) {
	ctx, cancel := context.WithCancel(context.Background())
	s.end = cancel
	go func() {
		defer close(s.ended)
		if err := zmtp.Serve(ctx, l, s.handle); err != nil {
			t.Errorf("trextest: %v", err)
		}
	}()
	t.Cleanup(s.Die)
}

// Address is the server's host:port, or "memory:4501" for a server without a network.
func (s *Server) Address() string {
	if s.listener == nil {
		return "memory:4501"
	}
	return s.listener.Addr().String()
}

// Dial connects in memory. It fits trex.Options.
func (s *Server) Dial(ctx context.Context, _ string) (net.Conn, error) {
	if s.pipes == nil {
		return (&net.Dialer{}).DialContext(ctx, "tcp", s.Address())
	}
	return s.pipes.dial(ctx)
}

// Script replaces the answers to a method. nil restores the Answerer's.
func (s *Server) Script(method string, answer AnswerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if answer == nil {
		delete(s.script, method)
		return
	}
	s.script[method] = answer
}

// Die ends the server as a crash would. Connections break, and new ones are refused. Die returns when the server is
// dead.
func (s *Server) Die() {
	s.end()
	<-s.ended
}

// Calls returns the calls so far, in order, and only those of the methods if any are named.
func (s *Server) Calls(methods ...string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(methods) == 0 {
		return slices.Clone(s.calls)
	}
	return slices.DeleteFunc(slices.Clone(s.calls), func(c Call) bool { return !slices.Contains(methods, c.Method) })
}

// ForgetCalls empties the record of Calls.
func (s *Server) ForgetCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

// answerFor records a call and returns the function that answers it.
func (s *Server) answerFor(c Call) AnswerFunc {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	if scripted, ok := s.script[c.Method]; ok {
		return scripted
	}
	return s.answerer.Answer
}

// handle answers one message, compressed exactly if the message was compressed.
func (s *Server) handle(ctx context.Context, message []byte) []byte {
	plain, compressed, err := wire.Decompress(message)
	if err != nil {
		plain = message
	}
	reply := s.reply(ctx, plain)
	if reply != nil && compressed {
		return wire.Compress(reply)
	}
	return reply
}

func (s *Server) reply(ctx context.Context, plain []byte) []byte {
	if len(plain) > wire.MaxRequest {
		return encode(wire.Response{JSONRPC: wire.Version, ID: json.RawMessage("null"), Error: &wire.Error{
			Code: wire.CodeInternal, Message: "Internal Server Error",
			Specific: "Request is too large. Consider splitting to smaller chunks.",
		}})
	}
	requests, _, err := wire.ParseRequests(plain)
	if err != nil {
		return encode(wire.Response{JSONRPC: wire.Version, ID: json.RawMessage("null"),
			Error: &wire.Error{Code: wire.CodeParse, Message: "Bad JSON Format"}})
	}
	responses := make([]wire.Response, 0, len(requests))
	for _, r := range requests {
		response, answered := s.respond(ctx, r)
		if !answered {
			return nil
		}
		responses = append(responses, response)
	}
	if len(responses) == 1 { // also for a batch of one
		return encode(responses[0])
	}
	return encode(responses)
}

func (s *Server) respond(ctx context.Context, r wire.Request) (response wire.Response, answered bool) {
	call := Call{Method: r.Method, Params: r.Params}
	result, err := s.answerFor(call)(call)
	response = wire.Response{JSONRPC: wire.Version, ID: r.ID}
	switch refusal, refused := errors.AsType[*wire.Error](err); {
	case errors.Is(err, ErrStall):
		<-ctx.Done()
		return response, false
	case errors.Is(err, ErrHangUp):
		return response, false
	case errors.Is(err, ErrDie):
		s.end()
		return response, false
	case refused:
		response.Error = refusal
	case err != nil:
		response.Error = &wire.Error{Code: wire.CodeParams, Message: "Bad parameters for method", Specific: err.Error()}
	default:
		response.Result = encode(result)
	}
	return response, true
}

// encode writes JSON as the server does, with a newline at the end. Results are the tests' own data, so a result that
// is no JSON is answered as its error.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte(`"trextest: ` + err.Error() + `"`)
	}
	return append(b, '\n')
}
