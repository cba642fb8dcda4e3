package trextest_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/internal/engine/trex/zmtp"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// say sends text to a server and returns its answer as it came.
func say(t *testing.T, s *trextest.Server, text string) (string, error) {
	t.Helper()
	c, err := zmtp.Dial(t.Context(), s.Address())
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	answer, err := c.Do(t.Context(), []byte(text))
	return string(answer), err
}

func serve(t *testing.T) *trextest.Server {
	t.Helper()
	return trextest.Serve(t, trextest.NewGenerator(trextest.TwoPorts()...))
}

func TestTheEnvelopeIsTheRealServers(t *testing.T) {
	s := serve(t)
	cases := map[string]struct{ say, want string }{
		"a plain call": {`{"jsonrpc":"2.0","id":"a","method":"get_version","params":{}}`, `"mode":"STL"`},
		"a batch of one": {`[{"jsonrpc":"2.0","id":"a","method":"get_version","params":{}}]`,
			`{"jsonrpc":"2.0","id":"a"`},
		"an unknown method": {`{"jsonrpc":"2.0","id":"a","method":"nonsense","params":{"api_h":"x"}}`,
			`"code":-32601`},
		"no handle": {`{"jsonrpc":"2.0","id":"a","method":"get_system_info","params":{}}`,
			`field 'api_h' value is null`},
		"another's handle": {`{"jsonrpc":"2.0","id":"a","method":"get_system_info","params":{"api_h":"x"}}`,
			`API verification failed`},
		"no JSON":            {`{`, `"code":-32700`},
		"more than it takes": {`"` + strings.Repeat("x", wire.MaxRequest) + `"`, `"code":-32603`},
		"the rest of " +
			"a batch": {`[{"jsonrpc":"2.0","id":1,"method":"nonsense","params":{}},{"jsonrpc":"2.0","id":2,"method":"ping","params":{}}]`, `"ts":1`},
		"an id that is number": {`{"jsonrpc":"2.0","id":7,"method":"ping","params":{}}`, `"id":7`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := say(t, s, c.say)
			if err != nil || !strings.Contains(got, c.want) || !strings.HasSuffix(got, "\n") {
				t.Errorf("answered %q, %v; want %q in it", got, err, c.want)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}`
	answer := func(err error) trextest.AnswerFunc {
		return func(trextest.Call) (any, error) { return nil, err }
	}
	t.Run("a hang-up ends one connection only", func(t *testing.T) {
		s := serve(t)
		s.Script("ping", answer(trextest.ErrHangUp))
		if got, err := say(t, s, ping); err == nil {
			t.Errorf("answered %q", got)
		}
		s.Script("ping", nil)
		if _, err := say(t, s, ping); err != nil {
			t.Error(err)
		}
	})
	t.Run("death ends all", func(t *testing.T) {
		s := serve(t)
		s.Script("ping", answer(trextest.ErrDie))
		if got, err := say(t, s, ping); err == nil {
			t.Errorf("answered %q", got)
		}
		s.Die() // waits until it is dead
		conn, err := net.Dial("tcp", s.Address())
		if err == nil {
			_ = conn.Close()
			t.Error("a dead server accepts connections")
		}
	})
	t.Run("a stalled call ends with the test at the latest", func(t *testing.T) {
		s := serve(t)
		s.Script("ping", answer(trextest.ErrStall))
		ctx, cancel := context.WithCancel(t.Context())
		c, err := zmtp.Dial(ctx, s.Address())
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := c.Do(ctx, []byte(ping)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("calls are recorded", func(t *testing.T) {
		s := serve(t)
		if _, err := say(t, s, ping); err != nil {
			t.Fatal(err)
		}
		if calls := s.Calls("ping"); len(calls) != 1 || calls[0].Port() != -1 || len(s.Calls("acquire")) != 0 {
			t.Errorf("recorded %+v", s.Calls())
		}
	})
}

func TestInputsThatAbortARealServer(t *testing.T) {
	for _, params := range []string{
		`"method":"acquire","params":{"port_id":0,"user":"u","session_id":0,"force":true`,
		`"method":"get_port_status","params":{"port_id":0,"profile_id":"nobody's"`,
	} {
		g := trextest.NewGenerator(trextest.TwoPorts()...)
		s := trextest.Serve(t, g)
		synced, err := say(t, s, `{"jsonrpc":"2.0","id":1,"method":"api_sync_v2","params":{"name":"STL","major":5,"minor":1}}`)
		if err != nil {
			t.Fatal(err)
		}
		var handle struct {
			Result struct {
				Handle string `json:"api_h"`
			}
		}
		if err := json.Unmarshal([]byte(synced), &handle); err != nil {
			t.Fatal(err)
		}
		got, err := say(t, s, `{"jsonrpc":"2.0","id":2,`+params+`,"api_h":"`+handle.Result.Handle+`"}}`)
		if err == nil || len(g.Crashes()) != 1 {
			t.Errorf("answered %q; crashes %v", got, g.Crashes())
		}
	}
}

func TestATraceAnswersInOrder(t *testing.T) {
	exchange := func(port, answer string) trextest.Exchange {
		return trextest.Exchange{
			Call: trextest.Call{Method: "get_port_stats", Params: json.RawMessage(`{"api_h":"then","port_id":` +
				port + `}`)},
			Result: json.RawMessage(answer),
		}
	}
	trace := trextest.NewTrace([]trextest.Exchange{exchange("0", "1"), exchange("1", "10"), exchange("0", "2")})
	ask := func(params string) string {
		result, err := trace.Answer(trextest.Call{Method: "get_port_stats", Params: json.RawMessage(params)})
		if err != nil {
			return err.Error()
		}
		text, err := json.Marshal(result)
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	for _, step := range []struct{ params, want string }{
		{`{"port_id":0,"api_h":"now"}`, "1"}, {`{"port_id":0}`, "2"}, {`{"port_id":0}`, "2"}, {`{"port_id":1}`, "10"},
	} {
		if got := ask(step.params); got != step.want {
			t.Errorf("%s answered %s, not %s", step.params, got, step.want)
		}
	}
	if got := ask(`{"port_id":2}`); !strings.Contains(got, "the trace has no answer") {
		t.Errorf("an unrecorded call answered %s", got)
	}
}
