package suite

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// world plays the API server and everybody else: what a decision asks for happens, tests come to their ends, time passes, the operator forgets.
type world struct {
	t      *testing.T
	suite  *v1alpha1.LoadTestSuite
	matrix *Matrix
	now    time.Time
	tests  map[string]*v1alpha1.LoadTest
	pages  map[int]map[string][]byte
	report *report.Suite
	// What the operator has in memory.
	runs     Runs
	stored   map[string]bool
	storedAt time.Time

	taken    map[string]string
	unstored string
	names    []string // of ConfigMaps that somebody else has
	judge    Verdicts
	faults   Faults
	forgets  bool // the operator is restarted before each pass
	made     []string
	writes   int // of the status
	parallel int // the most tests that were under way at once
	next     time.Time
	last     Decision
	// ends says how a test ends; empty: as Measured.
	ends func(test string) string
}

func newWorld(t *testing.T, spec string) *world {
	t.Helper()
	w := &world{t: t, suite: written(t, spec), now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), tests: map[string]*v1alpha1.LoadTest{}, pages: map[int]map[string][]byte{}}
	w.suite.CreationTimestamp = metav1.Time{Time: w.now}
	w.restart()
	return w
}

// restart is what a new operator knows: what stands in the pages.
func (w *world) restart() {
	w.t.Helper()
	w.matrix, w.runs, w.stored, w.storedAt = Expand(w.suite), Runs{}, map[string]bool{}, time.Time{}
	for _, data := range w.pages {
		if err := w.matrix.DecodePage(data, w.runs); err != nil {
			w.t.Fatal(err)
		}
	}
	for name := range w.runs {
		w.stored[name] = true
	}
}

// pass is one look of the operator's, with all that follows from it.
func (w *world) pass() Decision {
	w.t.Helper()
	if w.forgets {
		w.restart()
	}
	o := Observed{Suite: w.suite, Matrix: w.matrix, Now: w.now, Tests: w.tests, Runs: w.runs, Stored: w.stored, StoredAt: w.storedAt, Obstacles: w.taken, Taken: w.names, Unstored: w.unstored, Judge: w.judge}
	for range 100 {
		d := Decide(o)
		switch {
		case d.Check:
			o.Checked, o.Faults = true, w.faults
		case len(d.Read) > 0:
			for _, wanted := range d.Read {
				t := w.tests[wanted.Name]
				w.runs[wanted.Name] = RunOf(t, wanted.Repetition, wanted.Try, reportOf(t), "")
			}
		default:
			w.apply(d)
			return d
		}
	}
	w.t.Fatal("it asks for a closer look again and again")
	return Decision{}
}

func (w *world) apply(d Decision) {
	w.t.Helper()
	w.last, w.next = d, d.RequeueAt
	for _, number := range d.Store {
		data, err := w.matrix.EncodePage(number, w.runs)
		if err != nil {
			w.t.Fatal(err)
		}
		w.pages[number] = data
	}
	if len(d.Store) > 0 {
		w.storedAt = w.now
		for name := range w.runs {
			w.stored[name] = true
		}
	}
	if d.Report != nil {
		w.report = d.Report
		if _, _, err := report.SuiteJSON(d.Report); err != nil {
			w.t.Errorf("the suite's report: %v", err)
		}
	}
	for _, name := range d.Stop {
		w.tests[name].Spec.Stop = true
	}
	for _, wanted := range d.Create {
		w.create(wanted.Name)
	}
	if !same(w.t, w.suite.Status, d.Status) {
		w.writes++
		w.suite.Status = d.Status
	}
	for _, name := range d.Delete {
		if c, done := over(w.tests[name]); !done || c == nil || !w.inPages(name) {
			w.t.Errorf("%s is deleted before what it measured is stored", name)
		}
		delete(w.tests, name)
	}
}

