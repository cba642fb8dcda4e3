package lifecycle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// ofVoidAttempt is what is observed of a test of attempt 2 that is suspended, when its first attempt's Plan is
// there, and its Job is as it is made.
func ofVoidAttempt(t *testing.T, change func(*batchv1.Job)) lifecycle.Observed {
	t.Helper()
	w := newWorld(t, external)
	w.settle()
	w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
	w.reconcile()
	o := w.observe()
	if o.Test.Status.Attempt != 2 || !slices.Equal(o.Children.Plans, []int32{1}) || len(o.Children.Jobs) != 1 {
		w.fail("attempt %d, Plans of %v, %d Jobs", o.Test.Status.Attempt, o.Children.Plans, len(o.Children.Jobs))
	}
	if change == nil {
		o.Children.Jobs = nil
	} else {
		change(&o.Children.Jobs[0])
	}
	return o
}

// A Plan is in the operator's own namespace, in nobody's quota, and as large as an object can be. One of an
// attempt that is void goes as soon as nothing runs by it.
func TestThePlanOfAVoidAttemptGoesWhenItsJobDoes(t *testing.T) {
	for name, c := range map[string]struct {
		job  func(*batchv1.Job) // nil: it is gone
		goes string
	}{
		"goes on": {func(*batchv1.Job) {}, "-Job/external-3404b516-1-runner"},
		"is being deleted": {func(j *batchv1.Job) { j.DeletionTimestamp = j.CreationTimestamp.DeepCopy() },
			"-ConfigMap/external-3404b516-1-plan"},
		"failed": {func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
		}, "-ConfigMap/external-3404b516-1-plan"},
		"is gone": {nil, "-ConfigMap/external-3404b516-1-plan"},
	} {
		t.Run("its Job "+name, func(t *testing.T) {
			if got := strings.Join(actions(lifecycle.Decide(ofVoidAttempt(t, c.job))), " "); got != c.goes {
				t.Errorf("deletes %s, want %s", got, c.goes)
			}
		})
	}
}

// What a void attempt left is cleared away beside whatever is decided, and holds up nothing.
func TestWhatAVoidAttemptLeftHoldsUpNoRun(t *testing.T) {
	w := newWorld(t, reference)
	w.test.Status.Attempt = 3
	w.toRun()
	o := w.observe()
	o.Children.Plans = []int32{2, 3, 1}
	d := lifecycle.Decide(o)
	if got := strings.Join(actions(d), " "); d.Rule != "running" ||
		got != "-ConfigMap/first-3404b516-1-plan -ConfigMap/first-3404b516-2-plan" {
		t.Errorf("%s does %s", d.Rule, got)
	}
}

// A later attempt's Plan is that of an operator that knew more, and whose status isn't seen yet, or was lost.
func TestThePlanOfALaterAttemptIsLetBe(t *testing.T) {
	o := ofVoidAttempt(t, nil)
	o.Children.Plans = []int32{3}
	if got := actions(lifecycle.Decide(o)); len(got) > 0 {
		t.Errorf("it does %v", got)
	}
}

// When a test is over all its Plans go at once, and the Jobs with them. Where no Plan is there Jobs are deleted
// as they are.
func TestJobsGoWithThePlansWhereThereAreAny(t *testing.T) {
	for name, c := range map[string]struct {
		plans []int32
		want  string
	}{
		"with Plans":                         {[]int32{1, 2}, "-Documents/*"},
		"with a Progress whose Plan is gone": {nil, "-Job/external-3404b516-1-runner"},
	} {
		t.Run(name, func(t *testing.T) {
			o := ofVoidAttempt(t, func(*batchv1.Job) {})
			o.Test.DeletionTimestamp = &metav1.Time{Time: o.ObservedAt}
			o.Children.Plans, o.Children.Documents = c.plans, []string{manifests.ProgressName(o.Test, 1)}
			if got := strings.Join(actions(lifecycle.Decide(o)), " "); got != c.want {
				t.Errorf("deletes %s, want %s", got, c.want)
			}
		})
	}
}

