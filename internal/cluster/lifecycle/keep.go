package lifecycle

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// copies answer what becomes of the Report's copies: the one for the test's namespace, and the one that outlives the test.
type copies struct {
	test   *v1alpha1.LoadTest
	report *arrival
	// recorded is what the status says of the Report; nil: nothing.
	recorded *v1alpha1.ReportReference
	// existing, foreign and published are explained by Children.
	existing  map[string]bool
	foreign   []string
	published string
	refusals  []Refusal
	now       time.Time
}

// A Report that is to outlive its test is copied before Complete becomes True: whoever sees Complete may delete the test at once.
//
//	NAME-report, the test's own ──▶ NAME-DIGEST, nobody's: labelled, immutable, pruned by number and age

// wantsKept says whether the Report is to be kept, and was neither kept nor given up.
func (cp *copies) wantsKept() bool {
	r := cp.recorded
	return cp.test.Spec.ReportRetention == v1alpha1.ReportKeep && (r == nil || r.Kept == "" && r.NotKept == "")
}

// keepTried says whether the operator has begun to keep the Report, and is still trying.
func (cp *copies) keepTried() bool {
	return cp.recorded != nil && cp.recorded.KeepTriedSince != nil && cp.wantsKept()
}

// keep makes an ending's Report outlive the test. A Report of a measurement that a fault influenced isn't kept: later nobody would know that its figures don't count.
func (cp *copies) keep(e *ending) {
	switch {
	case !cp.wantsKept():
	case e.report != nil && !e.figures:
		e.notKept = "a fault acted on what it measured, so that its figures must not be compared with others later"
	case e.report != nil || cp.keepTried():
		e.keeping = cp.keptCopy()
	}
}

// keptCopy is the ConfigMap to create, or why there will be none. After a refusal that may pass, it is tried again for a while.
func (cp *copies) keptCopy() keeping {
	r, envelope := cp.report.believed(), cp.report.envelope
	if r == nil || envelope == nil || len(cp.report.packed) == 0 {
		return keeping{notKept: "it can't be read any more: " + cp.report.fault()}
	}
	object := manifests.Kept(cp.test, manifests.KeptReport{
		Envelope: *envelope, Packed: cp.report.packed, Method: r.Plan.Method(), Finished: r.Finished,
	})
	for _, refusal := range cp.refusals {
		if refusal.Pod == object.Name {
			return cp.keepRefused(refusal)
		}
	}
	return keeping{object: object}
}

// keepRefused says how to go on after the API server refused the kept copy: try again, or give up.
func (cp *copies) keepRefused(r Refusal) keeping {
	since := cp.now
	if cp.keepTried() && cp.recorded.KeepTriedSince.Time.Before(cp.now) {
		since = cp.recorded.KeepTriedSince.Time
	}
	switch {
	case !r.Transient:
		return keeping{notKept: fmt.Sprintf("ConfigMap %s can't be made: %s", r.Pod, r.Message)}
	case cp.now.Before(since.Add(keepBound)):
		return keeping{triedSince: since}
	}
	return keeping{notKept: fmt.Sprintf("ConfigMap %s couldn't be made for %s: %s", r.Pod, keepBound, r.Message)}
}

// waitUntilKept delays the end of a test until its Report is kept, or can't be. Meanwhile the pods are given back.
func (cm *completion) waitUntilKept(e *ending) *step {
	s := stepToEnd(e, "KeepingReport")
	if cleared := cm.cleanup.clearAway(e); cleared != nil {
		s.del = cleared.del
	}
	return s.waitUntil(cm.copies.nextKeepTry(e.keeping))
}

// nextKeepTry is when the operator tries again to keep the Report.
func (cp *copies) nextKeepTry(k keeping) time.Time {
	return cp.now.Add(backoff(cp.now.Sub(k.triedSince), retryTransientFirst, retryTransientLast))
}

// keepAfterEnd keeps the Report of a complete test whose spec.reportRetention was set to Keep afterwards. Nil: there is nothing to keep.
func (cm *completion) keepAfterEnd(s *step) *step {
	if cm.recorded == nil || cm.result == nil || !cm.copies.wantsKept() {
		return nil
	}
	if cm.report.document == nil && cm.report.readFault == "" {
		return &step{reason: s.reason, message: "its Report is to be kept: it is read again", readReport: true}
	}
	s.keeping = cm.copies.keptCopy()
	if s.keeping.object != nil {
		s.create = append(s.create, s.keeping.object)
	}
	if s.keeping.stillTrying() {
		return s.waitUntil(cm.copies.nextKeepTry(s.keeping))
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
