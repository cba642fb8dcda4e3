package lifecycle

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// queueing answers whether it is the test's turn to hold devices, and whether it must give them back.
type queueing struct {
	test      *v1alpha1.LoadTest
	attempt   *attempt
	history   *history
	kueue     *kueue
	deadlines *deadlines
	placement *placement
	turn      queue.Turn
	// grows: an autoscaler adds nodes for pods that wait.
	grows     bool
	givenBack *v1alpha1.GivenBack
	refusals  []Refusal
	now       time.Time
}

// Devices are scarce. A test gets pods when it is its turn (queue.Arrange), and gives all of them back where
// not all find nodes:
//
//	        it is its turn            all have nodes
//	queued ───────────────▶ placing ─────────────────▶ starting
//	   ▲                       │ some have none after placeBound: others hold devices that the line can't see,
//	   └── others go first ◀───┘ and may wait for those that this test holds

// queued: other tests have the devices, or come first. The pods are tried in a dry run before the wait, so that
// nobody queues for a refusal.
func (q *queueing) queued() *step {
	if q.attempt.isUsed() {
		return nil
	}
	if back := q.givenBack; q.kueue.queueName() != "" && back != nil && q.now.Before(back.Until.Time) {
		const message = "its pods were given back, as not all of them could be placed or started: they are queued again " +
			"when others had their time"
		return q.deadlines.waits(v1alpha1.ReasonGivenBack, message+q.whyGivenBack()).waitUntil(back.Until.Time)
	}
	if !q.turn.Waits || q.kueue.queueName() != "" || q.grows && q.turn.Until.IsZero() {
		return nil // Kueue decides, or who adds nodes for pods that wait
	}
	reason, inLine := v1alpha1.ReasonQueued, q.isInLine()
	switch {
	case q.turn.Impossible:
		return q.deadlines.waits(v1alpha1.ReasonResourceMissing, q.turn.Message)
	case !q.turn.Until.IsZero():
		reason = v1alpha1.ReasonGivenBack
	}
	switch {
	case !inLine && q.refusals == nil:
		return &step{reason: reason, message: "one pod of each kind is tried before the test stands in line",
			try: q.placement.samples()}
	case !inLine && len(q.refusals) > 0:
		return q.placement.refusedStep(q.refusals)
	}
	s := q.deadlines.waits(reason, q.turn.Message+q.whyGivenBack())
	s.activity, s.brief = "Queued", q.turn.Brief
	return s.waitUntil(q.turn.Until)
}

// whyGivenBack says what was missing when pods were last given back, since whoever reads that the test queues
// has to mend that. Empty: none were given back.
func (q *queueing) whyGivenBack() string {
	back := q.givenBack
	if back == nil || back.Message == "" {
		return ""
	}
	times := "once"
	if back.Times > 1 {
		times = fmt.Sprintf("%d times", back.Times)
	}
	words := "; pods were given back " + times + ", last for this: " + back.Message
	if back.Reason == v1alpha1.GivenBackNotStarted && q.test.Spec.SchedulingDeadline == "" {
		words += "; until that is mended it is tried again and again: spec.stop ends the test, and spec.schedulingDeadline " +
			"can still be set"
	}
	return words
}

// isInLine says whether the status already says that the test waits for others: then its pods were tried.
func (q *queueing) isInLine() bool {
	switch q.history.condition(v1alpha1.ConditionScheduled).Reason {
	case v1alpha1.ReasonQueued, v1alpha1.ReasonGivenBack:
		return true
	}
	return false
}

// halfPlaced: not all pods found nodes in time. The placed ones hold devices that another test may wait for
// while it holds what this test lacks, so all are given back. Pods of which none is placed hold nothing, and
// may go on waiting.
func (q *queueing) halfPlaced() *step {
	void, words := &voided{givenBack: queue.Delay(string(q.test.UID), int(q.timesGivenBack())+1)}, ""
	switch trouble, due := q.cannotStart(); {
	case Reached(q.placelessUntil(), q.now):
		waiting, _ := q.attempt.placing()
		words = fmt.Sprintf("%s within %s%s", placeless(namesOf(waiting)), q.placeBound(), schedulersReason(waiting))
		void.reason, void.lacks = v1alpha1.GivenBackUnplaced, words
	case Reached(due, q.now):
		words = fmt.Sprintf("%s; it has been so for %s, and other tests wait for its devices", trouble, q.startBound())
		void.reason, void.lacks = v1alpha1.GivenBackNotStarted, trouble
	default:
		return nil
	}
	message := fmt.Sprintf("%s: all pods are given back, so that others can go on; others go first until %s at the latest",
		words, q.now.Add(void.givenBack).UTC().Format(time.TimeOnly))
	return &step{
		reason: v1alpha1.ReasonGivenBack, message: message, activity: "Queued",
		scheduled: isFalse(v1alpha1.ReasonGivenBack, message), void: void,
	}
}

