package lifecycle_test

import (
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// reportLives are lives in which something becomes of the Report's two copies.
func reportLives() []life {
	keeps := withLines(reference, "reportRetention: Keep")
	// ends plays a test to its end, with what hinders its copies from a moment on.
	ends := func(w *world, hinder func()) {
		r := w.toRun()
		w.measure(r)
		hinder()
		w.finish(r, report.Completed)
		w.settle()
	}
	away := func(name string) *lifecycle.Refusal {
		return &lifecycle.Refusal{Pod: name, Message: "failed calling webhook", Transient: true}
	}
	return []life{
		{"report kept after a webhook was away", keeps, func(w *world) {
			ends(w, func() { w.unkept = away("") })
			w.unkept = nil
			w.pass(time.Minute)
		}},
		{"report published after a webhook was away", reference, func(w *world) {
			ends(w, func() { w.unmade = away("first-report") })
			w.unmade = nil
			w.pass(time.Minute)
		}},
		{"report that a quota refuses to publish", reference, func(w *world) {
			ends(w, func() { w.unmade = &lifecycle.Refusal{Pod: "first-report", Message: "exceeded quota: bench"} })
		}},
		{"report that a quota refuses to keep", keeps, func(w *world) {
			ends(w, func() { w.unkept = &lifecycle.Refusal{Message: "exceeded quota: bench"} })
		}},
		{"report whose name is taken", reference, func(w *world) {
			ends(w, func() { w.foreign = []string{"ConfigMap/first-report"} })
		}},
		{"report of a run that a fault touched", keeps, func(w *world) {
			r := w.toRun()
			w.measure(r)
			w.kill("dut")
			w.finish(r, report.Completed)
			w.pass(10 * time.Minute)
		}},
		{"report to be kept later that is gone", reference, func(w *world) {
			ends(w, func() {})
			w.unread = "ConfigMap first-report is gone"
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.ReportRetention = v1alpha1.ReportKeep })
			w.settle()
		}},
	}
}
