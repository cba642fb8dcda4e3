package suite

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/retention"
)

const (
	// storeEvery is how often at most runs are stored that nothing waits for; detailEvery is how often at most counts, and a small suite's table, are written.
	storeEvery  = 30 * time.Second
	detailEvery = 10 * time.Second
	// The bounds of one pass, so that none takes long; the next one follows at once. readsAtOnce is how many Reports are read, pagesAtOnce how many pages are
	// written, createAtOnce how many tests are created, and changesAtOnce how many are stopped or deleted.
	readsAtOnce   = 16
	pagesAtOnce   = 1
	createAtOnce  = 8
	changesAtOnce = 16
	// obstacleAgain is how long after a refusal by the API server the suite tries again.
	obstacleAgain = time.Minute
)

// rule recognizes one situation: decide returns nil where the suite isn't in it.
type rule struct {
	name   string
	decide func(*view) *step
}

// step is what a rule wants to be done and said.
type step struct {
	message string
	check   bool
	read    []Wanted
	earlier bool
	stop    []string
	create  []Wanted
	// reason is Complete's; complete: nothing is left to be done.
	reason   string
	complete bool
	// over: the suite is complete, and its status is final.
	over        bool
	deleteSuite bool
	// idle: the suite waits for somebody, and nothing happens by itself.
	idle    bool
	invalid string
	// unkept: results can't be stored.
	unkept    bool
	requeueAt time.Time
}

// rules are the situations in order of precedence: the first that applies decides. This order is the specification.
func rules() []rule {
	return []rule{
		{"deleted", deleted},             // being deleted: garbage collection does the rest
		{"finished", finished},           // complete: nothing but the history limit and the time to live
		{"unchecked", unchecked},         // its cells weren't validated as LoadTests
		{"invalid", invalid},             // they aren't valid LoadTests
		{"testsEnded", testsEnded},       // Reports are to be read
		{"nameTaken", nameTaken},         // what was measured can't be stored: nothing more is made until it can
		{"unstored", unstored},           // the same, because the API server refuses it
		{"stopRequested", stopped},       // spec.stop: what runs is stopped, nothing more is made
		{"testFailed", testFailed},       // failurePolicy Stop, and a test ended without a measurement: what runs goes on, nothing more is made
		{"allEnded", allEnded},           // nothing is missing, nothing goes on
		{"suspended", suspended},         // spec.suspend: nothing more is made
		{"earlierWanted", earlierWanted}, // calibrations that an earlier suite measured may be taken
		{"testsNeeded", testsNeeded},     // tests are missing, and there is room for some
		{"testsGoingOn", testsGoingOn},   // tests go on, or what is missing can't be made
	}
}

// Decide says what is to be done now, and what the status says. It has no memory but what was observed, no clock but o.Now, and changes nothing: the
// same observation makes the same decision.
func Decide(o Observed) Decision {
	v := newView(o)
	for _, r := range rules() {
		if s := r.decide(v); s != nil {
			return v.decision(r.name, s)
		}
	}
	return v.decision("undecided", &step{message: "none of the rules knows this situation", reason: v1alpha1.ReasonWaiting})
}

// decision turns what a rule wants into what is to be done and said.
func (v *view) decision(name string, s *step) Decision {
	d := Decision{Rule: name, Message: s.message, Check: s.check, Read: s.read, ReadEarlier: s.earlier}
	if s.check || s.earlier || len(s.read) > 0 {
		return d
	}
	kept := name != "deleted" && s.invalid == "" && !s.unkept
	if kept && v.storesFirst(&d, s) {
		return d
	}
	if d.ReadBaseline = s.complete && !s.over && s.invalid == "" && v.referenceWanted(); d.ReadBaseline {
		return d
	}
	d.Create, d.DeleteSuite, d.RequeueAt = s.create, s.deleteSuite, s.requeueAt
	d.Stop = v.some(&d, s.stop)
	if kept {
		v.keep(&d, s)
	}
	var due time.Time
	d.Status, due = restrained(v, s, statusOf(v, s, d.Report))
	d.RequeueAt = earliest(d.RequeueAt, due)
	if kept {
		d.RequeueAt = earliest(d.RequeueAt, v.storeAt(s, &d.Status))
	}
	d.Events = eventsOf(v.was, &d.Status)
	return d
}

// storesFirst says that nothing else is done before pages of runs are stored, or announced in the status.
func (v *view) storesFirst(d *Decision, s *step) bool {
	if d.Store, d.StoreEnds = v.pagesDue(s); len(d.Store) > 0 {
		return true
	}
	if d.Announce = s.complete && !s.over && len(v.dirty()) > 0; d.Announce {
		d.Status = *v.was.DeepCopy()
		d.Status.StoredRuns = v.storedRuns()
	}
	return d.Announce
}

// some are as many of the tests as one pass changes; the next pass changes the others.
func (v *view) some(d *Decision, tests []string) []string {
	if len(tests) <= changesAtOnce {
		return tests
	}
	d.RequeueAt = v.Now
	return tests[:changesAtOnce]
}

