package suite

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// world plays the API server and all users. It carries out decisions, ends tests, lets time pass, and restarts
// the operator.
type world struct {
	t      testing.TB
	suite  *v1alpha1.LoadTestSuite
	matrix *Matrix
	now    time.Time
	tests  map[string]*v1alpha1.LoadTest
	// sheets are in the operator's own namespace, copies in the suite's.
	sheets, copies map[string]map[string][]byte
	report         *report.Suite
	// What the operator has in memory.
	runs       Runs
	stored     Stored
	digests    Sheets
	storedAt   time.Time
	reportAt   time.Time
	unreported bool

	obstacles map[string]string
	unstored  string
	names     []string // of ConfigMaps that somebody else has
	judge     Verdicts
	faults    Faults
	forgets   bool // the operator is restarted before each pass
	// whether the operator ends now, as it is about to write something or has written it; nil: never
	dies         func() bool
	sheet        int // how many bytes a sheet takes; 0: as it is
	created      []string
	writes       int // of the status
	bytes        int // that the API server was given to keep with them: a status is stored as a whole
	parallel     int // the most tests that were under way at once
	next         time.Time
	lastDecision Decision
	// ends says how a test ends; empty: as Measured. bound is what its generator could send, in packets per
	// second; 0: enough.
	ends  func(test string) string
	bound func(test string) int64
	// found is what a test's Report says of its device, in packets per second; nil: what its name makes.
	found func(test string) int64
	// away are the tests during which the device was away for a while, though it gave a figure; nil: none.
	away func(test string) bool
	// earlier are the documents of earlier suites, looked how often they were looked at.
	earlier     []*report.Suite
	looked      int
	earlierRead bool
	// sessions says that tests measure TCP.
	sessions bool
	// placed are the nodes that tests were made with. environment is where a test ran; nil: nothing is known of it.
	placed      map[string]Nodes
	environment func(test string, placed Nodes) *report.Environment
	// ahead is the baseline as it is read before the first test; nil: it isn't complete.
	ahead    *Reference
	prospect Prospect
}

func newWorld(t testing.TB, spec string) *world {
	t.Helper()
	w := &world{t: t, suite: written(t, spec), now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		tests: map[string]*v1alpha1.LoadTest{}, placed: map[string]Nodes{}, sheets: map[string]map[string][]byte{},
		copies: map[string]map[string][]byte{}}
	w.suite.CreationTimestamp = metav1.Time{Time: w.now}
	w.restart()
	return w
}

// restart is what a new operator knows, which stands in its own sheets.
func (w *world) restart() {
	w.t.Helper()
	w.matrix, w.storedAt, w.reportAt, w.earlierRead = Expand(w.suite), time.Time{}, time.Time{}, false
	if w.sheet > 0 {
		w.matrix.sheetSize = w.sheet
	}
	r := w.read()
	w.runs, w.stored, w.digests = r.Runs, r.Stored, r.Sheets
	w.unreported = len(w.runs) > 0
}

// read reads the stored runs.
func (w *world) read() *Reading {
	w.t.Helper()
	return readAll(w.t, w.matrix, w.sheets)
}

// published are the runs that others read from the copies.
func (w *world) published() (Runs, error) {
	return Expand(w.suite).ReadCopies(func(name string) (map[string][]byte, error) { return w.copies[name], nil })
}

// dead says that the operator ended just now. A new one has been started then.
func (w *world) dead() bool {
	w.t.Helper()
	if w.dies == nil || !w.dies() {
		return false
	}
	w.restart()
	return true
}

