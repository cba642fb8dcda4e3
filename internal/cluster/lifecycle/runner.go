package lifecycle

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// runnerFailed: the Job makes no more runners, or is gone, and no final Report has arrived. Before the test fails for that, the Report is read past the
// cache, which may be late.
func runnerFailed(v *view) *step {
	why, reason := v.runnerTrouble()
	if why == "" {
		return nil
	}
	if v.reportWanted() {
		return &step{reason: reason, message: "no runner is left: a Report is looked for", readReport: true}
	}
	if r := v.believedReport(); r != nil && v.Children.Envelope == nil {
		return v.end(endingOf(r))
	}
	return v.fail(reason, "%s", why)
}

// runnerTrouble says why no Report will come; empty: one may.
func (v *view) runnerTrouble() (why, reason string) {
	way := "; the runner's log, in namespace " + v.Settings.Namespace + ", has more, as long as keepPods: OnFailure keeps it"
	switch {
	case !v.begun():
		return "", ""
	case v.job == nil && len(v.runners) == 0 && len(v.recorded(v1alpha1.RoleRunner)) > 0:
		return "the runner's Job was deleted by somebody else", v1alpha1.ReasonEvicted
	case v.job == nil:
		return "", ""
	case v.runnerHeld() && !v.Now.Before(v.job.CreationTimestamp.Add(startBound)):
		return suspendedJobWords(v.job) + fmt.Sprintf("; it is so since %s, and generators and device are given back", startBound), v1alpha1.ReasonRunnerFailed
	case v.runnerStuck() != "":
		return v.runnerStuck(), v1alpha1.ReasonNodeLost
	case jobFailed(v.job) != "":
		return fmt.Sprintf("the runner failed for good (%s)%s%s", jobFailed(v.job), v.runnersLastWords(), way), v1alpha1.ReasonRunnerFailed
	case jobOver(v.job):
		return "the runner ended, and left no Report of this attempt" + v.runnersLastWords() + way, v1alpha1.ReasonRunnerFailed
	}
	return "", ""
}

// runnerHeld says that somebody suspended the runner's Job before it made a runner. linerate never does that; a controller of all Jobs in the namespace does, such as Kueue with
// manageJobsWithoutQueueName. The test can't hold its devices for as long as that.
func (v *view) runnerHeld() bool {
	return v.job != nil && v.job.DeletionTimestamp == nil && v.job.Spec.Suspend != nil && *v.job.Spec.Suspend && len(v.runners) == 0
}

func suspendedJobWords(j *batchv1.Job) string {
	if queue := j.Labels[v1alpha1.LabelKueueQueue]; queue != "" {
		return fmt.Sprintf("the runner's Job %s waits for Kueue to admit it to queue %s of namespace %s: kubectl get localqueue,workload -n %s shows whether the queue is there and has quota",
			j.Name, queue, j.Namespace, j.Namespace)
	}
	return fmt.Sprintf("the runner's Job %s is suspended by somebody else, as Kueue does to all Jobs that name no queue (manageJobsWithoutQueueName): leave namespace %s out of managedJobsNamespaceSelector in Kueue's configuration, "+
		"or give runners a LocalQueue there (runners.queueName of the chart)", j.Name, j.Namespace)
}

// runnerStuck says that the runner's pod is being deleted and its node doesn't answer; empty: it isn't so. The Job makes no other pod then, since it
// can't know that the first is gone.
func (v *view) runnerStuck() string {
	if len(v.runners) == 0 {
		return ""
	}
	p := &v.runners[len(v.runners)-1]
	if Ended(p) || p.DeletionTimestamp == nil || !v.stuck(p) {
		return ""
	}
	return fmt.Sprintf("node %s, on which the runner's pod %s ran, doesn't answer", p.Spec.NodeName, p.Name)
}

// runnersLastWords are what the last runner that failed said.
func (v *view) runnersLastWords() string {
	for i := len(v.runners) - 1; i >= 0; i-- {
		if p := &v.runners[i]; p.Status.Phase == corev1.PodFailed {
			return fmt.Sprintf("; the last words of %s: %s", p.Name, lastWords(p))
		}
	}
	return ""
}

