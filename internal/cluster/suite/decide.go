package suite

import (
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

const (
	// storeEvery is the shortest time between two writes of runs that nothing waits for. detailEvery is the
	// same for counts, and for a small suite's table.
	storeEvery  = 30 * time.Second
	detailEvery = 10 * time.Second
	// These bounds keep each pass short. The next pass follows at once. readsAtOnce is how many Reports a pass
	// reads, createAtOnce how many tests it creates, and changesAtOnce how many it stops or deletes.
	readsAtOnce   = 16
	createAtOnce  = 8
	changesAtOnce = 16
	// obstacleAgain is the time after which the suite tries again what the API server refused.
	obstacleAgain = time.Minute
)

// rule recognizes one situation. decide returns nil where the suite isn't in that situation.
type rule struct {
	name   string
	decide func(*situation) *step
}

// step is what a rule decides to do, and its message for people.
type step struct {
	message string
	check   bool
	read    []Wanted
	earlier bool
	ahead   bool
	stop    []string
	create  []Wanted
	// reason is the reason of the condition Complete. complete says that nothing is left to do.
	reason   string
	complete bool
	// final says that the suite is complete, and that its status doesn't change any more.
	final       bool
	deleteSuite bool
	// idle says that the suite waits for a person.
	idle    bool
	invalid string
	// unkept says that results can't be stored.
	unkept    bool
	requeueAt time.Time
}

// rules are the situations in order of precedence. The first rule that applies decides. This order is the
// specification.
func rules() []rule {
	return []rule{
		{"deleted", deleted},       // the suite is being deleted, and garbage collection deletes its tests
		{"finished", finished},     // the suite is complete, and only the history limit and the time to live matter
		{"unchecked", unchecked},   // the cells weren't validated as LoadTests
		{"invalid", invalid},       // some cells aren't valid LoadTests
		{"testsEnded", testsEnded}, // tests ended whose Reports weren't read
		// another object has the name under which runs are stored, and nothing is made until it is gone
		{"nameTaken", nameTaken},
		{"unstored", unstored},     // the API server refuses to store runs, and nothing is made until it accepts them
		{"stopRequested", stopped}, // spec.stop stops running tests, and no more are made
		// under failurePolicy Stop a test ended without a measurement; running tests continue, no more are made
		{"testFailed", testFailed},
		{"allEnded", allEnded},           // no test is missing, and none is ongoing
		{"suspended", suspended},         // spec.suspend keeps tests from being made
		{"earlierWanted", earlierWanted}, // an earlier suite's calibrations may be reused
		{"aheadWanted", aheadWanted},     // an earlier suite is the baseline, and says where tests run
		{"testsNeeded", testsNeeded},     // tests are missing, and parallelism allows more
		{"testsGoingOn", testsGoingOn},   // tests are ongoing, or missing ones can't be made
	}
}

// Decide decides what to do now, and computes the status. It depends on the observation alone, takes the time
// from o.Now, and changes nothing. So the same observation makes the same decision.
func Decide(o Observed) Decision {
	v := newSituation(o)
	for _, r := range rules() {
		if s := r.decide(v); s != nil {
			return v.decision(r.name, s)
		}
	}
	return v.decision("undecided", &step{message: "none of the rules knows this situation",
		reason: v1alpha1.ReasonWaiting})
}

// decision turns a rule's step into a Decision.
func (v *situation) decision(name string, s *step) Decision {
	d := Decision{Rule: name, Message: s.message, Check: s.check, Read: s.read, ReadEarlier: s.earlier,
		ReadAhead: s.ahead}
	if s.readsFirst() {
		return d
	}
	storable := name != "deleted" && s.invalid == "" && !s.unkept
	if d.Store = storable && v.unstored() && v.timeToStore(s); d.Store { // runs are stored before anything else is done
		return d
	}
	if d.ReadBaseline = s.complete && !s.final && s.invalid == "" && v.baselines.wanted(); d.ReadBaseline {
		return d
	}
	d.Create, d.DeleteSuite, d.RequeueAt = s.create, s.deleteSuite, s.requeueAt
	d.Stop = v.boundedChanges(&d, s.stop)
	if storable {
		v.keep(&d, s)
	}
	var due time.Time
	d.Status, due = throttleStatus(v, s, statusOf(v, s, d.Report))
	d.RequeueAt = earliest(d.RequeueAt, due)
	if storable && v.unstored() {
		d.RequeueAt = earliest(d.RequeueAt, v.StoredAt.Add(storeEvery))
	}
	d.Events = eventsOf(v.lastStatus, &d.Status)
	return d
}

// readsFirst says that the step reads something, before anything is done.
func (s *step) readsFirst() bool { return s.check || s.earlier || s.ahead || len(s.read) > 0 }

// boundedChanges are as many of the tests as one pass changes. The next pass changes the others.
func (v *situation) boundedChanges(d *Decision, tests []string) []string {
	if len(tests) <= changesAtOnce {
		return tests
	}
	d.RequeueAt = v.Now
	return tests[:changesAtOnce]
}

// timeToStore says that runs are stored now, because they are due or something waits for them.
func (v *situation) timeToStore(s *step) bool {
	_, waits := v.surplus()
	return s.complete || waits || !v.Now.Before(v.StoredAt.Add(storeEvery))
}

// keep writes the suite's report when it is due, and deletes stored tests beyond the history limit.
func (v *situation) keep(d *Decision, s *step) {
	remove, _ := v.surplus()
	d.Delete = v.boundedChanges(d, remove)
	// before anything is measured, this write shows whether the report's name is free
	begins := v.lastStatus.StartTime == nil && len(s.create) > 0
	due := v.ReportAt.Add(storeEvery)
	switch {
	case s.final:
	case s.complete || begins || v.Unreported && !v.Now.Before(due):
		d.Report = newStoredReport(v.suiteReport(s.complete))
	case v.Unreported:
		d.RequeueAt = earliest(d.RequeueAt, due)
	}
}

// unstored says that some runs aren't stored yet.
func (v *situation) unstored() bool { return !v.Runs.AllIn(v.Stored) }
