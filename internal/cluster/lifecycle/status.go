package lifecycle

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// statusOf is the whole status after a step: it follows from the last status, what is observed, and the step. Runners, pods and nodes have their words in it, which must drive no terminal of who looks.
func statusOf(v *view, s *step) v1alpha1.LoadTestStatus {
	st := decidedStatus(v, s)
	wording.PrintableTexts(&st)
	return st
}

func decidedStatus(v *view, s *step) v1alpha1.LoadTestStatus {
	st := *v.was.DeepCopy()
	st.ObservedGeneration = v.Test.Generation
	if s.over {
		refreshGeneration(&st)
		s.keeping.record(st.Report)
		if s.thinned && st.Report != nil && st.Report.ExpiredAt == nil {
			st.Report.ExpiredAt = &metav1.Time{Time: v.Now}
		}
		s.copying.record(st.Report)
		return st
	}
	st.Attempt = v.attempt
	st.StartedAt = v.startedAt().DeepCopy()
	if s.begins && st.StartedAt == nil {
		st.StartedAt = &metav1.Time{Time: v.Now}
	}
	st.AdmittedAt = v.admittedAt().DeepCopy()
	st.Pods = podStatuses(v)
	st.AwaitedPorts = v.awaits(s)
	st.Progress = progressOf(v, s)
	countRuns(&st, v, s)
	if s.forget {
		st.ExcludedNodes, st.GivenBack = nil, nil
	}
	if s.begins || v.begun() {
		st.GivenBack = nil
	}
	if st.Result == nil {
		st.Summary = wording.Limited(s.brief, 256)
	}
	if s.void != nil {
		voidAttempt(&st, v, s.void)
	}
	if s.ending != nil {
		recordEnding(&st, v, s.ending)
	}
	setConditions(&st, v, s)
	return st
}

// refreshGeneration repeats all conditions for the current generation.
func refreshGeneration(st *v1alpha1.LoadTestStatus) {
	for i := range st.Conditions {
		st.Conditions[i].ObservedGeneration = st.ObservedGeneration
	}
}

// voidAttempt makes the next attempt the one that counts.
func voidAttempt(st *v1alpha1.LoadTestStatus, v *view, void *voided) {
	st.Attempt = v.attempt + 1
	st.StartedAt, st.AdmittedAt, st.Pods = nil, nil, nil
	if void.lost {
		st.LostRuns++
	}
	if void.givenBack > 0 {
		st.GivenBack = givenBack(v, void)
	}
	for _, n := range void.exclude {
		if !slices.Contains(st.ExcludedNodes, n) && len(st.ExcludedNodes) < 256 {
			st.ExcludedNodes = append(st.ExcludedNodes, n)
		}
	}
}

// givenBack records that the pods are given back now, and why.
func givenBack(v *view, void *voided) *v1alpha1.GivenBack {
	back := &v1alpha1.GivenBack{
		Times: v.timesGivenBack() + 1, At: metav1.Time{Time: v.Now}, Until: metav1.Time{Time: v.Now.Add(void.givenBack)},
		Reason: void.reason, Message: wording.Limited(void.lacks, maxLacks), AdmittedSeconds: int64(v.admittedBefore() / time.Second),
	}
	if at := v.admittedAt(); at != nil {
		back.AdmittedSeconds += int64(max(v.Now.Sub(at.Time), 0) / time.Second)
	}
	return back
}

// maxLacks is the most bytes that status.givenBack.message may have.
const maxLacks = 1024

// recordEnding writes what was measured into the status and, where the ending is complete, when the test ended.
func recordEnding(st *v1alpha1.LoadTestStatus, v *view, e *ending) {
	if r := e.report; r != nil {
		st.Report = &v1alpha1.ReportReference{ConfigMap: manifests.ReportName(v.Test.Name)}
		if env := v.Children.Envelope; env != nil {
			st.Report.Digest = wording.Limited(env.Digest, 80)
		}
		if e.figures {
			st.Result, st.Summary = resultOf(r), wording.Limited(figures.Summary(r), 256)
		}
	}
	e.record(st.Report)
	e.copying.record(st.Report)
	if !e.complete {
		return
	}
	if st.FinishedAt == nil {
		st.FinishedAt = &metav1.Time{Time: v.Now}
	}
	for i := range st.Pods {
		if !v.keepsPods(e.reason) {
			st.Pods[i].State = v1alpha1.ReasonReleased
		}
	}
}

// podStatuses are this attempt's pods as observed, in the order of their names. Pods that are gone stay listed, with the devices that they had.
func podStatuses(v *view) []v1alpha1.PodStatus {
	var out []v1alpha1.PodStatus
	for i := range v.pods {
		if roleOf(&v.pods[i]) != "" { // a pod of a later version's: the schema knows no such role
			out = append(out, podStatus(&v.pods[i]))
		}
	}
	if n := len(v.runners); n > 0 {
		runner := podStatus(&v.runners[n-1])
		runner.Namespace = v.runners[n-1].Namespace
		out = append(out, runner)
	}
	for _, was := range v.was.Pods {
		seen := slices.ContainsFunc(out, func(p v1alpha1.PodStatus) bool {
			return p.Name == was.Name || p.Role == v1alpha1.RoleRunner && was.Role == p.Role
		})
		if !seen {
			was.State = "Gone"
			out = append(out, was)
		}
	}
	slices.SortFunc(out, func(a, b v1alpha1.PodStatus) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func podStatus(p *corev1.Pod) v1alpha1.PodStatus {
	return v1alpha1.PodStatus{
		Name: p.Name, UID: string(p.UID), Role: roleOf(p), Node: p.Spec.NodeName, State: stateOf(p), Links: manifests.LinksOfPod(p), Containers: containers(p),
	}
}

// mostContainers is how many containers of a pod the status has.
const mostContainers = 32

// containers are those of the device's pod, with their images; those of other pods aren't measured.
func containers(p *corev1.Pod) (out []v1alpha1.PodContainer) {
	if roleOf(p) != v1alpha1.RoleDUT {
		return nil
	}
	for _, c := range manifests.ContainersOf(p) {
		if len(out) < mostContainers {
			out = append(out, v1alpha1.PodContainer{Name: c.Name, Image: wording.Limited(c.Image, 1024), ImageID: wording.Limited(c.ImageID, 1024)})
		}
	}
	return out
}