func (w *world) create(name string) {
	w.t.Helper()
	for _, earlier := range w.made {
		if earlier == name {
			w.t.Errorf("%s is made twice", name)
		}
	}
	w.made = append(w.made, name)
	w.tests[name] = &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)}}
	active := 0
	for _, t := range w.tests {
		if _, done := over(t); !done {
			active++
		}
	}
	w.parallel = max(w.parallel, active)
}

func (w *world) inPages(name string) bool {
	runs := Runs{}
	for _, data := range w.pages {
		if err := w.matrix.DecodePage(data, runs); err != nil {
			w.t.Fatal(err)
		}
	}
	_, is := runs[name]
	return is
}

func same(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(x) == string(y)
}

// end brings a test to its end.
func (w *world) end(name string) {
	reason := v1alpha1.ReasonMeasured
	switch t := w.tests[name]; {
	case t.Spec.Stop:
		reason = v1alpha1.ReasonStopped
	case w.ends != nil && w.ends(name) != "":
		reason = w.ends(name)
	}
	meta.SetStatusCondition(&w.tests[name].Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: reason, Message: "it ended so", LastTransitionTime: metav1.Time{Time: w.now},
	})
}

// reportOf is the Report of a test that was measured: packet rates that differ by test.
func reportOf(t *v1alpha1.LoadTest) *report.Report {
	c, _ := over(t)
	switch c.Reason {
	case v1alpha1.ReasonMeasured:
	case v1alpha1.ReasonNotMeasured:
		return lossyAtAnyLoad()
	default:
		return nil
	}
	pps := int64(1_000_000)
	for _, letter := range t.Name {
		pps += int64(letter)
	}
	if strings.Contains(t.Name, "-slow-") {
		pps = pps * 95 / 100
	}
	figures := report.Flow{PacketsPerSecond: pps, Layer1BitsPerSecond: pps * 672}
	return &report.Report{
		Plan: &plan.Plan{Version: plan.Version}, Ending: report.Completed,
		Result: report.Result{Measured: true, Saturated: true, Reason: "LossAboveLimit", Message: "frames were lost above it",
			Directions: []report.Measured{{From: "west", To: "east", Received: figures, LineRatePercent: units.Hundred / 2}},
			Total:      &report.Sum{Received: figures, LineRatePercent: units.Hundred / 2}},
	}
}

// lossyAtAnyLoad is the Report of a device that lost frames at 500 packets/s already.
func lossyAtAnyLoad() *report.Report {
	return &report.Report{
		Plan: &plan.Plan{Version: plan.Version}, Ending: report.Completed, Result: report.Result{Reason: report.NoCleanWindow, Message: "no window was clean"},
		Windows: []report.Window{{Phase: report.Ramping, Quality: report.Lossy, Load: units.One / 100, Directions: []report.Measured{
			{From: "west", To: "east", Quality: report.Lossy, Offered: report.Flow{PacketsPerSecond: 500}},
		}}},
	}
}

// live lets everything happen until the suite is over: random tests end, time passes.
func (w *world) live(random *rand.Rand) {
	w.t.Helper()
	for range 20_000 {
		w.pass()
		if w.complete() {
			return
		}
		w.now = w.now.Add(time.Duration(random.IntN(15)) * time.Second)
		for name, t := range w.tests {
			if _, done := over(t); !done && random.IntN(2) == 0 {
				w.end(name)
			}
		}
	}
	w.t.Fatalf("it doesn't come to its end: %s", w.last.Message)
}

func (w *world) complete() bool {
	return meta.IsStatusConditionTrue(w.suite.Status.Conditions, v1alpha1.ConditionComplete)
}

// want fails unless the conditions are these: "Complete=True Measured".
func (w *world) want(conditions ...string) {
	w.t.Helper()
	var all []string
	for _, c := range w.suite.Status.Conditions {
		all = append(all, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	for _, c := range conditions {
		if text := strings.Join(all, ", "); !strings.Contains(text+",", c+",") {
			w.t.Errorf("no %s among %s", c, text)
		}
	}
}
