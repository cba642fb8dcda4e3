package softgen

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/test/rigs/fakeport"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// timed plays a recording of a real TRex to the software engine, each request at its time.
func timed(t *testing.T, recording string, judge *trextest.Judge) []trextest.Replayed {
	t.Helper()
	clock := fakeport.System()
	r := &rig{handlers: map[int]string{}}
	r.west, r.east = fakeport.NewPair(clock, fakeport.Options{Name: "west", MAC: [6]byte{2, 0, 0, 0, 0, 0x10}},
		fakeport.Options{Name: "east", MAC: [6]byte{2, 0, 0, 0, 0, 0x11}}, fakeport.Cable{})
	r.server = newServer(t, r.west, r.east, clock)
	for port := range 2 { // the state in which an earlier session left the recorded server
		r.handlers[port] = succeed[string](t, r, "acquire", object{"port_id": port, "user": "anna", "session_id": 77,
			"force": true})
		succeed[any](t, r, "set_l3", object{
			"port_id": port, "src_addr": fmt.Sprintf("198.18.%d.2", port), "dst_addr": fmt.Sprintf("198.18.%d.1", port),
			"resolved_mac": fmt.Sprintf("02:00:00:00:00:2%d", port),
		})
		succeed[any](t, r, "add_stream", streamOf(port, 1, perSecond(1)))
	}
	return trextest.Replay(t, "../trex/testdata/"+recording, judge, func(c trextest.Call) (json.RawMessage,
		*wire.Error) {
		var recorded map[string]json.RawMessage
		if err := c.Decode(&recorded); err != nil {
			t.Fatal(err)
		}
		switch c.Method {
		case "api_sync_v2", "acquire", "add_stream": // done above
			return nil, nil
		}
		params := object{"port_id": c.Port(), "handler": r.handlers[c.Port()]}
		for name, value := range recorded {
			if params[name] == nil && name != "api_h" {
				params[name] = value
			}
		}
		return r.call(t, c.Method, params)
	})
}

// A real TRex was started some time ahead, for several durations, which it counts from the request. The
// software engine must be in the same states, and send as many frames for as long as it sends. TRex ends a port
// up to 12 ms late, and the software engine never.
func TestTheSoftwareEngineSendsForAsLongAsARealTRex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		compared := 0
		for _, part := range timed(t, "start-at.jsonl", judge(nil)) {
			for _, p := range part.Points {
				for _, n := range [][2]int64{{p.Heard.Sent, p.Recorded.Sent}, {p.Heard.Received, p.Recorded.Received}} {
					if n[0] > n[1] || n[0] < n[1]-12 {
						t.Errorf("%s, at %v port %d counted %d, recorded %d", part.Note, p.Elapsed, p.Port, n[0], n[1])
					}
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

// A real TRex with an offered load of twenty times its capacity ended 16 s late. The software engine ends by
// the clock and needs no stop, which is the only difference.
func TestTheSoftwareEngineEndsByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		accepted := trextest.Reasons{"get_port_status/result/state": "it ends by the clock"}
		parts := timed(t, "overrun.jsonl", judge(accepted))
		for _, p := range parts[0].Points {
			want := map[bool]string{true: "TX", false: "STREAMS"}[p.Elapsed < time.Second]
			if p.Heard.State != "" && p.Heard.State != want {
				t.Errorf("at %v port %d is %s, want %s, and recorded %s", p.Elapsed, p.Port, p.Heard.State, want,
					p.Recorded.State)
			}
		}
		for _, p := range parts[1].Points {
			if p.Heard.State != "" && p.Heard.State != "STREAMS" {
				t.Errorf("at %v port %d is %s", p.Elapsed, p.Port, p.Heard.State)
			}
		}
	})
}
