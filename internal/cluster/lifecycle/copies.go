package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// A Report that is to outlive its test is copied before Complete becomes True, since whoever sees Complete may delete
// the test at once.
//
//	NAME-report, the test's own ──▶ NAME-DIGEST, nobody's: labelled, immutable, pruned by number and age

// The Report that counted is copied to the test's namespace before Complete becomes True. The copy is for
// people and programs. The operator believes only what it read in its own namespace, and status.report.digest
// identifies those bytes.
//
//	operator's namespace: …-report ──▶ believed, judged ──▶ test's namespace: NAME-report, immutable

// copies answer what becomes of the Report's two copies. One is for the test's namespace, and one outlives the test.
type copies struct {
	test   *v1alpha1.LoadTest
	report *arrival
	// history has what the status says of the copies, in the conditions Published and Kept.
	history *history
	// existing, foreign and published are explained by Children.
	existing   map[string]bool
	foreign    []string
	published  string
	refusals   []Refusal
	observedAt time.Time
}

// shouldKeep says whether the Report is to be kept, and was neither kept nor given up.
func (cp *copies) shouldKeep() bool {
	reason := cp.history.condition(v1alpha1.ConditionKept).Reason
	return cp.test.Spec.ReportRetention == v1alpha1.ReportKeep && (reason == "" || reason == v1alpha1.ReasonRetrying)
}

// retries says whether the operator still tries to make a copy, by the copy's condition.
func (cp *copies) retries(kind string) bool {
	return cp.history.condition(kind).Reason == v1alpha1.ReasonRetrying
}

// keepTried says whether the operator has begun to keep the Report, and is still trying.
func (cp *copies) keepTried() bool { return cp.shouldKeep() && cp.retries(v1alpha1.ConditionKept) }

// keep makes an ending's Report outlive the test. A Report of a measurement that a fault influenced isn't kept, since
// later nobody would know that its figures don't count.
func (cp *copies) keep(e *ending) {
	switch {
	case !cp.shouldKeep():
	case e.report != nil && !e.figures:
		e.failure = isFalse(v1alpha1.ReasonNoFigures,
			"a fault acted on what it measured, so that its figures must not be compared with others later")
	case e.report != nil || cp.keepTried():
		e.keeping = cp.keptCopy()
	}
}

// keptCopy is the ConfigMap to create, or why there will be none. After a refusal that may pass, it is tried
// again for a while.
func (cp *copies) keptCopy() keeping {
	r, envelope := cp.report.believed(), cp.report.envelope
	if r == nil || envelope == nil || len(cp.report.packed) == 0 {
		return keeping{failure: isFalse(v1alpha1.ReasonUnreadable, "it can't be read any more: "+cp.report.fault())}
	}
	object := manifests.KeptConfigMap(cp.test, manifests.KeptReport{
		Envelope: *envelope, Packed: cp.report.packed, Method: r.Plan.Method(), Finished: r.Finished,
	})
	if refusal := refusalOf(cp.refusals, object.Name); refusal != nil {
		return cp.keepRefused(*refusal)
	}
	return keeping{object: object}
}

// keepRefused says how to go on after the API server refused the kept copy.
func (cp *copies) keepRefused(r Refusal) keeping {
	reason, message := v1alpha1.ReasonRefused, fmt.Sprintf("ConfigMap %s can't be made: %s", r.Pod, r.Message)
	switch {
	case !r.Transient:
	case cp.observedAt.Before(cp.firstTry(v1alpha1.ConditionKept).Add(keepBound)):
		reason = v1alpha1.ReasonRetrying
	default:
		message = fmt.Sprintf("ConfigMap %s couldn't be made for %s: %s", r.Pod, keepBound, r.Message)
	}
	return keeping{failure: isFalse(reason, message)}
}

// nextTry is when the operator tries again to make a copy.
func (cp *copies) nextTry(kind string) time.Time {
	return cp.observedAt.Add(backoff(cp.observedAt.Sub(cp.firstTry(kind)), retryTransientFirst, retryTransientLast))
}

