package profile

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/stream"
)

// ParseStreams reads TRex streams as TRex's builders write them, which is a JSON list of stream objects, or an
// object with that list as its only member "streams". Members with one sensible value may be left out (enabled and
// self_start true, core_id and next_stream_id −1, no gap, no flags, no program, no flow stats). next_stream_id
// counts from 1 in the list. A chain may also be written with TRex's name and next.
//
// It is strict. It refuses members that the server would ignore, values that it would refuse at start, and values
// that are known to stop a server for good. The error, Faults, says of each which stream and which member. It
// ignores what a server adds when it gives streams back, and its console when it saves them (addedByServer).
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
		path := placeOf(i)
		wrong := checkMembers(path, r)
		if streams[i], err = decodeStream(r); err != nil && len(wrong) == 0 {
			wrong = Faults{fmt.Errorf("%s: %w", path, err)}
		}
		found = append(found, append(wrong, checkStream(path, streams[i], wrong)...)...)
	}
	if len(found) > 0 {
		return nil, found
	}
	if unlinked := link(streams); len(unlinked) > 0 {
		return nil, unlinked
	}
	return streams, checkTogether(streams).orNil()
}

// placeOf is how errors name a stream of the list.
func placeOf(stream int) string { return fmt.Sprintf("streams[%d]", stream) }

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

// addedByServer says that a TRex server adds the member to streams that it gives back. Nobody reads it in a stream
// that is added. Where only the counters' old name rx_stats is there, somebody wants them counted.
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

// MaxText is how many bytes of streams are read. The largest program of a field engine that a server takes is some
// kilobytes, and a test has at most maxStreams.
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

// decodeStream reads the readable part of a stream. checkMembers says more than the error of values that can't be
// read.
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

// formOf is what the object of a kind, or the instruction of a type, is decoded into.
func formOf(kind string) any {
	switch kind {
	case "":
		return &stream.Stream{}
	case "packet":
		return &stream.Packet{}
	case "mode":
		return &stream.Mode{}
	case "rate":
		return &stream.Rate{}
	case "flow_stats":
		return &stream.Flow{}
	case "vm":
		return &stream.VM{}
	}
	return &stream.Instruction{}
}

// holdsObjects says that a member's value is looked at on its own.
func holdsObjects(member string) bool {
	return slices.Contains([]string{"packet", "mode", "rate", "flow_stats", "vm", "instructions"}, member)
}

// checkValue refuses a value that a stream can't hold.
func checkValue(kind, member string, value json.RawMessage) error {
	object, err := json.Marshal(map[string]json.RawMessage{member: value})
	if err == nil {
		err = intake.JSON(object, formOf(kind), limits)
	}
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s can't stand here: write %s", inWords(mismatch.Value), wanted(mismatch.Type))
	}
	if corrupt, ok := errors.AsType[base64.CorruptInputError](err); ok {
		return fmt.Errorf("not base64 from byte %d on: write the frame's bytes as standard base64", int64(corrupt))
	}
	return err
}

// inWords is a JSON value as its decoder names it, such as "string" or "number -1".
func inWords(value string) string {
	kind, rest, _ := strings.Cut(value, " ")
	words := map[string]string{"string": "a text", "number": "a number", "bool": "true or false", "array": "a list",
		"object": "an object"}
	if rest != "" {
		return rest
	}
	return words[kind]
}

// wanted is the form of the values that a Go type holds.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "the frame's bytes as a text in base64"
		}
		return "a list of whole numbers"
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64)>>(64-t.Bits()))
	default:
		return "a whole number"
	}
}

// members are the names that an object may have. Those after "|" are optional, and the others must be there.
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

// checkMembers finds unknown and missing members of a stream, and values that can't stand where they do, at every
// depth.
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
		place := fmt.Sprintf("%s[%d]", path, i)
		var kind struct{ Type string }
		if err := intake.JSON(r, &kind, limits); err != nil || !slices.Contains(instructionTypes(), kind.Type) {
			found = append(found, fmt.Errorf("%s.type: %q is not known: use %s", place, kind.Type,
				quoted(instructionTypes())))
			continue
		}
		_, wrong := checkObject(place, kind.Type, r)
		found = append(found, wrong...)
	}
	return found
}

// checkObject finds what is no object, and its unknown and missing members, in the order of their names. A member
// that is null counts as missing, as with TRex.
func checkObject(path, kind string, raw json.RawMessage) (object map[string]json.RawMessage, found Faults) {
	if err := intake.JSON(raw, &object, limits); err != nil || object == nil {
		return nil, Faults{fmt.Errorf("%s: must be an object", path)}
	}
	required, optional := members(kind)
	readable := intake.JSON(raw, formOf(kind), limits) == nil
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch {
		case addedByServer(object, kind, name):
		case !slices.Contains(required, name) && !slices.Contains(optional, name):
			found = append(found, fmt.Errorf("%s.%s: no such member: it can have %s", path, name,
				strings.Join(slices.Concat(required, optional), ", ")))
		case string(object[name]) == "null":
			delete(object, name)
		case !readable && !holdsObjects(name):
			if err := checkValue(kind, name, object[name]); err != nil {
				found = append(found, fmt.Errorf("%s.%s: %w", path, name, err))
			}
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
func link(streams []stream.Stream) (found Faults) {
	for i := range streams {
		s := &streams[i]
		if s.Next == "" {
			continue
		}
		next := slices.IndexFunc(streams, func(o stream.Stream) bool { return o.Name == s.Next })
		switch {
		case next < 0:
			found = append(found, fmt.Errorf("%s.next: no stream has the name %q", placeOf(i), s.Next))
		case s.NextStreamID != unlinkedStreamID && s.NextStreamID != next+1:
			found = append(found, fmt.Errorf("%s.next: %q is stream %d, and next_stream_id says %d: leave one out",
				placeOf(i), s.Next, next+1, s.NextStreamID))
		}
		s.NextStreamID = next + 1
	}
	return found
}

func quoted(words []string) string { return strings.Join(words, ", ") }
