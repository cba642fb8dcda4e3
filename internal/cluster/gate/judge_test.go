package gate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// measured plays a suite of which each run found so many packets/s. 0 means that it came to nothing.
func measured(t *testing.T, s *Subject, found func(cell string, run int) int64) MeasuredSuite {
	t.Helper()
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	m := MeasuredSuite{Suite: s.Suite.DeepCopy(), Test: s.Test, Runs: suite.Runs{}}
	reason := v1alpha1.ReasonMeasured
	for i, cell := range s.Matrix.Cells {
		for r := range s.Suite.Spec.Repetitions {
			content, err := s.Matrix.Content(i, r+1, 1)
			if err != nil {
				t.Fatal(err)
			}
			object, faults := server.Admit(content)
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			run := played(object.LoadTest, found(cell.Name, int(r)))
			m.Runs[object.LoadTest.Name] = suite.RunOf(object.LoadTest, r+1, 1, run, "")
			if run == nil {
				reason = v1alpha1.ReasonPartlyMeasured
			}
		}
	}
	ended(m.Suite, reason)
	return m
}

func ended(s *v1alpha1.LoadTestSuite, reason string) {
	s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue,
		Reason: reason, Message: "as it may be",
		LastTransitionTime: metav1.Date(2026, 3, 14, 1, 0, 0, 0, time.UTC)}}
}

// played is a test that found so much, and its Report.
func played(test *v1alpha1.LoadTest, packets int64) *report.Report {
	reason := v1alpha1.ReasonMeasured
	if packets == 0 {
		reason = v1alpha1.ReasonGeneratorLost
	}
	test.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue,
		Reason: reason, Message: "generator-0 didn't answer"}}
	p, _ := compile.Compile(test)
	if packets == 0 {
		return nil
	}
	flow := report.Flow{PacketsPerSecond: packets, Layer1BitsPerSecond: packets * 1000}
	r := &report.Report{Version: report.Version, Plan: p, Ending: report.Completed,
		Answer: report.Answer{Measured: true, Reason: report.LossAboveLimit, Total: &report.Sum{Received: flow}, Claim: report.Claim{Saturated: true, Confirmed: true, Resolution: units.One / 200}}}
	if p.Sessions != nil {
		r.Answer = reporttest.Sessions(packets).Answer
		return r
	}
	for _, d := range p.Directions {
		r.Answer.Directions = append(r.Answer.Directions, report.Direction{From: d.From, To: d.To, Received: flow,
			Offered: flow, Quality: report.Good})
	}
	for _, o := range p.Observers { // the device is in softirqs for 5 µs with each frame
		r.Answer.Observed = append(r.Answer.Observed, report.Observed{Observer: o.Name, Series: "time",
			Subject: report.AllProcessors, Unit: "s/s", Mean: new(float64(packets) * 5e-6), Unsure: 0.01})
	}
	return r
}

// steady finds the same, give or take a tenth of a percent.
func steady(packets int64) func(string, int) int64 {
	return func(_ string, run int) int64 { return packets + int64(run)*packets/4000 }
}

// releases is a LoadTest with two images, of which the candidate finds so much of 100 000 packets/s.
func inTurns(t *testing.T, candidate int64, runs int) MeasuredSuite {
	t.Helper()
	s := onlySubject(t, router, Options{MaxRegression: "2%", Runs: runs,
		BaselineImages: []Image{{"registry.lab/router", "registry.lab/router:1.4"}}})
	return measured(t, s, func(cell string, run int) int64 {
		if cell == baselineValue {
			return steady(100_000)(cell, run)
		}
		return steady(candidate)(cell, run)
	})
}

// tcp is a LoadTest of sessions.
const tcp = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: router-tcp}
spec:
  dut: {type: Pod, pod: {template: {spec: {containers: [{name: router, image: "registry.lab/router:main"}]}}}}
  generator: {engine: Software}
  links: [{name: west, network: west}, {name: east, network: east}]
  traffic: {type: Sessions, sessions: {parallel: 4}}
  procedure: {type: ConstantLoad, constantLoad: {rate: Unlimited}}
