package suite

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

const agedNight = `
calibration: {maxAge: 24h}
template: {spec: {dut: {type: Reference}, links: [{name: west}, {name: east}], traffic: {profile: FixedSize, frameSize: 64}}}
axes: [{name: image, values: [{name: main}, {name: other}]}]
repetitions: 2
criteria: [{name: fast, metric: PacketsPerSecond, min: "100"}]
`

// place is the environment of generators on this node, with this card.
func place(node, nic string) *report.Environment {
	return &report.Environment{Linerate: "linerate v1", Generators: []report.GeneratorEnvironment{{Name: "generator-0",
		Product: "TRex", Version: "v3", Cores: 2,
		Machine: report.Machine{Node: node, CPUModel: "Xeon", Processors: 16},
		Ports:   []report.PortEnvironment{{Link: "west", NIC: nic, Driver: "ice"}}}}}
}

// nightAt measures a suite from a moment on, in these environments, and returns which tests it made.
func nightAt(t *testing.T, spec string, start time.Time, environmentOf func(test string) *report.Environment,
	earlier ...*report.Suite) (s *report.Suite, tests []string) {
	t.Helper()
	a, now := NewLocal(Expand(written(t, spec)), "test", start), start
	a.ReuseCalibrations(earlier, now)
	for range 100 {
		w, ok := a.Next(now)
		if !ok {
			return a.Document(now), tests
		}
		tests = append(tests, w.Name)
		r := figureOf(w.Name, 1000)
		r.Environment, r.Started, r.Finished = environmentOf(w.Name), now, now
		a.Record(LocalRun(w, r, "sha256:"+w.Name))
		now = now.Add(time.Minute)
	}
	t.Fatal("it doesn't come to its end")
	return nil, nil
}

func TestACalibrationOfAnEarlierSuiteIsTaken(t *testing.T) {
	began := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	sameLab := func(string) *report.Environment { return place("lab-1", "8086:1593") }
	earlier, tests := nightAt(t, agedNight, began, sameLab)
	if len(tests) != 6 {
		t.Fatalf("the first night made %v", tests)
	}
	earlier.Name = "nightly-1"
	onlyGenerator := func(spec string) bool { return strings.Contains(spec, "generator") }
	for name, c := range map[string]struct {
		spec          string
		delay         time.Duration
		environmentOf func(string) *report.Environment
		anew          int // calibrations that are measured
		alters        func(*report.Suite)
	}{
		"the same, a few hours later": {agedNight, 5 * time.Hour, sameLab, 0, nil},
		"fewer repetitions of the same": {strings.Replace(agedNight, "repetitions: 2", "repetitions: 1", 1),
			5 * time.Hour, sameLab, 0, nil},
		"more repetitions of the same": {strings.Replace(agedNight, "repetitions: 2", "repetitions: 3", 1),
			5 * time.Hour, sameLab, 3, nil},
		"too late":  {agedNight, 25 * time.Hour, sameLab, 2, nil},
		"before it": {agedNight, -time.Hour, sameLab, 2, nil},
		"without maxAge": {strings.Replace(agedNight, "maxAge: 24h", "", 1), 5 * time.Hour, sameLab, 2,
			nil},
		"other frames": {strings.Replace(agedNight, "frameSize: 64", "frameSize: 128", 1),
			5 * time.Hour, sameLab, 2, nil},
		"other flows": {strings.Replace(agedNight, "frameSize: 64",
			"frameSize: 64, flows: {count: 9}", 1), 5 * time.Hour, sameLab, 2, nil},
		"more cores": {strings.Replace(agedNight, "dut:", "generator: {coresPerPortPair: 4}, dut:",
			1), 5 * time.Hour, sameLab, 2, nil},
		"another device": {strings.Replace(agedNight, "dut: {type: Reference}",
			"dut: {type: Reference, reference: {limit: {packetsPerSecond: 10}}}", 1), 5 * time.Hour, sameLab, 0, nil},
		"on another node": {agedNight, 5 * time.Hour,
			func(string) *report.Environment { return place("lab-2", "8086:1593") }, 2, nil},
		"through another card": {agedNight, 5 * time.Hour,
			func(string) *report.Environment { return place("lab-1", "15b3:1019") }, 2, nil},
		"nobody knows where it was": {agedNight, 5 * time.Hour, sameLab, 2,
			func(s *report.Suite) { s.Cells[0].Runs[0].Evidence.Environment = nil }},
		"nothing is left of its runs": {agedNight, 5 * time.Hour, sameLab, 2,
			func(s *report.Suite) { s.Cells[0].Runs = nil }},
		"one of another linerate's release": {agedNight, 5 * time.Hour, func(string) *report.Environment {
			e := place("lab-1", "8086:1593")
			e.Linerate = "linerate v2"
			return e
		}, 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			document, _, err := report.SuiteJSON(earlier)
			if err != nil {
				t.Fatal(err)
			}
			earlierSuite, err := report.ReadSuite(document)
			if err != nil {
				t.Fatal(err)
			}
			if c.alters != nil {
				c.alters(earlierSuite)
			}
			s, tests := nightAt(t, c.spec, began.Add(c.delay), c.environmentOf, earlierSuite)
			anew := 0
			for _, test := range tests {
				if onlyGenerator(test) {
					anew++
				}
			}
			reused := strings.Contains(s.Cells[0].Message,
				"night-generator-r1 of suite nightly-1 measured it on 2026-03-01 20:00 UTC")
			if anew != c.anew || reused != (c.anew == 0) || !s.Cells[1].Figures.LowerBound {
				t.Errorf("%d calibrations are measured, want %d: %v; it says %q; %+v", anew, c.anew, tests,
					s.Cells[0].Message, s.Cells[1].Figures)
			}
		})
	}
}

