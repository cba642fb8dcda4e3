package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/intake"
	"github.com/linerate-dev/linerate/internal/trex/stream"
)

// ParseStreams reads TRex streams as TRex's builders write them: a JSON list of stream objects, or an object with that list as its
// only member "streams". What may be left out is what has one sensible value (enabled and self_start true, core_id and next_stream_id
// −1, no gap, no flags, no program, no flow stats). next_stream_id counts from 1 in the list; a chain may also be written with TRex's
// name and next.
//
// It is strict: members that the server would ignore, values that it would refuse at start, and what is known to stop a server for
// good are refused, and the error, Faults, says of each which stream and which member. What a server adds when it gives streams back,
// and its console when it saves them, is ignored (addedByServer).
func ParseStreams(text []byte) ([]stream.Stream, error) {
	raw, err := rawStreams(text)
	if err != nil {
		return nil, err
	}
	if len(raw) == 0 || len(raw) > maxStreams {
		return nil, fmt.Errorf("streams: %d of them, where 1 to %d can be sent", len(raw), maxStreams)
	}
	streams, found := make([]stream.Stream, len(raw)), Faults(nil)
	for i, r := range raw {
		path := fmt.Sprintf("streams[%d]", i)
		if wrong := checkMembers(path, r); len(wrong) > 0 {
			found = append(found, wrong...)
			continue
		}
		if streams[i], err = decodeStream(r); err != nil {
			found = append(found, decodeError(path, err))
		}
	}
	if len(found) > 0 {
		return nil, found
	}
	if err := link(streams); err != nil {
		return nil, err
	}
	return streams, CheckStreams(streams)
}

// Faults are all that is wrong with streams, in the order in which it stands there.
type Faults []error

func (f Faults) Error() string {
	var words []string
	for _, err := range f.First(mostFaults) {
		words = append(words, err.Error())
	}
	return strings.Join(words, "; ")
}

// mostFaults is how many faults are told at once.
const mostFaults = 10

// First are the first n faults, and one that says how many more there are.
func (f Faults) First(n int) []error {
	if len(f) <= n {
		return f
	}
	return append(slices.Clone(f[:n]), fmt.Errorf("streams: %d faults more", len(f)-n))
}

// orNil is no error where there are no faults.
func (f Faults) orNil() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// addedByServer says that a TRex server adds the member to streams that it gives back; nobody reads it in a stream that is added. Where only the counters' old name rx_stats is there, somebody wants them counted.
func addedByServer(object map[string]json.RawMessage, kind, member string) bool {
	switch kind {
	case "":
		_, counted := object["flow_stats"]
		return member == "id" || member == "rx_stats" && counted
	case "vm":
		return member == "split_by_var"
	}
	return false
}

// MaxText is how many bytes of streams are read. The largest program of a field engine that a server takes is some kilobytes, and a test has at most maxStreams.
const MaxText = 16 << 20

var limits = intake.Limits{Bytes: MaxText, Memory: 128 << 20}

// rawStreams takes the list out of its wrapper, if it has one.
func rawStreams(text []byte) ([]json.RawMessage, error) {
	const forms = `write a JSON list of TRex stream objects, or {"streams": [...]}`
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' {
		var wrapper map[string]json.RawMessage
		if err := intake.JSON(text, &wrapper, limits); err != nil {
			return nil, fmt.Errorf("streams: %w: %s", err, forms)
		}
		list, ok := wrapper["streams"]
		if !ok || len(wrapper) != 1 {
			return nil, fmt.Errorf("streams: the object has other members than streams: %s", forms)
		}
		text = list
	}
	var raw []json.RawMessage
	if err := intake.JSON(text, &raw, limits); err != nil {
		return nil, fmt.Errorf("streams: %w: %s", err, forms)
	}
	return raw, nil
}

func decodeStream(raw json.RawMessage) (stream.Stream, error) {
	s := stream.Stream{Enabled: true, SelfStart: true, CoreID: -1, NextStreamID: -1}
	err := intake.JSON(raw, &s, limits)
	if !s.FlowStats.Enabled {
		s.FlowStats = stream.Flow{} // a server gives back what they would be
	}
	if s.VM.Instructions == nil {
		s.VM.Instructions = []stream.Instruction{}
	}
	return s, err
}

