package trextest_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// reading is what linerate reads of a method's answer, by method.
var reading = map[string]func(context.Context, *trex.Client) (any, error){
	"get_system_info": func(ctx context.Context, c *trex.Client) (any, error) { return c.SystemInfo(ctx) },
	"get_port_status": func(ctx context.Context, c *trex.Client) (any, error) { return c.PortStatus(ctx, 0) },
	"get_port_stats": func(ctx context.Context, c *trex.Client) (any, error) {
		shot, err := c.Snapshot(ctx, []int{0}, trex.Detail{})
		return shot.Ports[0], err
	},
	"get_global_stats": func(ctx context.Context, c *trex.Client) (any, error) {
		shot, err := c.Snapshot(ctx, []int{0}, trex.Detail{})
		return shot.Global, err
	},
	"get_pgid_stats": func(ctx context.Context, c *trex.Client) (any, error) { return c.FlowStats(ctx) },
	"validate":       func(ctx context.Context, c *trex.Client) (any, error) { return c.Validate(ctx, 0) },
}

// leavesOutUnread reports an error for each member that the scripted server leaves out although linerate reads it.
// linerate reads a member if changing it changes what linerate's client makes of a recorded answer. The client
// doesn't read a method that its code never names.
func leavesOutUnread(t *testing.T, absent []string) {
	t.Helper()
	var recorded []trextest.Exchange
	for _, session := range []string{"imix", "64", "imix_limited", "edges", "l3"} {
		recorded = append(recorded, trextest.ReadTrace(t, filepath.Join("../../../internal/engine/trex/testdata",
			session+".jsonl.gz"))...)
	}
	s := serve(t)
	client, err := trex.Dial(t.Context(), s.Address(), trex.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	background := stream.Stream{
		Enabled: true, SelfStart: true, CoreID: -1, NextStreamID: -1, Mode: stream.Mode{Type: "continuous",
			Rate: stream.Rate{Type: "pps", Value: 1}}, Packet: stream.Packet{Binary: make([]byte, 60)},
	}
	if err := client.Acquire(t.Context(), 0, false); err != nil {
		t.Fatal(err)
	}
	if err := client.AddStreams(t.Context(), 0, []stream.Stream{background}); err != nil {
		t.Fatal(err)
	}
	read := func(method string, answer any) any {
		s.Script(method, func(trextest.Call) (any, error) { return answer, nil })
		defer s.Script(method, nil)
		v, err := reading[method](t.Context(), client)
		if err != nil {
			return err.Error()
		}
		return v
	}
	for _, place := range absent {
		method, members, _ := strings.Cut(place, "/result")
		switch {
		case strings.Contains(place, "/histogram/"): // buckets of no frames
		case method == "get_supported_cmds":
			neverNames(t, strings.TrimPrefix(members, "/"))
		case reading[method] == nil:
			neverNames(t, method)
		default:
			compared := false
			for _, e := range recorded {
				var original, changed any
				if e.Method != method || e.Error != nil || json.Unmarshal(e.Result, &original) != nil ||
					json.Unmarshal(e.Result, &changed) != nil || !change(changed, strings.Split(members, "/")[1:]) {
					continue
				}
				if earlier, later := read(method, original), read(method, changed); !reflect.DeepEqual(earlier, later) {
					t.Errorf("linerate reads %s, which the scripted server leaves out: %v became %v", place, earlier,
						later)
				}
				compared = true
				break
			}
			if !compared {
				t.Errorf("no recording has %s", place)
			}
		}
	}
}

// neverNames is an error if linerate's client or engine names a method.
func neverNames(t *testing.T, method string) {
	t.Helper()
	for _, directory := range []string{"../../../internal/engine/trex", "../../../internal/engine/stl"} {
		files, err := filepath.Glob(filepath.Join(directory, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no code: %v", directory, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), `"`+method+`"`) {
				t.Errorf("%s names %s, which the scripted server doesn't answer", file, method)
			}
		}
	}
}

// change changes all that is at a place of an answer, and says whether the answer has the place.
func change(value any, members []string) bool {
	switch v := value.(type) {
	case map[string]any:
		if inner, ok := v[members[0]]; ok && len(members) > 1 {
			return change(inner, members[1:])
		} else if ok {
			v[members[0]] = changed(inner)
			return true
		}
	case []any:
		for i := range v {
			if members[0] == string(rune('0'+i)) && len(members) > 1 {
				return change(v[i], members[1:])
			}
		}
	}
	return false
}

// changed is a value of the same type, all of which is another.
func changed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = changed(v[name])
		}
	case []any:
		for i := range v {
			v[i] = changed(v[i])
		}
		return append(slices.Clone(v), v...)
	case float64:
		return v + 1
	case string:
		return v + "x"
	case bool:
		return !v
	}
	return v
}