// runNeeded: all is ready, and the runner isn't made.
func runNeeded(v *view) *step {
	if v.untriedCopy() {
		return &step{reason: v1alpha1.ReasonStarting, message: "it is tried whether the Report's copy can be made at the end, under its name", try: []manifests.Object{manifests.EmptyReportCopy(v.Test)}}
	}
	if others := v.refusalsOfOtherPods(); len(others) > 0 {
		return v.refused(others)
	}
	in := v.input()
	sites, err := manifests.SitesOf(in, v.pods)
	if err != nil {
		s := &step{reason: v1alpha1.ReasonStarting, activity: activityStarting, message: "all pods are ready, and where they are isn't known yet: " + err.Error()}
		return s.waitUntil(v.placedUntil())
	}
	if v.comparisonWanted() && v.Baseline == nil {
		return &step{reason: v1alpha1.ReasonStarting, message: "all pods are ready: what the test is compared with is looked at", readBaseline: true}
	}
	in.Baseline = v.baseline()
	if none := v.whyNoReading(v.vitals()); none != "" {
		sites.Vitals, sites.NoVitals = "", none
	}
	if none := v.whyNoReading(v.collector()); none != "" {
		sites.Collector, sites.NoCollector = "", none
	}
	sites.SharedPorts = sharedWires(v.wireEnds()) // where they aren't allowed it didn't come to this
	run, err := manifests.Run(in, sites)
	if err != nil {
		return v.fail(v1alpha1.ReasonRunnerFailed, "the runner can't be made: %v", err)
	}
	var create []manifests.Object
	for _, o := range run {
		if !v.present(o) {
			create = append(create, o)
		}
	}
	return &step{reason: v1alpha1.ReasonRunning, message: runningWords, activity: activityStarting, begins: true, create: create}
}

// untriedCopy says whether the Report's copy still has to be tried in a dry run: it is tried together with pods, and a test of existing generators and devices makes none.
func (v *view) untriedCopy() bool {
	return v.Refusals == nil && len(v.measuringPods()) == 0 && !v.present(manifests.EmptyReportCopy(v.Test))
}

// runningWords are the message while the runner is at it.
const runningWords = "the runner measures: status.progress tells how far it is"

// running: the runner measures, or its Job is about to make the next one.
func running(v *view) *step {
	if !v.begun() || !v.runnerMade() {
		return nil
	}
	s := &step{reason: v1alpha1.ReasonRunning, message: runningWords, activity: activityStarting}
	if words := v.runnerWaits(); words != "" {
		s.message = words
	}
	if at := v.podlessUntil(); v.runnerHeld() {
		s.message = suspendedJobWords(v.job)
		s.waitUntil(v.job.CreationTimestamp.Add(startBound))
	} else if v.Now.Before(at) {
		s.waitUntil(at)
	} else if !at.IsZero() {
		s.message = fmt.Sprintf("Job %s in namespace %s makes no pod for the runner: who administers linerate sees why with kubectl -n %s describe job %s (a quota, a LimitRange, a policy, the runners' ServiceAccount)",
			v.job.Name, v.job.Namespace, v.job.Namespace, v.job.Name)
	}
	for i := range v.runners {
		if p := &v.runners[i]; p.DeletionTimestamp != nil && !v.stuck(p) {
			s.waitUntil(v.stuckAt(p))
		}
	}
	return s.waitUntil(v.activeUntil())
}

// podlessUntil is when the runner's Job should have made its pod or the next one; zero: there is one, or none will follow. Only the Job's own events say why its
// pods are refused.
func (v *view) podlessUntil() time.Time {
	if v.job == nil || v.job.DeletionTimestamp != nil || jobOver(v.job) {
		return time.Time{}
	}
	since := v.job.CreationTimestamp.Time
	for i := range v.runners {
		p := &v.runners[i]
		if !Ended(p) {
			return time.Time{}
		}
		since = latest(since, endedAt(p))
	}
	return since.Add(podlessGrace)
}

// runnerWaits says why a runner that has reported nothing yet isn't running; empty: it runs, or is about to.
func (v *view) runnerWaits() string {
	if v.progress() != nil || len(v.runners) == 0 {
		return ""
	}
	p := &v.runners[len(v.runners)-1]
	if words := troubleOf(p); words != "" {
		return words
	}
	if c := condition(p, corev1.PodScheduled); c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
		return wording.JoinNonEmpty(": ", placeless([]string{p.Name}), schedulersWords(c.Message))
	}
	return ""
}