// pagesDue are pages of runs to store before anything else is done: it is time, or something waits for them, and the status announces their digests. ends says that
// these are all.
func (v *view) pagesDue(s *step) (pages []int, ends bool) {
	if !v.timeToStore(s) {
		return nil, false
	}
	pages = slices.DeleteFunc(v.dirty(), func(page int) bool { return !v.announced(v.was, page) })
	n := min(len(pages), pagesAtOnce)
	return pages[:n], n == len(pages)
}

func (v *view) timeToStore(s *step) bool {
	_, waits := v.surplus()
	return s.complete || waits || !v.Now.Before(v.StoredAt.Add(storeEvery))
}

// storeAt is when pages are next due; zero: there are none, or they wait until the status is next written.
func (v *view) storeAt(s *step, status *v1alpha1.LoadTestSuiteStatus) time.Time {
	pages := v.dirty()
	switch {
	case len(pages) == 0:
		return time.Time{}
	case !v.timeToStore(s):
		return v.StoredAt.Add(storeEvery)
	case slices.ContainsFunc(pages, func(page int) bool { return v.announced(status, page) }):
		return v.Now
	}
	return time.Time{}
}

// keep writes the suite's report when it is due, and deletes stored tests beyond the history limit.
func (v *view) keep(d *Decision, s *step) {
	remove, _ := v.surplus()
	d.Delete = v.some(d, remove)
	begins := v.was.StartedAt == nil && len(s.create) > 0 // to find out before anything is measured whether the report's name is free
	due := v.ReportAt.Add(storeEvery)
	switch {
	case s.over:
	case s.complete || begins || v.Unreported && !v.Now.Before(due):
		d.Report = newStoredReport(v.document(s))
	case v.Unreported:
		d.RequeueAt = earliest(d.RequeueAt, due)
	}
}

// dirty are the pages of runs that aren't stored.
func (v *view) dirty() []int {
	var pages []int
	for cell, names := range v.made {
		for _, name := range names {
			if _, known := v.Runs[name]; known && !v.Stored.Has(name) {
				if p := v.Matrix.pageOf(cell); !slices.Contains(pages, p) {
					pages = append(pages, p)
				}
			}
		}
	}
	return pages
}

func deleted(v *view) *step {
	if v.Suite.DeletionTimestamp == nil {
		return nil
	}
	return &step{message: "the LoadTestSuite is being deleted, and its LoadTests with it", over: true}
}

// finished: once its time to live is over the suite is deleted; or only its LoadTests, if a tool would create the suite again, which would load the network again.
func finished(v *view) *step {
	c := v.previousCondition(v1alpha1.ConditionComplete)
	if c.Status != metav1.ConditionTrue {
		return nil
	}
	s := &step{message: "the suite is over", reason: c.Reason, over: true, complete: true}
	switch due := v.expires(); {
	case due.IsZero():
	case v.Now.Before(due):
		s.requeueAt = due
	case v.thinned():
		s.message = "its time to live after the end, spec.ttlAfterFinished, is over: its LoadTests go, and it stays with its report, as " + v.tracker() + " would make it again"
	default:
		s.message, s.deleteSuite = "its time to live after the end, spec.ttlAfterFinished, is over", true
	}
	return s
}

// expires is when a complete suite's time to live is over; zero: never, or it isn't complete.
func (v *view) expires() time.Time {
	c := v.previousCondition(v1alpha1.ConditionComplete)
	ttl, err := v.spec.TTLAfterFinished.Std()
	if c.Status != metav1.ConditionTrue || v.spec.TTLAfterFinished == "" || err != nil {
		return time.Time{}
	}
	at := c.LastTransitionTime.Time
	if v.was.FinishedAt != nil {
		at = v.was.FinishedAt.Time
	}
	return at.Add(ttl)
}

// tracker is the tool that would create the suite again; empty: none is known.
func (v *view) tracker() string { return retention.TrackedBy(v.Suite.Labels, v.Suite.Annotations) }

// thinned says that the suite's time to live is over, and that it stays without its LoadTests.
func (v *view) thinned() bool {
	due := v.expires()
	return !due.IsZero() && !v.Now.Before(due) && v.tracker() != ""
}

// unchecked: the cells aren't validated yet. A spec can't be changed, so this happens once.
func unchecked(v *view) *step {
	if v.Checked || v.previousCondition(v1alpha1.ConditionAccepted).Status == metav1.ConditionTrue {
		return nil
	}
	return &step{message: "the cells are checked as LoadTests", check: true}
}

func invalid(v *view) *step {
	if len(v.Faults) == 0 {
		return nil
	}
	return &step{message: v.Faults.Error(), reason: v1alpha1.ReasonInvalid, complete: true, invalid: v.Faults.Error()}
}

func testsEnded(v *view) *step {
	if len(v.unread) == 0 {
		return nil
	}
	return &step{message: "tests ended: what they measured is read", read: v.unread[:min(len(v.unread), readsAtOnce)]}
}

