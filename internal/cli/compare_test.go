package cli_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/cli"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/units"
)

// saved writes a Report of a run that received so much, as a person would keep it.
func saved(t *testing.T, file string, packetsPerSecond int64, target int64) {
	t.Helper()
	flow := report.Flow{PacketsPerSecond: packetsPerSecond, Layer1BitsPerSecond: packetsPerSecond * 672}
	start := time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC).Add(time.Duration(len(file)*1000+
		int(packetsPerSecond)) * time.Second)
	r := &report.Report{Version: report.Version, Producer: "linerate test", Started: start,
		Finished: start.Add(time.Minute), Ending: report.Completed,
		Plan: &plan.Plan{Version: plan.Version, Test: plan.Test{Name: filepath.Base(file), Attempt: 1, Product: "VPP",
			Loadtest: "64b"}, Directions: []plan.Direction{{From: "west", To: "east"}},
			Procedure: plan.Procedure{Ramp: plan.Ramp{TargetRate: units.Rate{Kind: units.LinePercent,
				Micros: target * 1_000_000}}}},
		Answer: report.Answer{Measured: true, Reason: report.LossAboveLimit, Directions: []report.Direction{{From: "west", To: "east", Received: flow}}, Total: &report.Sum{Received: flow}, Claim: report.Claim{Saturated: true}},
	}
	driver := "veth"
	if strings.Contains(file, "/moved/") {
		driver = "ice"
	}
	r.Generators = []report.Generator{{Name: "generator-0", Product: "TRex v3.06", Hostname: "lab",
		Ports: []report.GeneratorPort{{Link: "west", Driver: driver}}}}
	r.Environment = report.EnvironmentOf(r)
	var stdout bytes.Buffer
	if err := report.JSON(&stdout, r); err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(file, ".gz") {
		packed := new(bytes.Buffer)
		w := gzip.NewWriter(packed)
		if _, err := w.Write(stdout.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		stdout = *packed
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, stdout.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// shelves are directories of saved Reports: the same twice, one 5 % slower, one of other network cards, one of
// another plan, one of a single run, and one that has a run twice.
func shelves(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i := range int64(5) {
		saved(t, fmt.Sprintf("%s/main/run-%d.json", dir, i), 1_000_000+i*100, 100)
		saved(t, fmt.Sprintf("%s/same/deep/run-%d.json.gz", dir, i), 1_000_050+i*100, 100)
		saved(t, fmt.Sprintf("%s/slow/run-%d.json", dir, i), 950_000+i*100, 100)
		saved(t, fmt.Sprintf("%s/moved/run-%d.json", dir, i), 950_000+i*100, 100)
		saved(t, fmt.Sprintf("%s/other/run-%d.json", dir, i), 950_000+i*100, 50)
	}
	saved(t, dir+"/one/run.json", 1_000_000, 100)
	for _, copied := range []string{"/copied/kept", "/copied/again"} {
		if err := os.CopyFS(dir+copied, os.DirFS(dir+"/one")); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"main/notes.json": `{"not":"a report"}`, "main/page.html": "<p>",
		"empty/README.md": "", "broken/x.json": "{"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCompare(t *testing.T) {
	dir := shelves(t)
	for name, c := range map[string]struct {
		args     string
		code     int
		messages []string // on stdout and stderr
	}{
		"slower, and nothing demanded": {"compare main slow", 0, []string{"-5.00%", "less", "left out: ",
			"notes.json"}},
		"slower than is allowed": {"compare main slow --max-regression 2%", 1,
			[]string{"Failed", "at most 2 % less allowed"}},
		"slower, in one of four tries": {"compare main slow --max-regression 2% --tries 4", 1,
			[]string{"Failed", "98.8 %", "(in one of 4 tries)"}},
		"tries of no demand": {"compare main same --tries 4", 2,
			[]string{"--tries 4: nothing is demanded"}},
		"more tries than leave a claim": {"compare main same --max-regression 2% --tries 11", 2,
			[]string{"--tries 11: from 1 to 10"}},
		"slower, and allowed to be": {"compare main slow --max-regression 10%", 0, []string{"Passed"}},
		"the same": {"compare main same --max-regression 2%", 0,
			[]string{"Passed", "no difference shown"}},
		"too few runs to tell": {"compare main one --max-regression 2%", 3,
			[]string{"Undecided", "too few runs"}},
		"too few, and nothing demanded": {"compare main one", 0, []string{"too few runs"}},
		"another plan": {"compare main other", 3, []string{"not comparable",
			"procedure.ramp.targetRate"}},
		"one of three is slower": {"compare main one slow --max-regression 2%", 1,
			[]string{"Failed", "Undecided"}},
		"a side that has a run twice": {"compare slow copied -o json", 0,
			[]string{"1 of its 2 Reports are copies of others"}},
		"through another driver": {"compare main moved --max-regression 10%", 3,
			[]string{"Undecided", "not comparable", "driver of west: veth, then ice", "--allow-different Driver"}},
		"another driver, allowed": {"compare main moved --max-regression 10% --allow-different Driver -v", 0,
			[]string{"Passed", "of the environment, NIC driver of west:"}},
		"leave for what is no part": {"compare main moved --allow-different Weather", 2,
			[]string{`--allow-different "Weather"`, "Generator, Path, NIC, Driver, Node, Processor"}},
		"a trend through two drivers": {"trend main moved", 0, []string{"of 5 runs", "environment changed",
			"the environment changed: NIC driver of west: ice, then veth"}},
		"two drivers, allowed": {"trend main moved --allow-different Driver", 0,
			[]string{"of 10 runs", "the environment changed: NIC driver of west: ice, then veth"}},
		"leave in a trend for no part": {"trend main --allow-different Weather", 2,
			[]string{`--allow-different "Weather"`}},
		"as markdown": {"compare main same -o markdown", 0, []string{"| VPP | 64b |"}},
		"as a page":   {"compare main same -o html", 0, []string{"<!DOCTYPE html>"}},
		"as JSON": {"compare main same -o json", 0,
			[]string{`"version": "linerate.dev/comparison.v1alpha1"`}},
		"one file and another": {"compare one/run.json slow/run-0.json", 0,
			[]string{"run-0", "too few runs"}},
		"nothing there":              {"compare main nowhere", 2, []string{"nowhere"}},
		"no Report there":            {"compare main empty", 2, []string{"holds no Report"}},
		"no Report that can be read": {"compare main broken", 2, []string{"no Report that can be read", "x.json"}},
		"a file that isn't a Report": {"compare main main/notes.json", 2, []string{"notes.json"}},
		"no such format": {"compare main same -o pdf", 2,
			[]string{strings.Join(render.Formats(render.Table), ", ")}},
		"a demand that isn't one": {"compare main same --max-regression much", 2, []string{"--max-regression",
			"0.1%"}},
		"a demand that allows anything": {"compare main same --max-regression 100%", 2, []string{"allows anything"}},
		"one alone":                     {"compare main", 2, []string{"name two or more files or directories"}},
		"a table": {"table main slow one", 0, []string{"VPP      64b               1.00 M",
			"11", "far from the others"}},
		"a table of different plans": {"table main other", 0, []string{"not measured", "runs of different plans"}},
		"a table as a page":          {"table main -o html --title systems", 0, []string{"<h1>systems</h1>"}},
		"a table as a format it hasn't": {"table main -o pdf", 2,
			[]string{strings.Join(render.Formats(render.Table), ", ")}},
		"a trend": {"trend main slow", 0, []string{"VPP 64b: latest 1.00 Mpps", "of 10 runs"}},
		"a trend as a page": {"trend main other -o html --title nightly", 0, []string{"<h1>nightly</h1>",
			"plan changed"}},
		"a trend as JSON": {"trend main -o json", 0,
			[]string{`"version": "linerate.dev/trend.v1alpha1"`}},
		"a trend as a format it hasn't": {"trend main -o junit", 2,
			[]string{strings.Join(render.Formats(render.Table), ", ")}},
		"a trend as markdown": {"trend main -o markdown", 0, []string{"<b>VPP 64b</b>: latest 1.00 Mpps",
			"| began (UTC) | test |"}},
		"a trend of the same run twice":   {"trend one one/run.json -o json", 0, []string{`"last": 0`}},
		"a trend of nothing":              {"trend empty", 2, []string{"holds no Report"}},
		"a comparison of a file on stdin": {"compare - slow", 2, []string{"the input holds no report"}},
	} {
		t.Run(name, func(t *testing.T) {
			args := strings.Fields(c.args)
			for i, a := range args[1:] {
				if _, err := os.Stat(filepath.Join(dir, a)); err == nil {
					args[i+1] = filepath.Join(dir, a)
				}
			}
			var stdout, stderr bytes.Buffer
			code := cli.Main("linerate", args, cli.Streams{Stdin: strings.NewReader(""), Stdout: &stdout,
				Stderr: &stderr})
			output := stdout.String() + stderr.String()
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, messages := range c.messages {
				if !strings.Contains(output, messages) {
					t.Errorf("it doesn't say %q:\n%s", messages, output)
				}
			}
		})
	}
}
