package softgen

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"testing"
)

// allowance is a place where our answers may differ from TRex's, and why. The place is a path.Match pattern: method, then members.
type allowance struct {
	at, reason string
	used       bool
}

func allowances() []*allowance {
	const (
		ours         = "ours: tells the software engine from TRex"
		machine      = "another machine, another build"
		readings     = "ours: what a measurement wants to know of a reading"
		surroundings = "ours: what another run must have had, too, for its figures to be compared with these"
		absent       = "the software engine has no such thing"
		dynamic      = "as many as the delays that were seen"
	)
	return []*allowance{
		{at: "get_version/result/engine", reason: ours},
		{at: "get_version/result/engine_version", reason: ours},
		{at: "get_version/result/product", reason: ours},
		{at: "get_version/result/b*", reason: machine},
		{at: "api_sync_v2/result/api_h", reason: "random"},
		{at: "acquire/result", reason: "random"},
		{at: "get_system_info/result/uptime", reason: machine},
		{at: "get_system_info/result/ports/*/driver", reason: machine},
		{at: "get_system_info/result/ports/*/path", reason: ours},
		{at: "get_system_info/result/ports/*/nic", reason: surroundings},
		{at: "get_system_info/result/ports/*/firmware", reason: surroundings},
		{at: "get_system_info/result/ports/*/receive_drops", reason: surroundings},
		{at: "get_system_info/result/ports/*/pause_frames", reason: surroundings},
		{at: "get_system_info/result/ports/*/stamps", reason: surroundings},
		{at: "get_system_info/result/ports/*/receive_queues", reason: surroundings},
		{at: "get_system_info/result/processors", reason: surroundings},
		{at: "get_system_info/result/kernel", reason: surroundings},
		{at: "get_system_info/result/hypervisor", reason: surroundings},
		{at: "get_system_info/result/tuning", reason: surroundings},
		{at: "get_system_info/result/allowed", reason: surroundings},
		{at: "get_system_info/result/ports/*/description", reason: "TRex knows no interface name here"},
		{at: "get_system_info/result/ports/*/hw_mac", reason: "TRex lists the ports in no order"},
		{at: "get_system_info/result/ports/*/rx/caps/3", reason: "no tagged packet groups"},
		{at: "get_supported_cmds/result/*", reason: "another order, and fewer"},
		{at: "get_port_status/result/attr/link/flaps", reason: readings},
		{at: "get_port_stats/result/ts", reason: readings},
		{at: "get_port_stats/result/ts_width", reason: readings},
		{at: "get_port_stats/result/behind", reason: readings},
		{at: "get_port_stats/result/damaged", reason: readings},
		{at: "get_port_stats/result/send_drops", reason: readings},
		{at: "get_port_stats/result/stray_packets", reason: readings},
		{at: "get_port_stats/result/stray_bytes", reason: readings},
		{at: "get_port_stats/result/kernel", reason: readings},
		{at: "get_port_stats/result/queue_full", reason: readings},
		{at: "get_port_stats/result/peer_full", reason: readings},
		{at: "get_port_stats/result/sending", reason: readings},
		{at: "get_port_stats/result/waited", reason: readings},
		{at: "get_port_stats/result/waiting", reason: readings},
		{at: "get_port_stats/result/link_flaps", reason: readings},
		{at: "get_global_stats/result/stolen", reason: readings},
		{at: "get_global_stats/result/stolen_ts", reason: readings},
		{at: "get_port_xstats_names/result/xstats_names/*", reason: "another driver's names"},
		{at: "get_port_xstats_values/result/xstats_values/*", reason: "another driver's names"},
		{at: "get_utilization/result/cpu/*", reason: "a port has its own threads, and no history is kept"},
		{at: "get_utilization/result/cpu/*/history/*", reason: "no history is kept"},
		{at: "get_utilization/result/mbuf_stats/cpu-socket-0", reason: absent},
		{at: "get_pgid_stats/result/latency/*/lat/histogram/*", reason: dynamic},
		{at: "get_pgid_stats/result/latency/*/lat/histogram", reason: "nothing has been received in no time"},
		{at: "capture/result/pkts/*", reason: "the recorded frames are here before the first fetch"},
		{at: "get_port_status/error/specific_err", reason: "TRex's text has control characters, or the place in its own buffer"},
	}
}

// judge compares answers.
type judge struct {
	allowed  []*allowance
	problems []string
}

func newJudge(allowed []*allowance) *judge { return &judge{allowed: allowed} }

func (j *judge) compare(method string, recorded, heard map[string]any) []string {
	j.problems = nil
	j.value(method, recorded, heard)
	return j.problems
}

func (j *judge) report(at, format string, args ...any) {
	for _, a := range j.allowed {
		if ok, _ := path.Match(a.at, at); ok {
			a.used = true
			return
		}
	}
	j.problems = append(j.problems, at+": "+fmt.Sprintf(format, args...))
}

func (j *judge) value(at string, recorded, heard any) {
	switch want := recorded.(type) {
	case map[string]any:
		got, ok := heard.(map[string]any)
		if !ok {
			j.report(at, "recorded an object, heard %v", heard)
			return
		}
		j.object(at, want, got)
	case []any:
		got, ok := heard.([]any)
		if !ok {
			j.report(at, "recorded a list, heard %v", heard)
			return
		}
		j.list(at, want, got)
	case json.Number:
		got, ok := heard.(json.Number)
		if !ok || isReal(want) != isReal(got) {
			j.report(at, "recorded the number %v, heard %v", want, heard)
		} else if exactly(at) && !near(want, got) {
			j.report(at, "recorded %v, heard %v", want, got)
		}
	default:
		if recorded != heard && path.Base(at) != "id" {
			j.report(at, "recorded %v, heard %v", recorded, heard)
		}
	}
}

func (j *judge) object(at string, recorded, heard map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		if got, ok := heard[name]; ok {
			j.value(at+"/"+name, recorded[name], got)
		} else {
			j.report(at+"/"+name, "missing")
		}
	}
	for name := range heard {
		if _, ok := recorded[name]; !ok {
			j.report(at+"/"+name, "not in the recorded answer")
		}
	}
}

func (j *judge) list(at string, recorded, heard []any) {
	for i := range max(len(recorded), len(heard)) {
		place := fmt.Sprintf("%s/%d", at, i)
		switch {
		case i >= len(heard):
			j.report(place, "missing")
		case i >= len(recorded):
			j.report(place, "not in the recorded answer")
		default:
			j.value(place, recorded[i], heard[i])
		}
	}
}

// exactly is whether a number is decided by the request alone.
func exactly(at string) bool {
	return strings.HasPrefix(at, "validate/") || strings.HasPrefix(at, "get_all_streams/") || path.Base(at) == "multiplier" ||
		path.Base(at) == "code" || path.Base(at) == "max_stream_id" || path.Base(at) == "sent" || path.Base(at) == "wirelen"
}

func near(a, b json.Number) bool {
	x, _ := a.Float64()
	y, _ := b.Float64()
	return math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y))
}

func isReal(n json.Number) bool { return strings.ContainsAny(n.String(), ".eE") }

func textOf(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// asList decodes an answer or a request: a batch, or a single one as a batch of one.
func asList(t *testing.T, text json.RawMessage) []map[string]any {
	t.Helper()
	if kindOf(text) == "object" {
		text = slices.Concat([]byte("["), text, []byte("]"))
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var list []map[string]any
	if err := decoder.Decode(&list); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return list
}

func contextWithCancel(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(context.WithoutCancel(t.Context()))
}
