//go:build full

package realpackets

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

// Suites of routers on links of 10 Mb/s, so that the generators by themselves reach the line rate, 14 880 frames of 64 bytes/s, wherever the test runs. Their calibrations may be a day old.
const (
	aged = `apiVersion: linerate.dev/v1alpha1
kind: LoadTestSuite
metadata: {name: %s}
spec:
  invalidRetries: 2
  calibration: {margin: 50%%, trialDuration: 1s, maxAge: 24h}
  template:
    spec:
      dut: {type: Reference, reference: {limit: {packetsPerSecond: 2000, burst: 20ms}}}
      links: [{name: west, lineRate: 10mbps}, {name: east, lineRate: 10mbps}]
      traffic: {profile: FixedSize, frameSize: 64, directions: [{from: west, to: east}]}
      procedure: %s
  axes:
  - {name: device, values: [{name: slow}%s]}
  - {name: frames, values: [{name: 64b}%s]}
`
	toTheLimit = `{ramp: {warmupDuration: 1s, targetRate: "100%", rampDuration: 6s, stepDuration: 500ms, settleDuration: 100ms, confirmDuration: 3s, holdDuration: 0s, stopAtSaturation: true}}`
	belowIt    = `{type: ConstantLoad, constantLoad: {rate: 200pps, warmupDuration: 500ms, duration: 1s, window: 1s}}`
	andAFast   = `, {name: fast, patch: {dut: {reference: {limit: {packetsPerSecond: 10000}}}}}`
	andLarger  = `, {name: 512b, patch: {traffic: {frameSize: 512}}}`
)

// TestCalibrationsOfADay: the figure of a device that carries more than half of what the generators reach by themselves is a lower bound, and a slower device's is its limit. A suite of the next hours
// takes over the calibration of the same frames, and measures those of others itself; a suite of more than a day later takes over none.
func TestCalibrationsOfADay(t *testing.T) {
	needRoot(t)
	watch, err := calm.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begun, dir := time.Now(), t.TempDir()
	of := func(name, procedure, devices, frames string) (s *report.Suite, said outcome) {
		said = makeTable(t, writeFile(t, name+".yaml", fmt.Sprintf(aged, name, procedure, devices, frames)), dir)
		return readSuite(t, dir, name), said
	}

	night, _ := of("night", toTheLimit, andAFast, "")
	took := watch.Since(begun)
	faults := nearTheirs(t, night)
	for _, fault := range faults {
		t.Logf("%s: %s (%s)", took.Outcome(faults), fault, took)
	}
	if took.Outcome(faults) == calm.Wrong {
		t.Error("figures are off on a calm machine")
	}

	morning, said := of("morning", belowIt, "", andLarger)
	was, is := firstRun(t, night, "generator"), firstRun(t, morning, "generator-64b")
	if is.Taken == nil || *is.Taken != (report.Taken{Suite: "night", Test: was.Test}) || !is.Finished.Equal(was.Finished) || is.Report != was.Report {
		t.Errorf("the morning's calibration of the same frames is %s of %v, finished %v; want the night's, %s, finished %v", is.Test, is.Taken, is.Finished, was.Test, was.Finished)
	}
	if words := "morning: not measured again: generator-64b: " + was.Test + " of suite night measured it on "; !strings.Contains(said.stderr, words) {
		t.Errorf("it didn't say %q; stderr:\n%s", words, said.stderr)
	}
	own := firstRun(t, morning, "generator-512b")
	if own.Taken != nil || !own.Started.After(was.Finished) {
		t.Errorf("the morning's calibration of other frames was begun at %v, of %v; want one of its own, later than %v", own.Started, own.Taken, was.Finished)
	}

	ageSuites(t, dir, 25*time.Hour)
	later, said := of("later", belowIt, "", "")
	if r := firstRun(t, later, "generator"); r.Taken != nil || !r.Started.After(own.Finished) || strings.Contains(said.stderr, "not measured again") {
		t.Errorf("with calibrations of more than a day the one begun at %v is of %v; want one of its own, later than %v; stderr:\n%s", r.Started, r.Taken, own.Finished, said.stderr)
	}
}

// nearTheirs fails unless a figure counts as a lower bound just where it is half of the calibration's or more. It returns what a calm machine has otherwise: a calibration at line rate, and each device's
// limit, of which the fast one's alone is near that.
func nearTheirs(t *testing.T, s *report.Suite) (faults []string) {
	t.Helper()
	const lineRate = 14_880
	for _, want := range []struct {
		cell  string
		limit int64
		bound bool
	}{{"slow-64b", 2_000, false}, {"fast-64b", 10_000, true}} {
		c := cellOf(s, want.cell)
		if c == nil || c.Figures == nil || c.Capacity == nil {
			faults = append(faults, fmt.Sprintf("%s: %+v, want figures beside what the generators reach", want.cell, c))
			continue
		}
		came, reached := c.Figures.PacketsPerSecond, c.Capacity.PacketsPerSecond
		near := 2*came >= reached
		if c.Capacity.Near != near || near && !c.Figures.LowerBound || strings.Contains(c.Message, "the limit may be theirs") != near {
			t.Errorf("%s: %d packets/s, and the generators reached %d: near is %v, a lower bound %v, and the message %q", want.cell, came, reached, c.Capacity.Near, c.Figures.LowerBound, c.Message)
		}
		if off := func(is, of int64) bool { return is < of*98/100 || is > of*102/100 }; off(reached, lineRate) || off(came, want.limit) || c.Figures.LowerBound != want.bound {
			faults = append(faults, fmt.Sprintf("%s: %d packets/s, a lower bound: %v, and the generators reached %d; want %d, %v, and %d", want.cell, came, c.Figures.LowerBound, reached, want.limit, want.bound, lineRate))
		}
	}
	return faults
}

// readSuite is the document that a suite left in a directory.
func readSuite(t *testing.T, dir, name string) *report.Suite {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name+".suite.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s report.Suite
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// cellOf is a suite's cell; nil: it has none of this name.
func cellOf(s *report.Suite, name string) *report.SuiteCell {
	if i := slices.IndexFunc(s.Cells, func(c report.SuiteCell) bool { return c.Name == name }); i >= 0 {
		return &s.Cells[i]
	}
	return nil
}

func firstRun(t *testing.T, s *report.Suite, cell string) report.SuiteRun {
	t.Helper()
	c := cellOf(s, cell)
	if c == nil || len(c.Runs) == 0 {
		t.Fatalf("suite %s has no run of %s", s.Name, cell)
	}
	return c.Runs[0]
}

// ageSuites makes all that the suites in a directory measured this much older.
func ageSuites(t *testing.T, dir string, age time.Duration) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.suite.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no suites in %s: %v", dir, err)
	}
	for _, file := range files {
		s := readSuite(t, dir, strings.TrimSuffix(filepath.Base(file), ".suite.json"))
		for i := range s.Cells {
			for j := range s.Cells[i].Runs {
				r := &s.Cells[i].Runs[j]
				r.Started, r.Finished = r.Started.Add(-age), r.Finished.Add(-age)
			}
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
