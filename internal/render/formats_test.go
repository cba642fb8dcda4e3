package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"html"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func written(t *testing.T, format string, d report.Documents) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, format, OfTests(d), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestASuiteInEachFormat(t *testing.T) {
	for format, name := range map[string]string{"text": "suite-alone.txt", "markdown": "suite.md", "junit": "suite.xml", "html": "suite.html"} {
		t.Run(format, func(t *testing.T) {
			golden(t, name, []byte(written(t, format, report.Documents{Suites: []*report.Suite{reporttest.Night()}})))
		})
	}
	t.Run("the JSON reads back as the suite", func(t *testing.T) {
		s, err := report.ReadSuite([]byte(written(t, "json", report.Documents{Suites: []*report.Suite{reporttest.Night()}})))
		if err != nil || len(s.Cells) != 2 {
			t.Errorf("%v: %+v", err, s)
		}
	})
	t.Run("a suite that isn't over says so", func(t *testing.T) {
		s := reporttest.Night()
		s.Finished = time.Time{}
		for _, format := range []string{"text", "markdown", "html"} {
			if got := written(t, format, report.Documents{Suites: []*report.Suite{s}}); !strings.Contains(strings.ReplaceAll(got, "&#39;", "'"), "the suite has not ended") {
				t.Errorf("%s doesn't say that it isn't over:\n%s", format, got)
			}
		}
	})
}

func TestTestsAndSuitesTogether(t *testing.T) {
	tests := report.Documents{Reports: []*report.Report{reporttest.PathNotProven(), reporttest.Doubtful()}, Suites: []*report.Suite{reporttest.Night(), reporttest.Night()}}
	t.Run("the text has one after the other", func(t *testing.T) {
		if got := written(t, "text", tests); strings.Count(got, "night: 1 of 2 tests") != 2 || !strings.HasPrefix(got, "product") {
			t.Errorf("got\n%s", got)
		}
	})
	t.Run("the junit is one document", func(t *testing.T) {
		var doc junitSuites
		if err := xml.Unmarshal([]byte(written(t, "junit", tests)), &doc); err != nil {
			t.Fatal(err)
		}
		if want := len(tests.Reports) + 4; len(doc.Suites) != want || doc.Failures < 2 || doc.Errors < 2 {
			t.Errorf("%d testsuites, want %d; %d failures, %d errors", len(doc.Suites), want, doc.Failures, doc.Errors)
		}
	})
	for format, says := range map[string]string{"html": "holds one suite", "viz": "a suite has several", "pdf": "no such format as pdf"} {
		t.Run(format+" is refused", func(t *testing.T) {
			if err := Write(&bytes.Buffer{}, format, OfTests(tests), TextOptions{}); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%v, want an error that says %q", err, says)
			}
		})
	}
}

// Each format of a document of several tests has the two lines, JSON in a member, CSV in its first row, and the others
// before all else.
func TestEachFormatBeginsWithTheTwoLines(t *testing.T) {
	for name, d := range ofEachKind() {
		if len(d.views) == 0 || d.views[0].answer == nil {
			continue
		}
		for _, format := range Formats(d.kind) {
			lines := *d.views[0].answer
			var out bytes.Buffer
			if err := Write(&out, format, d, TextOptions{Width: 200}); err != nil && format != "viz" {
				t.Fatal(err)
			}
			text := html.UnescapeString(strings.ReplaceAll(out.String(), "\\", ""))
			switch format {
			case "viz":
				continue
			case "junit":
				if d.kind == Tests { // each cell has its own
					lines = report.Lines{Summary: "vpp 64b: 1.78 Mpps, the median of 2 runs. Failed.",
						Message: "vpp 64b does not meet fast. Find what limits the device there, or correct the criterion."}
				}
			case "csv":
				_, text, _ = strings.Cut(text, "\n")
				text, _, _ = strings.Cut(text, "\n")
			case "json":
				var head struct{ Answer report.Lines }
				if err := json.Unmarshal(out.Bytes(), &head); err != nil || head.Answer != lines {
					t.Errorf("%s as json: %v, %+v, want %+v", name, err, head.Answer, lines)
				}
				continue
			}
			if i, k := strings.Index(text, strings.TrimSuffix(lines.Summary, ".")), strings.Index(text, lines.Message); i < 0 || k < i {
				t.Errorf("%s as %s lacks %q and then %q", name, format, lines.Summary, lines.Message)
			}
		}
	}
}
