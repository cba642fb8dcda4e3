package lifecycle

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/manifests"
)

// A Report that is to outlive its test is copied when the test ends, before that is told: who sees Complete may delete the test at once.
//
//	NAME-report, the test's own ──▶ NAME-DIGEST, nobody's: labelled, immutable, pruned by number and age

// wantsKept says whether a Report is to be kept, and hasn't been dealt with yet.
func (v *view) wantsKept() bool {
	r := v.was.Report
	return v.spec.ReportRetention == v1alpha1.ReportKeep && (r == nil || r.Kept == "" && r.NotKept == "")
}

// keepTried says that keeping the Report was begun, and not brought to an end yet.
func (v *view) keepTried() bool {
	return v.was.Report != nil && v.was.Report.KeepTriedSince != nil && v.wantsKept()
}

// keep makes an ending's Report outlive the test. What a fault acted on isn't kept: later nobody would know that its figures count for nothing.
func (v *view) keep(e *ending) {
	switch {
	case !v.wantsKept():
	case e.report != nil && !e.figures:
		e.notKept = "a fault acted on what it measured, so that its figures must not be compared with others later"
	case e.report != nil || v.keepTried():
		e.keeping = v.kept()
	}
}

// kept is the object to make, or why there will be none. A refusal that is about the moment is none yet: the object is tried again for a while.
func (v *view) kept() keeping {
	r, envelope := v.told(), v.Children.Envelope
	if r == nil || envelope == nil || len(v.Children.ReportPacked) == 0 {
		return keeping{notKept: "it can't be read any more: " + v.reportFault()}
	}
	object := manifests.Kept(v.Test, manifests.KeptReport{
		Envelope: *envelope, Packed: v.Children.ReportPacked, Method: r.Plan.Method(), Finished: r.Finished,
	})
	for _, refusal := range v.Refusals {
		if refusal.Pod == object.Name {
			return v.unkept(refusal)
		}
	}
	return keeping{object: object}
}

// unkept is what a refusal makes of a Report that is to be kept.
func (v *view) unkept(r Refusal) keeping {
	since := v.Now
	if v.keepTried() && v.was.Report.KeepTriedSince.Time.Before(v.Now) {
		since = v.was.Report.KeepTriedSince.Time
	}
	switch {
	case !r.Transient:
		return keeping{notKept: fmt.Sprintf("ConfigMap %s can't be made: %s", r.Pod, r.Message)}
	case v.Now.Before(since.Add(keepBound)):
		return keeping{triedSince: since}
	}
	return keeping{notKept: fmt.Sprintf("ConfigMap %s couldn't be made for %s: %s", r.Pod, keepBound, r.Message)}
}

// keepOn waits with the end of a test until its Report is kept, or can't be. What the test holds it doesn't need for that.
func (v *view) keepOn(e *ending) *step {
	s := v.toward(e, "KeepingReport")
	if cleared := v.clearAway(e); cleared != nil {
		s.del = cleared.del
	}
	return s.waitUntil(v.keptAgain(e.keeping))
}

// keptAgain is when keeping is tried again.
func (v *view) keptAgain(k keeping) time.Time {
	return v.Now.Add(backoff(v.Now.Sub(k.triedSince), retryTransientFirst, retryTransientLast))
}

// keepLater keeps the Report of a test that is complete, where that was asked for afterwards. Nil: there is nothing to be kept.
func (v *view) keepLater(s *step) *step {
	if v.was.Report == nil || v.was.Result == nil || !v.wantsKept() {
		return nil
	}
	if v.Children.Report == nil && v.Children.ReportFault == "" {
		return &step{reason: s.reason, message: "its Report is to be kept: it is read again", read: true}
	}
	s.keeping = v.kept()
	if s.keeping.object != nil {
		s.create = append(s.create, s.keeping.object)
	}
	if s.keeping.tries() {
		return s.waitUntil(v.keptAgain(s.keeping))
	}
	return s
}

// keeping is what became of a Report that was to be kept: one of the three; none: nothing was asked.
type keeping struct {
	object  manifests.Object
	notKept string
	// triedSince: the API server doesn't take it for the moment, since then.
	triedSince time.Time
}

func (k keeping) tries() bool { return !k.triedSince.IsZero() }

// tell writes into the status what became of it.
func (k keeping) tell(r *v1alpha1.ReportReference) {
	if k == (keeping{}) {
		return
	}
	r.Kept, r.NotKept, r.KeepTriedSince = "", limited(k.notKept, 1024), nil
	if k.object != nil {
		r.Kept = k.object.GetName()
	}
	if k.tries() {
		r.KeepTriedSince = &metav1.Time{Time: k.triedSince}
	}
}
