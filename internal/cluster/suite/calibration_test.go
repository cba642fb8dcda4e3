package suite

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

const calibratedNight = `
calibration: {margin: 10%, trialDuration: 3s, network: wire}
template:
  spec:
    dut: {type: Reference}
    links: [{name: west, network: west, dut: {address: 16.0.0.1/24}}, {name: east, network: east}]
    procedure: {ramp: {stopAtSaturation: true}}
    criteria: [{name: own, metric: LossRatio, max: 0%}]
    observers: [{name: cpu, observed: DUT, type: Processors}]
axes:
- {name: system, values: [{name: linux}, {name: half, patch: {dut: {reference: {limit: {packetsPerSecond: 1000}}}}}]}
- {name: frames, values: [{name: imix}, {name: 64b, patch: {traffic: {profile: FixedSize, frameSize: 64}}}]}
repetitions: 2
criteria: [{name: fast, metric: PacketsPerSecond, min: "100"}]
`

func cellNames(m *Matrix) (names []string) {
	for _, c := range m.Cells {
		names = append(names, c.Name)
	}
	return names
}

// Cells that differ only in the device share a calibration, and all calibrations come before all other tests.
func TestGeneratorsAreMeasuredOnceForEachTraffic(t *testing.T) {
	m := Expand(written(t, calibratedNight))
	if got, want := cellNames(m), []string{"generator-imix", "generator-64b", "linux-imix", "linux-64b", "half-imix",
		"half-64b"}; !slices.Equal(got, want) {
		t.Errorf("cells %q, want %q", got, want)
	}
	if want := []int{-1, -1, 0, 1, 0, 1}; !slices.Equal(m.calibratedBy, want) {
		t.Errorf("calibrated by %v, want %v", m.calibratedBy, want)
	}
	if c := m.Cells[1]; c.Product != "generator" || c.Loadtest != "64b" || !m.Calibrates(1) || m.Calibrates(2) {
		t.Errorf("%+v", c)
	}
	for i, s := range m.slots {
		if (i < 4) != m.Calibrates(s.cell) {
			t.Errorf("test %d is of cell %d", i, s.cell)
		}
	}
	if plain := Expand(written(t, strings.Replace(calibratedNight, "calibration:", "#", 1))); len(plain.Cells) != 4 ||
		plain.TestName(0, 1, 1) != m.TestName(2, 1, 1) {
		t.Errorf("without calibration: %q, the first test %s", cellNames(plain), plain.TestName(0, 1, 1))
	}
}

