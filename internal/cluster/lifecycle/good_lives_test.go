package lifecycle_test

import (
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// goodLives end as people wanted.
func goodLives() []life {
	return []life{
		{"measured", reference, func(w *world) {
			r := w.toRun()
			w.measure(r)
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"measured and not good enough", reference, func(w *world) {
			r := w.toRun()
			w.finish(r, report.Completed)
			w.Report.Verdict.Outcome, w.Report.Verdict.Criteria[0].Outcome = report.DidFail, report.DidFail
			w.settle()
		}},
		{"nothing measured", reference, func(w *world) {
			r := w.toRun()
			w.finish(r, report.Completed)
			w.Report.Answer = report.Answer{Reason: report.NoCleanLoad, Message: "even the lowest step lost frames"}
			w.Report.Verdict.Outcome = report.Undecided
			w.settle()
		}},
		{"measured with setup and teardown", hooks, func(w *world) {
			r := w.setUp()
			w.measure(r)
			w.finish(r, report.Completed)
			w.pass(40 * time.Second)
			w.hook("hooked-1-teardown", 0, "")
		}},
		{"measured by an external generator", external, func(w *world) {
			w.settle()
			r := w.runner()
			w.measure(r)
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"suspended and resumed", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
			w.settle()
			w.pass(time.Hour)
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = false })
			r = w.toRun()
			w.measure(r)
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"suspended again and again without pods of its own", external, func(w *world) {
			for range 3 {
				w.settle()
				w.progress(w.runner(), "Ramping", 30)
				w.settle()
				w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
				w.pass(time.Minute)
				if len(w.Documents) > 0 {
					w.fail("what void attempts left is there: %v", w.Documents)
				}
				w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = false })
			}
			w.settle()
			w.finish(w.runner(), report.Completed)
			w.settle()
		}},
		{"suspended from the start and after the end", reference, func(w *world) {
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
			w.settle()
			w.pass(time.Hour)
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = false })
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
			w.settle()
		}},
		{"stopped in the run", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
			w.settle()
			w.pass(40 * time.Second)
		}},
		{"stopped while queued", reference, func(w *world) {
			w.inventory.Networks = nil
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
			w.settle()
		}},
		{"stopped while suspended", reference, func(w *world) {
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
			w.settle()
		}},
		{"stopped while setting up", hooks, func(w *world) {
			w.settle()
			w.schedule()
			w.run()
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
			w.pass(40 * time.Second)
			w.hook("hooked-1-teardown", 0, "")
		}},
		{"stopped while tearing down", hooks, func(w *world) {
			r := w.setUp()
			w.finish(r, report.Completed)
			w.pass(40 * time.Second)
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
			w.settle()
			w.hook("hooked-1-teardown", 0, "")
		}},
		{"stopped with a runner that doesn't end", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.stubborn[r] = true
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
			w.pass(2 * time.Minute)
		}},
		{"time to live of a test that Argo CD tracks", withLines(reference, "ttlAfterFinished: 1h",
			"podRetention: OnFailure"), func(w *world) {
			w.test.Annotations = map[string]string{"argocd.argoproj.io/tracking-id": "lab:linerate.dev/LoadTest:bench/first"}
			r := w.toRun()
			w.progress(r, "Ramping", 40)
			w.finish(r, report.PathNotProven)
			w.pass(59 * time.Minute)
			w.pass(2 * time.Minute)
			if len(w.Pods)+len(w.Jobs)+w.configMaps() > 0 {
				w.fail("there are still %d pods, %d Jobs, %d ConfigMaps", len(w.Pods), len(w.Jobs), w.configMaps())
			}
			if r := w.test.Status.Report; r == nil || publishedCondition(w.test.Status).Reason != v1alpha1.ReasonExpired || r.Digest == "" {
				w.fail("the status says of its Report %+v", r)
			}
		}},
		{"time to live", withLines(reference, "ttlAfterFinished: 1h"), func(w *world) {
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
			w.pass(2 * time.Hour)
		}},
		{"runner replaced", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.ends(r, 137, "killed")
			w.settle()
			w.pass(10 * time.Second)
			r = w.runner()
			w.progress(r, "WarmUp", 2)
			w.settle()
			w.measure(r)
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"runner interrupted without being asked to", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.writeReport(report.Interrupted, false, 1)
			w.ends(r, 3, "SIGTERM")
			w.settle()
			r = w.runner()
			w.measure(r)
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"operator away while it gave pods back", reference, func(w *world) {
			r := w.toRun()
			w.measure(r)
			w.finish(r, report.Completed)
			w.dieBeforeStatus()
			w.clock = w.clock.Add(10 * time.Minute)
			w.Pods = nil
			w.settle()
		}},
		{"node silent for a while", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.inventory.Nodes[1].Ready = false
			w.pass(20 * time.Second)
			w.inventory.Nodes[1].Ready = true
			w.settle()
			w.finish(r, report.Completed)
			w.settle()
		}},
	}
}
