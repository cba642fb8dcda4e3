package report_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// document is the reports as JSON.
func document(t *testing.T, reports ...*report.Report) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := report.JSON(&out, reports...); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestReadReadsWhatJSONWrote(t *testing.T) {
	want := reporttest.Reports()
	got, err := report.Read(bytes.NewReader(document(t, want...)))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d reports, wrote %d", len(got), len(want))
	}
	for i := range want {
		if !bytes.Equal(document(t, got[i]), document(t, want[i])) {
			t.Errorf("report %d came back changed", i+1)
		}
	}
	if !reflect.DeepEqual(got[0].Answer, want[0].Answer) {
		t.Error("the result came back changed")
	}
}

func TestTheDocumentIsPlainJSON(t *testing.T) {
	var doc struct {
		Answer struct {
			Saturated  bool
			Directions []struct {
				Received        struct{ PacketsPerSecond int64 }
				LossRatio       string
				LineRatePercent string
			}
		}
	}
	r := reporttest.Measured(reporttest.Limited(10_000))
	if err := json.Unmarshal(document(t, r), &doc); err != nil {
		t.Fatal(err)
	}
	if !doc.Answer.Saturated || doc.Answer.Directions[0].Received.PacketsPerSecond != r.Answer.Directions[0].Received.PacketsPerSecond || doc.Answer.Directions[0].LossRatio != "0" {
		t.Errorf("read %+v", doc.Answer)
	}
}

// Members that this linerate doesn't know are ignored, in each object of a document: what it knows means the same.
func TestReadIgnoresWhatItDoesNotKnow(t *testing.T) {
	for _, s := range reporttest.Scenarios() {
		known := document(t, s.Report)
		var v any
		dec := json.NewDecoder(bytes.NewReader(known))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		more, err := json.Marshal(withUnknownMembers(v))
		if err != nil {
			t.Fatal(err)
		}
		got, err := report.Read(bytes.NewReader(more))
		if err != nil || string(document(t, got...)) != string(known) {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

func withUnknownMembers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = withUnknownMembers(member)
		}
		v["colour"] = map[string]any{"of": "the lab"}
	case []any:
		for i := range v {
			v[i] = withUnknownMembers(v[i])
		}
	}
	return v
}

