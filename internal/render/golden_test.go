package render

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// golden compares with testdata/name, or writes it under -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what is written; go test -update shows the difference in git\ngot:\n%s", file, got)
	}
}

// rendered is a report in a format.
func rendered(t *testing.T, format string, reports ...*report.Report) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, format, OfReports(reports...), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// renderedWithEvidence is rendered, of text with what is behind each answer.
func renderedWithEvidence(t *testing.T, format string, reports ...*report.Report) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, format, OfReports(reports...), TextOptions{Evidence: true}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestEveryReportReadsAsItDid(t *testing.T) {
	for _, s := range reporttest.Scenarios() {
		for format, ext := range map[string]string{"text": "txt", "markdown": "md", "junit": "xml"} {
			t.Run(s.Name+" as "+format, func(t *testing.T) {
				golden(t, s.Name+"."+ext, rendered(t, format, s.Report))
			})
		}
	}
	t.Run("all in one text", func(t *testing.T) { golden(t, "all.txt", rendered(t, "text", reporttest.Reports()...)) })
	t.Run("all in one markdown", func(t *testing.T) { golden(t, "all.md", rendered(t, "markdown", reporttest.Reports()...)) })
	t.Run("the ramp for trex-loadtest-viz", func(t *testing.T) {
		golden(t, "saturated.viz.json", rendered(t, "viz", reporttest.Scenarios()[0].Report))
	})
	for _, i := range []int{3, 5, 8} {
		s := reporttest.Scenarios()[i]
		t.Run(s.Name+" as a page", func(t *testing.T) { golden(t, s.Name+".html", rendered(t, "html", s.Report)) })
	}
	t.Run("the document itself", func(t *testing.T) {
		golden(t, "one-direction.json", rendered(t, "json", reporttest.Scenarios()[5].Report))
	})
}