func TestACalibrationIsACableInTheDevicesPlace(t *testing.T) {
	content, err := Expand(written(t, calibratedNight)).Content(1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"dut":{"type":"Loopback"},"links":[{"name":"west","network":"wire"},{"name":"east","network":"wire"}],` +
		`"procedure":{"maximumOfferedLoad":{"trialDuration":"3s","trials":1},"type":"MaximumOfferedLoad"},"traffic":{"frameSize":64,"profile":"FixedSize"}}`
	if got := text(t, content["spec"]); got != want {
		t.Errorf("spec\n%s, want\n%s", got, want)
	}
}

func TestNothingIsCalibratedWithoutADeviceOrFrames(t *testing.T) {
	m := Expand(written(t, `
calibration: {}
template: {spec: {dut: {type: Reference}, links: [{name: west}, {name: east}]}}
axes: [{name: what, values: [{name: cable, patch: {dut: {type: Loopback}}}, {name: tcp, patch: {traffic: {type: Sessions}}}, {name: frames}]}]
`))
	if got, want := cellNames(m), []string{"generator", "cable", "tcp", "frames"}; !slices.Equal(got, want) ||
		!slices.Equal(m.calibratedBy, []int{-1, -1, -1, 0}) {
		t.Errorf("cells %q calibrated by %v", got, m.calibratedBy)
	}
}

// A figure close to the generators' capacity is a lower bound, and the cell says so, since a generator's
// weakness isn't the device's.
func TestFiguresNearTheGeneratorsOwnAreLowerBounds(t *testing.T) {
	for name, spec := range map[string]string{"a margin of 10 %": calibratedNight,
		"the usual margin": strings.Replace(calibratedNight, "margin: 10%, ", "", 1)} {
		t.Run(name, func(t *testing.T) { testFiguresNear(t, spec) })
	}
}

func testFiguresNear(t *testing.T, spec string) {
	t.Helper()
	s := measuredAlone(t, spec, map[string]int64{"generator-imix": 1000, "generator-64b": 2000, "linux-imix": 890,
		"linux-64b": 1810, "half-imix": 910, "half-64b": 500}, nil)
	if s.Verdict.Outcome != report.Passed {
		t.Errorf("the verdict, which is of no calibration, is %+v", s.Verdict)
	}
	for i, near := range []bool{false, false, false, true, true, false} {
		c := s.Cells[i]
		if c.Calibration != (i < 2) || c.Figures.LowerBound != near || (c.Capacity != nil && c.Capacity.Near) != near ||
			strings.Contains(c.Message, "the limit may be theirs") != near {
			t.Errorf("%s: lower bound %t, capacity %+v, %q", c.Name, c.Figures.LowerBound, c.Capacity, c.Message)
		}
		if (c.Verdict == nil) != (i < 2) {
			t.Errorf("%s: verdict %+v", c.Name, c.Verdict)
		}
	}
	if c := s.Cells[3].Capacity; c.Cell != "generator-64b" || c.PacketsPerSecond != 2003 ||
		c.Share.FormatFixed() != "90.46" {
		t.Errorf("%+v", c)
	}
}

// A figure near the generators' capacity fails no criterion, while a figure far from it may.
func TestNothingFailsNearTheGeneratorsOwn(t *testing.T) {
	demanding := strings.Replace(calibratedNight, `min: "100"`, `min: "1900"`, 1)
	s := measuredAlone(t, demanding, map[string]int64{"generator-imix": 1000, "generator-64b": 2000, "linux-imix": 950,
		"linux-64b": 1700, "half-imix": 990, "half-64b": 1850}, nil)
	got := map[string]report.Outcome{}
	for _, c := range s.Cells[2:] {
		got[c.Name] = c.Verdict.Outcome
	}
	for name, want := range map[string]report.Outcome{"linux-imix": report.Undecided, "linux-64b": report.DidFail,
		"half-imix": report.Undecided, "half-64b": report.Undecided} {
		if got[name] != want {
			t.Errorf("%s: %s, want %s", name, got[name], want)
		}
	}
}

// inDirections is the Report of a test whose device carries these packets per second in each direction.
func inDirections(name string, forward, backward int64) *report.Report {
	r := figureOf(name, forward)
	reverse := report.Flow{PacketsPerSecond: backward, Layer1BitsPerSecond: backward * 672}
	r.Answer.Directions = append(r.Answer.Directions, report.Direction{From: "east", To: "west", Received: reverse})
	r.Answer.Total.Received = report.Flow{PacketsPerSecond: forward + backward, Layer1BitsPerSecond: (forward +
		backward) * 672}
	return r
}

// calibratedSuite is a suite whose runs have the Reports that measure returns.
func calibratedSuite(t *testing.T, spec string, measure func(cell, test string) *report.Report) *report.Suite {
	t.Helper()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	a := NewLocal(Expand(written(t, spec)), "test", now)
	for range 1000 {
		w, ok := a.Next(now)
		if !ok {
			return a.Document(now)
		}
		a.Record(LocalRun(w, measure(a.Cell(w.Cell).Name, w.Name), "sha256:"+w.Name))
		now = now.Add(time.Minute)
	}
	t.Fatal("it doesn't come to its end")
	return nil
}

// outcomes are the outcomes of a cell's criteria, such as "fast Undecided".
func outcomes(s *report.Suite, cell string) (words []string) {
	for _, c := range s.Cells {
		if c.Name == cell {
			for _, of := range c.Verdict.Criteria {
				words = append(words, of.Name+" "+string(of.Outcome))
			}
		}
	}
	return words
}

const asymmetric = `
calibration: {margin: 10%}
template: {spec: {dut: {type: Reference}, links: [{name: west}, {name: east}]}}
repetitions: 2
criteria:
- {name: each, metric: PacketsPerSecond, min: "980"}
- {name: total, metric: PacketsPerSecond, direction: Total, min: "1900"}
- {name: both, metric: PacketsPerSecond, min: "500"}
- {name: most, metric: PacketsPerSecond, max: "900"}
- {name: loss, metric: LossRatio, max: 0.01%}
`

// The generators may limit an asymmetric device in one direction alone. A criterion is open for that direction,
// and decided by the other one.
func TestACriterionIsOpenInTheDirectionThatTheGeneratorsLimit(t *testing.T) {
	measured := func(forward, backward int64, lost units.Ratio) *report.Suite {
		return calibratedSuite(t, asymmetric, func(cell, test string) *report.Report {
			if strings.Contains(cell, "generator") {
				return inDirections(test, 1000, 1000)
			}
			r := inDirections(test, forward, backward)
			r.Answer.Directions[0].LossRatio, r.Answer.Directions[0].LossRatioMin = lost, lost
			return r
		})
	}
	for name, c := range map[string]struct {
		forward, backward int64
		want              []string
	}{
		"neither": {700, 600, []string{"each Failed", "total Failed", "both Passed", "most Passed", "loss Failed"}},
		"one": {950, 990, []string{"each Undecided", "total Passed", "both Passed", "most Failed",
			"loss Undecided"}},
		"there only": {950, 600, []string{"each Failed", "total Undecided", "both Passed", "most Failed",
			"loss Undecided"}},
		"back only": {600, 950, []string{"each Failed", "total Undecided", "both Passed", "most Failed",
			"loss Failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := measured(c.forward, c.backward, units.One/100)
			if got := outcomes(s, s.Cells[1].Name); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	s := measured(950, 600, 0)
	if c := s.Cells[1]; !c.Figures.LowerBound || !c.Capacity.Near ||
		!strings.Contains(c.Message, "west→east is within 10.00% of the 1.00 kpps that the generators reach there by "+
			"themselves (generator): the limit may be theirs") {
		t.Errorf("%+v %+v %q", c.Figures, c.Capacity, c.Message)
	}
	if got := outcomes(s, s.Cells[1].Name); got[4] != "loss Passed" {
		t.Errorf("nothing was lost: %q", got)
	}
}

// Each goal of a search is compared with the generators by its own figures.
func TestACriterionIsOpenForTheGoalThatTheGeneratorsLimit(t *testing.T) {
	spec := `
calibration: {margin: 10%}
template: {spec: {dut: {type: Reference}, links: [{name: west}, {name: east}]}}
criteria:
- {name: ndr, metric: PacketsPerSecond, goal: NDR, min: "980"}
- {name: pdr, metric: PacketsPerSecond, goal: PDR, min: "980"}
`
	s := calibratedSuite(t, spec, func(cell, test string) *report.Report {
		r := inDirections(test, 1000, 1000)
		if !strings.Contains(cell, "generator") {
			r = inDirections(test, 500, 500)
			r.Answer.Goals = []report.GoalAnswer{{Name: "NDR", Answer: r.Answer},
				{Name: "PDR", Answer: inDirections(test, 950, 950).Answer}}
		}
		return r
	})
	c := s.Cells[1]
	if got, want := outcomes(s, c.Name), []string{"ndr Failed", "pdr Undecided"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if c.Figures.LowerBound || c.Capacity.Near || !c.Goals[1].Figures.LowerBound || c.Goals[0].Figures.LowerBound ||
		!strings.Contains(c.Message, "PDR: it is within 10.00% of the 2.00 kpps") {
		t.Errorf("%+v, goals %+v: %s", c.Capacity, c.Goals, c.Message)
	}
}

const calibratedImages = `
calibration: {margin: 10%}
template: {spec: {dut: {type: Reference}, links: [{name: west}, {name: east}]}}
axes: [{name: image, values: [{name: main}, {name: other}]}]
baseline: {axis: image, value: main}
repetitions: 5
criteria: [{name: no-slower, metric: PacketsPerSecond, maxRegression: 2%}]
`

// If the generators limit both sides, neither is shown to be as fast as the other, nor to be slower. A document
// stores whose limit its figures are.
func TestTheGeneratorsLimitIsNotCompared(t *testing.T) {
	measured := func(main, candidate int64, reference *Reference) *report.Suite {
		return measuredAlone(t, calibratedImages, map[string]int64{"generator": 10_000, "main": main,
			"other": candidate}, reference)
	}
	const theirs = "lower bound only, and more runs won't help: they are close to what the generators do by " +
		"themselves, and the limit may be theirs, so give them more"
	verdict := func(s *report.Suite, cell int) string {
		c := s.Cells[cell].Verdict.Criteria[0]
		return string(c.Outcome) + ": " + c.Message
	}
	for name, c := range map[string]struct {
		main, candidate int64
		outcome         report.Outcome
		words           string
	}{
		"alike at the generators' limit":   {9_500, 9_500, report.Undecided, theirs},
		"apart at the generators' limit":   {9_900, 9_200, report.Undecided, theirs},
		"the candidate is below it":        {9_500, 8_000, report.DidFail, "less"},
		"the candidate alone is near it":   {8_000, 9_500, report.Passed, ""},
		"neither is near it, and slower":   {8_000, 7_000, report.DidFail, ""},
		"neither is near it, and the same": {8_000, 8_000, report.Passed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := verdict(measured(c.main, c.candidate, nil), 2); !strings.HasPrefix(got, string(c.outcome)) ||
				!strings.Contains(got, c.words) {
				t.Errorf("%s\nwant %s: … %s", got, c.outcome, c.words)
			}
		})
	}
	var document bytes.Buffer
	if err := measured(9_500, 9_500, nil).JSON(&document); err != nil {
		t.Fatal(err)
	}
	earlier, err := report.ReadSuite(document.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	file := &Reference{Kind: KindFile, Name: "main.suite.json"}
	if err := file.Add(earlier); err != nil {
		t.Fatal(err)
	}
	if got := verdict(measured(9_500, 9_500, file), 2); !strings.HasPrefix(got, "Undecided") ||
		!strings.Contains(got, theirs) {
		t.Error(got)
	}
}

// If several tests are under way at once, a cell may be complete before its calibration. The cell waits for the
// calibration, and is judged then.
func TestACellWaitsForItsCalibration(t *testing.T) {
	night := strings.Replace(calibratedNight, "repetitions: 2", "repetitions: 1\nparallelism: 8", 1)
	for name, c := range map[string]struct{ spec, waits, bound string }{
		"for its verdict": {night, "no verdict yet: it waits for its calibration: 0 of 1 repetitions of " +
			"generator-imix are in", "the limit may be theirs"},
		"without criteria, as well": {strings.Replace(night,
			"criteria: [{name: fast, metric: PacketsPerSecond, min: \"100\"}]", "", 1),
			"it waits for its calibration: 0 of 1 repetitions of generator-imix are in", "the limit may be theirs"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.spec)
			w.found = func(string) int64 { return 1000 }
			row := func(ends ...string) v1alpha1.SuiteRow {
				t.Helper()
				for _, name := range ends {
					w.end(name)
				}
				w.now = w.now.Add(storeEvery)
				w.pass()
				return w.suite.Status.Table[2]
			}
			w.pass()
			if r := row("night-linux-imix-r1"); r.Runs != 1 || r.LowerBound || r.Verdict != "" || r.Message != c.waits {
				t.Errorf("before its calibration: %+v", r)
			}
			if r := row("night-generator-imix-r1"); !r.LowerBound || strings.Contains(r.Message, "waits") ||
				!strings.Contains(r.Message, c.bound) || (r.Verdict != "") != (name == "for its verdict") {
				t.Errorf("after it: %+v", r)
			}
		})
	}
	w := newWorld(t, night)
	w.ends = func(test string) string {
		if strings.Contains(test, "generator") {
			return v1alpha1.ReasonNotMeasured
		}
		return ""
	}
	w.live(rand.New(rand.NewPCG(1, 2)))
	if m := w.suite.Status.Table[2].Message; !strings.Contains(m,
		"what the generators reach by themselves isn't known: generator-imix was not measured") {
		t.Errorf("in the end: %q", m)
	}
}
