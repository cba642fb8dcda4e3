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
	refreshGeneration(&st)
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

// refreshGeneration repeats all conditions for the current generation.
func refreshGeneration(st *v1alpha1.LoadTestStatus) {
	for i := range st.Conditions {
		st.Conditions[i].ObservedGeneration = st.ObservedGeneration
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
	for i := range st.Pods {
		if !w.cleanup.keepsPods(e.reason) {
			st.Pods[i].State = v1alpha1.ReasonReleased
		}
	}
}

func podStatus(p *corev1.Pod) v1alpha1.PodStatus {
	return v1alpha1.PodStatus{
		Name: p.Name, UID: string(p.UID), Role: roleOf(p), Node: p.Spec.NodeName,
		State: stateOf(p), Links: manifests.LinksOfPod(p), Containers: containers(p),
	}
}

// maxContainers is how many containers of a pod the status has.
const maxContainers = 32

// containers are those of the device's pod, with their images. Those of other pods aren't measured.
func containers(p *corev1.Pod) (containers []v1alpha1.PodContainer) {
	if roleOf(p) != v1alpha1.RoleDUT {
		return nil
	}
	for _, c := range manifests.ContainersOf(p) {
		if len(containers) < maxContainers {
			containers = append(containers, v1alpha1.PodContainer{Name: c.Name, Image: wording.Limited(c.Image, 1024),
				ImageID: wording.Limited(c.ImageID, 1024)})
		}
	}
	return containers
}
