package lifecycle

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
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
	// recorded is what the status says of the Report. Nil means nothing.
	recorded *v1alpha1.ReportReference
	// existing, foreign and published are explained by Children.
	existing   map[string]bool
	foreign    []string
	published  string
	refusals   []Refusal
	observedAt time.Time
}

// shouldKeep says whether the Report is to be kept, and was neither kept nor given up.
func (cp *copies) shouldKeep() bool {
	r := cp.recorded
	return cp.test.Spec.ReportRetention == v1alpha1.ReportKeep && (r == nil || r.Kept == "" && r.NotKept == "")
}

// keepTried says whether the operator has begun to keep the Report, and is still trying.
func (cp *copies) keepTried() bool {
	return cp.recorded != nil && cp.recorded.KeepTriedSince != nil && cp.shouldKeep()
}

// keep makes an ending's Report outlive the test. A Report of a measurement that a fault influenced isn't kept, since
// later nobody would know that its figures don't count.
func (cp *copies) keep(e *ending) {
	switch {
	case !cp.shouldKeep():
	case e.report != nil && !e.figures:
		e.notKept = "a fault acted on what it measured, so that its figures must not be compared with others later"
	case e.report != nil || cp.keepTried():
		e.keeping = cp.keptCopy()
	}
}

// keptCopy is the ConfigMap to create, or why there will be none. After a refusal that may pass, it is tried
// again for a while.
func (cp *copies) keptCopy() keeping {
	r, envelope := cp.report.believed(), cp.report.envelope
	if r == nil || envelope == nil || len(cp.report.packed) == 0 {
		return keeping{notKept: "it can't be read any more: " + cp.report.fault()}
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
	firstTry := cp.observedAt
	if cp.recorded != nil {
		firstTry = cp.firstTry(cp.recorded.KeepTriedSince)
	}
	switch {
	case !r.Transient:
		return keeping{notKept: fmt.Sprintf("ConfigMap %s can't be made: %s", r.Pod, r.Message)}
	case cp.observedAt.Before(firstTry.Add(keepBound)):
		return keeping{triedSince: firstTry}
	}
	return keeping{notKept: fmt.Sprintf("ConfigMap %s couldn't be made for %s: %s", r.Pod, keepBound, r.Message)}
}

// nextKeepTry is when the operator tries again to keep the Report.
func (cp *copies) nextKeepTry(k keeping) time.Time {
	return cp.observedAt.Add(backoff(cp.observedAt.Sub(k.triedSince), retryTransientFirst, retryTransientLast))
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
		e.copying = copying{problem: fmt.Sprintf("ConfigMap %s exists and doesn't belong to this LoadTest",
			object.Name)}
	case exists && cp.published == cp.report.envelope.Digest:
		e.copying = copying{exists: true} // by an earlier pass, which failed half-way
	default:
		e.copying = copying{object: object, stale: exists}
	}
}

// firstTry is when the tries began that the status records, or now.
func (cp *copies) firstTry(recorded *metav1.Time) time.Time {
	if recorded == nil || recorded.After(cp.observedAt) {
		return cp.observedAt
	}
	return recorded.Time
}

// copyRefused says how to go on after the API server refused the copy. After a refusal that may pass, the copy is tried
// again for a while.
func (cp *copies) copyRefused(name string, r Refusal) copying {
	c := copying{problem: fmt.Sprintf("ConfigMap %s can't be made: %s", name, r.Message)}
	firstTry := cp.observedAt
	if cp.recorded != nil {
		firstTry = cp.firstTry(cp.recorded.PublishTriedSince)
	}
	if r.Transient && cp.observedAt.Before(firstTry.Add(keepBound)) {
		c.triedSince = firstTry
	}
	return c
}

// keeping is what became of a Report that was to be kept. At most one field is set. None means that no Report was to
// be kept.
type keeping struct {
	object  manifests.Object
	notKept string
	// triedSince is since when the API server can't take the copy for the moment.
	triedSince time.Time
}

func (k keeping) stillTrying() bool { return !k.triedSince.IsZero() }

// record writes into the status what became of the copy.
func (k keeping) record(r *v1alpha1.ReportReference) {
	if k == (keeping{}) {
		return
	}
	r.Kept, r.NotKept, r.KeepTriedSince = "", wording.Limited(k.notKept, 1024), nil
	if k.object != nil {
		r.Kept = k.object.GetName()
	}
	if k.stillTrying() {
		r.KeepTriedSince = &metav1.Time{Time: k.triedSince}
	}
}

// copying is what becomes of the copy. The zero value means that there is nothing to copy.
type copying struct {
	object manifests.Object
	// exists says that the copy exists, stale that the test's own ConfigMap of that name holds another Report.
	exists, stale bool
	// problem is why there is no copy. triedSince is since when the API server can't take the copy for the moment.
	problem    string
	triedSince time.Time
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
func (c copying) record(r *v1alpha1.ReportReference) {
	if r == nil || c.object == nil && c.problem == "" && !c.exists {
		return
	}
	r.NotPublished, r.PublishTriedSince = wording.Limited(c.problem, 1024), nil
	if !c.triedSince.IsZero() {
		r.PublishTriedSince = &metav1.Time{Time: c.triedSince}
	}
}