func TestTheNewestCalibrationIsTaken(t *testing.T) {
	began := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	sameLab := func(string) *report.Environment { return place("lab-1", "8086:1593") }
	old, _ := nightAt(t, agedNight, began, sameLab)
	young, _ := nightAt(t, agedNight, began.Add(3*time.Hour), sameLab)
	old.Name, young.Name = "old", "young"
	for i := range young.Cells[0].Runs { // a LoadTest of that suite's, and where its Report is kept
		young.Cells[0].Runs[i].UID, young.Cells[0].Runs[i].ConfigMap = "5f0c", "night-generator"
	}
	for _, earlier := range [][]*report.Suite{{old, young}, {young, old}} {
		s, _ := nightAt(t, agedNight, began.Add(6*time.Hour), sameLab, earlier...)
		for _, r := range s.Cells[0].Runs {
			if r.Taken == nil || r.Taken.Suite != "young" {
				t.Errorf("%s is of %+v", r.Test, r.Taken)
			}
			if r.UID != "" || r.ConfigMap != "" {
				t.Errorf("%s has the LoadTest %q and the Report %q of another suite", r.Test, r.UID, r.ConfigMap)
			}
		}
	}
}

// A suite that reuses what another suite reused says which suite measured it, and when. So no calibration is
// reused beyond its age.
func TestACalibrationThatWasTakenKeepsItsAge(t *testing.T) {
	began := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	sameLab := func(string) *report.Environment { return place("lab-1", "8086:1593") }
	first, _ := nightAt(t, agedNight, began, sameLab)
	first.Name = "nightly-1"
	second, _ := nightAt(t, agedNight, began.Add(20*time.Hour), sameLab, first)
	second.Name = "nightly-2"
	if third, tests := nightAt(t, agedNight, began.Add(22*time.Hour), sameLab, second); len(tests) != 4 ||
		!strings.Contains(third.Cells[0].Message, "of suite nightly-1 measured it") {
		t.Errorf("%v, %q", tests, third.Cells[0].Message)
	}
	if _, tests := nightAt(t, agedNight, began.Add(30*time.Hour), sameLab, second); len(tests) != 6 {
		t.Errorf("%v are made, though it is older than a day", tests)
	}
}

