package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
	"github.com/linerate-dev/linerate/test/rigs/sanitizetest"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// hostileReport is a file of a Report that linerate reads, with all its texts somebody else's.
func hostileReport(t *testing.T, offset int) string {
	t.Helper()
	r := reporttest.Measured(reporttest.Limited(10_000))
	sanitizetest.Fill(reflect.ValueOf(r), offset, "Version", "Ending", "Type", "Outcome", "Quality")
	name := filepath.Join(t.TempDir(), "report.json")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.JSON(f, r); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestNoVerbSaysWhatAHostileReportWantsItTo(t *testing.T) {
	tier.Plain(t)
	for offset := 0; offset < len(sanitizetest.Words); offset += 15 {
		name := hostileReport(t, offset)
		hostileName := filepath.Join(filepath.Dir(name), "x\x1b[2J\n::error::@somebody.json")
		lines := [][]string{{"verify", name}, {"verify", "-o", "json", name}, {"report", hostileName},
			{"verify", hostileName}, {"run", hostileName}, {"report", "-o", "\x1b[2J\n::error::", name},
			{"no\n::error::verb"}, {"--no\n::error::flag"}}
		for verb, kind := range map[string]render.Kind{"report": render.Tests, "table": render.Table,
			"compare": render.Comparison, "trend": render.Trend} {
			for _, format := range render.Formats(kind) {
				line := []string{verb, "-o", format, name}
				if verb != "report" {
					line = append(line, name)
				}
				lines = append(lines, line)
			}
		}
		for _, line := range lines {
			var stdout, stderr bytes.Buffer
			code := Main("linerate", line, Streams{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
			if line[0] == "report" && len(line) == 4 && line[2] == "text" && code != report.ExitOK {
				t.Errorf("%q ends with %d: %s", line, code, stderr.String())
			}
			format := ""
			if len(line) > 2 && line[1] == "-o" {
				format = line[2]
			}
			sanitizetest.Check(t, strings.Join(line, " "), format, stdout.Bytes())
			sanitizetest.Check(t, strings.Join(line, " "), "", stderr.Bytes())
		}
	}
}

// A Report of 17 kB took each of these verbs 4 to 5 GB of memory. The test measures what is allocated, not how
// long it takes.
func TestABombIsRefusedByEachVerbThatReadsReports(t *testing.T) {
	tier.Plain(t)
	name := filepath.Join(t.TempDir(), "bomb.json")
	document := `{"version":"` + report.Version +
		`","plan":{"version":"linerate.dev/plan.v1alpha1","test":{"name":"bomb"}},"ending":"Completed","windows":[` +
		strings.Repeat("{},", 1<<20) + `{}]}`
	if err := os.WriteFile(name, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range [][]string{{"report", name}, {"report", "-o", "html", name}, {"verify", name},
		{"compare", name, name}, {"trend", name, name}, {"table", name}} {
		var stdout, stderr bytes.Buffer
		bytesAllocated := allocated(func() {
			Main("linerate", line, Streams{Stdin: strings.NewReader(""), Stdout: &stdout,
				Stderr: &stderr})
		})
		if !strings.Contains(stderr.String(), "more than 256 MiB of memory") ||
			strings.Count(stderr.String(), "\n") > 3 {
			t.Errorf("%q ends with %s", line, stderr.String())
		}
		if bytesAllocated > 64<<20 {
			t.Errorf("%q takes %d bytes to refuse it", line, bytesAllocated)
		}
	}
}

// allocated is how many bytes something takes, whether they are given back or not.
func allocated(call func()) uint64 {
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	call()
	runtime.ReadMemStats(&end)
	return end.TotalAlloc - start.TotalAlloc
}
