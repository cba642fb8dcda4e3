package lifecycle

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
)

// Devices are scarce. A test gets pods when it is its turn (queue.Arrange), and gives all of them back where not all find nodes:
//
//	        it is its turn            all have nodes
//	queued ───────────────▶ placing ─────────────────▶ starting
//	   ▲                       │ some have none after placeBound: others hold devices that the line can't see,
//	   └── others go first ◀───┘ and may wait for those that this test holds

// queued: other tests have the devices, or come first. The pods are tried in a dry run before the wait, so that nobody queues for a refusal.
func queued(v *view) *step {
	if v.used() {
		return nil
	}
	if back := v.was.GivenBack; v.queue() != "" && back != nil && v.Now.Before(back.Until.Time) {
		const message = "its pods were given back, as not all of them could be placed or started: they are queued again when others had their time"
		return v.waits(v1alpha1.ReasonGivenBack, message+v.whyGivenBack()).waitUntil(back.Until.Time)
	}
	if !v.Turn.Waits || v.queue() != "" || v.Lab.Grows && v.Turn.Until.IsZero() {
		return nil // Kueue decides, or who adds nodes for pods that wait
	}
	reason, inLine := v1alpha1.ReasonQueued, v.inLine()
	switch {
	case v.Turn.Impossible:
		return v.waits(v1alpha1.ReasonResourceMissing, v.Turn.Message)
	case !v.Turn.Until.IsZero():
		reason = v1alpha1.ReasonGivenBack
	}
	switch {
	case !inLine && v.Refusals == nil:
		return &step{reason: reason, message: "one pod of each kind is tried before the test stands in line", try: v.samples()}
	case !inLine && len(v.Refusals) > 0:
		return v.refused(v.Refusals)
	}
	s := v.waits(reason, v.Turn.Message+v.whyGivenBack())
	s.activity, s.brief = "Queued", v.Turn.Brief
	return s.waitUntil(v.Turn.Until)
}

// whyGivenBack says what was missing when pods were last given back, since whoever reads that the test queues has to mend that. Empty: none were given back.
func (v *view) whyGivenBack() string {
	back := v.was.GivenBack
	if back == nil || back.Message == "" {
		return ""
	}
	times := "once"
	if back.Times > 1 {
		times = fmt.Sprintf("%d times", back.Times)
	}
	words := "; pods were given back " + times + ", last for this: " + back.Message
	if back.Reason == v1alpha1.GivenBackNotStarted && v.spec.SchedulingDeadline == "" {
		words += "; until that is mended it is tried again and again: spec.stop ends the test, and spec.schedulingDeadline can still be set"
	}
	return words
}

// inLine says whether the status already says that the test waits for others: then its pods were tried.
func (v *view) inLine() bool {
	switch v.previousCondition(v1alpha1.ConditionScheduled).Reason {
	case v1alpha1.ReasonQueued, v1alpha1.ReasonGivenBack:
		return true
	}
	return false
}

// halfPlaced: not all pods found nodes in time. The placed ones hold devices that another test may wait for while it holds what this test lacks, so all are
// given back. Pods of which none is placed hold nothing, and may go on waiting.
func halfPlaced(v *view) *step {
	void, words := &voided{givenBack: queue.Delay(string(v.Test.UID), int(v.timesGivenBack())+1)}, ""
	switch trouble, due := v.cannotStart(); {
	case Reached(v.placelessUntil(), v.Now):
		waiting, _ := v.placing()
		words = fmt.Sprintf("%s within %s%s", placeless(namesOf(waiting)), v.placeBound(), schedulersReason(waiting))
		void.reason, void.lacks = v1alpha1.GivenBackUnplaced, words
	case Reached(due, v.Now):
		words = fmt.Sprintf("%s; it has been so for %s, and other tests wait for its devices", trouble, v.startBound())
		void.reason, void.lacks = v1alpha1.GivenBackNotStarted, trouble
	default:
		return nil
	}
	message := fmt.Sprintf("%s: all pods are given back, so that others can go on; others go first until %s at the latest", words, v.Now.Add(void.givenBack).UTC().Format(time.TimeOnly))
	return &step{
		reason: v1alpha1.ReasonGivenBack, message: message, activity: "Queued",
		scheduled: no(v1alpha1.ReasonGivenBack, message), void: void,
	}
}

