package kubectl

import (
	"bytes"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
)

// What the operator and the runner would write.

// test reads a LoadTest, waiting until it is there.
func (p *person) test(name string) *v1alpha1.LoadTest {
	p.Helper()
	test := &v1alpha1.LoadTest{}
	p.until("LoadTest "+name, func() bool {
		return admin.Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: name}, test) == nil
	})
	return test
}

// until asks again and again, for a bounded time.
func (p *person) until(what string, there func() bool) {
	p.Helper()
	limit, tick := time.After(patience), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for !there() {
		select {
		case <-tick.C:
		case <-limit:
			p.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// creates makes a LoadTest from a file of the person's.
func (p *person) creates(name string, change ...func(*v1alpha1.LoadTest)) *v1alpha1.LoadTest {
	p.Helper()
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: p.namespace},
		Spec: v1alpha1.LoadTestSpec{DUT: v1alpha1.DUTSpec{Type: v1alpha1.DUTReference}, Links: []v1alpha1.LinkSpec{{Name: "west", Network: "west", LineRate: "1gbps"}, {Name: "east", Network: "east", LineRate: "1gbps"}}}}
	for _, c := range change {
		c(test)
	}
	p.must(admin.Create(p.Context(), test))
	return test
}

// says writes a status.
func (p *person) says(name string, change func(*v1alpha1.LoadTestStatus)) {
	p.Helper()
	test := p.test(name)
	test.Status.Attempt, test.Status.ObservedGeneration = 1, test.Generation
	change(&test.Status)
	lifecycle.SetPhase(&test.Status)
	p.must(admin.Status().Update(p.Context(), test))
}

func set(st *v1alpha1.LoadTestStatus, kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&st.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message})
}

func (p *person) saysWaiting(name, reason, message string) {
	p.Helper()
	p.says(name, func(st *v1alpha1.LoadTestStatus) {
		set(st, v1alpha1.ConditionScheduled, metav1.ConditionFalse, reason, message)
		set(st, v1alpha1.ConditionComplete, metav1.ConditionFalse, v1alpha1.ReasonWaiting, message)
	})
}

func (p *person) saysRunning(name string, percent int32, pods ...v1alpha1.PodStatus) {
	p.Helper()
	p.says(name, func(st *v1alpha1.LoadTestStatus) {
		set(st, v1alpha1.ConditionScheduled, metav1.ConditionTrue, v1alpha1.ReasonAllScheduled, "all pods have nodes")
		set(st, v1alpha1.ConditionComplete, metav1.ConditionFalse, v1alpha1.ReasonRunning, "the runner measures")
		st.Progress = &v1alpha1.Progress{Phase: "Ramping", Run: 1, Percent: &percent,
			IntendedPacketsPerSecond: 8_400_000, OfferedPacketsPerSecond: 8_400_000, ReceivedPacketsPerSecond: 8_400_000, LossRatio: "0"}
		st.Pods = pods
	})
}

// saysProgress tells what the runner would have told. What is said of one phase is printed each 10 s at most.
func (p *person) saysProgress(name string, percent int) {
	p.Helper()
	p.says(name, func(st *v1alpha1.LoadTestStatus) {
		set(st, v1alpha1.ConditionScheduled, metav1.ConditionTrue, v1alpha1.ReasonAllScheduled, "all pods have nodes")
		set(st, v1alpha1.ConditionComplete, metav1.ConditionFalse, v1alpha1.ReasonRunning, "the runner measures")
		st.Progress = &v1alpha1.Progress{Phase: "Ramping", Run: 1, Step: int32(percent / 5), Steps: 20, Percent: new(int32(percent)), RemainingSeconds: 42,
			IntendedPacketsPerSecond: 20_000, OfferedPacketsPerSecond: 19_990, ReceivedPacketsPerSecond: 19_980, LossRatio: "0.05%"}
	})
}

// keeps creates or changes a ConfigMap of a test's.
func (p *person) keeps(configMap, test string, change func(*corev1.ConfigMap)) {
	p.Helper()
	cm := &corev1.ConfigMap{}
	err := admin.Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: configMap}, cm)
	if err == nil {
		change(cm)
		p.must(admin.Update(p.Context(), cm))
		return
	}
	of := p.test(test)
	cm = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: configMap, Namespace: p.namespace, Labels: map[string]string{v1alpha1.LabelUID: string(of.UID)},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(of, v1alpha1.GroupVersion.WithKind(v1alpha1.LoadTestKind))}}}
	change(cm)
	p.must(admin.Create(p.Context(), cm))
}

// saysMeasured writes a Report and the end. The Report is a made one: nothing was sent.
func (p *person) saysMeasured(name string, change func(*report.Report)) {
	p.Helper()
	text, err := os.ReadFile("../../../internal/render/testdata/one-direction.json")
	p.must(err)
	reports, err := report.Read(bytes.NewReader(text))
	p.must(err)
	r := reports[0]
	r.Plan.Test.Name = name
	change(r)
	data, annotations, err := delivery.EncodeReport(r, true, 1)
	p.must(err)
	p.keeps(manifests.ReportName(name), name, func(cm *corev1.ConfigMap) { cm.BinaryData, cm.Annotations = data, annotations })
	reason, verdict := v1alpha1.ReasonMeasured, metav1.ConditionTrue
	switch {
	case r.Ending == report.Interrupted:
		reason, verdict = v1alpha1.ReasonStopped, metav1.ConditionUnknown
	case r.Verdict.Outcome == report.DidFail:
		verdict = metav1.ConditionFalse
	case r.Verdict.Outcome == report.Undecided:
		verdict = metav1.ConditionUnknown
	}
	p.says(name, func(st *v1alpha1.LoadTestStatus) {
		st.Report = &v1alpha1.ReportReference{ConfigMap: manifests.ReportName(name), Digest: annotations[delivery.AnnotationDigest]}
		st.Summary, st.Result = figures.Brief(r), &v1alpha1.Result{Reason: string(r.Answer.Reason)}
		set(st, v1alpha1.ConditionPassed, verdict, v1alpha1.ReasonCriteriaMet, "as it should be")
		set(st, v1alpha1.ConditionComplete, metav1.ConditionTrue, reason, "it came to its end")
	})
}

func passed(r *report.Report) { r.Verdict.Outcome = report.Passed }

func failed(r *report.Report) { r.Verdict.Outcome = report.DidFail }

func undecided(r *report.Report) { r.Verdict.Outcome = report.Undecided }

func interrupted(r *report.Report) { r.Ending = report.Interrupted }

// saysFault writes that something ended a test whose runner had figures already: they aren't published.
func (p *person) saysFault(name, reason, message string) {
	p.Helper()
	p.saysMeasured(name, passed)
	p.says(name, func(st *v1alpha1.LoadTestStatus) {
		st.Result, st.Summary = nil, ""
		set(st, v1alpha1.ConditionPassed, metav1.ConditionUnknown, v1alpha1.ReasonUndecided, "nothing was measured that could be judged")
		set(st, v1alpha1.ConditionComplete, metav1.ConditionTrue, reason, message)
	})
}

// saysEnded writes an end without a Report.
func (p *person) saysEnded(name, reason, message string) {
	p.Helper()
	p.says(name, func(st *v1alpha1.LoadTestStatus) {
		set(st, v1alpha1.ConditionComplete, metav1.ConditionTrue, reason, message)
	})
}
