package lifecycle

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// statusWriter writes the status after a step.
type statusWriter struct {
	test         *v1alpha1.LoadTest
	attempt      *attempt
	kueue        *kueue
	deadlines    *deadlines
	ports        *ports
	queueing     *queueing
	report       *arrival
	cleanup      *cleanup
	conditions   *conditionWriter
	lastProgress *v1alpha1.Progress
	observedAt   time.Time
}

// write is the whole status after a step. It follows from the last status, what is observed, and the step. Texts of
// runners, pods and nodes are in it, and are made printable, so that they can't drive a reader's terminal.
func (w *statusWriter) write(s *step) v1alpha1.LoadTestStatus {
	st := w.decided(s)
	SetPhase(&st)
	wording.PrintableTexts(&st)
	return st
}

func (w *statusWriter) decided(s *step) v1alpha1.LoadTestStatus {
	st := *w.test.Status.DeepCopy()
	st.ObservedGeneration = w.test.Generation
	if s.complete {
		s.keeping.record(w.conditions, &st)
		s.copying.record(w.conditions, &st)
		if s.thinned && st.Report != nil {
			w.conditions.set(&st, v1alpha1.ConditionPublished,
				isFalse(v1alpha1.ReasonExpired, "the Report was deleted, as spec.ttlAfterFinished is over"))
		}
		return st
	}
	st.Attempt = w.attempt.number
	st.StartTime = w.attempt.startedAt().DeepCopy()
	if s.begins && st.StartTime == nil {
		st.StartTime = &metav1.Time{Time: w.observedAt}
	}
	st.Operator.AdmissionTime = w.kueue.admittedAt().DeepCopy()
	st.Pods = w.attempt.podStatuses()
	st.Operator.AwaitedPorts = w.ports.awaitedAfter(s)
	st.Progress = w.progress(s)
	w.countRuns(&st, s)
	if s.forget {
		st.Operator.ExcludedNodes, st.Operator.GivenBack = nil, nil
	}
	w.recordAwaitedNode(&st, s)
	if s.begins || w.attempt.hasBegun() {
		st.Operator.GivenBack = nil
	}
	if st.Result == nil {
		st.Summary = wording.Limited(s.brief, 256)
	}
	if s.void != nil {
		w.voidAttempt(&st, s.void)
	}
	if s.ending != nil {
		w.recordEnding(&st, s.ending)
	}
	w.conditions.setAll(&st, s)
	return st
}

// recordAwaitedNode records since when a pod waits for the node that the spec names, also while its test queues again.
func (w *statusWriter) recordAwaitedNode(st *v1alpha1.LoadTestStatus, s *step) {
	pods := w.attempt.measuringPods()
	placed := len(pods) > 0 && !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return p.Spec.NodeName == "" })
	switch {
	case s.awaitsNode && st.Operator.NodeAwaitedTime == nil:
		st.Operator.NodeAwaitedTime = &metav1.Time{Time: w.observedAt}
	case s.forget || placed && !s.awaitsNode:
		st.Operator.NodeAwaitedTime = nil
	}
}

// voidAttempt makes the next attempt the one that counts.
func (w *statusWriter) voidAttempt(st *v1alpha1.LoadTestStatus, void *voided) {
	st.Attempt = w.attempt.number + 1
	st.StartTime, st.Operator.AdmissionTime, st.Pods = nil, nil, nil
	if void.lost {
		st.Operator.LostRuns++
	}
	if void.givenBack > 0 {
		st.Operator.GivenBack = w.givenBack(void)
	}
	for _, n := range void.exclude {
		if !slices.Contains(st.Operator.ExcludedNodes, n) && len(st.Operator.ExcludedNodes) < 256 {
			st.Operator.ExcludedNodes = append(st.Operator.ExcludedNodes, n)
		}
	}
}

// givenBack records that the pods are given back now, and why.
func (w *statusWriter) givenBack(void *voided) *v1alpha1.GivenBack {
	record := &v1alpha1.GivenBack{
		Times:    w.queueing.timesGivenBack() + 1,
		LastTime: metav1.Time{Time: w.observedAt}, RetryTime: metav1.Time{Time: w.observedAt.Add(void.givenBack)},
		Reason: void.reason, Message: wording.Limited(void.lacks, maxLacks),
		AdmittedSeconds: int64(w.deadlines.admittedBefore() / time.Second),
	}
	if admittedAt := w.kueue.admittedAt(); admittedAt != nil {
		record.AdmittedSeconds += int64(max(w.observedAt.Sub(admittedAt.Time), 0) / time.Second)
	}
	return record
}

// maxLacks is the most bytes that status.givenBack.message may have.
const maxLacks = 1024

// percentOnly is how far a test came that failed. Nil means that it didn't begin.
func percentOnly(progress *v1alpha1.Progress) *v1alpha1.Progress {
	if progress.Percent == nil {
		return nil
	}
	return &v1alpha1.Progress{Percent: progress.Percent}
}

// recordEnding writes what was measured into the status and, where the ending is complete, when the test ended.
func (w *statusWriter) recordEnding(st *v1alpha1.LoadTestStatus, e *ending) {
	if r := e.report; r != nil {
		st.Report = &v1alpha1.ReportReference{ConfigMap: manifests.ReportName(w.test.Name)}
		if env := w.report.envelope; env != nil {
			st.Report.Digest = wording.Limited(env.Digest, 80)
		}
		if e.figures {
			st.Result, st.Summary = resultOf(r), wording.Limited(figures.Brief(r), 256)
		}
	}
	e.record(w.conditions, st)
	e.copying.record(w.conditions, st)
	if !e.complete {
		return
	}
	if st.CompletionTime == nil {
		st.CompletionTime = &metav1.Time{Time: w.observedAt}
	}
	if !w.cleanup.keepsPods(e.reason) {
		st.Pods = nil
	}
	if st.Progress = nil; w.lastProgress != nil && isFailure(e.reason) {
		st.Progress = percentOnly(w.lastProgress)
	}
}

// podStatus is a pod as the status has it. Its links are those whose device or port is known.
func podStatus(p *corev1.Pod) v1alpha1.PodStatus {
	status := v1alpha1.PodStatus{Name: p.Name, UID: string(p.UID), Role: roleOf(p), Node: p.Spec.NodeName,
		State: stateOf(p)}
	for _, l := range manifests.LinksOfPod(p) {
		if l.Device != "" || l.PhysicalPort != "" {
			status.Links = append(status.Links, v1alpha1.PodLink{Link: l.Link, Device: l.Device,
				PhysicalPort: l.PhysicalPort})
		}
	}
	return status
}
