package softgen

import (
	"encoding/json"
	"testing"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

func program(instructions ...object) func(object) {
	return func(s object) { s["vm"] = object{"instructions": instructions} }
}

func variable(change object) object {
	v := object{"type": "flow_var", "name": "v", "size": 4, "op": "inc", "step": 1, "init_value": 1, "min_value": 1,
		"max_value": 5}
	for name, value := range change {
		v[name] = value
	}
	return v
}

func tuple(ipMin, ipMax, portMin, portMax int) object {
	return object{"type": "tuple_flow_var", "name": "t", "ip_min": ipMin, "ip_max": ipMax, "port_min": portMin,
		"port_max":    portMax,
		"limit_flows": 0, "flags": 0}
}

func mode(m object) func(object) { return member("mode", m) }

func TestAddStreamIsRefused(t *testing.T) {
	rate := object{"type": "pps", "value": 1}
	for name, c := range map[string]struct {
		change func(object)
		text   string
	}{
		"without rate":              {mode(object{"type": "continuous"}), "field 'rate' value is null"},
		"without a packet":          {member("packet", nil), "field 'packet' value is null"},
		"with a number for a truth": {member("enabled", 1), "'enabled' is 'number', expecting 'boolean'"},
		"with a packet that is short": {member("packet", object{"binary": "c2hvcnQ=", "meta": ""}),
			"Bad packet size provided: 5. Should be between 14 and 9238"},
		"with a packet that is no text": {member("packet", object{"binary": "!", "meta": ""}), "not base64"},
		"with an empty burst": {mode(object{"type": "single_burst", "total_pkts": 0, "rate": rate}),
			"'total_pkts' cannot be zero"},
		"with no bursts": {mode(object{"type": "multi_burst", "pkts_per_burst": 1, "ibg": 0, "count": 0, "rate": rate}),
			"'count' cannot be zero"},
		"with a negative gap":          {member("isg", -1), "isg cannot be negative"},
		"with a gap without end":       {member("isg", 1e300), "isg of 1e+300 us is too long"},
		"of packets that nobody sends": {member("flags", 8), "not supported by the software engine"},
		"with an unknown instruction":  {program(object{"type": "dance"}), "field 'type' can only be one of"},
		"with half an instruction": {program(object{"type": "write_flow_var", "name": "v"}),
			"field 'pkt_offset' value is null"},
		"with a variable of 3 bytes": {program(variable(object{"size": 3})),
			"field 'size' can only be one of [1 ,2 ,4 ,8]"},
		"with a size that isn't whole": {program(variable(object{"size": "4"})), "size"},
		"with a range upside down":     {program(variable(object{"min_value": 9})), "min_value 9"},
		"with a start out of range":    {program(variable(object{"init_value": 9})), "init_value 9"},
		"with a value that doesn't fit": {program(variable(object{"size": 1, "max_value": 256})),
			"VM: requested value is bigger than 255"},
		"with a step of 0": {program(variable(object{"step": 0})), "step"},
		"with all values of 8 bytes": {program(variable(object{"size": 8, "min_value": 0,
			"max_value": uint64(1<<64 - 1)})), "whole range of 8 bytes"},
		"with a step over the value list": {program(variable(object{"value_list": []int{1, 2}, "step": 3})),
			"value_list"},
		"with addresses upside down": {program(tuple(2, 1, 1, 2)), "ip_min"},
		"with ports upside down":     {program(tuple(1, 2, 2, 1)), "port_min"},
		"with a large cache":         {member("vm", object{"instructions": []object{}, "cache": 10_001}), "cache"},
		"of a rule that isn't there": {counted("tpg", 1), "not supported by the software engine"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.acquire(t, 0)
			r.refuses(t, "add_stream", streamOf(0, 1, c.change), wire.CodeRefused, c.text)
			if got := succeed[[]int](t, r, "get_stream_list", object{"port_id": 0}); len(got) != 0 {
				t.Errorf("and yet there are streams %v", got)
			}
		})
	}
}

func TestStreamsAreKeptAsTheyCame(t *testing.T) {
	r := newRig(t)
	r.acquire(t, 0)
	request := streamOf(0, 3, program(variable(nil)), member("isg", json.RawMessage("5.0")), member("name", "<ours>"))
	succeed[object](t, r, "add_stream", request)
	got := succeed[struct{ Stream json.RawMessage }](t, r, "get_stream", object{"port_id": 0, "stream_id": 3}).Stream
	want, err := json.Marshal(request["stream"])
	if err != nil {
		t.Fatal(err)
	}
	if !jsonEqual(t, got, want) {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	r.refuses(t, "get_stream", object{"port_id": 0, "stream_id": 4}, wire.CodeRefused, "stream 4 does not exists")
	r.refuses(t, "remove_stream", object{"port_id": 0, "stream_id": 4}, wire.CodeRefused, "stream 4 does not exists")
	succeed[object](t, r, "remove_stream", object{"port_id": 0, "stream_id": 3})
	if got := r.stateOf(t, 0); got != "IDLE" {
		t.Errorf("state %s after the last stream is gone", got)
	}
}

func TestFlowIDsAreLimited(t *testing.T) {
	r := newRig(t)
	r.acquire(t, 0)
	for id := range maxLatencyFlows {
		succeed[object](t, r, "add_stream", streamOf(0, id, counted("latency", id)))
	}
	r.refuses(t, "add_stream", streamOf(0, 1000, counted("latency", 1000)), wire.CodeRefused,
		"Failed allocating statistic counter")
	r.refuses(t, "add_stream", streamOf(0, 1000, counted("stats", 1)), wire.CodeRefused,
		"in use with another rule_type")
	succeed[object](t, r, "add_stream", streamOf(0, 1000, counted("stats", 1000)))
	succeed[object](t, r, "add_stream", streamOf(0, 1001, counted("stats", 1000)))
}

func jsonEqual(t *testing.T, a, b []byte) bool {
	t.Helper()
	normal := func(text []byte) string {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		return string(encode(v))
	}
	return normal(a) == normal(b)
}