// stopped: running tests are stopped, and keep what they have measured; the suite waits for them.
func stopped(v *view) *step {
	if !v.spec.Stop {
		return nil
	}
	s := &step{reason: v1alpha1.ReasonStopped, message: v.tally("spec.stop: nothing further is measured"), complete: len(v.active) == 0}
	for _, name := range v.active {
		if t := v.Tests[name]; t != nil && !t.Spec.Stop && t.DeletionTimestamp == nil && !v.Pending[name] {
			s.stop = append(s.stop, name)
		}
	}
	return s
}

func testFailed(v *view) *step {
	if v.spec.FailurePolicy != v1alpha1.FailureStop || v.failed == 0 {
		return nil
	}
	message := v.tally("spec.failurePolicy Stop, and a test ended without a measurement: nothing further is started")
	return &step{reason: v1alpha1.ReasonTestFailed, message: message, complete: len(v.active) == 0}
}

// unstored: the API server refuses to store results. Until it accepts them nothing more is measured, since it would be lost.
func unstored(v *view) *step {
	if v.Unstored == "" {
		return nil
	}
	s := &step{reason: v1alpha1.ReasonWaiting, unkept: true, requeueAt: v.Now.Add(obstacleAgain)}
	if stop := stopped(v); stop != nil {
		s.stop = stop.stop
	}
	s.message = v.tally("what the suite measures can't be kept: " + v.Unstored + "; nothing further is started until it can, and it is tried again each minute")
	return s
}

// nameTaken: somebody else's ConfigMap has a name that results are stored under. Tests that are to stop are still stopped.
func nameTaken(v *view) *step {
	if len(v.Taken) == 0 {
		return nil
	}
	s := &step{reason: v1alpha1.ReasonNameTaken, unkept: true, requeueAt: v.Now.Add(obstacleAgain)}
	if stop := stopped(v); stop != nil {
		s.stop = stop.stop
	}
	name, namespace := v.Taken[0], v.Suite.Namespace
	s.message = v.tally(fmt.Sprintf("ConfigMap %[1]s is somebody else's, and what the suite measures is kept under that name: remove it (kubectl delete configmap %[1]s -n %[2]s), "+
		"or create the suite under another name; nothing further is started until then, and it is looked at again each minute", name, namespace))
	return s
}

func allEnded(v *view) *step {
	if len(v.active)+len(v.missing) > 0 {
		return nil
	}
	s := &step{reason: v1alpha1.ReasonMeasured, complete: true, message: v.tally("")}
	switch {
	case v.measured == 0:
		s.reason = v1alpha1.ReasonNotMeasured
	case v.failed > 0:
		s.reason = v1alpha1.ReasonPartlyMeasured
	}
	return s
}

func suspended(v *view) *step {
	if !v.spec.Suspend {
		return nil
	}
	s := v.goingOn("spec.suspend: no further tests are started")
	s.idle = len(v.active) == 0
	return s
}

func testsNeeded(v *view) *step {
	room := int(v.spec.Parallelism) - len(v.active)
	s := v.goingOn("")
	for _, w := range v.missing {
		switch {
		case room <= len(s.create) || v.Obstacles[w.Name] != "":
		case len(s.create) < createAtOnce:
			s.create = append(s.create, w)
		default:
			s.requeueAt = v.Now
		}
	}
	if len(s.create) == 0 {
		return nil
	}
	if v.Now.Before(v.CreateFrom) {
		s.create, s.requeueAt = nil, v.CreateFrom
		return s
	}
	if len(v.active) > 0 || len(v.obstructed) == 0 { // else it may be that nothing can be made
		s.reason = v1alpha1.ReasonRunning
	}
	return s
}

func testsGoingOn(v *view) *step { return v.goingOn("") }

// goingOn says how far the suite is.
func (v *view) goingOn(why string) *step {
	s := &step{reason: v1alpha1.ReasonRunning, message: v.tally(why)}
	if len(v.active) == 0 {
		s.reason = v1alpha1.ReasonWaiting
	}
	if v.spec.Suspend && len(v.active) == 0 {
		s.reason = v1alpha1.ReasonSuspended
	}
	if len(v.obstructed) > 0 {
		s.message += fmt.Sprintf("; %d %s can't be made: %s: %s", len(v.obstructed), plural(int32(len(v.obstructed)), "test"), v.obstructed[0], v.Obstacles[v.obstructed[0]])
		s.requeueAt = v.Now.Add(obstacleAgain)
	}
	return s
}

// tally is how far the suite is, in a sentence.
func (v *view) tally(why string) string {
	text := fmt.Sprintf("%d of %d %s measured", v.measured, len(v.Matrix.slots), plural(int32(len(v.Matrix.slots)), "test"))
	if v.failed > 0 {
		text += fmt.Sprintf(", %d without a measurement", v.failed)
	}
	if n := len(v.active); n > 0 {
		text += fmt.Sprintf(", %d under way", n)
	}
	if v.retried > 0 {
		text += fmt.Sprintf(", %d repeated", v.retried)
	}
	if why != "" {
		text = why + "; " + text
	}
	return text
}

// earliest is the earlier of two moments, where zero means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