// pass is one pass of the operator, with all that follows from it.
func (w *world) pass() Decision {
	w.t.Helper()
	if w.forgets {
		w.restart()
	}
	checked := false
	var ahead, reference *Reference
	earlier := func() *Reference {
		if w.ahead == nil {
			return &Reference{Kind: KindSuite, Name: w.suite.Spec.Baseline.Suite, Fault: "it isn't complete"}
		}
		return w.ahead
	}
	for range 10_000 {
		o := Observed{Suite: w.suite, Matrix: w.matrix, Now: w.now, Tests: w.tests, Runs: w.runs, Stored: w.stored,
			Sheets: w.digests, StoredAt: w.storedAt, ReportAt: w.reportAt, Unreported: w.unreported,
			Obstacles: w.obstacles, TakenNames: w.names, Unstored: w.unstored, Judge: w.judge, Checked: checked,
			EarlierRead: w.earlierRead, Ahead: ahead, Reference: reference, Prospect: w.prospect}
		if checked {
			o.Faults = w.faults
		}
		switch d := Decide(o); {
		case d.Check:
			checked = true
		case d.ReadAhead:
			ahead = earlier()
		case d.ReadBaseline:
			reference = earlier()
		case d.ReadEarlier:
			w.looked, w.earlierRead = w.looked+1, true
			maps.Copy(w.runs, w.matrix.ReuseCalibrations(w.earlier, w.runs, w.now))
		case len(d.Read) > readsAtOnce:
			w.t.Fatalf("%d Reports to read at once", len(d.Read))
		case len(d.Read) > 0:
			for _, wanted := range d.Read {
				t := w.tests[wanted.Name]
				w.runs[wanted.Name] = RunOf(t, wanted.Repetition, wanted.Try, w.reportOf(t),
					"").AfterDeleted(&w.suite.Status, t)
			}
		case d.Store:
			if !w.store() {
				return d
			}
		default:
			w.apply(d)
			return d
		}
	}
	w.t.Fatal("it asks for a closer look again and again")
	return Decision{}
}

// store writes the next sheet, its copy first. It is false if the operator ended during the writes.
func (w *world) store() bool {
	w.t.Helper()
	sheet, err := w.matrix.NextSheet(w.runs, w.stored)
	if err != nil || len(sheet.Added) == 0 {
		w.t.Fatalf("%d runs are added: %v", len(sheet.Added), err)
	}
	if w.dead() {
		return false
	}
	w.copies[CopyName(w.suite.Name, sheet.Number)] = sheet.Data
	if w.dead() {
		return false
	}
	w.sheets[SheetName(w.suite, sheet.Number)] = sheet.Data
	if w.dead() {
		return false
	}
	w.digests.Record(sheet.Number, sheet.Data)
	for _, name := range sheet.Added {
		w.stored[name] = sheet.Number
	}
	if w.unreported = true; w.runs.AllIn(w.stored) {
		w.storedAt = w.now
	}
	return true
}

// say writes the status. It is false if the operator ended before or after that.
func (w *world) say(d Decision) bool {
	w.t.Helper()
	if w.dead() {
		return false
	}
	if !equalJSON(w.t, w.suite.Status, d.Status) {
		w.writes++
		w.bytes += len(text(w.t, d.Status))
		w.suite.Status = d.Status
	}
	return !w.dead()
}

func (w *world) apply(d Decision) {
	w.t.Helper()
	w.lastDecision, w.next = d, d.RequeueAt
	if d.Report != nil {
		w.report, w.reportAt, w.unreported = d.Report.Suite, w.now, false
		if d.Report.Err != nil {
			w.t.Errorf("the suite's report: %v", d.Report.Err)
		}
	}
	for _, name := range d.Stop {
		w.tests[name].Spec.Stop = true
	}
	if n := len(d.Create); n > createAtOnce || max(len(d.Stop), len(d.Delete)) > changesAtOnce {
		w.t.Errorf("%d made, %d stopped and %d deleted at once", n, len(d.Stop), len(d.Delete))
	}
	for _, wanted := range d.Create {
		if wanted.Nodes != nil {
			w.placed[wanted.Name] = *wanted.Nodes
		}
		w.create(wanted.Name)
	}
	if c := d.Status.Counts; min(c.Waiting, c.Running, c.Measured, c.NotMeasured) < 0 || c.Waiting+c.Running+c.Measured+
		c.NotMeasured != c.Tests {
		w.t.Errorf("the counts don't add up: %+v", c)
	}
	if !w.say(d) {
		return
	}
	var stored Stored
	if len(d.Delete) > 0 {
		stored = w.read().Stored
	}
	for _, name := range d.Delete {
		if c, ended := completion(w.tests[name]); !ended || c == nil || !stored.Contains(name) {
			w.t.Errorf("%s is deleted before what it measured is stored", name)
		}
		delete(w.tests, name)
	}
}

func (w *world) create(name string) {
	w.t.Helper()
	for _, earlier := range w.created {
		if earlier == name {
			w.t.Errorf("%s is made twice", name)
		}
	}
	w.created = append(w.created, name)
	w.tests[name] = &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)}}
	active := 0
	for _, t := range w.tests {
		if _, ended := completion(t); !ended {
			active++
		}
	}
	w.parallel = max(w.parallel, active)
}