// Reached says whether there is a moment, and it has come.
func Reached(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// givesBackAt is when the pods are given back because one has no node or can't start; zero: there is no such pod.
func (v *view) givesBackAt() time.Time {
	_, due := v.cannotStart()
	return earliest(v.placelessUntil(), due)
}

// cannotStart says what keeps a pod from starting that waiting won't mend, such as an image that can't be pulled, and when all pods are given back for it:
// otherwise they would keep devices from waiting tests until a person looks. Zero: there is no such pod, or no test waits for its devices.
func (v *view) cannotStart() (trouble string, until time.Time) {
	if v.begun() || !v.Turn.Wanted {
		return "", until
	}
	for _, p := range v.measuringPods() {
		if p.Spec.NodeName == "" || Ended(p) || p.DeletionTimestamp != nil {
			continue
		}
		words := troubleOf(p)
		since := latest(p.CreationTimestamp.Time, condition(p, corev1.PodScheduled).LastTransitionTime.Time)
		if due := since.Add(v.startBound()); words != "" && (until.IsZero() || due.Before(until)) {
			trouble, until = words, due
		}
	}
	return trouble, until
}

// startBound is how long a pod may be kept from starting while others wait: not so long again where that was so before.
func (v *view) startBound() time.Duration {
	if back := v.was.GivenBack; back != nil && back.Reason == v1alpha1.GivenBackNotStarted {
		return restartBound
	}
	return startBound
}

// placelessUntil is when pods that aren't all placed are given back; zero: never, as things are.
func (v *view) placelessUntil() time.Time {
	if v.begun() || v.anyGated() {
		return time.Time{}
	}
	waiting, placed := v.placing()
	if len(waiting) == 0 || (len(placed) == 0 && !v.Turn.Wanted) {
		return time.Time{}
	}
	var since time.Time
	for _, p := range waiting {
		since = latest(since, p.CreationTimestamp.Time)
	}
	if at := v.admittedAt(); at != nil {
		since = latest(since, at.Time) // until then Kueue held them back, and no scheduler looked
	}
	return since.Add(v.placeBound())
}

// placeBound is how long pods may be without nodes while others of the test have theirs: longer where a node may have to be made for them.
func (v *view) placeBound() time.Duration {
	if v.Lab.Grows {
		return growBound
	}
	return placeBound
}

// placing are the pods of this attempt that wait for nodes, and those that have theirs.
func (v *view) placing() (waiting, placed []*corev1.Pod) {
	for i := range v.pods {
		switch p := &v.pods[i]; {
		case Ended(p) || p.DeletionTimestamp != nil || dispensable(p):
		case p.Spec.NodeName == "":
			waiting = append(waiting, p)
		default:
			placed = append(placed, p)
		}
	}
	return waiting, placed
}

// timesGivenBack is how often pods were given back until now.
func (v *view) timesGivenBack() int32 {
	if v.was.GivenBack == nil {
		return 0
	}
	return v.was.GivenBack.Times
}

func namesOf(pods []*corev1.Pod) []string {
	names := make([]string, len(pods))
	for i, p := range pods {
		names[i] = p.Name
	}
	return names
}

// schedulersReason is what the scheduler says of the first of these pods that it speaks of; empty: nothing.
func schedulersReason(pods []*corev1.Pod) string {
	for _, p := range pods {
		if c, no := nodeless(p); no && c.Message != "" {
			return " (" + schedulersWords(c.Message) + ")"
		}
	}
	return ""
}