// publish copies an ending's Report.
func (cp *copies) publish(e *ending) {
	if e.report == nil || cp.report.envelope == nil || len(cp.report.packed) == 0 {
		return
	}
	object := manifests.ReportCopy(cp.test, *cp.report.envelope, cp.report.packed)
	ref := kindOf(object) + "/" + object.Name
	switch refusal, exists := refusalOf(cp.refusals, object.Name), cp.existing[ref]; {
	case refusal != nil:
		e.copying = cp.copyRefused(object.Name, *refusal)
	case slices.Contains(cp.foreign, ref):
		e.copying = copying{failure: isFalse(v1alpha1.ReasonNameTaken,
			fmt.Sprintf("ConfigMap %s exists and doesn't belong to this LoadTest", object.Name))}
	case exists && cp.published == cp.report.envelope.Digest:
		e.copying = copying{exists: true} // by an earlier pass, which failed half-way
	default:
		e.copying = copying{object: object, stale: exists}
	}
}

// firstTry is when the tries to make a copy began, by the copy's condition. It is now where none was refused yet.
func (cp *copies) firstTry(kind string) time.Time {
	if !cp.retries(kind) {
		return cp.observedAt
	}
	return cp.history.changedAt(kind)
}

// copyRefused says how to go on after the API server refused the copy. After a refusal that may pass, the copy is tried
// again for a while.
func (cp *copies) copyRefused(name string, r Refusal) copying {
	reason := v1alpha1.ReasonRefused
	if r.Transient && cp.observedAt.Before(cp.firstTry(v1alpha1.ConditionPublished).Add(keepBound)) {
		reason = v1alpha1.ReasonRetrying
	}
	return copying{failure: isFalse(reason, fmt.Sprintf("ConfigMap %s can't be made: %s", name, r.Message))}
}

// keeping is what became of a Report that was to be kept. At most one field is set. None means that no Report was to
// be kept.
type keeping struct {
	object manifests.Object
	// failure is why there is no copy yet, or none at all.
	failure *statement
}

func (k keeping) stillTrying() bool {
	return k.failure != nil && k.failure.reason == v1alpha1.ReasonRetrying
}

// record writes into the status what became of the copy.
func (k keeping) record(w *conditionWriter, st *v1alpha1.LoadTestStatus) {
	if k.object == nil && k.failure == nil {
		return
	}
	c, name := k.failure, ""
	if k.object != nil {
		name = k.object.GetName()
		c = isTrue(v1alpha1.ReasonCopied, "ConfigMap "+name+" outlives the LoadTest")
	}
	if st.Report != nil {
		st.Report.KeptReport = name
	}
	w.set(st, v1alpha1.ConditionKept, c)
}

// copying is what becomes of the copy. The zero value means that there is nothing to copy.
type copying struct {
	object manifests.Object
	// exists says that the copy exists, stale that the test's own ConfigMap of that name holds another Report.
	exists, stale bool
	// failure is why there is no copy yet, or none at all.
	failure *statement
}

// addTo adds the copy to a step.
func (c copying) addTo(s *step) *step {
	if c.stale {
		s.del = append(s.del, Deletion{Kind: "ConfigMap", Name: c.object.GetName(),
			Reason: "it isn't a copy of the Report that counted"})
	}
	if c.object != nil {
		s.create = append(s.create, c.object)
	}
	return s
}

// record writes into the status why there is no copy, or that there is one now.
func (c copying) record(w *conditionWriter, st *v1alpha1.LoadTestStatus) {
	switch {
	case c.failure != nil:
		w.set(st, v1alpha1.ConditionPublished, c.failure)
	case c.object != nil || c.exists:
		w.set(st, v1alpha1.ConditionPublished,
			isTrue(v1alpha1.ReasonCopied, "ConfigMap "+manifests.ReportName(w.test.Name)+" has the Report"))
	}
}
