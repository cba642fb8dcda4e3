package lifecycle_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// silentLives are those in which Kubernetes knows less than the runner, or later.
func silentLives() []life {
	return []life{
		{"device's node silent at the end while frames come back", reference, func(w *world) {
			r := w.toSilence(1)
			w.finish(r, report.Completed)
			w.comesBack(10_000)
			w.settle()
		}},
		{"device's node silent at the end and heard of again", reference, func(w *world) {
			r := w.toSilence(1)
			w.finish(r, report.Completed)
			w.pass(time.Minute)
			w.inventory.Nodes[1].Ready = true
			w.settle()
			w.pass(time.Minute)
			set(w.mustPod("first-1-dut"), corev1.PodReady, corev1.ConditionTrue, w.clock)
			w.settle()
		}},
		{"device's node silent at the end and the device gone with it", reference, func(w *world) {
			r := w.toSilence(1)
			w.finish(r, report.Completed)
			w.comesBack(0)
			w.pass(time.Minute)
			w.inventory.Nodes[1].Ready = true
			w.settle()
			w.pass(time.Second)
			w.ends("first-1-dut", 137, "")
			w.mustPod("first-1-dut").Status.ContainerStatuses[0].State.Terminated.FinishedAt.Time = w.clock.Add(-2 * time.Minute)
			w.settle()
		}},
		{"device's node silent at the end and for long", reference, func(w *world) {
			r := w.toSilence(1)
			w.finish(r, report.Completed)
			w.pass(6 * time.Minute)
		}},
		{"device's node silent when the test is stopped", reference, func(w *world) {
			w.toSilence(1)
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
			w.pass(time.Minute)
		}},
		{"generator's node silent at the end", reference, func(w *world) {
			r := w.toSilence(0)
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"generator lost and reported before kubelet says why", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.finish(r, report.GeneratorLost)
			w.pass(2 * time.Second)
			w.ends("first-1-generator-0", 137, "OOMKilled: 512Mi weren't enough")
			w.settle()
		}},
		{"generator lost and kubelet says nothing", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.finish(r, report.GeneratorLost)
			w.pass(time.Minute)
		}},
		{"result that the API server refuses", reference, func(w *world) {
			w.refuses = func(st *v1alpha1.LoadTestStatus) bool { return st.Result != nil }
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"pods that the API server refuses to be told", reference, func(w *world) {
			w.refuses = func(st *v1alpha1.LoadTestStatus) bool { return len(st.Pods) > 2 }
			w.toRun()
			w.pass(time.Minute)
		}},
		{"suspended with a pod on a node that is dead", reference, func(w *world) {
			w.toRun()
			w.stubborn["first-1-dut"] = true
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
			w.pass(10 * time.Minute)
		}},
	}
}

// toSilence brings a test into its run, and silences a node.
func (w *world) toSilence(node int) (runner string) {
	w.t.Helper()
	runner = w.toRun()
	w.progress(runner, "Ramping", 30)
	w.settle()
	w.inventory.Nodes[node].Ready = false
	for i := range w.Pods {
		if p := &w.Pods[i]; p.Spec.NodeName == w.inventory.Nodes[node].Name {
			set(p, corev1.PodReady, corev1.ConditionFalse, w.clock)
		}
	}
	w.pass(5 * time.Second)
	return runner
}

// comesBack lets frames come back in the Report's last window.
func (w *world) comesBack(packetsPerSecond int64) {
	window := report.Window{Number: 9}
	for _, d := range w.Report.Answer.Directions {
		d.Received.PacketsPerSecond = packetsPerSecond
		window.Directions = append(window.Directions, d)
	}
	w.Report.Windows = append(w.Report.Windows, window)
}
