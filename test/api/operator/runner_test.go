package operator

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// runner plays the runner of a test's attempt, with the rights that runners have, and the token of its pod.
type runner struct {
	l       *lab
	test    *v1alpha1.LoadTest
	attempt int32
	pod     types.NamespacedName
	uid     types.UID
	client  client.Client
	plan    *plan.Plan
	sites   plan.Sites
	of      manifests.OfRun
}

// runner reads the Plan that the operator wrote.
func (l *lab) runner(test string, attempt int32) *runner {
	l.t.Helper()
	r := &runner{l: l, test: l.get(test), attempt: attempt}
	for _, pod := range l.pods() {
		if manifests.IsRunnerOf(pod.Name, r.test, attempt) && pod.Namespace == operatorNamespace {
			r.pod, r.uid = objectKey(&pod), pod.UID
		}
	}
	if r.pod.Name == "" {
		l.t.Fatalf("there is no runner's pod of attempt %d", attempt)
	}
	var err error
	r.client, err = client.New(asPod(runnerAccount, r.pod, r.uid), client.Options{Scheme: scheme})
	l.must(err)
	var kept corev1.ConfigMap
	l.must(admin.Get(l.t.Context(), client.ObjectKey{Namespace: operatorNamespace, Name: manifests.PlanName(r.test, attempt)}, &kept))
	r.plan, r.sites, err = delivery.DecodePlan(kept.BinaryData)
	l.must(err)
	r.of = manifests.OfRun{Labels: kept.Labels, Plan: kept.Name, PlanUID: kept.UID}
	return r
}

// asPod is the cluster as a pod sees it, by the token that its kubelet got for it.
func asPod(account string, pod types.NamespacedName, uid types.UID) *rest.Config {
	config := as(pod.Namespace, account)
	config.Impersonate.Extra = map[string][]string{"authentication.kubernetes.io/pod-name": {pod.Name}, "authentication.kubernetes.io/pod-uid": {string(uid)}}
	return config
}

// tell writes progress.
func (r *runner) tell(phase string, percent int) {
	r.l.t.Helper()
	r.progress(delivery.Progress{
		UpdateTime: r.l.clock.now().UTC(), Phase: phase, Percent: percent, IntendedPacketsPerSecond: 4_200_000, ReceivedPacketsPerSecond: 4_200_000, LossRatio: "0",
	})
}

// progress writes this progress, as this runner's.
func (r *runner) progress(p delivery.Progress) {
	r.l.t.Helper()
	p.Attempt, p.Run, p.Runner, p.RunnerUID = int(r.attempt), 1, r.pod.Name, string(r.uid)
	data, err := delivery.EncodeProgress(p)
	r.l.must(err)
	r.write(r.of.Progress(manifests.ProgressName(r.test, r.attempt)), func(c *corev1.ConfigMap) { c.Data = data })
}

// report writes a Report.
func (r *runner) report(document *report.Report, final bool) {
	r.l.t.Helper()
	data, annotations, err := delivery.EncodeReport(document, final, int(r.attempt))
	r.l.must(err)
	r.writeOriginal(func(c *corev1.ConfigMap) {
		c.BinaryData, c.Annotations = data, annotations
		if final {
			c.Immutable = new(true)
		}
	})
}

// writeOriginal writes what is to be the Report.
func (r *runner) writeOriginal(f func(*corev1.ConfigMap)) {
	r.l.t.Helper()
	r.write(r.of.Original(manifests.OriginalName(r.test, r.attempt)), f)
}

// write writes a document, signed, which it makes where it isn't there.
func (r *runner) write(meta metav1.ObjectMeta, f func(*corev1.ConfigMap)) {
	r.l.t.Helper()
	meta.Namespace = operatorNamespace
	kept := corev1.ConfigMap{ObjectMeta: meta}
	err := admin.Get(r.l.t.Context(), objectKey(&kept), &kept) // runners read none
	r.l.must(client.IgnoreNotFound(err))
	f(&kept)
	if kept.Annotations == nil {
		kept.Annotations = map[string]string{}
	}
	kept.Annotations[delivery.AnnotationRunner] = delivery.Signature(r.pod.Name, string(r.uid))
	if err != nil {
		r.l.must(r.client.Create(r.l.t.Context(), &kept))
		return
	}
	r.l.must(r.client.Update(r.l.t.Context(), &kept))
}

// measured is a Report of a device that carries 327 200 packets/s in each direction.
func (r *runner) measured() *report.Report {
	flow := report.Flow{PacketsPerSecond: 327_200, Layer1BitsPerSecond: 1_000_000_000, Layer2BitsPerSecond: 947_000_000}
	both := report.Flow{PacketsPerSecond: 654_400, Layer1BitsPerSecond: 2_000_000_000, Layer2BitsPerSecond: 1_894_000_000}
	sum := &report.Sum{Intended: both, Offered: both, Received: both, Window: 1}
	w := report.Window{Number: 1, Phase: report.Confirm, Duration: plan.Duration(10 * time.Second), Quality: report.Good}
	for _, d := range r.plan.Directions {
		w.Directions = append(w.Directions, report.Direction{From: d.From, To: d.To, Intended: flow, Offered: flow, Received: flow, Quality: report.Good})
	}
	var lines []report.LineRate
	for _, l := range r.plan.Links {
		lines = append(lines, report.LineRate{Link: l.Name, BitsPerSecond: 1_000_000_000, Source: "port"})
	}
	now := r.l.clock.now().UTC()
	return &report.Report{
		Version: report.Version, Producer: "linerate test", Plan: r.plan, Started: now, Finished: now, Ending: report.Completed,
		LineRates: lines, Windows: []report.Window{w},
		Answer:  report.Answer{Measured: true, Reason: report.LossAboveLimit, Message: "above 327 200 packets/s frames are lost", Window: 1, Directions: w.Directions, Total: sum, MaxReceived: sum, Claim: report.Claim{Saturated: true, Confirmed: true}},
		Verdict: report.Verdict{Outcome: report.Undecided},
	}
}

// measuredSessions is a Report of TCP through a device that carries 46.5 Mb/s of payload in each direction.
func (r *runner) measuredSessions() *report.Report {
	document := reporttest.Sessions(46_500_000)
	document.Plan, document.Started, document.Finished = r.plan, r.l.clock.now().UTC(), r.l.clock.now().UTC()
	return document
}

// interrupted is a Report of a run that was ended before there was anything to say.
func (r *runner) interrupted() *report.Report {
	document := r.measured()
	document.Ending, document.Message, document.Windows = report.Interrupted, "the run was interrupted", nil
	document.Answer = report.Answer{Reason: report.NotMeasured, Message: "the run ended before anything was measured"}
	return document
}
