package trextest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// asked puts calls to a Generator, by names that it knows, after both ports were acquired, and given addresses
// and a stream of 1 packet/s, as those of the recorded server were.
func asked(t *testing.T, g *trextest.Generator) func(trextest.Call) (json.RawMessage, *wire.Error) {
	t.Helper()
	handlers := map[float64]any{}
	ask := func(method string, params map[string]any) (json.RawMessage, *wire.Error) {
		port, _ := params["port_id"].(float64)
		if method == "api_sync_v2" || method == "acquire" && handlers[port] != nil || method == "add_stream" &&
			params["again"] == nil {
			return nil, nil // done at the beginning
		}
		members := maps.Clone(params)
		members["api_h"] = handlers[-1]
		if members["handler"] != nil || method == "add_stream" {
			members["handler"] = handlers[port]
		}
		text, _ := json.Marshal(members)
		result, err := g.Answer(trextest.Call{Method: method, Params: text})
		if refusal, ok := errors.AsType[*wire.Error](err); ok {
			return nil, refusal
		}
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		answer, _ := json.Marshal(result)
		return answer, nil
	}
	synced, err := g.Answer(trextest.Call{Method: "api_sync_v2",
		Params: json.RawMessage(`{"name":"STL","major":5,"minor":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	handlers[-1] = synced.(map[string]any)["api_h"]
	for port := range 2 {
		handler, _ := ask("acquire", map[string]any{"port_id": float64(port), "user": "anna", "session_id": 77,
			"force": true})
		var text string
		_ = json.Unmarshal(handler, &text)
		handlers[float64(port)] = text
		_, refused := ask("set_l3", map[string]any{
			"port_id": float64(port), "src_addr": fmt.Sprintf("198.18.%d.2", port),
			"dst_addr": fmt.Sprintf("198.18.%d.1", port), "resolved_mac": fmt.Sprintf("02:00:00:00:00:2%d", port),
		})
		if refused != nil {
			t.Fatal(refused)
		}
		_, refused = ask("add_stream", map[string]any{"again": true, "port_id": float64(port), "stream_id": 1,
			"stream": map[string]any{
				"enabled": true, "self_start": true, "flags": 3, "isg": 0, "next_stream_id": -1,
				"mode":   map[string]any{"type": "continuous", "rate": map[string]any{"type": "pps", "value": 1}},
				"packet": map[string]any{"binary": make([]byte, 60), "meta": ""},
				"vm":     map[string]any{"instructions": []any{}}, "flow_stats": map[string]any{"enabled": false}}})
		if refused != nil {
			t.Fatal(refused)
		}
	}
	return func(c trextest.Call) (json.RawMessage, *wire.Error) {
		params := map[string]any{}
		_ = json.Unmarshal(c.Params, &params)
		return ask(c.Method, params)
	}
}

// likeRecorded has two ports as those of the recorded server, without addresses of the device, whose answers to ARP
// and the like are in the recordings.
func likeRecorded() *trextest.Generator {
	ports := trextest.TwoPorts()
	for i := range ports {
		ports[i].Driver, ports[i].Virtual, ports[i].Addresses = "net_af_packet", true, nil
	}
	return trextest.NewGenerator(ports...)
}

// A real TRex was started some time ahead, for several durations. The scripted server sends as many frames, to
// 3 of 1 000 a second, and is in the same states.
func TestTheScriptedServerSendsForAsLongAsARealOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := likeRecorded()
		compared := 0
		for _, part := range trextest.Replay(t, "../../../internal/engine/trex/testdata/start-at.jsonl",
			trextest.NewJudge(differences(), leftOut()), asked(t, g)) {
			for _, p := range part.Points {
				sent, received := p.Heard.Sent-p.Recorded.Sent, p.Heard.Received-p.Recorded.Received
				if max(sent, -sent, received, -received) > 3 {
					t.Errorf("%s, at %v port %d is %+v, recorded %+v", part.Note, p.Elapsed, p.Port, p.Heard,
						p.Recorded)
				}
				if p.Recorded.Sent > 0 {
					compared++
				}
			}
		}
		if compared < 10 {
			t.Errorf("%d readings were compared", compared)
		}
	})
}

// A real TRex was asked for twenty times what it can send. The scripted server, which can send as much in the mean,
// is in the same states at each time. It sends as many frames until then, to what the mean leaves open, and exactly
// as many in the end.
func TestTheScriptedServerIsAsLateAsARealOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := likeRecorded()
		const asked17s = 1_488_095
		g.Capacity = 2 * asked17s / 16.9 // the recorded server was read at 15.23 s, when it still sent, and at 17.24 s
		parts := trextest.Replay(t, "../../../internal/engine/trex/testdata/overrun.jsonl",
			trextest.NewJudge(differences(), leftOut()), asked(t, g))
		if len(parts) != 2 {
			t.Fatalf("%d parts", len(parts))
		}
		whole := parts[0].Points[len(parts[0].Points)-1]
		if excess := whole.Heard.Sent - whole.Recorded.Sent; excess < -15_000 || excess > 15_000 ||
			whole.Elapsed < 17*time.Second {
			t.Errorf("in the end %+v", whole)
		}
		stopped := parts[1].Points
		for i, latest := 0, map[int]trextest.Point{}; i < len(stopped); i++ {
			p := stopped[i]
			if earlier, ok := latest[p.Port]; ok && p.Recorded.State == "" &&
				(p.Recorded.Sent == earlier.Recorded.Sent) != (p.Heard.Sent == earlier.Heard.Sent) {
				t.Errorf("at %v port %d has sent %d after %d, recorded %d after %d", p.Elapsed, p.Port, p.Heard.Sent,
					earlier.Heard.Sent, p.Recorded.Sent, earlier.Recorded.Sent)
			}
			if p.Recorded.State == "" {
				latest[p.Port] = p
			}
		}
	})
}