`

func TestAGateOfSessionsComparesTheirGoodput(t *testing.T) {
	for _, c := range []struct {
		candidate int64
		code      int
		message   string
	}{
		{50_000_000, 0, "50.03 Mb/s goodput in 5 runs, 50.03 Mb/s goodput in 5 runs of the baseline"},
		{40_000_000, 1, "40.02 Mb/s goodput in 5 runs, 50.03 Mb/s goodput in 5 runs of the baseline: 20.00 % less"},
	} {
		s := onlySubject(t, tcp, Options{MaxRegression: "2%", Runs: 5,
			BaselineImages: []Image{{"registry.lab/router", "registry.lab/router:1.4"}}})
		g := Judge([]MeasuredSuite{measured(t, s, func(cell string, run int) int64 {
			if cell == baselineValue {
				return steady(50_000_000)(cell, run)
			}
			return steady(c.candidate)(cell, run)
		})}, "test")
		if g.ExitCode != c.code || len(g.Rows) != 1 || len(g.Rows[0].Criteria) != 1 ||
			!strings.Contains(g.Rows[0].Criteria[0].Message, c.message) ||
			g.Rows[0].Candidate.Judgement == report.NotComparable {
			t.Errorf("exit code %d, %s: %+v; want %d: … %s", g.ExitCode, g.Message, g.Rows, c.code, c.message)
		}
		var text strings.Builder
		if err := render.Write(&text, "text", render.OfGate(g), render.TextOptions{Width: 160}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Mb/s goodput", "Goodput is the payload"} {
			if !strings.Contains(text.String(), want) || strings.Contains(text.String(), "pps") {
				t.Errorf("it doesn't say %q, or tells of packets:\n%s", want, text.String())
			}
		}
	}
}

// A release that takes more of its machine fails by what an observer saw, which the gate names with the figure
// and the demand.
func TestAGateFailsByWhatAnObserverSaw(t *testing.T) {
	const observed = router + `  observers: [{name: kernel, observed: DUT, type: SoftIRQs}]
  criteria: [{name: cheap, metric: Observed, observed: {observer: kernel, series: time, scope: All}, max: "0.6"}]
