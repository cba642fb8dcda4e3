package suite

import (
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

const (
	// storeEvery is how often at most runs are stored that nothing waits for; detailEvery is how often at most counts, and a small suite's table, are written.
	storeEvery  = 30 * time.Second
	detailEvery = 10 * time.Second
	// The bounds of one pass, so that none takes long; the next one follows at once. readsAtOnce is how many Reports are read, createAtOnce how many tests are
	// created, and changesAtOnce how many are stopped or deleted.
	readsAtOnce   = 16
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
	if d.Store = kept && v.unstored() && v.timeToStore(s); d.Store { // before anything else is done
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
	if kept && v.unstored() {
		d.RequeueAt = earliest(d.RequeueAt, v.StoredAt.Add(storeEvery))
	}
	d.Events = eventsOf(v.was, &d.Status)
	return d
}

// some are as many of the tests as one pass changes; the next pass changes the others.
func (v *view) some(d *Decision, tests []string) []string {
	if len(tests) <= changesAtOnce {
		return tests
	}
	d.RequeueAt = v.Now
	return tests[:changesAtOnce]
}

// timeToStore says that runs are stored now: it is time, or something waits for them.
func (v *view) timeToStore(s *step) bool {
	_, waits := v.surplus()
	return s.complete || waits || !v.Now.Before(v.StoredAt.Add(storeEvery))
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

// unstored says that runs aren't stored yet.
func (v *view) unstored() bool { return !v.Runs.AllIn(v.Stored) }
