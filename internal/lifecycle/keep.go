package lifecycle

import (
	"fmt"

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

// keep makes an ending's Report outlive the test. What a fault acted on isn't kept: later nobody would know that its figures count for nothing.
func (v *view) keep(e *ending) {
	switch {
	case e.report == nil || !v.wantsKept():
	case !e.figures:
		e.notKept = "a fault acted on what it measured, so that its figures must not be compared with others later"
	default:
		e.kept, e.notKept = v.keptObject()
	}
}

// keptObject is the object to make, or why there will be none. A refusal that is about the moment is no reason: the object is tried again.
func (v *view) keptObject() (kept manifests.Object, notKept string) {
	r, envelope := v.told(), v.Children.Envelope
	if r == nil || envelope == nil || len(v.Children.ReportPacked) == 0 {
		return nil, "it can't be read any more: " + v.reportFault()
	}
	object := manifests.Kept(v.Test, manifests.KeptReport{
		Envelope: *envelope, Packed: v.Children.ReportPacked, Method: r.Plan.Method(), Finished: r.Finished,
	})
	for _, refusal := range v.Refusals {
		if refusal.Pod == object.Name && !refusal.Transient {
			return nil, fmt.Sprintf("ConfigMap %s can't be made: %s", object.Name, refusal.Message)
		}
	}
	return object, ""
}

// keepLater keeps the Report of a test that is complete, where that was asked for afterwards. Nil: there is nothing to be kept.
func (v *view) keepLater(s *step) *step {
	if v.was.Report == nil || v.was.Result == nil || !v.wantsKept() {
		return nil
	}
	if v.Children.Report == nil && v.Children.ReportFault == "" {
		return &step{reason: s.reason, message: "its Report is to be kept: it is read again", read: true}
	}
	kept, notKept := v.keptObject()
	s.keeping = &keeping{kept, notKept}
	if kept != nil {
		s.create = append(s.create, kept)
	}
	return s
}

// keeping is what became of a Report that was to be kept: one of the two.
type keeping struct {
	kept    manifests.Object
	notKept string
}

// tell writes into the status what became of it.
func (k keeping) tell(r *v1alpha1.ReportReference) {
	if k.kept != nil {
		r.Kept = k.kept.GetName()
	}
	r.NotKept = limited(k.notKept, 1024)
}
