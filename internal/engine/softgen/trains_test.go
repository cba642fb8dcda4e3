package softgen

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// trainsParams are send_trains' parameters of trains from port 0 to port 1, 20 µs apart.
func trainsParams(change ...func(object)) object {
	p := object{"port_id": 0, "receiver": 1, "stream": streamOf(0, 1)["stream"], "trains": 400, "frames": 100,
		"pause": 20_000}
	for _, c := range change {
		c(p)
	}
	return p
}

type trainsAnswer struct {
	Sending  bool
	Arrived  int
	Frames   []int
	Instants []int64
	Took     []int64
}

func TestTrains(t *testing.T) {
	r := newRig(t)
	r.acquire(t, 0)
	get := func(first int) trainsAnswer {
		return succeed[trainsAnswer](t, r, "get_trains", object{"port_id": 0, "from": first})
	}
	const frames = 400 * 100
	for range 2 { // trains replace earlier ones
		succeed[object](t, r, "send_trains", trainsParams())
		first := get(0)
		if first.Sending || first.Arrived != frames || len(first.Frames) != portion || len(first.Took) != 400 {
			t.Fatalf("sending %v, %d frames arrived, %d in the portion, %d trains took a time", first.Sending,
				first.Arrived, len(first.Frames), len(first.Took))
		}
		rest := get(portion)
		all, instants := slices.Concat(first.Frames, rest.Frames), slices.Concat(first.Instants, rest.Instants)
		if len(all) != frames || !slices.IsSorted(all) || all[frames-1] != frames-1 || !slices.IsSorted(instants) ||
			len(instants) != frames || len(rest.Took) != 0 {
			t.Errorf("%d frames and %d instants in two portions, the last frame is %d", len(all), len(instants),
				all[len(all)-1])
		}
		if beyond := get(frames); len(beyond.Frames) != 0 || beyond.Arrived != frames {
			t.Errorf("behind the last: %+v", beyond)
		}
	}
	succeed[object](t, r, "remove_trains", object{"port_id": 0})
	succeed[object](t, r, "remove_trains", object{"port_id": 0})
	r.refuses(t, "get_trains", object{"port_id": 0, "from": 0}, wire.CodeRefused, "port 0 has no trains")
}

func TestTrainsThatAreRefused(t *testing.T) {
	r := newRig(t)
	r.acquire(t, 0)
	for text, change := range map[string]func(object){
		"invalid port id of the receiver - should be: 0 - 1": member("receiver", 2),
		"field 'frames' value is null":                       func(p object) { delete(p, "frames") },
		"field 'pause' has negative value":                   member("pause", -1),
		"'binary' is not base64": func(p object) {
			stream := streamOf(0, 1)["stream"].(object)
			stream["packet"] = object{"binary": "!", "meta": ""}
			p["stream"] = stream
		},
	} {
		_, failed := r.call(t, "send_trains", trainsParams(change))
		if failed == nil || !strings.Contains(failed.Error(), text) {
			t.Errorf("%v, want %q", failed, text)
		}
	}
	succeed[object](t, r, "add_stream", streamOf(0, 1))
	succeed[object](t, r, "start_traffic", start(0, mul("pps", 10), 60))
	r.refuses(t, "send_trains", trainsParams(), wire.CodeRefused, "cannot be executed on current state: 'TX'")
	succeed[object](t, r, "stop_traffic", object{"port_id": 0})
	r.east.SetLink(true)
	r.west.SetLink(false)
	r.refuses(t, "send_trains", trainsParams(), wire.CodeRefused, "Link state is DOWN")
}

// TestTrainsEndWithTheHeartbeat: no record is left behind by a client that died.
func TestTrainsEndWithTheHeartbeat(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Heartbeat = time.Hour })
	r.acquire(t, 0, 1)
	succeed[object](t, r, "send_trains", trainsParams())
	r.server.heartbeatLost()
	r.refuses(t, "get_trains", object{"port_id": 0, "from": 0}, wire.CodeRefused, "port 0 has no trains")
	succeed[object](t, r, "send_trains", trainsParams(member("port_id", 1), member("receiver", 1)))
}

func TestLineratesClientSendsTrains(t *testing.T) {
	r := newRig(t)
	client, ctx := r.ours(t, "tester"), t.Context()
	ok(t, client.Acquire(ctx, 0, false))
	ok(t, client.SendTrains(ctx, trex.Trains{Port: 0, Receiver: 1, Stream: frames(64, 1), Trains: 3, Frames: 10,
		Pause: time.Millisecond}))
	got, err := client.TrainArrivals(ctx, 0, 0)
	ok(t, err)
	if got.Arrived != 30 || len(got.Took) != 3 || got.Took[2] != 900 || got.Frames[29] != 29 ||
		got.Instants[29]-got.Instants[0] != 2*time.Millisecond+29*100 {
		t.Errorf("arrivals %+v", got)
	}
	ok(t, client.RemoveTrains(ctx, 0))
}
