package softgen

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"
)

// FuzzCommands gives any parameters to any method of a server in use. The server must answer with
// JSON, never panic, and never hang. Clients may send other requests than linerate's own does.
func FuzzCommands(f *testing.F) {
	methods := slices.Sorted(maps.Keys(newRig(f).server.commands))
	for i, method := range methods {
		for _, seed := range []string{`{}`, `{"port_id":0,"profile_id":"_","stream_id":1,"force":false,"duration":1}`} {
			f.Add(uint8(i), []byte(seed))
		}
		for _, seed := range fuzzSeeds(method) {
			text, err := json.Marshal(seed)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, index uint8, parameters []byte) {
		var members map[string]any
		if json.Unmarshal(parameters, &members) != nil || members == nil {
			return
		}
		r := newRig(t)
		r.acquire(t, 0, 1)
		succeed[object](t, r, "service", object{"port_id": 1, "enabled": true})
		succeed[object](t, r, "add_stream", streamOf(0, 1, counted("latency", 5)))
		succeed[object](t, r, "add_stream", streamOf(0, 2))
		succeed[object](t, r, "add_stream", streamOf(1, 1, burst(5000)))
		succeed[object](t, r, "start_traffic", start(1, mul("raw", 1), -1))
		capture(t, r, nil)
		r.clock.Advance(time.Second)

		members["api_h"] = r.server.apiH
		if port, ok := members["port_id"].(float64); ok {
			members["handler"] = r.handlers[int(port)]
		}
		text, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": methods[int(index)%len(methods)],
			"params": members})
		if err != nil {
			t.Skip()
		}
		if got := r.server.Handle(text); !json.Valid(got) {
			t.Errorf("%s was answered with %q", text, got)
		}
		r.clock.Advance(time.Second)
		succeed[object](t, r, "get_pgid_stats", object{"pgids": []int{}})
	})
}

func fuzzSeeds(method string) []object {
	switch method {
	case "add_stream":
		return []object{
			streamOf(0, 9, program(variable(nil), tuple(1, 2, 3, 4))),
			streamOf(0, 9, mode(object{"type": "multi_burst", "pkts_per_burst": 1, "ibg": 1e300, "count": 1,
				"rate": object{"type": "percentage", "value": 1e300}})),
			streamOf(0, 9, program(variable(object{"name": "size", "size": 2}), object{"type": "trim_pkt_size",
				"name": "size"})),
		}
	case "start_traffic":
		return []object{start(0, mul("percentage", 50), 1e300), start(0, mul("pps", 501), -1),
			start(0, mul("bpsl1", 1e9), 1)}
	case "update_traffic":
		return []object{{"port_id": 1, "mul": object{"type": "raw", "op": "add", "value": 1e300}, "force": true}}
	case "capture":
		return []object{
			{"command": "start", "limit": 5, "mode": "cyclic", "tx": []int{1}, "rx": []int{1}, "filter": "arp"},
			{"command": "fetch", "capture_id": 1, "pkt_limit": 4294967295, "snaplen": 1},
			{"command": "stop", "capture_id": 1},
		}
	case "push_pkts":
		return []object{push(0, arpRequest())}
	case "set_l3":
		return []object{{"port_id": 0, "src_addr": "198.18.0.2", "dst_addr": "198.18.0.1",
			"resolved_mac": "02:00:00:00:00:20"}}
	case "get_pgid_stats":
		return []object{{"pgids": []int{5, 6}}}
	case "api_sync":
		return []object{{"api_vers": []object{{"type": "core", "major": 5, "minor": 0}}}}
	}
	return nil
}