`
	for _, c := range []struct {
		packets int64
		code    int
		message string
	}{{100_000, 0, "kernel: mean time of all processors: median 0.5 processors"},
		{140_000, 1, "kernel: mean time of all processors: median 0.7 processors of 5 runs (0.7 processors to 0.7 " +
			"processors), at most 0.6 processors allowed"}} {
		s := onlySubject(t, observed, Options{Runs: 5})
		g := Judge([]MeasuredSuite{measured(t, s, func(string, int) int64 { return c.packets })}, "test")
		if g.ExitCode != c.code || len(g.Rows) != 1 || len(g.Rows[0].Criteria) != 1 ||
			!strings.Contains(g.Rows[0].Criteria[0].Message, c.message) || g.Rows[0].Criteria[0].Name != "cheap" {
			t.Errorf("exit code %d, %s: %+v; want %d: … %s", g.ExitCode, g.Message, g.Rows[0].Criteria, c.code,
				c.message)
		}
	}
}

// A suite's template, or the patches of its axes, say which traffic its tests have.
func TestTheCriterionOfASuiteIsOfWhatItsCellsCount(t *testing.T) {
	const toSessions = "{generator: {engine: Software}, traffic: {type: Sessions}, procedure: {type: ConstantLoad, " +
		"constantLoad: {rate: Unlimited}}}"
	axis := func(new, old string) string {
		return strings.NewReplacer("{name: main}", "{name: main, patch: "+old+"}",
			"{name: new, patch: {dut: {reference: {limit: {packetsPerSecond: 10000}}}}}", "{name: new, patch: "+new+
				"}").Replace(matrix)
	}
	for name, c := range map[string]struct{ suite, metric, fault string }{
		"frames":                 {matrix, "PacketsPerSecond", ""},
		"an axis patches to TCP": {axis(toSessions, toSessions), "GoodputBitsPerSecond", ""},
		"a template of TCP": {strings.Replace(axis("{}", "{}"), "spec: {dut:", "spec: {"+
			strings.Trim(toSessions, "{}")+"}}, dut:", 1), "GoodputBitsPerSecond", ""},
		"one value of each": {axis(toSessions, "{}"), "",
			"cell main is compared by PacketsPerSecond and cell new by GoodputBitsPerSecond, but --max-regression " +
				"adds a criterion of one metric: write a LoadTestSuite for each"},
		"its own of the other kind": {axis(toSessions, toSessions) +
			"  criteria: [{name: enough, metric: PacketsPerSecond, min: \"1\"}]\n", "",
			"cells main, new: the suite's spec.criteria[0].metric: Invalid value: \"PacketsPerSecond\": sessions " +
				"don't count frames"},
		"its own, of TCP for frames": {matrix +
			"  criteria: [{name: enough, metric: GoodputBitsPerSecond, min: \"1\"}]\n", "",
			"this is counted for traffic of type Sessions only"},
	} {
		t.Run(name, func(t *testing.T) {
			subjects, err := prepared(t, c.suite, Options{MaxRegression: "2%", Baseline: true})
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("it says %v, want %s", err, c.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := subjects[0].Suite.Spec.Criteria; len(got) != 1 || string(got[0].Metric) != c.metric {
				t.Errorf("criteria are %+v, want one of %s", got, c.metric)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		measured MeasuredSuite
		code     int
		message  string
	}{
		"no change passes":                    {inTurns(t, 100_000, 5), 0, "all criteria are met, in 1 test"},
		"5 % less fails":                      {inTurns(t, 95_000, 5), 1, "doesn't meet the criteria"},
		"one run of each shows nothing":       {inTurns(t, 95_000, 1), 3, "could not be decided"},
		"a candidate that was never measured": {inTurns(t, 0, 5), 3, "could not be decided"},
		"an absolute criterion that is met": {measured(t,
			onlySubject(t, router+"  criteria: [{name: fast, metric: PacketsPerSecond, min: \"90000\"}]\n", Options{}),
			steady(100_000)), 0, "met"},
		"an absolute criterion that isn't": {measured(t,
			onlySubject(t, router+"  criteria: [{name: fast, metric: PacketsPerSecond, min: \"110000\"}]\n", Options{}),
			steady(100_000)), 1, "doesn't"},
		"nothing was stored of a suite": {MeasuredSuite{Suite: inTurns(t, 1, 1).Suite}, 3, "could not be decided"},
	} {
		t.Run(name, func(t *testing.T) {
			g := Judge([]MeasuredSuite{c.measured}, "test")
			if g.ExitCode != c.code || !strings.Contains(g.Message, c.message) {
				t.Errorf("exit code %d, %s: %+v; want %d, %s", g.ExitCode, g.Message, g.Rows, c.code, c.message)
			}
		})
	}
	t.Run("the row has both sides, the change and what encloses it", func(t *testing.T) {
		g := Judge([]MeasuredSuite{inTurns(t, 95_000, 5)}, "test")
		if len(g.Rows) != 1 {
			t.Fatalf("there are %d rows, want that of the candidate: %+v", len(g.Rows), g.Rows)
		}
		r := g.Rows[0]
		change := r.Candidate.Change
		if r.Product != "router-imix" || r.Baseline == nil || r.Baseline.Figures.Runs != 5 ||
			r.Candidate.Judgement != report.Less || change == nil || change.HighPercent == nil {
			t.Fatalf("it is %+v", r)
		}
		if got := change.Percent.FormatFixed(); !strings.HasPrefix(got, "-5.0") && !strings.HasPrefix(got, "-4.9") {
			t.Errorf("the change is %s %%", got)
		}
	})
	t.Run("a candidate whose device was away in each run is no candidate that is as fast", func(t *testing.T) {
		m := inTurns(t, 100_000, 5)
		for name, run := range m.Runs {
			if !strings.Contains(name, baselineValue) {
				run.Evidence.Answer.NotHeld, run.Evidence.Answer.Reason = "link east went down 8s after traffic "+
					"began and stayed down", report.NotHeld
			}
		}
		if g := Judge([]MeasuredSuite{m}, "test"); g.ExitCode != report.ExitNotMeasured || len(g.Rows) != 1 ||
			!strings.Contains(fmt.Sprintf("%+v", g.Rows[0]), "not held: link east went down") {
			t.Errorf("exit code %d, %s: %+v", g.ExitCode, g.Message, g.Rows)
		}
	})
	t.Run("a run whose figure was not confirmed is set aside on either side, and told of", func(t *testing.T) {
		m := inTurns(t, 100_000, 6)
		lastTest := suite.Expand(m.Suite).TestName(1, 6, 1)
		run := m.Runs[lastTest]
		run.Evidence.Answer.Confirmed, run.Evidence.Plan.Procedure.Ramp.ConfirmDuration = false,
			plan.Duration(time.Minute)
		for _, stored := range m.Runs {
			stored.Evidence.Plan.Procedure.Ramp.ConfirmDuration = plan.Duration(time.Minute)
		}
		g := Judge([]MeasuredSuite{m}, "test")
		if c := g.Rows[0].Candidate; c.Figures == nil || c.Figures.Runs != 5 || len(c.SetAside) != 1 ||
			c.SetAside[0].Test != lastTest {
			t.Errorf("the candidate is %+v", c)
		}
		var text strings.Builder
		if err := render.Write(&text, "text", render.OfGate(g), render.TextOptions{}); err != nil ||
			!strings.Contains(text.String(), "1 of 6 measured runs set aside") {
			t.Errorf("%v\n%s", err, text.String())
		}
	})
	t.Run("a run whose generator was disturbed leaves it undecided, and repeated it is told of", func(t *testing.T) {
		m := inTurns(t, 100_000, 5)
		matrix := suite.Expand(m.Suite)
		first := matrix.TestName(1, 3, 1)
		second := m.Runs[first]
		disturb(m, first, 50_000)
		if g := Judge([]MeasuredSuite{m}, "test"); g.ExitCode != 3 || g.Rows[0].Candidate.Figures.Runs != 5 {
			t.Errorf("exit code %d: %+v", g.ExitCode, g.Rows)
		}
		second.Test, second.Retry = matrix.TestName(1, 3, 2), 1
		m.Runs[second.Test] = second
		g := Judge([]MeasuredSuite{m}, "test")
		if c := g.Rows[0].Candidate; g.ExitCode != 0 || c.Figures.Runs != 5 || len(c.Repeated) != 1 ||
			c.Repeated[0].LowerBound != 50_000 {
			t.Errorf("exit code %d: %+v", g.ExitCode, g.Rows)
		}
		if notes := strings.Join(g.Notes, "; "); notes != "1 test was repeated after being disturbed" {
			t.Errorf("the notes are %q", notes)
		}
		for _, format := range []string{"text", "markdown", "junit", "html"} {
			var text strings.Builder
			if err := render.Write(&text, format, render.OfGate(g), render.TextOptions{}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(strings.Fields(text.String()), " "); !strings.Contains(got,
				"repeated: GeneratorLimited: the generator was the limit at 50.00 kpps, but other runs measured "+
					"100.0") {
				t.Errorf("%s:\n%s", format, text.String())
			}
		}
	})
	t.Run("what is not whole is not passed", func(t *testing.T) {
		m := inTurns(t, 100_000, 6)
		lastTest := suite.Expand(m.Suite).TestName(1, 6, 1)
		run := m.Runs[lastTest]
		run.Figures, run.Evidence, run.Reason = nil, nil, v1alpha1.ReasonGeneratorLost
		m.Runs[lastTest] = run
		if g := Judge([]MeasuredSuite{m}, "test"); g.ExitCode != 3 || !strings.Contains(fmt.Sprint(g.Rows),
			"5 of 6 runs were measured") {
			t.Errorf("exit code %d: %+v", g.ExitCode, g.Rows)
		}
	})
	for reason, code := range map[string]int{v1alpha1.ReasonStopped: 3, v1alpha1.ReasonTestFailed: 3,
		v1alpha1.ReasonMeasured: 0} {
		t.Run("a suite that ended as "+reason, func(t *testing.T) {
			m := inTurns(t, 100_000, 5)
			ended(m.Suite, reason)
			if g := Judge([]MeasuredSuite{m}, "test"); g.ExitCode != code {
				t.Errorf("exit code %d, want %d: %+v", g.ExitCode, code, g.Rows)
			}
		})
	}
	t.Run("one run of five, when time is over, isn't what five would have shown", func(t *testing.T) {
		s := onlySubject(t, router+"  criteria: [{name: fast, metric: PacketsPerSecond, min: \"110000\"}]\n",
			Options{Runs: 5})
		m := measured(t, s, steady(100_000))
		matrix := suite.Expand(m.Suite)
		for run := range int32(4) {
			delete(m.Runs, matrix.TestName(0, run+2, 1))
		}
		m.Suite.Status.Conditions, m.Message = nil, "not over after 2h"
		if g := Judge([]MeasuredSuite{m}, "test"); g.ExitCode != 3 {
			t.Errorf("exit code %d: %+v", g.ExitCode, g.Rows)
		}
		m = measured(t, s, steady(100_000))
		delete(m.Runs, matrix.TestName(0, 5, 1))
		m.Suite.Status.Conditions, m.Message = nil, "not over after 2h"
		if g := Judge([]MeasuredSuite{m}, "test"); g.ExitCode != 1 {
			t.Errorf("exit code %d, though four of five runs show it: %+v", g.ExitCode, g.Rows)
		}
	})
	t.Run("a gate that gave up waiting says for what", func(t *testing.T) {
		m := inTurns(t, 100_000, 5)
		m.Suite.Status.Conditions, m.Message = nil, "not over after 2h"
		if g := Judge([]MeasuredSuite{m}, "test"); g.ExitCode != 3 || g.Rows[0].Message != "not over after 2h" {
			t.Errorf("exit code %d: %+v", g.ExitCode, g.Rows)
		}
	})
}

// Where generators were measured by themselves there was no device, and so nothing that a release is judged by.
func TestACalibrationIsNoRow(t *testing.T) {
	s := onlySubject(t, matrix+"  baseline: {axis: image, value: main}\n  calibration: {}\n",
		Options{MaxRegression: "2%"}).Suite
	g := Judge([]MeasuredSuite{{Suite: s, Name: "releases"}}, "test")
	if cells := len(g.Suites[0].Cells); cells != 3 || len(g.Rows) != 2 {
		t.Errorf("%d cells, of which one is a calibration, have %d rows", cells, len(g.Rows))
	}
}
