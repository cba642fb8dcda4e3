package lifecycle

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// A Report that is to outlive its test is copied before Complete becomes True: whoever sees Complete may delete the test at once.
//
//	NAME-report, the test's own ──▶ NAME-DIGEST, nobody's: labelled, immutable, pruned by number and age

// wantsKept says whether the Report is to be kept, and was neither kept nor given up.
func (v *view) wantsKept() bool {
	r := v.was.Report
	return v.spec.ReportRetention == v1alpha1.ReportKeep && (r == nil || r.Kept == "" && r.NotKept == "")
}

// keepTried says whether the operator has begun to keep the Report, and is still trying.
func (v *view) keepTried() bool {
	return v.was.Report != nil && v.was.Report.KeepTriedSince != nil && v.wantsKept()
}

// keep makes an ending's Report outlive the test. A Report of a measurement that a fault influenced isn't kept: later nobody would know that its figures don't count.
func (v *view) keep(e *ending) {
	switch {
	case !v.wantsKept():
	case e.report != nil && !e.figures:
		e.notKept = "a fault acted on what it measured, so that its figures must not be compared with others later"
	case e.report != nil || v.keepTried():
		e.keeping = v.keptCopy()
	}
}

// keptCopy is the ConfigMap to create, or why there will be none. After a refusal that may pass, it is tried again for a while.
func (v *view) keptCopy() keeping {
	r, envelope := v.believedReport(), v.Children.Envelope
	if r == nil || envelope == nil || len(v.Children.ReportPacked) == 0 {
		return keeping{notKept: "it can't be read any more: " + v.reportFault()}
	}
	object := manifests.Kept(v.Test, manifests.KeptReport{
		Envelope: *envelope, Packed: v.Children.ReportPacked, Method: r.Plan.Method(), Finished: r.Finished,
	})
	for _, refusal := range v.Refusals {
		if refusal.Pod == object.Name {
			return v.keepRefused(refusal)
		}
	}
	return keeping{object: object}
}

// keepRefused says how to go on after the API server refused the kept copy: try again, or give up.
func (v *view) keepRefused(r Refusal) keeping {
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

// waitUntilKept delays the end of a test until its Report is kept, or can't be. Meanwhile the pods are given back.
func (v *view) waitUntilKept(e *ending) *step {
	s := v.stepToEnd(e, "KeepingReport")
	if cleared := v.clearAway(e); cleared != nil {
		s.del = cleared.del
	}
	return s.waitUntil(v.nextKeepTry(e.keeping))
}

// nextKeepTry is when the operator tries again to keep the Report.
func (v *view) nextKeepTry(k keeping) time.Time {
	return v.Now.Add(backoff(v.Now.Sub(k.triedSince), retryTransientFirst, retryTransientLast))
}

// keepAfterEnd keeps the Report of a complete test whose spec.reportRetention was set to Keep afterwards. Nil: there is nothing to keep.
func (v *view) keepAfterEnd(s *step) *step {
	if v.was.Report == nil || v.was.Result == nil || !v.wantsKept() {
		return nil
	}
	if v.Children.Report == nil && v.Children.ReportFault == "" {
		return &step{reason: s.reason, message: "its Report is to be kept: it is read again", readReport: true}
	}
	s.keeping = v.keptCopy()
	if s.keeping.object != nil {
		s.create = append(s.create, s.keeping.object)
	}
	if s.keeping.stillTrying() {
		return s.waitUntil(v.nextKeepTry(s.keeping))
	}
	return s
}

// keeping is what became of a Report that was to be kept. At most one field is set; none: no Report was to be kept.
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
