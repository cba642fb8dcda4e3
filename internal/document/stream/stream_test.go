package stream

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// testdata holds streams as TRex's own builders write them, before the client numbers them.

func TestStreamsOfTRexSurviveTheRoundTrip(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) != 21 {
		t.Fatalf("%d files of streams, %v; want 21", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var streams []Stream
			decoder := json.NewDecoder(bytes.NewReader(text))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&streams); err != nil {
				t.Fatal(err)
			}
			back, err := json.Marshal(streams)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := written(t, back), written(t, text); !reflect.DeepEqual(got, want) {
				t.Errorf("reads and writes as\n%v\nwant\n%v", got, want)
			}
		})
	}
}

// written is the document without what TRex's builders leave out and we always write, or the other way about.
func written(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var streams []map[string]any
	if err := json.Unmarshal(text, &streams); err != nil {
		t.Fatal(err)
	}
	for _, s := range streams {
		delete(s, "next_stream_id")
		flow, ok := s["flow_stats"].(map[string]any)
		if !ok {
			t.Fatalf("flow_stats is %v", s["flow_stats"])
		}
		for _, member := range []string{"vxlan", "ieee_1588"} {
			if flow[member] == false {
				delete(flow, member)
			}
		}
	}
	return streams
}

func TestAnEmptyProgramIsAnEmptyList(t *testing.T) {
	text, err := json.Marshal(Stream{})
	if err != nil || !strings.Contains(string(text), `"vm":{"instructions":[]}`) {
		t.Errorf("writes %s, %v", text, err)
	}
	text, err = json.Marshal(VM{Cache: 255})
	if err != nil || string(text) != `{"instructions":[],"cache":255}` {
		t.Errorf("writes %s, %v", text, err)
	}
}

func TestAnInstructionWritesItsOwnMembersOnly(t *testing.T) {
	yes, next := true, "b"
	full := Instruction{
		Name: "a", Size: 2, Op: "inc", InitValue: 1, MinValue: 1, MaxValue: 9, Step: 1, SplitToCores: &yes, NextVar: &next, Seed: 3, Limit: 4,
		IPMin: 1, IPMax: 2, PortMin: 3, PortMax: 4, LimitFlows: 5, Flags: 1, PacketOffset: 14, CastSize: 1, Mask: 255, Shift: 2, AddValue: -14,
		BigEndian: true, L2Length: 14, L3Length: 20, L4Type: 11,
	}
	for kind, want := range map[string]string{
		"flow_var":            `{"init_value":1,"max_value":9,"min_value":1,"name":"a","next_var":"b","op":"inc","size":2,"split_to_cores":true,"step":1,"type":"flow_var"}`,
		"flow_var_rand_limit": `{"limit":4,"max_value":9,"min_value":1,"name":"a","next_var":"b","seed":3,"size":2,"split_to_cores":true,"type":"flow_var_rand_limit"}`,
		"tuple_flow_var":      `{"flags":1,"ip_max":2,"ip_min":1,"limit_flows":5,"name":"a","port_max":4,"port_min":3,"type":"tuple_flow_var"}`,
		"write_flow_var":      `{"add_value":-14,"is_big_endian":true,"name":"a","pkt_offset":14,"type":"write_flow_var"}`,
		"write_mask_flow_var": `{"add_value":-14,"is_big_endian":true,"mask":255,"name":"a","pkt_cast_size":1,"pkt_offset":14,"shift":2,"type":"write_mask_flow_var"}`,
		"fix_checksum_ipv4":   `{"pkt_offset":14,"type":"fix_checksum_ipv4"}`,
		"fix_checksum_hw":     `{"l2_len":14,"l3_len":20,"l4_type":11,"type":"fix_checksum_hw"}`,
		"fix_checksum_icmpv6": `{"l2_len":14,"l3_len":20,"type":"fix_checksum_icmpv6"}`,
		"trim_pkt_size":       `{"name":"a","type":"trim_pkt_size"}`,
	} {
		full.Type = kind
		if got, err := json.Marshal(full); err != nil || string(got) != want {
			t.Errorf("%s writes %s, %v; want %s", kind, got, err, want)
		}
	}
}

func TestAValueListReplacesTheRange(t *testing.T) {
	got, err := json.Marshal(Instruction{Type: "flow_var", Name: "p", Size: 2, Op: "inc", ValueList: []uint64{1, 5}, Step: 1})
	const want = `{"name":"p","next_var":null,"op":"inc","size":2,"step":1,"type":"flow_var","value_list":[1,5]}`
	if err != nil || string(got) != want {
		t.Errorf("writes %s, %v; want %s", got, err, want)
	}
}
