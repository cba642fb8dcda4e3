package operator

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/manifests"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/report/reporttest"
)

// runner plays the runner of a test's attempt, with the rights that the operator gave it.
type runner struct {
	l       *lab
	test    string
	attempt int
	client  client.Client
	plan    *plan.Plan
	sites   plan.Sites
}

// runner reads the Plan that the operator wrote.
func (l *lab) runner(test string, attempt int) *runner {
	l.t.Helper()
	c, err := client.New(as(l.namespace, manifests.RunnerName(test)), client.Options{Scheme: scheme})
	l.must(err)
	r := &runner{l: l, test: test, attempt: attempt, client: c}
	var kept corev1.ConfigMap
	l.must(admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: manifests.PlanName(test, int32(attempt))}, &kept))
	r.plan, r.sites, err = delivery.DecodePlan(kept.BinaryData)
	l.must(err)
	return r
}

// tell writes progress.
func (r *runner) tell(phase string, percent int) {
	r.l.t.Helper()
	data, err := delivery.EncodeProgress(delivery.Progress{
		Attempt: r.attempt, Run: 1, Runner: r.test + "-runner", RunnerUID: "a-pod", At: r.l.clock.now().UTC(), Phase: phase, Percent: percent,
		IntendedPacketsPerSecond: 4_200_000, ReceivedPacketsPerSecond: 4_200_000, LossRatio: "0",
	})
	r.l.must(err)
	r.write(manifests.ProgressName(r.test), func(c *corev1.ConfigMap) { c.Data = data })
}

// report writes a Report.
func (r *runner) report(document *report.Report, final bool) {
	r.l.t.Helper()
	data, annotations, err := delivery.EncodeReport(document, final, r.attempt)
	r.l.must(err)
	r.write(manifests.ReportName(r.test), func(c *corev1.ConfigMap) {
		c.BinaryData, c.Annotations = data, annotations
		if final {
			c.Immutable = new(true)
		}
	})
}

func (r *runner) write(name string, f func(*corev1.ConfigMap)) {
	r.l.t.Helper()
	var kept corev1.ConfigMap
	r.l.must(r.client.Get(r.l.t.Context(), client.ObjectKey{Namespace: r.l.namespace, Name: name}, &kept))
	f(&kept)
	r.l.must(r.client.Update(r.l.t.Context(), &kept))
}

// measured is a Report of a device that carries 327 200 packets/s in each direction.
func (r *runner) measured() *report.Report {
	flow := report.Flow{PacketsPerSecond: 327_200, Layer1BitsPerSecond: 1_000_000_000, Layer2BitsPerSecond: 947_000_000}
	both := report.Flow{PacketsPerSecond: 654_400, Layer1BitsPerSecond: 2_000_000_000, Layer2BitsPerSecond: 1_894_000_000}
	sum := &report.Sum{Intended: both, Offered: both, Received: both, Window: 1}
	w := report.Window{Number: 1, Phase: report.Confirm, Duration: plan.Duration(10 * time.Second), Quality: report.Good}
	for _, d := range r.plan.Directions {
		w.Directions = append(w.Directions, report.Measured{From: d.From, To: d.To, Intended: flow, Offered: flow, Received: flow, Quality: report.Good})
	}
	return &report.Report{
		Version: report.Version, Producer: "linerate test", Plan: r.plan, Started: time.Now().UTC(), Finished: time.Now().UTC(), Ending: report.Completed,
		Windows: []report.Window{w},
		Result: report.Result{
			Measured: true, Saturated: true, Confirmed: true, Reason: report.LossAboveLimit, Message: "above 327 200 packets/s frames are lost",
			Window: 1, Directions: w.Directions, Total: sum, MaxReceived: sum,
		},
		Verdict: report.Verdict{Outcome: report.Undecided},
	}
}

// measuredSessions is a Report of TCP through a device that carries 46.5 Mb/s of payload in each direction.
func (r *runner) measuredSessions() *report.Report {
	document := reporttest.Sessions(46_500_000)
	document.Plan, document.Started, document.Finished = r.plan, time.Now().UTC(), time.Now().UTC()
	return document
}

// interrupted is a Report of a run that was ended before there was anything to say.
func (r *runner) interrupted() *report.Report {
	document := r.measured()
	document.Ending, document.Message, document.Windows = report.Interrupted, "the run was interrupted", nil
	document.Result = report.Result{Reason: report.NotMeasured, Message: "the run ended before there was anything to say"}
	return document
}
