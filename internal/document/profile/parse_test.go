package profile

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

func TestParseStreamsReadsWhatTRexWrites(t *testing.T) {
	files, err := filepath.Glob("testdata/trex/*.json")
	if err != nil || len(files) != 21 {
		t.Fatalf("%d files of streams, %v; want 21", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			streams, err := ParseStreams(text)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := normal(t, []byte(mustJSON(t, streams))), normal(t, text); !reflect.DeepEqual(got, want) {
				t.Errorf("reads and writes as\n%v\nwant\n%v", got, want)
			}
			wrapped, err := ParseStreams([]byte(`{"streams":` + string(text) + `}`))
			if err != nil || !reflect.DeepEqual(wrapped, streams) {
				t.Errorf("wrapped, it reads as %v, %v", wrapped, err)
			}
		})
	}
}

// normal is a list of streams without what TRex's builders leave out and we always write (next_stream_id), or the
// other way about.
func normal(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var streams []map[string]any
	if err := json.Unmarshal(text, &streams); err != nil {
		t.Fatal(err)
	}
	for _, s := range streams {
		delete(s, "next_stream_id")
		flow, _ := s["flow_stats"].(map[string]any)
		for _, member := range []string{"vxlan", "ieee_1588"} {
			if flow[member] == false {
				delete(flow, member)
			}
		}
	}
	return streams
}

func TestChainsByName(t *testing.T) {
	streams := trexStreams(t, "multi_burst_2st_1000pkt.json")
	if streams[0].NextStreamID != 2 || streams[1].NextStreamID != -1 {
		t.Errorf("next_stream_id is %d and %d, want 2 and -1", streams[0].NextStreamID, streams[1].NextStreamID)
	}
}

func TestParseStreamsFillsInWhatHasOneSensibleValue(t *testing.T) {
	got, err := ParseStreams([]byte(" [" + object() + "]\n"))
	want := stream.Stream{
		Enabled: true, SelfStart: true, CoreID: -1, NextStreamID: -1,
		Mode:   stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: 1}},
		Packet: stream.Packet{Binary: make([]byte, 60)}, VM: stream.VM{Instructions: []stream.Instruction{}},
	}
	copy(want.Packet.Binary[12:], ipv4Start)
	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("reads as %+v, %v\nwant %+v", got, err, want)
	}
}

// ipv4Start makes the frame of object one with an IPv4 header at 14.
const ipv4Start = "\x08\x00\x45"

