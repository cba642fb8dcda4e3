package compatibility

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// ofTheFuture is a document as a later linerate of the same version might write it: each of its objects has unknown members.
func ofTheFuture(t *testing.T, document []byte) []byte {
	t.Helper()
	var v any
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(withMore(v))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func withMore(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(v)) {
			if name != "portOfLink" { // a map by names of the test's own, no object with members
				v[name] = withMore(v[name])
			}
		}
		v["ofTheFuture"], v["moreOfIt"] = map[string]any{"latencyMicros": []int{1, 2}}, "a word"
	case []any:
		for i := range v {
			v[i] = withMore(v[i])
		}
	}
	return v
}

// asNow is an old document in this linerate's version.
func asNow(document []byte) []byte {
	return bytes.Replace(document, []byte(report.VersionBefore), []byte(report.Version), 1)
}

func TestAReportWithUnknownMembersIsRead(t *testing.T) {
	for _, name := range []string{"limit", "interrupted", "path-not-proven", "slower-than-its-baseline"} {
		now := asNow(unpacked(t, read(t, "reports/"+name+".json.gz")))
		got, err := report.Read(bytes.NewReader(ofTheFuture(t, now)))
		if err != nil {
			t.Fatal(err)
		}
		if want := reports(t, name); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as\n%+v\nwant\n%+v", name, got[0], want[0])
		}
	}
}

func TestASuitesReportWithUnknownMembersIsRead(t *testing.T) {
	document := unpacked(t, read(t, "reports/four-systems.suite.json.gz"))
	want, err := report.ReadSuite(document)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := report.ReadSuite(ofTheFuture(t, document)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("it is read as\n%+v (%v)\nwant\n%+v", got, err, want)
	}
}

func TestAPackedReportWithUnknownMembersIsRead(t *testing.T) {
	t.Run("a Plan", func(t *testing.T) {
		sites := read(t, "configmaps/sites.json")
		for _, name := range named(t, "plans", ".json.gz") {
			was := read(t, "plans/"+name+".json.gz")
			want, _, err := delivery.DecodePlan(map[string][]byte{delivery.KeyPlan: was, delivery.KeySites: sites})
			if err != nil {
				t.Fatal(err)
			}
			got, where, err := delivery.DecodePlan(map[string][]byte{delivery.KeyPlan: packed(t, ofTheFuture(t, unpacked(t, was))), delivery.KeySites: ofTheFuture(t, sites)})
			if err != nil || len(where.Generators) != 1 || !reflect.DeepEqual(got, want) {
				t.Errorf("%s is read as\n%+v (%v)\nwant\n%+v", name, got, err, want)
			}
		}
	})
	t.Run("a Report", func(t *testing.T) {
		c := configMap(t, "report")
		document := ofTheFuture(t, asNow(unpacked(t, c.BinaryData[delivery.KeyReport])))
		c.Annotations[delivery.AnnotationDigest] = report.Digest(document)
		got, _, err := delivery.DecodeReport(map[string][]byte{delivery.KeyReport: packed(t, document)}, c.Annotations)
		if want := reports(t, "slower-than-its-baseline")[0]; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("it is read as\n%+v (%v)\nwant\n%+v", got, err, want)
		}
	})
	t.Run("a baseline", func(t *testing.T) {
		document := ofTheFuture(t, unpacked(t, read(t, "configmaps/baseline.json.gz")))
		got, err := delivery.ReadBaseline(fstest.MapFS{delivery.KeyBaseline: {Data: packed(t, document)}})
		if want := reports(t, "slower-than-its-baseline")[0].Baseline; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("it is read as\n%+v (%v)\nwant\n%+v", got, err, want)
		}
	})
	t.Run("a runner's progress", func(t *testing.T) {
		c := configMap(t, "progress")
		for key, text := range c.Data {
			c.Data[key] = string(ofTheFuture(t, []byte(text)))
		}
		if p, err := delivery.DecodeProgress(c.Data); err != nil || p.Phase != "Refining" {
			t.Errorf("%+v, %v", p, err)
		}
	})
}

func TestADocumentOfALaterVersionIsRefusedWithTheWayOut(t *testing.T) {
	later := bytes.Replace(unpacked(t, read(t, "reports/limit.json.gz")), []byte(report.VersionBefore), []byte("linerate.dev/report.v1alpha3"), 1)
	_, err := report.Read(bytes.NewReader(later))
	if err == nil || !strings.Contains(err.Error(), `"linerate.dev/report.v1alpha3"`) || !strings.Contains(err.Error(), "use the linerate that wrote it") {
		t.Errorf("got %v", err)
	}
}