func equalJSON(t testing.TB, a, b any) bool {
	t.Helper()
	return text(t, a) == text(t, b)
}

func text(t testing.TB, value any) string {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
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
		Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: reason, Message: "it ended so",
		LastTransitionTime: metav1.Time{Time: w.now},
	})
}

// reportOf is the Report of a test, whose generator may have been the limit.
func (w *world) reportOf(t *v1alpha1.LoadTest) *report.Report {
	r := reportOf(t)
	if r != nil && w.environment != nil {
		r.Environment = w.environment(t.Name, w.placed[t.Name])
	}
	if r != nil && w.sessions {
		return reporttest.Sessions(46_500_000)
	}
	if r != nil && r.Answer.Measured && w.found != nil {
		r.Answer.Total.Received.PacketsPerSecond = w.found(t.Name)
		for i := range r.Answer.Directions {
			r.Answer.Directions[i].Received.PacketsPerSecond = w.found(t.Name)
		}
	}
	if r != nil && r.Answer.Measured && w.away != nil && w.away(t.Name) {
		r.Answer.NotHeld, r.Answer.Reason, r.Answer.Saturated = "link east went down 8s after traffic began and "+
			"stayed down", report.NotHeld, false
		r.Answer.Message = "Not held: link east went down"
	}
	if r == nil || !r.Answer.Measured || w.bound == nil || w.bound(t.Name) == 0 {
		return r
	}
	return bounded(r, w.bound(t.Name))
}

// bounded is a Report whose generator could send no more than that.
func bounded(r *report.Report, packetsPerSecond int64) *report.Report {
	r.Answer.Saturated, r.Answer.Reason = false, report.GeneratorLimited
	r.Answer.Total.Received.PacketsPerSecond = packetsPerSecond
	for i := range r.Answer.Directions {
		r.Answer.Directions[i].Received.PacketsPerSecond = packetsPerSecond
	}
	return r
}

// reportOf is the Report of a measured test. The packet rates differ by test.
func reportOf(t *v1alpha1.LoadTest) *report.Report {
	c, _ := completion(t)
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
		Version: report.Version, Plan: &plan.Plan{Version: plan.Version}, Ending: report.Completed,
		Answer: report.Answer{Measured: true, Reason: "LossAboveLimit", Message: "frames were lost above it", Directions: []report.Direction{{From: "west", To: "east", Received: figures,
			LineRatePercent: units.Hundred / 2}}, Total: &report.Sum{Received: figures, LineRatePercent: units.Hundred / 2}, Claim: report.Claim{Saturated: true}},
	}
}

// lossyAtAnyLoad is the Report of a device that lost frames at 500 packets/s already.
func lossyAtAnyLoad() *report.Report {
	return &report.Report{
		Version: report.Version, Plan: &plan.Plan{Version: plan.Version}, Ending: report.Completed,
		Answer: report.Answer{Reason: report.NoCleanLoad, Message: "no window was clean"},
		Windows: []report.Window{{Phase: report.Ramping, Quality: report.Lossy, Load: units.One / 100,
			Directions: []report.Direction{
				{From: "west", To: "east", Quality: report.Lossy, Offered: report.Flow{PacketsPerSecond: 500}},
			}}},
	}
}

// live runs passes until the suite is complete. Random tests end, and time passes.
func (w *world) live(random *rand.Rand) {
	w.t.Helper()
	for range 20_000 {
		w.pass()
		if w.complete() {
			return
		}
		w.now = w.now.Add(time.Duration(random.IntN(15)) * time.Second)
		for name, t := range w.tests {
			if _, ended := completion(t); !ended && random.IntN(2) == 0 {
				w.end(name)
			}
		}
	}
	w.t.Fatalf("it doesn't come to its end: %s", w.lastDecision.Message)
}

func (w *world) complete() bool {
	return meta.IsStatusConditionTrue(w.suite.Status.Conditions, v1alpha1.ConditionComplete)
}

// want fails unless the conditions are these, such as "Complete=True Measured".
func (w *world) want(conditions ...string) {
	w.t.Helper()
	var found []string
	for _, c := range w.suite.Status.Conditions {
		found = append(found, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	for _, c := range conditions {
		if text := strings.Join(found, ", "); !strings.Contains(text+",", c+",") {
			w.t.Errorf("no %s among %s", c, text)
		}
	}
}