// object is a minimal stream with members replaced or added; members are written "name": value, a value of ""
// leaves the member out.
func object(changes ...string) string {
	binary := "AAAAAAAAAAAAAAAACABF" + strings.Repeat("AAAA", 15)
	order, values := []string{"mode", "packet"}, map[string]string{
		"mode":   `{"type":"continuous","rate":{"type":"pps","value":1}}`,
		"packet": `{"binary":"` + binary + `"}`,
	}
	for i := 0; i < len(changes); i += 2 {
		if _, ok := values[changes[i]]; !ok {
			order = append(order, changes[i])
		}
		values[changes[i]] = changes[i+1]
	}
	var members []string
	for _, name := range order {
		if values[name] != "" {
			members = append(members, fmt.Sprintf("%q:%s", name, values[name]))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// program is a stream's vm after a variable "v" of 2 bytes from 0 to 9.
func program(instructions ...string) string {
	return `{"instructions":[` + strings.Join(append([]string{variableV}, instructions...), ",") + `]}`
}

const variableV = `{"type":"flow_var","name":"v","size":2,"op":"inc","init_value":0,"min_value":0,"max_value":9,"step":1}`

func TestParseStreamsRefuses(t *testing.T) {
	const head = "streams[0]."
	flowVar := func(rest string) string { return `{"instructions":[{"type":"flow_var","name":"w",` + rest + `}]}` }
	tuple := func(rest string) string {
		return `{"instructions":[{"type":"tuple_flow_var","name":"t",` + rest + `}]}`
	}
	burst := `{"type":"single_burst","total_pkts":1,"rate":{"type":"pps","value":1}}`
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "write a JSON list"},
		{"a string", `"x"`, "write a JSON list"},
		{"no stream", "[]", "streams: 0 of them"},
		{"a broken object", `{"streams":`, "write a JSON list"},
		{"another wrapper", `{"profile":[]}`, "the object has other members than streams"},
		{"a wrapper with more", `{"streams":[],"x":1}`, "the object has other members than streams"},
		{"a number for a stream", "[1]", "streams[0]: must be an object"},
		{"null for a stream", "[null]", "streams[0]: must be an object"},
		{"something behind the list", "[]x", "write a JSON list"},

		{"an unknown member", object("rate", "1"), head + "rate: no such member: it can have mode, packet, enabled"},
		{"a member in the wrong case", object("Flags", "0"), head + "Flags: no such member"},
		{"an unknown member of mode", object("mode", `{"type":"continuous","pps":1}`), head + "mode.pps: no such member"},
		{"an unknown member of rate", object("mode", `{"type":"continuous","rate":{"type":"pps","value":1,"x":1}}`), head + "mode.rate.x: no such member"},
		{"TRex's old name of flow_stats", object("rx_stats", "{}"), head + "rx_stats: no such member"},
		{"no packet", object("packet", ""), head + "packet: missing"},
		{"no mode", object("mode", "null"), head + "mode: missing"},
		{"no rate", object("mode", `{"type":"continuous"}`), head + "mode.rate: missing"},
		{"a text for a flag", object("enabled", `"yes"`), head + "enabled: a text can't stand here: write true or false"},
		{"a text for a rate", object("mode", `{"type":"continuous","rate":{"type":"pps","value":"1"}}`), head + "mode.rate.value: a text can't stand here: write a number"},
		{"a packet that isn't base64", object("packet", `{"binary":"=!"}`), head + "packet.binary: not base64 from byte 0 on: write the frame's bytes"},
		{"a port beyond 16 bits", object("vm", tuple(`"ip_min":1,"ip_max":1,"port_min":1,"port_max":65536`)), head + "vm.instructions[0].port_max: 65536 can't stand here: write a whole number from 0 to 65535"},
		{"a text for an offset", object("vm", program(`{"type":"fix_checksum_ipv4","pkt_offset":"14"}`)), head + "vm.instructions[1].pkt_offset: a text can't stand here: write a whole number"},
		{"a write where nothing is defined", object("vm", `{"instructions":[{"type":"write_flow_var","name":"x","pkt_offset":20,"is_big_endian":true}]}`), head + `vm.instructions[0].name: no variable "x" is defined before this, nor any other`},

		{"a frame too short", object("packet", `{"binary":"AAAA"}`), head + "packet.binary: a frame of 3 bytes (without FCS) is outside 14 to 9238"},
		{"a frame too long", object("packet", `{"binary":"`+strings.Repeat("AAAA", 3080)+`"}`), head + "packet.binary: a frame of 9240 bytes"},
		{"a pinned core", object("core_id", "0"), head + "core_id: 0: a core that the port pair doesn't have stops the server"},
		{"unknown flags", object("flags", "8"), head + "flags: 8: use 0"},
		{"a negative gap", object("isg", "-1"), head + "isg: -1"},

		{"an unknown mode", object("mode", `{"type":"fast","rate":{"type":"pps","value":1}}`), head + `mode.type: "fast" is not known: use continuous`},
		{"an unknown rate", object("mode", `{"type":"continuous","rate":{"type":"kpps","value":1}}`), head + `mode.rate.type: "kpps" is not known: use pps, bps_L1`},
		{"a rate of zero", object("mode", `{"type":"continuous","rate":{"type":"pps","value":0}}`), head + "mode.rate.value: 0: a rate must be above zero"},
		{"a total without end", object("mode", `{"type":"continuous","total_pkts":3,"rate":{"type":"pps","value":1}}`), head + "mode: a continuous stream has type and rate only"},
		{"an empty burst", object("mode", `{"type":"single_burst","rate":{"type":"pps","value":1}}`), head + "mode: a single_burst stream has"},
		{"endless bursts by wrapping", object("mode", `{"type":"multi_burst","pkts_per_burst":1,"count":0,"rate":{"type":"pps","value":1}}`), head + "mode: a multi_burst stream has"},

		{"a chain to nowhere", object("mode", burst, "next_stream_id", "7"), head + "next_stream_id: 7 leads nowhere: use 1 to 1"},
		{"a chain to stream 0", object("mode", burst, "next_stream_id", "0"), head + "next_stream_id: 0 leads nowhere"},
		{"a chain to no name", object("mode", burst, "next", `"x"`), head + `next: no stream has the name "x"`},
		{"a chain after what never ends", object("next_stream_id", "1"), head + "next_stream_id: 1: a continuous stream never ends"},
		{"two ways to go on", object("mode", burst, "name", `"a"`, "next", `"a"`, "next_stream_id", "2"), head + `next: "a" is stream 1, and next_stream_id says 2`},
		{"a chain to what is off", object("mode", burst, "next_stream_id", "2") + "," + object("enabled", "false"), head + "next_stream_id: stream 2 is not enabled"},
		{"a chain into latency", object("mode", burst, "next_stream_id", "2") + "," + object("flow_stats", `{"enabled":true,"stream_id":1,"rule_type":"latency"}`), head + "next_stream_id: 2: a chain can't mix"},
		{"a stream that nothing starts", object() + "," + object("self_start", "false"), "streams[1].self_start: false, and no chain"},

		{"an unknown rule", object("flow_stats", `{"enabled":true,"stream_id":1,"rule_type":"tpg"}`), head + `flow_stats.rule_type: "tpg" is not known: use stats or latency`},
		{"latency streams with one id", object("flow_stats", `{"enabled":true,"stream_id":1,"rule_type":"latency"}`) + "," + object("flow_stats", `{"enabled":true,"stream_id":1,"rule_type":"stats"}`),
			"streams[1].flow_stats.stream_id: 1 is another stream's too"},
		{"latency in TCP without room", object("flow_stats", `{"enabled":true,"stream_id":1,"rule_type":"latency"}`, "packet", `{"binary":"AAAAAAAAAAAAAAAACABFAAAoAAEAAEAGAAAQAAABMAAAAQA1ADUAAAAAAAAAAFAAAAAAAAAA"}`),
			head + "packet.binary: a latency stream overwrites the last 16 bytes of the payload, and there are only 6"},
		{"a stats id too many", strings.TrimSuffix(strings.Repeat(object("flow_stats", `{"enabled":true,"stream_id":%d,"rule_type":"stats"}`)+",", 1024), ","), "streams: 0 latency and 1024 stats flow ids"},

		{"an unknown instruction", object("vm", program(`{"type":"fly"}`)), head + `vm.instructions[1].type: "fly" is not known: use flow_var`},
		{"an instruction that is none", object("vm", `{"instructions":[1]}`), head + `vm.instructions[0].type: "" is not known`},
		{"instructions that are no list", object("vm", `{"instructions":{}}`), head + "vm.instructions: must be a list"},
		{"another instruction's member", object("vm", program(`{"type":"trim_pkt_size","name":"v","step":1}`)), head + "vm.instructions[1].step: no such member: it can have type, name"},
		{"a write without a byte order", object("vm", program(`{"type":"write_flow_var","name":"v","pkt_offset":20}`)), head + "vm.instructions[1].is_big_endian: missing"},
		{"a cache too large", object("vm", `{"instructions":[],"cache":10001}`), head + "vm.cache: 10001 is more than 10000"},

		{"a variable of 3 bytes", object("vm", flowVar(`"size":3,"op":"inc","step":1`)), head + "vm.instructions[0].size: 3: a variable has 1, 2, 4 or 8 bytes"},
		{"an unknown operation", object("vm", flowVar(`"size":2,"op":"up","step":1`)), head + `vm.instructions[0].op: "up" is not known`},
		{"no step", object("vm", flowVar(`"size":2,"op":"inc"`)), head + "vm.instructions[0].step: 0: must be at least 1"},
		{"a start outside", object("vm", flowVar(`"size":2,"op":"inc","step":1,"init_value":3,"min_value":4,"max_value":9`)), head + "vm.instructions[0].init_value: 3 is outside min_value 4 to max_value 9"},
		{"a value too large", object("vm", flowVar(`"size":1,"op":"inc","step":1,"max_value":256`)), head + "vm.instructions[0].max_value: 256 doesn't fit in 1 bytes"},
		{"the range that divides by zero", object("vm", flowVar(`"size":8,"op":"inc","step":1,"max_value":18446744073709551615`)), head + "vm.instructions[0].max_value: all values of 8 bytes can't be counted and stop the server"},
		{"a range that becomes that one", object("vm", flowVar(`"size":8,"op":"inc","step":2,"max_value":18446744073709551614`)), head + "vm.instructions[0].max_value: all values of 8 bytes"},
		{"a range that can't be widened up", object("vm", flowVar(`"size":1,"op":"inc","step":2,"init_value":1,"min_value":1,"max_value":255`)), head + "vm.instructions[0].step: 2: the range 1 to 255 can't be widened"},
		{"a range that can't be widened down", object("vm", flowVar(`"size":1,"op":"dec","step":2,"max_value":4`)), head + "vm.instructions[0].step: 2: the range 0 to 4 can't be widened"},
		{"a list and a range", object("vm", flowVar(`"size":2,"op":"inc","step":1,"value_list":[1],"max_value":9`)), head + "vm.instructions[0].value_list: it takes the place of"},
		{"a listed value too large", object("vm", flowVar(`"size":1,"op":"inc","step":1,"value_list":[1,256]`)), head + "vm.instructions[0].value_list[1]: 256 doesn't fit"},
		{"a step over the list", object("vm", flowVar(`"size":1,"op":"inc","step":3,"value_list":[1,2]`)), head + "vm.instructions[0].step: 3 is more than the 2 values"},
		{"a list too long", object("vm", flowVar(`"size":1,"op":"inc","step":1,"value_list":[1`+strings.Repeat(",1", 65_535)+`]`)), head + "vm.instructions[0].value_list: 65536 values"},
		{"a name twice", object("vm", program(variableV)), head + `vm.instructions[1].name: "v" is there twice`},
		{"no name", object("vm", strings.ReplaceAll(program(), `"v"`, `""`)), head + "vm.instructions[0].name: a variable needs one"},
		{"too many variables", object("vm", `{"instructions":[`+many(33)+`]}`), head + `vm.instructions[32].name: with "v32" the variables take 66 bytes, and there is room for 64`},
		{"a random limit of zero", object("vm", `{"instructions":[{"type":"flow_var_rand_limit","name":"r","size":2,"limit":0,"min_value":0,"max_value":1}]}`), head + "vm.instructions[0].limit: 0 is outside 1 to 65535"},
		{"a random range upside down", object("vm", `{"instructions":[{"type":"flow_var_rand_limit","name":"r","size":2,"limit":1,"min_value":2,"max_value":1}]}`), head + "vm.instructions[0].max_value: 2 to 1 is no range"},
		{"a random range of everything", object("vm", `{"instructions":[{"type":"flow_var_rand_limit","name":"r","size":8,"limit":1,"min_value":0,"max_value":18446744073709551615}]}`), head + "vm.instructions[0].max_value: all values"},
		{"a next_var that isn't next", object("vm", flowVar(`"size":2,"op":"inc","step":1,"next_var":"x"`)), head + `vm.instructions[0].next_var: "x" must be the variable that the next instruction defines`},

		{"addresses upside down", object("vm", tuple(`"ip_min":2,"ip_max":1,"port_min":1,"port_max":2`)), head + "vm.instructions[0].ip_min: 2 is above ip_max 1, which stops the server"},
		{"ports upside down", object("vm", tuple(`"ip_min":1,"ip_max":1,"port_min":3,"port_max":2`)), head + "vm.instructions[0].port_min: 3 is above port_max 2, which stops the server"},
		{"all addresses", object("vm", tuple(`"ip_min":0,"ip_max":4294967295,"port_min":1,"port_max":2`)), head + "vm.instructions[0].ip_max: all addresses"},
		{"unknown tuple flags", object("vm", tuple(`"ip_min":1,"ip_max":1,"port_min":1,"port_max":2,"flags":2`)), head + "vm.instructions[0].flags: 2"},

		{"a write of nothing", object("vm", program(`{"type":"write_flow_var","name":"x","pkt_offset":20,"is_big_endian":true}`)), head + `vm.instructions[1].name: no variable "x" is defined before this (there are: v)`},
		{"a write beyond the frame", object("vm", program(`{"type":"write_flow_var","name":"v","pkt_offset":59,"is_big_endian":true}`)), head + "vm.instructions[1].pkt_offset: 2 bytes at 59 are not within the frame's 60 bytes"},
		{"a write before the frame", object("vm", program(`{"type":"write_flow_var","name":"v","pkt_offset":-1,"is_big_endian":true}`)), head + "vm.instructions[1].pkt_offset: 2 bytes at -1"},
		{"a mask of 8 bytes", object("vm", program(`{"type":"write_mask_flow_var","name":"v","pkt_offset":20,"pkt_cast_size":8,"mask":1,"shift":0,"is_big_endian":true}`)), head + "vm.instructions[1].pkt_cast_size: 8"},
		{"a shift out of sight", object("vm", program(`{"type":"write_mask_flow_var","name":"v","pkt_offset":20,"pkt_cast_size":4,"mask":1,"shift":32,"is_big_endian":true}`)), head + "vm.instructions[1].shift: 32"},
		{"a checksum's own offset", object("vm", program(`{"type":"fix_checksum_ipv4","pkt_offset":24}`)), head + "vm.instructions[1].pkt_offset: no IPv4 header begins at 24"},
		{"a short Ethernet header", object("vm", program(`{"type":"fix_checksum_hw","l2_len":13,"l3_len":20,"l4_type":11}`)), head + "vm.instructions[1].l2_len: 13"},
		{"a short IP header", object("vm", program(`{"type":"fix_checksum_hw","l2_len":14,"l3_len":19,"l4_type":11}`)), head + "vm.instructions[1].l3_len: 19"},
		{"a protocol's number for TRex's", object("vm", program(`{"type":"fix_checksum_hw","l2_len":14,"l3_len":20,"l4_type":6}`)), head + "vm.instructions[1].l4_type: 6 is not known: use 11 (UDP)"},
		{"headers beyond the frame", object("vm", program(`{"type":"fix_checksum_hw","l2_len":14,"l3_len":40,"l4_type":11}`)), head + "vm.instructions[1].l3_len: the headers end beyond"},
		{"ICMPv6 over IPv4", object("vm", program(`{"type":"fix_checksum_icmpv6","l2_len":14,"l3_len":20}`)), head + "vm.instructions[1].l3_len: 20: must be at least 40"},
		{"a trim by what is too short", object("vm", program(`{"type":"trim_pkt_size","name":"v"}`)), head + `vm.instructions[1].name: "v" must be a flow_var of 2 bytes with different lengths`},
		{"a trim by nothing", object("vm", program(`{"type":"trim_pkt_size","name":"x"}`)), head + `vm.instructions[1].name: no variable "x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.text
			if strings.HasPrefix(text, `{"mode"`) || strings.HasPrefix(text, `{"packet"`) {
				text = "[" + numbered(text) + "]"
			}
			if streams, err := ParseStreams([]byte(text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %d streams, %v; want an error with %q", len(streams), err, tt.want)
			}
		})
	}
}

// numbered puts 1, 2, 3 … in the place of each %d.
func numbered(text string) string {
	var out strings.Builder
	for i, part := range strings.Split(text, "%d") {
		if i > 0 {
			fmt.Fprint(&out, i)
		}
		out.WriteString(part)
	}
	return out.String()
}

// many is a program of so many variables of 2 bytes.
func many(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strings.Replace(variableV, `"v"`, fmt.Sprintf(`"v%d"`, i), 1)
	}
	return strings.Join(list, ",")
}

// TestStreamsAsAServerGivesThemBack: what it adds is ignored, and so are counters that are off.
func TestStreamsAsAServerGivesThemBack(t *testing.T) {
	plain, err := ParseStreams([]byte("[" + object() + "]"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseStreams([]byte("[" + object("id", "77", "rx_stats", `{"enabled":true,"seq_enabled":true}`, "flow_stats", `{"enabled":false,"rule_type":"stats","stream_id":77}`,
		"vm", `{"instructions":[],"split_by_var":""}`, "mode", `{"type":"continuous","rate":{"type":"pps","value":1},"count":0,"ibg":0.0,"pkts_per_burst":0,"total_pkts":0}`) + "]"))
	if err != nil {
		t.Fatal(err)
	}
	again[0].Mode.Rate = plain[0].Mode.Rate
	if !reflect.DeepEqual(again, plain) {
		t.Errorf("%+v\nwant %+v", again, plain)
	}
}

// TestAllFaultsOfStreamsAreTold: at once, in the order in which they stand, the same each time.
func TestAllFaultsOfStreamsAreTold(t *testing.T) {
	text := "[" + object("zebra", "1", "apple", "2", "vm", `{"instructions":[{"type":"fly"}],"x":1}`) + "," + object("mode", `{"type":"continuous","rate":{"type":"pps","value":1},"y":0}`) + "]"
	want := []string{"streams[0].apple: no such", "streams[0].zebra: no such", "streams[0].vm.x: no such", `streams[0].vm.instructions[0].type: "fly"`, "streams[1].mode.y: no such"}
	for range 20 {
		_, err := ParseStreams([]byte(text))
		found, ok := errors.AsType[Faults](err)
		if !ok || len(found) != len(want) {
			t.Fatalf("%v", err)
		}
		for i, f := range found {
			if !strings.HasPrefix(f.Error(), want[i]) {
				t.Errorf("fault %d is %s, want %s", i, f, want[i])
			}
		}
	}
	_, err := ParseStreams([]byte("[" + strings.TrimSuffix(strings.Repeat(object("core_id", "3", "flags", "9")+",", 30), ",") + "]"))
	if err == nil || !strings.HasSuffix(err.Error(), "; streams: 50 faults more") || !strings.Contains(err.Error(), "streams[4].flags: 9") {
		t.Error(err)
	}
}

// TestFaultsOfEveryKindAreToldTogether: members that don't exist, values of a wrong form and values that a server
// refuses, of one stream and of several; and no fault that only follows from another.
func TestFaultsOfEveryKindAreToldTogether(t *testing.T) {
	text := "[" + strings.Join([]string{
		object("alpha", "2", "isg", `"x"`, "core_id", "0", "mode", `{"type":"fast","rate":{"type":"ppz","value":-1}}`),
		object("packet", `{"binary":"!!"}`, "flags", "9", "mode", `{"type":"continuous","beta":1,"rate":{"type":5,"value":"1"}}`),
		object("vm", program(`{"type":"write_flow_var","name":"v","pkt_offset":99,"is_big_endian":true}`, `{"type":"fix_checksum_ipv4","pkt_offset":3}`)),
		object("next_stream_id", "7"),
	}, ",") + "]"
	want := []string{
		"streams[0].alpha: ", "streams[0].isg: ", "streams[0].core_id: ", "streams[0].mode.rate.type: ", "streams[0].mode.rate.value: ", "streams[0].mode.type: ",
		"streams[1].packet.binary: ", "streams[1].mode.beta: ", "streams[1].mode.rate.type: ", "streams[1].mode.rate.value: ", "streams[1].flags: ",
		"streams[2].vm.instructions[1].pkt_offset: ", "streams[2].vm.instructions[2].pkt_offset: ",
	}
	_, err := ParseStreams([]byte(text))
	found, _ := errors.AsType[Faults](err)
	if len(found) != len(want) {
		t.Fatalf("%d faults, want %d: %v", len(found), len(want), err)
	}
	for i, f := range found {
		if !strings.HasPrefix(f.Error(), want[i]) {
			t.Errorf("fault %d is %s, want %s", i, f, want[i])
		}
	}
	if _, err := ParseStreams([]byte("[7]")); err == nil || err.Error() != "streams[0]: must be an object" {
		t.Errorf("no object: %v", err)
	}
	chains := "[" + object("next_stream_id", "7") + "," + object("next_stream_id", "1") + "]"
	if _, err := ParseStreams([]byte(chains)); err == nil || !strings.Contains(err.Error(), "streams[0].next_stream_id: 7") || !strings.Contains(err.Error(), "streams[1].next_stream_id: 1") {
		t.Errorf("chains: %v", err)
	}
}

// TestAProgramWithoutAVariable: only what names one needs one, and the checksum is computed.
func TestAProgramWithoutAVariable(t *testing.T) {
	streams, err := ParseStreams([]byte("[" + object("vm", `{"instructions":[{"type":"fix_checksum_ipv4","pkt_offset":14}]}`) + "]"))
	if err != nil {
		t.Fatal(err)
	}
	streams[0].Packet.Binary[24] ^= 0x55
	frames, err := FirstFrames(streams[0], 2)
	if err != nil || stream.FoldChecksum(stream.SumWords(frames[1][14:34])) != 0xffff {
		t.Errorf("% x, %v", frames, err)
	}
}

// TestStreamsWhosePathCannotBeProven are refused by their place in the list, before anything is sent.
func TestStreamsWhosePathCannotBeProven(t *testing.T) {
	frame := func(etherType ...byte) string {
		f := make([]byte, 60)
		copy(f[12:], etherType)
		return `{"binary":"` + base64.StdEncoding.EncodeToString(f) + `"}`
	}
	ip := mustBuild(t, Spec{Kind: FixedSize, FrameSize: 64}).Streams[0].Packet.Binary
	good := object("packet", `{"binary":"`+base64.StdEncoding.EncodeToString(ip)+`"}`)
	ttl := object("packet", `{"binary":"`+base64.StdEncoding.EncodeToString(ip)+`"}`, "vm", `{"instructions":[{"type":"flow_var","name":"v","size":1,"op":"inc","step":1,"max_value":9},{"type":"write_flow_var","name":"v","pkt_offset":22,"is_big_endian":true}]}`)
	for name, c := range map[string]struct{ text, says string }{
		"MPLS":               {"[" + object("packet", frame(0x88, 0x47)) + "]", "streams[0].packet.binary: the frame's type 0x8847 is neither IPv4 nor IPv6"},
		"ARP beside traffic": {"[" + good + "," + object("packet", frame(8, 6)) + "]", "streams[1].packet.binary: the frame's type 0x0806"},
		"a cut IP header":    {"[" + object("packet", `{"binary":"`+base64.StdEncoding.EncodeToString(ip[:24])+`"}`) + "]", "streams[0].packet.binary: the frame ends within its IP header"},
		"several TTLs":       {"[" + ttl + "]", "streams[0].vm.instructions[1].pkt_offset: the program writes the TTL"},
		"nothing wrong":      {"[" + good + "]", ""},
	} {
		_, err := Build(Spec{Kind: Streams, Streams: []byte(c.text)})
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestALoopOfBurstsIsFine(t *testing.T) {
	const burst = `{"type":"single_burst","total_pkts":2,"rate":{"type":"pps","value":1}}`
	text := "[" + object("mode", burst, "next_stream_id", "2", "action_count", "3") + "," + object("mode", burst, "self_start", "false", "next_stream_id", "1") + "]"
	if _, err := ParseStreams([]byte(text)); err != nil {
		t.Error(err)
	}
}

func FuzzParseStreams(f *testing.F) {
	files, err := filepath.Glob("testdata/trex/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("[" + object("vm", program(`{"type":"write_flow_var","name":"v","pkt_offset":20,"is_big_endian":true}`, `{"type":"fix_checksum_hw","l2_len":14,"l3_len":20,"l4_type":11}`)) + "]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		streams, err := ParseStreams(text)
		if err != nil {
			return
		}
		again, err := ParseStreams([]byte(mustJSON(t, streams)))
		if err != nil || !reflect.DeepEqual(again, streams) {
			t.Fatalf("%s\nreads as %+v\nand what that writes as %+v, %v", text, streams, again, err)
		}
		for _, s := range streams {
			Reach(s)
			frames, err := FirstFrames(s, 5)
			if err == nil && len(frames) != 5 {
				t.Fatalf("%d first frames of 5", len(frames))
			}
		}
		if mix, err := MixOf(streams); err == nil && (mix.Packets <= 0 || mix.Bytes < 64) {
			t.Fatalf("the mix is %+v", mix)
		}
	})
}
