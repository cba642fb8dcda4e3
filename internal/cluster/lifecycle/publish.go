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

// The Report that counted is copied to the test's namespace before Complete becomes True. The copy is for people and programs. The operator believes only
// what it read in its own namespace, and status.report.digest identifies those bytes.
//
//	operator's namespace: …-report ──▶ believed, judged ──▶ test's namespace: NAME-report, immutable

// copying is what becomes of the copy; the zero value: there is nothing to copy.
type copying struct {
	object manifests.Object
	// made: the copy exists. stale: the test's own ConfigMap of that name holds another Report.
	made, stale bool
	// why there is no copy; triedSince is since when the API server can't take it for the moment.
	why        string
	triedSince time.Time
}

// publish copies an ending's Report.
func (cp *copies) publish(e *ending) {
	if e.report == nil || cp.report.envelope == nil || len(cp.report.packed) == 0 {
		return
	}
	object := manifests.ReportCopy(cp.test, *cp.report.envelope, cp.report.packed)
	ref := kindOf(object) + "/" + object.Name
	if i := slices.IndexFunc(cp.refusals, func(r Refusal) bool { return r.Pod == object.Name }); i >= 0 {
		e.copying = cp.copyRefused(object.Name, cp.refusals[i])
		return
	}
	if slices.Contains(cp.foreign, ref) {
		e.copying = copying{why: fmt.Sprintf("ConfigMap %s exists and doesn't belong to this LoadTest", object.Name)}
		return
	}
	there := cp.existing[ref]
	if there && cp.published == cp.report.envelope.Digest {
		e.copying = copying{made: true} // by an earlier pass, which failed half-way
		return
	}
	e.copying = copying{object: object, stale: there}
}

// copyRefused says how to go on after the API server refused the copy: a refusal that may pass is tried again for a while.
func (cp *copies) copyRefused(name string, r Refusal) copying {
	c := copying{why: fmt.Sprintf("ConfigMap %s can't be made: %s", name, r.Message)}
	since := cp.now
	if was := cp.recorded; was != nil && was.PublishTriedSince != nil && was.PublishTriedSince.Time.Before(cp.now) {
		since = was.PublishTriedSince.Time
	}
	if r.Transient && cp.now.Before(since.Add(keepBound)) {
		c.triedSince = since
	}
	return c
}

// addTo adds the copy to a step.
func (c copying) addTo(s *step) *step {
	if c.stale {
		s.del = append(s.del, Deletion{Kind: "ConfigMap", Name: c.object.GetName(), Why: "it isn't a copy of the Report that counted"})
	}
	if c.object != nil {
		s.create = append(s.create, c.object)
	}
	return s
}

// record writes into the status why there is no copy, or that there is one now.
func (c copying) record(r *v1alpha1.ReportReference) {
	if r == nil || c.object == nil && c.why == "" && !c.made {
		return
	}
	r.NotPublished, r.PublishTriedSince = wording.Limited(c.why, 1024), nil
	if !c.triedSince.IsZero() {
		r.PublishTriedSince = &metav1.Time{Time: c.triedSince}
	}
}

// publishAfterEnd tries again to copy a complete test's Report, after refusals that may pass. Until then the run's objects in the operator's namespace stay. Nil: the copy
// isn't due.
func (cm *completion) publishAfterEnd(s *step) *step {
	r := cm.recorded
	if r == nil || r.PublishTriedSince == nil || cm.report.envelope == nil {
		return nil
	}
	if cm.report.document == nil && cm.report.readFault == "" {
		return &step{reason: s.reason, message: "its Report is to be copied to the test's namespace: it is read again", readReport: true}
	}
	e := &ending{report: cm.report.believed()}
	cm.copies.publish(e)
	s.copying = e.copying
	return s.copying.addTo(s).waitUntil(cm.now.Add(backoff(cm.now.Sub(r.PublishTriedSince.Time), retryTransientFirst, retryTransientLast)))
}