// A calibration from another environment is measured again, and the reused run says why it doesn't count.
func TestACalibrationFromElsewhereCountsForNothing(t *testing.T) {
	began := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	first, _ := nightAt(t, agedNight, began, func(string) *report.Environment { return place("lab-1", "8086:1593") })
	first.Name = "nightly-1"
	second, tests := nightAt(t, agedNight+"invalidRetries: 0\n", began.Add(time.Hour),
		func(string) *report.Environment { return place("lab-2", "8086:1593") }, first)
	c := second.Cells[0]
	if len(tests) != 6 || c.Figures == nil || c.Figures.Runs != 2 || c.Runs[0].Reason != OtherEnvironment ||
		c.Runs[0].Figures != nil ||
		!strings.Contains(c.Runs[0].Message, "in another environment than this suite's devices: node of generator-0: "+
			"lab-1, then lab-2") {
		t.Errorf("%v\n%+v", tests, c)
	}
	if document, _, err := report.SuiteJSON(second); err != nil || len(document) == 0 {
		t.Error(err)
	}
}

// In a cluster a suite reads earlier calibrations once, before its first test, and stores reused runs as its
// own.
func TestASuiteLooksForCalibrationsBeforeItsFirstTest(t *testing.T) {
	began := time.Date(2026, 2, 28, 20, 0, 0, 0, time.UTC)
	first, _ := nightAt(t, agedNight, began, func(string) *report.Environment { return nil })
	for i := range first.Cells[0].Runs {
		first.Cells[0].Runs[i].Evidence.Environment = place("lab-1", "8086:1593")
	}
	w := newWorld(t, agedNight)
	w.earlier = []*report.Suite{first}
	w.pass()
	if w.looked != 1 || len(w.created) != 1 || strings.Contains(w.created[0], "generator") {
		t.Errorf("it looked %d times, and made %v", w.looked, w.created)
	}
	w.forgets = true // a new operator finds it in the pages
	for range 40 {
		w.pass()
		for name := range w.tests {
			w.end(name)
		}
		w.now = w.now.Add(time.Minute)
	}
	if !w.complete() || w.looked > 2 || len(w.created) != 4 || !strings.Contains(w.report.Cells[0].Message,
		"measured it on 2026-02-28") {
		t.Errorf("it looked %d times, made %v, and is complete: %t; %+v", w.looked, w.created, w.complete(),
			w.report.Cells[0])
	}
}

// The capacity of another node's generators says nothing about these. Whatever the device carries, the limit
// may be the generators'.
func TestACalibrationOfAnotherNodeLeavesLowerBounds(t *testing.T) {
	began := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		calibration, device *report.Environment
		bound               bool
	}{
		"the same node":             {place("lab-1", "8086:1593"), place("lab-1", "8086:1593"), false},
		"another node":              {place("lab-1", "8086:1593"), place("lab-2", "8086:1593"), true},
		"nobody knows either":       {nil, nil, false},
		"the calibration's unknown": {nil, place("lab-1", "8086:1593"), false},
	} {
		t.Run(name, func(t *testing.T) {
			a, now := NewLocal(Expand(written(t, agedNight)), "test", began), began
			for {
				w, ok := a.Next(now)
				if !ok {
					break
				}
				r := figureOf(w.Name, 500)
				r.Environment, r.Started, r.Finished = c.device, now, now
				if strings.Contains(w.Name, "generator") {
					r = figureOf(w.Name, 2000)
					r.Environment, r.Started, r.Finished = c.calibration, now, now
				}
				a.Record(LocalRun(w, r, "sha256:"+w.Name))
				now = now.Add(time.Minute)
			}
			cell := a.Document(now).Cells[1]
			warned := strings.Contains(cell.Message,
				"the generators by themselves were measured in another environment (node of generator-0: lab-1, "+
					"then lab-2)")
			if cell.Figures.LowerBound != c.bound || warned != c.bound || (cell.Capacity == nil) != c.bound {
				t.Errorf("lower bound %t, %+v: %s", cell.Figures.LowerBound, cell.Capacity, cell.Message)
			}
		})
	}
}