// forgedOf says in each way that it is of an attempt of the test's.
func forgedOf(w *world, name, role, attempt string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: "bench", Name: name, UID: w.newUID(), CreationTimestamp: metav1.Time{Time: w.clock},
		Labels: map[string]string{v1alpha1.LabelRole: role, v1alpha1.LabelAttempt: attempt,
			v1alpha1.LabelNamespace: "bench"},
	}
}

// Whoever edits the test's namespace may make Jobs and their pods there, with all of the test's labels. They
// void no attempt, before the run, in it and after it was voided.
func TestAJobInTheTestsNamespaceVoidsNothing(t *testing.T) {
	for _, attempt := range []string{"1", "2", "3", "2147483647", "2147483648", "x"} {
		forge := func(w *world, o *lifecycle.Observed) {
			job := forgedOf(w, "forged", "runner", attempt)
			o.Children.Jobs = append(o.Children.Jobs, batchv1.Job{ObjectMeta: job})
			job.Name = manifests.RunnerJobName(w.test, 2)
			o.Children.Jobs = append(o.Children.Jobs, batchv1.Job{ObjectMeta: job})
		}
		t.Run("of attempt "+attempt+", before the run: it is ignored", func(t *testing.T) {
			w := newWorld(t, reference)
			w.settle()
			w.schedule()
			w.settle()
			o := w.observe()
			forge(w, &o)
			d := lifecycle.Decide(o)
			if got := strings.Join(actions(d), " "); d.Rule != "starting" || d.Status.Attempt != 1 ||
				len(d.Status.Pods) != 2 || got != "" {
				t.Errorf("%s, attempt %d with %d pods, does %s", d.Rule, d.Status.Attempt, len(d.Status.Pods), got)
			}
		})
		t.Run("of attempt "+attempt+", in the run: nobody minds", func(t *testing.T) {
			w := newWorld(t, reference)
			w.toRun()
			o := w.observe()
			forge(w, &o)
			o.Children.Pods = append(o.Children.Pods,
				corev1.Pod{ObjectMeta: forgedOf(w, manifests.RunnerJobName(w.test, 2)+"-x7k2p", "runner", attempt)})
			d := lifecycle.Decide(o)
			if got := actions(d); d.Rule != "running" || d.Status.Attempt != 1 || d.Status.StartTime == nil ||
				len(got) > 0 {
				t.Errorf("%s, attempt %d, does %v", d.Rule, d.Status.Attempt, got)
			}
		})
	}
}

// Where no policy keeps pods of tests the operator's (admissionPolicy.create: false), pods of attempts that
// there can't be are remnants, and go by themselves.
func TestAPodOfAnAttemptThatCannotBeGoesAlone(t *testing.T) {
	for attempt, want := range map[string]string{"7": "-Pod/*(attempt 7)", "2147483647": "-Pod/*(attempt 2147483647)",
		"x": "-Pod/forged", "": "-Pod/forged"} {
		w := newWorld(t, reference)
		w.toRun()
		o := w.observe()
		o.Children.Pods = append(o.Children.Pods, corev1.Pod{ObjectMeta: forgedOf(w, "forged", "generator", attempt)})
		d := lifecycle.Decide(o)
		if got := strings.Join(actions(d), " "); d.Status.Attempt != 1 || d.Status.StartTime == nil || got != want {
			t.Errorf("%q: %s, attempt %d, does %s, want %s", attempt, d.Rule, d.Status.Attempt, got, want)
		}
	}
}