// decodeError says a JSON error in the words of the document.
func decodeError(path string, err error) error {
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s.%s: a %s can't stand here (wanted: %s)", path, mismatch.Field, mismatch.Value, mismatch.Type)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// members are the names that an object may have; those after "|" only may, the others must be there.
func members(object string) (required, optional []string) {
	words := map[string]string{
		"":                    "mode packet | enabled self_start start_paused flags action_count random_seed core_id isg next_stream_id vm flow_stats name next",
		"packet":              "binary | meta",
		"vm":                  "instructions | cache",
		"flow_stats":          "enabled | stream_id rule_type vxlan ieee_1588",
		"mode":                "type rate | total_pkts pkts_per_burst ibg count",
		"rate":                "type value |",
		"flow_var":            "type name size op | init_value min_value max_value value_list step split_to_cores next_var",
		"flow_var_rand_limit": "type name size limit min_value max_value | seed split_to_cores next_var",
		"tuple_flow_var":      "type name ip_min ip_max port_min port_max | limit_flows flags",
		"write_flow_var":      "type name pkt_offset is_big_endian | add_value",
		"write_mask_flow_var": "type name pkt_offset pkt_cast_size mask shift is_big_endian | add_value",
		"fix_checksum_ipv4":   "type pkt_offset |",
		"fix_checksum_hw":     "type l2_len l3_len l4_type |",
		"fix_checksum_icmpv6": "type l2_len l3_len |",
		"trim_pkt_size":       "type name |",
	}
	must, may, _ := strings.Cut(words[object], "|")
	return strings.Fields(must), strings.Fields(may)
}

func instructionTypes() []string {
	return []string{
		"flow_var", "flow_var_rand_limit", "tuple_flow_var", "write_flow_var", "write_mask_flow_var",
		"fix_checksum_ipv4", "fix_checksum_hw", "fix_checksum_icmpv6", "trim_pkt_size",
	}
}

// checkMembers finds unknown and missing members of a stream, at every depth. Values of a wrong type are left to the decoder.
func checkMembers(path string, raw json.RawMessage) (found Faults) {
	s, found := checkObject(path, "", raw)
	for _, name := range []string{"packet", "mode", "flow_stats", "vm"} {
		if _, ok := s[name]; !ok {
			continue
		}
		object, wrong := checkObject(path+"."+name, name, s[name])
		found = append(found, wrong...)
		switch {
		case object == nil:
		case name == "mode" && object["rate"] != nil:
			_, wrong := checkObject(path+".mode.rate", "rate", object["rate"])
			found = append(found, wrong...)
		case name == "vm" && object["instructions"] != nil:
			found = append(found, checkInstructions(path+".vm.instructions", object["instructions"])...)
		}
	}
	return found
}

func checkInstructions(path string, raw json.RawMessage) (found Faults) {
	var list []json.RawMessage
	if err := intake.JSON(raw, &list, limits); err != nil {
		return Faults{fmt.Errorf("%s: must be a list of instructions", path)}
	}
	for i, r := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		var kind struct{ Type string }
		if err := intake.JSON(r, &kind, limits); err != nil || !slices.Contains(instructionTypes(), kind.Type) {
			found = append(found, fmt.Errorf("%s.type: %q is not known: use %s", at, kind.Type, quoted(instructionTypes())))
			continue
		}
		_, wrong := checkObject(at, kind.Type, r)
		found = append(found, wrong...)
	}
	return found
}

// checkObject finds what is no object, and its unknown and missing members, in the order of their names. A member that is null counts as missing, as with TRex.
func checkObject(path, kind string, raw json.RawMessage) (object map[string]json.RawMessage, found Faults) {
	if err := intake.JSON(raw, &object, limits); err != nil || object == nil {
		return nil, Faults{fmt.Errorf("%s: must be an object", path)}
	}
	required, optional := members(kind)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch {
		case addedByServer(object, kind, name):
		case !slices.Contains(required, name) && !slices.Contains(optional, name):
			found = append(found, fmt.Errorf("%s.%s: no such member: it can have %s", path, name, strings.Join(slices.Concat(required, optional), ", ")))
		case string(object[name]) == "null":
			delete(object, name)
		}
	}
	for _, name := range required {
		if _, ok := object[name]; !ok {
			found = append(found, fmt.Errorf("%s.%s: missing", path, name))
		}
	}
	return object, found
}

// link resolves chains that are written by name into positions.
func link(streams []stream.Stream) error {
	for i := range streams {
		s := &streams[i]
		if s.Next == "" {
			continue
		}
		at := slices.IndexFunc(streams, func(o stream.Stream) bool { return o.Name == s.Next })
		if at < 0 {
			return fmt.Errorf("streams[%d].next: no stream has the name %q", i, s.Next)
		}
		if s.NextStreamID != -1 && s.NextStreamID != at+1 {
			return fmt.Errorf("streams[%d].next: %q is stream %d, and next_stream_id says %d: leave one out", i, s.Next, at+1, s.NextStreamID)
		}
		s.NextStreamID = at + 1
	}
	return nil
}

func quoted(words []string) string { return strings.Join(words, ", ") }
