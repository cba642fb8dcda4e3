package report_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/report/reporttest"
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
	want := reporttest.All()
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
	if !reflect.DeepEqual(got[0].Result, want[0].Result) {
		t.Error("the result came back changed")
	}
}

func TestTheDocumentIsPlainJSON(t *testing.T) {
	var doc struct {
		Result struct {
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
	if !doc.Result.Saturated || doc.Result.Directions[0].Received.PacketsPerSecond != r.Result.Directions[0].Received.PacketsPerSecond || doc.Result.Directions[0].LossRatio != "0" {
		t.Errorf("read %+v", doc.Result)
	}
}

// What the last release wrote says what it said then.
func TestReadReadsTheVersionBefore(t *testing.T) {
	old, err := os.ReadFile("testdata/report.v1alpha1.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := report.Read(bytes.NewReader(old))
	if err != nil || len(got) != 1 {
		t.Fatalf("%d reports, %v", len(got), err)
	}
	if again := document(t, got...); string(again) != strings.Replace(string(old), report.VersionBefore, report.Version, 1) {
		t.Errorf("it is written as\n%s", again)
	}
}

// A newer linerate of the same version may say more; what this one knows means the same.
func TestReadIgnoresWhatItDoesNotKnow(t *testing.T) {
	want := reporttest.Measured()
	more := strings.Replace(string(document(t, want)), `"producer"`, `"colour": {"of": "the lab"}, "producer"`, 1)
	got, err := report.Read(strings.NewReader(more))
	if err != nil || !reflect.DeepEqual(got[0].Result, want.Result) {
		t.Errorf("%v, %v", got, err)
	}
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
		"a newer version":            {changed("report.v1alpha2", "report.v2"), `this linerate reads "linerate.dev/report.v1alpha2" and "linerate.dev/report.v1alpha1"`},
		"a plan of another version":  {changed("plan.v1alpha1", "plan.v2"), "plan.version"},
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
	t.Run("a window without its directions", func(t *testing.T) {
		r := reporttest.Measured()
		r.Windows[2].Directions = nil
		if _, err := report.Read(bytes.NewReader(document(t, r))); err == nil || !strings.Contains(err.Error(), "window 3 has 0 directions") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("evidence of other directions", func(t *testing.T) {
		r := reporttest.Measured()
		r.Windows[2].Evidence = &report.Evidence{}
		if _, err := report.Read(bytes.NewReader(document(t, r))); err == nil || !strings.Contains(err.Error(), "window 3 has evidence of 0 directions") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("samples out of order", func(t *testing.T) {
		r := reporttest.Measured()
		r.Samples[0], r.Samples[1] = r.Samples[1], r.Samples[0]
		if _, err := report.Read(bytes.NewReader(document(t, r))); err == nil || !strings.Contains(err.Error(), "order of time") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("more than it can be", func(t *testing.T) {
		endless := io.MultiReader(strings.NewReader(`{"version":"`), spaces{})
		if _, err := report.ReadUpTo(endless, 1<<16); err == nil || !strings.Contains(err.Error(), "larger than 65,536 bytes") {
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