// A new operator's caches may show the pods of an attempt before the status that begins it. They are that attempt's.
func TestPodsOfTheNextAttemptMaySeenBeforeItsStatus(t *testing.T) {
	w := newWorld(t, reference)
	w.test.Status.Attempt = 2
	w.settle()
	o := w.observe()
	o.Test.Status.Attempt = 1
	if d := lifecycle.Decide(o); d.Status.Attempt != 2 || len(d.Delete) > 0 {
		t.Errorf("%s, attempt %d, deletes %v", d.Rule, d.Status.Attempt, d.Delete)
	}
}

// Where a test has no pods of its own, whether the Report can be published is found out before the run all the same.
func TestTheCopysNameIsTriedBeforeARunWithoutPods(t *testing.T) {
	t.Run("it is tried", func(t *testing.T) {
		w := newWorld(t, external)
		if d := lifecycle.Decide(w.observe()); len(d.Try) != 1 || d.Try[0].GetName() != "external-report" ||
			d.Try[0].GetNamespace() != "bench" {
			t.Errorf("%s tries %v", d.Rule, d.Try)
		}
	})
	t.Run("not where it is there, or in the run", func(t *testing.T) {
		w := newWorld(t, external)
		w.Present["ConfigMap/external-report"] = true
		w.settle()
		w.progress(w.runner(), "Ramping", 30)
		w.settle()
		if w.tries != 0 || len(w.Jobs) != 1 {
			t.Errorf("%d objects were tried, %d Jobs are there", w.tries, len(w.Jobs))
		}
	})
	for reason, hinder := range map[string]func(*world){
		v1alpha1.ReasonNameTaken: func(w *world) { w.foreign = []string{"ConfigMap/external-report"} },
		v1alpha1.ReasonPodRefused: func(w *world) {
			w.refusals = []lifecycle.Refusal{{Pod: "external-report", Message: "exceeded quota: bench"}}
		},
	} {
		t.Run("and where it can't be had the run waits: "+reason, func(t *testing.T) {
			w := newWorld(t, external)
			hinder(w)
			w.settle()
			if c := w.condition("Scheduled"); c.Reason != reason || !strings.Contains(c.Message, "external-report") ||
				len(w.Jobs)+len(w.Documents) > 0 {
				w.fail("%s: %s; %d Jobs, %d documents", c.Reason, c.Message, len(w.Jobs), len(w.Documents))
			}
			w.foreign, w.refusals = nil, nil
			w.pass(10 * time.Minute)
			if len(w.Jobs) != 1 {
				w.fail("the run doesn't begin when that is mended")
			}
		})
	}
}

// A port's Lease that an earlier attempt left names generators that are gone. A reader of that Lease would think, once
// the test is gone, that no generator sends.
func TestAPortThatAnEarlierAttemptLeftIsTakenAnew(t *testing.T) {
	w := newWorld(t, functions)
	w.test.Status.Attempt = 2
	w.place(separatePorts)
	w.Jobs, w.test.Status.StartTime = nil, nil
	w.test.Status.Pods = slices.DeleteFunc(w.test.Status.Pods,
		func(p v1alpha1.PodStatus) bool { return p.Role == v1alpha1.RoleRunner })
	for i := range w.portClaims {
		w.portClaims[i].Holder.Attempt, w.portClaims[i].Senders = 1,
			[]lifecycle.Sender{{Name: "vpp-1-generator-0", UID: "gone"}}
	}
	clear(w.Documents)
	d := lifecycle.Decide(w.observe())
	if d.Rule != "runNeeded" || len(d.ClaimPorts) != len(w.portClaims) || len(d.ClaimPorts) == 0 {
		w.fail("%s takes %d of %d ports", d.Rule, len(d.ClaimPorts), len(w.portClaims))
	}
	for _, take := range d.ClaimPorts {
		if take.Replaces == nil || take.Holder.Attempt != 2 || len(take.Senders) == 0 || take.Senders[0].UID == "gone" {
			t.Errorf("%+v", take)
		}
	}
	for _, e := range d.Events {
		if e.Reason == v1alpha1.ReasonPortHeld {
			t.Errorf("it is told: %s", e.Message)
		}
	}
}
