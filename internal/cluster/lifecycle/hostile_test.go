package lifecycle_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// Whatever is observed, and however little it fits together, a decision is made, by a rule that knows the situation,
// and its status can be stored.
func TestAnyObservationIsDecided(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 7))
	specs := []string{reference, hooks, devices, external, withLines(reference, "podRetention: OnFailure",
		"schedulingDeadline: 1m", "ttlAfterFinished: 1m")}
	for range tier.Times(500, 1500) {
		w := newWorld(t, specs[chance.IntN(len(specs))])
		o := anyObservation(w, chance)
		d := lifecycle.Decide(o)
		for _, del := range d.Delete {
			if del.Name == manifests.PlanName(w.test, lifecycle.Attempt(o)) {
				t.Fatalf("%s deletes the Plan of the attempt that counts", d.Rule)
			}
			if del.Kind == "Pod" && del.Name == "" && d.Rule == "earlierAttempt" &&
				(del.Attempt == 0 || del.Attempt == lifecycle.Attempt(o)) {
				t.Fatalf("what is left of earlier attempts goes, and with it pods of attempt %d, where %d counts",
					del.Attempt, lifecycle.Attempt(o))
			}
		}
		if d.Rule == "undecided" || d.Reason == "" || d.Message == "" {
			t.Fatalf("%s – %s: %s", d.Rule, d.Reason, d.Message)
		}
		if d.ReadReport || d.Try != nil || d.Rule == "deleted" {
			continue
		}
		for _, c := range d.Status.Conditions {
			if c.Reason == "" || len(c.Message) > 32768 || c.LastTransitionTime.IsZero() {
				t.Fatalf("%s says %+v", d.Rule, c)
			}
		}
		for _, p := range d.Status.Pods {
			if p.Role == "" || len(p.State) > 64 {
				t.Fatalf("%s says %+v", d.Rule, p)
			}
		}
	}
}

// anyObservation puts together what no cluster would.
func anyObservation(w *world, chance *rand.Rand) lifecycle.Observed {
	coin := func() bool { return chance.IntN(2) == 0 }
	pick := func(choices ...string) string { return choices[chance.IntN(len(choices))] }
	o := w.observe()
	if coin() {
		o.Inventory = lifecycle.Inventory{}
	}
	o.Test.Spec.Suspend, o.Test.Spec.Stop = chance.IntN(5) == 0, chance.IntN(5) == 0
	if coin() {
		o.Test.Spec.Links[0].LineRate = "nonsense"
	}
	if coin() {
		o.Test.Finalizers = []string{v1alpha1.FinalizerTeardown}
	}
	if chance.IntN(5) == 0 {
		o.Test.DeletionTimestamp = &metav1.Time{Time: w.clock.Add(-time.Duration(chance.IntN(1800)) * time.Second)}
	}
	o.Test.Status.Attempt = int32(chance.IntN(3))
	if coin() {
		o.Test.Status.StartTime = &metav1.Time{Time: w.clock.Add(-time.Duration(chance.IntN(7200)) * time.Second)}
	}
	if coin() {
		o.Test.Status.Conditions = []metav1.Condition{{
			Type: "Complete", Status: metav1.ConditionStatus(pick("True", "False")),
			LastTransitionTime: metav1.Time{Time: w.clock},
			Message:            "as it was told", Reason: pick("Waiting", "Running", "Measured", "Stopped",
				"GeneratorLost",
				"Parked"),
		}}
	}
	for range chance.IntN(3) {
		role := pick("Generator", "DUT", "Setup", "Teardown", "Runner")
		o.Test.Status.Pods = append(o.Test.Status.Pods, v1alpha1.PodStatus{Name: "was-" + role,
			Role: v1alpha1.PodRole(role), Node: pick("", "rack-1", "rack-9")})
	}
	for range chance.IntN(4) {
		o.Children.Pods = append(o.Children.Pods, anyPod(w, chance, pick))
	}
	for range chance.IntN(3) {
		o.Children.Plans = append(o.Children.Plans, chance.Int32N(4))
	}
	for attempt := range chance.IntN(3) {
		o.Children.Jobs = append(o.Children.Jobs, batchv1.Job{ObjectMeta: metav1.ObjectMeta{
			Name: pick("job", manifests.RunnerJobName(o.Test, 1)), Namespace: pick("bench", "linerate-system"),
			Labels:            map[string]string{v1alpha1.LabelAttempt: pick("1", "2", "x", "")},
			CreationTimestamp: metav1.Time{Time: w.clock.Add(-time.Duration(attempt) * time.Hour)},
		}})
	}
	if coin() {
		o.Children.Envelope = &delivery.Envelope{Attempt: chance.IntN(3), Final: coin(),
			Runner: pick("", manifests.RunnerJobName(o.Test, 1)+"-x"), RunnerUID: pick("", "uid")}
		if coin() {
			o.Children.Order = &delivery.Order{Plan: pick("", "sha256:1")}
		}
		o.Children.Report = aReport(report.Ending(pick("Completed", "Interrupted", "GeneratorLost", "Parked")),
			chance.IntN(3), w.clock)
	}
	if coin() {
		o.Children.ReportFault = "there is none"
	}
	if coin() {
		o.Children.Progress = &delivery.Progress{Attempt: chance.IntN(3), Run: chance.IntN(4) - 1,
			Percent: chance.IntN(300) - 100, UpdateTime: w.clock}
	}
	if coin() {
		o.Refusals = []lifecycle.Refusal{}
	}
	return o
}