// Reached says whether there is a moment, and it has come.
func Reached(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// givesBackAt is when the pods are given back because one has no node or can't start; zero: there is no such pod.
func (q *queueing) givesBackAt() time.Time {
	_, due := q.cannotStart()
	return earliest(q.placelessUntil(), due)
}

// cannotStart says what keeps a pod from starting that waiting won't mend, such as an image that can't be
// pulled, and when all pods are given back for it: otherwise they would keep devices from waiting tests until a
// person looks. Zero: there is no such pod, or no test waits for its devices.
func (q *queueing) cannotStart() (trouble string, until time.Time) {
	if q.attempt.hasBegun() || !q.turn.Wanted {
		return "", until
	}
	for _, p := range q.attempt.measuringPods() {
		if p.Spec.NodeName == "" || Ended(p) || p.DeletionTimestamp != nil {
			continue
		}
		words := troubleOf(p)
		since := latest(p.CreationTimestamp.Time, condition(p, corev1.PodScheduled).LastTransitionTime.Time)
		if due := since.Add(q.startBound()); words != "" && (until.IsZero() || due.Before(until)) {
			trouble, until = words, due
		}
	}
	return trouble, until
}

// startBound is how long a pod may be kept from starting while others wait: not so long again where that was so before.
func (q *queueing) startBound() time.Duration {
	if back := q.givenBack; back != nil && back.Reason == v1alpha1.GivenBackNotStarted {
		return restartBound
	}
	return startBound
}

// placelessUntil is when pods that aren't all placed are given back; zero: never, as things are.
func (q *queueing) placelessUntil() time.Time {
	if q.attempt.hasBegun() || q.kueue.anyGated() {
		return time.Time{}
	}
	waiting, placed := q.attempt.placing()
	if len(waiting) == 0 || (len(placed) == 0 && !q.turn.Wanted) {
		return time.Time{}
	}
	var since time.Time
	for _, p := range waiting {
		since = latest(since, p.CreationTimestamp.Time)
	}
	if at := q.kueue.admittedAt(); at != nil {
		since = latest(since, at.Time) // until then Kueue held them back, and no scheduler looked
	}
	return since.Add(q.placeBound())
}

// placeBound is how long pods may be without nodes while others of the test have theirs: longer where a node
// may have to be made for them.
func (q *queueing) placeBound() time.Duration {
	if q.grows {
		return growBound
	}
	return placeBound
}

// timesGivenBack is how often pods were given back until now.
func (q *queueing) timesGivenBack() int32 {
	if q.givenBack == nil {
		return 0
	}
	return q.givenBack.Times
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

// gated: Kueue hasn't admitted the pods yet. It may take days, and no deadline counts.
func (q *queueing) gated() *step {
	var waiting []string
	managed := true
	for _, p := range q.attempt.measuringPods() {
		if hasGate(p) {
			waiting = append(waiting, p.Name)
			managed = managed && p.Labels[v1alpha1.LabelKueueManaged] != ""
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	message := fmt.Sprintf("in Kueue's queue %s: pods go when it admits their group (kubectl describe workloads -n %s "+
		"tells what it waits for): %s", q.kueue.queueName(), q.test.Namespace, listed(waiting))
	if q.kueue.queueName() == "" {
		message = fmt.Sprintf("Kueue holds pods back that name no queue, as its configuration has it "+
			"(manageJobsWithoutQueueName), and lets none of them go: create the test with the label %s and a LocalQueue of "+
			"namespace %s: %s",
			v1alpha1.LabelKueueQueue, q.test.Namespace, listed(waiting))
	} else if !managed {
		message += "; Kueue doesn't look after these pods: turn its integration for pods on, also for this namespace " +
			"(kubectl linerate doctor), or create the test without the label " + v1alpha1.LabelKueueQueue
	}
	s := q.deadlines.waits(v1alpha1.ReasonQueued, message)
	s.activity, s.brief = "Queued", strings.TrimSpace("in Kueue's queue "+q.kueue.queueName())
	return s
}

// unscheduled: pods wait for a node.
func (q *queueing) unscheduled() *step {
	var waiting, refused []string
	var why string
	for _, p := range q.attempt.measuringPods() {
		if p.Spec.NodeName != "" {
			continue
		}
		waiting = append(waiting, p.Name)
		if c, no := nodeless(p); no {
			refused, why = append(refused, p.Name), cmp.Or(why, schedulersWords(c.Message))
		}
	}
	switch {
	case len(waiting) == 0:
		return nil
	case len(refused) == 0:
		s := q.deadlines.waits(v1alpha1.ReasonPending, "the scheduler hasn't placed yet: "+listed(waiting))
		s.activity = "Placing"
		return s.waitUntil(q.givesBackAt())
	}
	return q.deadlines.waits(v1alpha1.ReasonUnschedulable, wording.JoinNonEmpty(": ", placeless(refused), why)+
		": it goes on by itself when there is room; other tests and pods hold devices too (kubectl describe node shows "+
		"them)").waitUntil(q.givesBackAt())
}

// nodeless says whether the scheduler finds no node for a pod, and why. A pod whose scheduling gates were just
// removed still has the condition of a gated pod, and isn't nodeless: the scheduler hasn't tried it yet.
func nodeless(p *corev1.Pod) (corev1.PodCondition, bool) {
	c := condition(p, corev1.PodScheduled)
	freed := c.Reason == corev1.PodReasonSchedulingGated && len(p.Spec.SchedulingGates) == 0
	return c, c.Status == corev1.ConditionFalse && !freed
}

// placeless says which pods find no node.
func placeless(pods []string) string {
	if len(pods) == 1 {
		return fmt.Sprintf("pod %s finds no node", pods[0])
	}
	return fmt.Sprintf("pods %s and %d more find no node", pods[0], len(pods)-1)
}

// unscheduledWords is what the scheduler says of a pod that it can't place; empty: nothing.
func unscheduledWords(p *corev1.Pod) string {
	c, no := nodeless(p)
	if p.Spec.NodeName != "" || !no {
		return ""
	}
	return wording.JoinNonEmpty(": ", placeless([]string{p.Name}), schedulersWords(c.Message))
}

// schedulersWords are why no node fits, without the scheduler's remarks on preemption, claims and the like,
// which no author of a test can act on.
func schedulersWords(message string) string {
	why, rest, more := strings.Cut(message, ". ")
	if more && (strings.HasPrefix(rest, "no new claims") || strings.HasPrefix(rest, "preemption:")) {
		return why
	}
	return strings.TrimSuffix(message, ".")
}
