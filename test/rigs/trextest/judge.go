package trextest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"testing"
)

// Reasons are the reasons why a server's answers may differ from those of a real TRex, by the place of the
// difference. A place is a pattern of path.Match of the method, then members.
type Reasons map[string]string

// Judge compares answers with recorded ones. It compares members, types, texts, truths, refusals, and the numbers
// that the requests alone decide.
type Judge struct {
	differs, leftOut, unneeded Reasons
	absent                     map[string]bool
	problems                   []string
}

// NewJudge lets values be others at the places of differs, and members be missing at those of leftOut.
func NewJudge(differs, leftOut Reasons) *Judge {
	unneeded := maps.Clone(differs)
	maps.Copy(unneeded, leftOut)
	return &Judge{differs: differs, leftOut: leftOut, unneeded: unneeded, absent: map[string]bool{}}
}

// Compare says what is wrong with an answer.
func (j *Judge) Compare(place string, recorded, heard any) []string {
	j.problems = nil
	j.value(place, recorded, heard)
	return j.problems
}

// Absent are the places where members were missing that may be.
func (j *Judge) Absent() []string { return slices.Sorted(maps.Keys(j.absent)) }

// missing reports a member that only the recorded answer has.
func (j *Judge) missing(place string, recorded any) {
	earlier := len(j.problems)
	j.report(j.leftOut, place, "missing, recorded %v", recorded)
	if len(j.problems) == earlier {
		j.absent[place] = true
	}
}

func (j *Judge) report(allowed Reasons, place, format string, args ...any) {
	for pattern := range allowed {
		if ok, _ := path.Match(pattern, place); ok {
			delete(j.unneeded, pattern)
			return
		}
	}
	j.problems = append(j.problems, place+": "+fmt.Sprintf(format, args...))
}

func (j *Judge) value(place string, recorded, heard any) {
	switch want := recorded.(type) {
	case map[string]any:
		if got, ok := heard.(map[string]any); ok {
			j.object(place, want, got)
			return
		}
	case []any:
		if got, ok := heard.([]any); ok {
			j.list(place, want, got)
			return
		}
	case json.Number:
		if got, ok := heard.(json.Number); ok && isReal(want) == isReal(got) &&
			(!exactly(place) || nearlyEqual(want, got)) {
			return
		}
	default:
		if recorded == heard || path.Base(place) == "id" {
			return
		}
	}
	j.report(j.differs, place, "recorded %v, heard %v", recorded, heard)
}

func (j *Judge) object(place string, recorded, heard map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		if got, ok := heard[name]; ok {
			j.value(place+"/"+name, recorded[name], got)
		} else {
			j.missing(place+"/"+name, recorded[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(heard)) {
		if _, ok := recorded[name]; !ok {
			j.report(j.differs, place+"/"+name, "not in the recorded answer, heard %v", heard[name])
		}
	}
}

func (j *Judge) list(place string, recorded, heard []any) {
	for i := range max(len(recorded), len(heard)) {
		element := fmt.Sprintf("%s/%d", place, i)
		switch {
		case i >= len(heard):
			j.missing(element, recorded[i])
		case i >= len(recorded):
			j.report(j.differs, element, "not in the recorded answer, heard %v", heard[i])
		default:
			j.value(element, recorded[i], heard[i])
		}
	}
}

// exactly is whether the requests alone decide a number.
func exactly(place string) bool {
	method, _, _ := strings.Cut(place, "/")
	switch method {
	case "validate", "get_all_streams", "get_async_events":
		return true
	}
	switch path.Base(place) {
	case "multiplier", "code", "max_stream_id", "sent", "wirelen":
		return true
	}
	return false
}

// numbered decodes JSON and keeps its numbers as they are written.
func numbered(t testing.TB, text json.RawMessage) (v any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}

func nearlyEqual(a, b json.Number) bool {
	x, _ := a.Float64()
	y, _ := b.Float64()
	return math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y))
}

func isReal(n json.Number) bool { return strings.ContainsAny(n.String(), ".eE") }