// Whatever an editor of the test's namespace makes there that says it is the runner, of whatever attempt:
// another attempt doesn't count for that. Nor for what says that it is a generator, but of the very next
// attempt.
func TestWhatAnEditorMakesChangesNoAttempt(t *testing.T) {
	chance := rand.New(rand.NewPCG(8, 8))
	pick := func(choices ...string) string { return choices[chance.IntN(len(choices))] }
	for range 500 {
		w := newWorld(t, reference)
		o := anyObservation(w, chance)
		counts := lifecycle.Attempt(o)
		labels := map[string]string{v1alpha1.LabelRole: "runner", v1alpha1.LabelAttempt: pick("0", "1", "2", "3",
			"2147483647", "2147483648", "-1", "x", "")}
		meta := metav1.ObjectMeta{Name: manifests.RunnerJobName(o.Test, 2), Namespace: "bench", Labels: labels}
		o.Children.Jobs = append(o.Children.Jobs, batchv1.Job{ObjectMeta: meta})
		meta.Name += "-x7k2p"
		o.Children.Pods = append(o.Children.Pods, corev1.Pod{ObjectMeta: meta})
		meta.Name, meta.Labels = "forged", map[string]string{v1alpha1.LabelRole: "generator",
			v1alpha1.LabelAttempt: fmt.Sprint(counts + 2 + chance.Int32N(9))}
		o.Children.Pods = append(o.Children.Pods, corev1.Pod{ObjectMeta: meta})
		if got := lifecycle.Attempt(o); got != counts {
			t.Fatalf("attempt %d counts, and with what an editor made (%s, %s) %d", counts,
				labels[v1alpha1.LabelAttempt], meta.Labels[v1alpha1.LabelAttempt], got)
		}
	}
}

func anyPod(w *world, chance *rand.Rand, pick func(...string) string) corev1.Pod {
	role := pick("generator", "dut", "setup", "teardown", "runner", "mirror", "")
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: pick("was-", "is-", manifests.RunnerJobName(w.test, 1)+"-") + role,
			Namespace: pick("bench", "linerate-system"), Labels: map[string]string{v1alpha1.LabelRole: role,
				v1alpha1.LabelAttempt: pick("1", "2", "x")}},
		Spec: corev1.PodSpec{NodeName: pick("", "rack-1", "rack-9")},
		Status: corev1.PodStatus{Phase: corev1.PodPhase(pick("Pending", "Running", "Succeeded", "Failed", "Unknown",
			"")), Reason: pick("", "Evicted", "OutOfcpu", "NodeLost")},
	}
	if chance.IntN(4) == 0 {
		p.DeletionTimestamp = &metav1.Time{Time: w.clock.Add(time.Duration(chance.IntN(600)-300) * time.Second)}
	}
	if chance.IntN(2) == 0 {
		set(&p, corev1.PodReady, corev1.ConditionStatus(pick("True", "False", "Unknown")), w.clock)
	}
	return p
}