func TestReadRefuses(t *testing.T) {
	changed := func(from, to string) string {
		s := string(document(t, reporttest.Measured(reporttest.Limited(10_000))))
		if !strings.Contains(s, from) {
			t.Fatalf("the document doesn't hold %q", from)
		}
		return strings.Replace(s, from, to, 1)
	}
	for name, c := range map[string]struct{ input, want string }{
		"nothing":                    {"", "holds no report"},
		"what is not JSON":           {"product loadtest", "report 1 is not JSON"},
		"another document":           {`{"kind":"LoadTest"}`, `version is ""`},
		"a list":                     {`[]`, "not a report"},
		"another version":            {changed("report.v1alpha1", "report.v2"), `version is "linerate.dev/report.v2", and this linerate reads "linerate.dev/report.v1alpha1": use the linerate that wrote it`},
		"a plan of another version":  {changed("plan.v1alpha1", "plan.v2"), `plan.version is "linerate.dev/plan.v2", and this linerate reads "linerate.dev/plan.v1alpha1"`},
		"a report without a plan":    {`{"version":"linerate.dev/report.v1alpha1","ending":"Completed"}`, "no plan"},
		"a run without an end":       {changed(`"Completed"`, `""`), "how the run ended"},
		"a limit that is no figure":  {changed(`"measured": true`, `"measured": false`), "saturated"},
		"a ratio that is no decimal": {changed(`"maxLossRatio": "0.001"`, `"maxLossRatio": "little"`), "little"},
		"a second that is cut off":   {string(document(t, reporttest.Measured())) + `{"version":`, "report 2"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := report.Read(strings.NewReader(c.input)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	t.Run("Read refuses a window without its directions", func(t *testing.T) {
		r := reporttest.Measured()
		r.Windows[2].Directions = nil
		if _, err := report.Read(bytes.NewReader(document(t, r))); err == nil || !strings.Contains(err.Error(), "window 3 has 0 directions") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("Read refuses evidence of other directions", func(t *testing.T) {
		r := reporttest.Measured()
		r.Windows[2].Evidence = &report.Evidence{}
		if _, err := report.Read(bytes.NewReader(document(t, r))); err == nil || !strings.Contains(err.Error(), "window 3 has evidence of 0 directions") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("Read refuses samples out of order", func(t *testing.T) {
		r := reporttest.Measured()
		r.Samples[0], r.Samples[1] = r.Samples[1], r.Samples[0]
		if _, err := report.Read(bytes.NewReader(document(t, r))); err == nil || !strings.Contains(err.Error(), "order of time") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("Read refuses more than it can be", func(t *testing.T) {
		endless := io.MultiReader(strings.NewReader(`{"version":"`), spaces{})
		if _, err := report.ReadUpTo(endless, 1<<16); err == nil || !strings.Contains(err.Error(), "more than 65,536 bytes") {
			t.Errorf("error %v", err)
		}
	})
}

// spaces never end.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// A Report of sessions doesn't write zeros for frames that nobody counted, and what it writes reads back as it was.
func TestSessionsWriteNoMemberOfFrames(t *testing.T) {
	spread := report.Spread{Percent: units.One.Percent(), LowGoodputBitsPerSecond: new(int64(92_000_000)), HighGoodputBitsPerSecond: new(int64(94_000_000))}
	r := reporttest.Sessions(46_500_000)
	for name, c := range map[string]struct {
		value any
		want  []string
	}{
		"a direction": {r.Answer.Directions[0], []string{"from", "quality", "reason", "sessions", "to"}},
		"all":         {*r.Answer.Total, []string{"sessions", "window"}},
		"figures": {report.Figures{Runs: 5, GoodputBitsPerSecond: new(int64(93_000_000)), LowerBound: true, Unconfirmed: 1, Spread: &spread},
			[]string{"goodputBitsPerSecond", "lowerBound", "runs", "spread", "unconfirmed"}},
		"no goodput": {report.Figures{Runs: 2, GoodputBitsPerSecond: new(int64), Spread: &report.Spread{LowGoodputBitsPerSecond: new(int64), HighGoodputBitsPerSecond: new(int64)}}, []string{"goodputBitsPerSecond", "runs", "spread"}},
		"datagrams": {report.Sessions{Connections: 2, AskedBitsPerSecond: 8_000_000, Datagrams: &report.Datagrams{Sent: 10}, EndsWaited: plan.Duration(time.Second), Disturbed: plan.Duration(time.Minute)},
			[]string{"askedBitsPerSecond", "connections", "datagrams", "disturbed", "endsWaited", "goodputBitsPerSecond", "receivedBytes", "receivedIn", "sentBytes", "sentIn", "writtenBytes"}},
		"a confident spread": {report.Spread{LowGoodputBitsPerSecond: new(int64), HighGoodputBitsPerSecond: new(int64), Confidence: units.Hundred}, []string{"confidencePercent", "highGoodputBitsPerSecond", "lowGoodputBitsPerSecond", "percent"}},
		"a sample":           {r.Samples[1].Directions[0], []string{"sessions"}},
		"a spread":           {spread, []string{"highGoodputBitsPerSecond", "lowGoodputBitsPerSecond", "percent"}},
	} {
		document, err := json.Marshal(c.value)
		if err != nil {
			t.Fatal(err)
		}
		members := map[string]any{}
		if err := json.Unmarshal(document, &members); err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(members)); !slices.Equal(got, c.want) {
			t.Errorf("%s has %v, want %v", name, got, c.want)
		}
		again := reflect.New(reflect.TypeOf(c.value))
		if err := json.Unmarshal(document, again.Interface()); err != nil || !reflect.DeepEqual(again.Elem().Interface(), c.value) {
			t.Errorf("%s reads back as %+v (%v), want %+v", name, again.Elem(), err, c.value)
		}
	}
	var out bytes.Buffer
	if err := report.JSON(&out, r); err != nil {
		t.Fatal(err)
	}
	for _, member := range []string{`"offered"`, `"intended"`, `"returned"`, `"lossRatio"`, `"packetsPerSecond"`, `"lineRatePercent"`} {
		if strings.Contains(out.String(), member) {
			t.Errorf("a Report of sessions has %s", member)
		}
	}
	if again, err := report.Read(&out); err != nil || !reflect.DeepEqual(again[0].Windows, r.Windows) || !reflect.DeepEqual(again[0].Answer, r.Answer) {
		t.Errorf("it reads back otherwise (%v)", err)
	}
}

// Of frames each member is written, zero or not, and signs as they are.
func TestFramesWriteAllTheirMembers(t *testing.T) {
	type plain report.Direction
	m := report.Direction{From: "west", To: "east", Quality: report.Good, Reason: "1 < 2 & 3 > 2"}
	var out, want bytes.Buffer
	for to, value := range map[*bytes.Buffer]any{&out: m, &want: plain(m)} {
		enc := json.NewEncoder(to)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(value); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != want.String() || !strings.Contains(out.String(), "1 < 2 & 3 > 2") {
		t.Errorf("%s\nwant\n%s", out.String(), want.String())
	}
}
