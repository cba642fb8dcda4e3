package lifecycle

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
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
	// grows says that an autoscaler adds nodes for pods that wait.
	grows      bool
	givenBack  *v1alpha1.GivenBack
	refusals   []Refusal
	nodes      *nodes
	observedAt time.Time
}

// Devices are scarce. A test gets pods when it is its turn (queue.Arrange), and gives all of them back where not all
// find nodes.
//
//	        it is its turn            all have nodes
//	queued ───────────────▶ placing ─────────────────▶ starting
//	   ▲                       │ some have none after placeBound: others hold devices that the line can't see,
//	   └── others go first ◀───┘ and may wait for those that this test holds

// queued is the rule for a test whose devices other tests have, or are to have first. The pods are tried in a dry run
// before the wait, so that nobody queues for a refusal.
func (q *queueing) queued() *step {
	if q.attempt.isUsed() {
		return nil
	}
	if givenBack := q.givenBack; q.kueue.queueName() != "" && givenBack != nil &&
		q.observedAt.Before(givenBack.RetryTime.Time) {
		const message = "its pods were given back, as not all of them could be placed or started: they are queued " +
			"again " +
			"when others had their time"
		return q.deadlines.wait(v1alpha1.ReasonGivenBack, message+q.whyGivenBack()).waitUntil(givenBack.RetryTime.Time)
	}
	if !q.turn.Waits || q.kueue.queueName() != "" || q.grows && q.turn.Due.IsZero() {
		return nil // Kueue decides, or who adds nodes for pods that wait
	}
	reason, inLine := v1alpha1.ReasonQueued, q.isInLine()
	switch {
	case q.turn.Impossible:
		return q.deadlines.wait(v1alpha1.ReasonResourceMissing, q.turn.Message)
	case !q.turn.Due.IsZero():
		reason = v1alpha1.ReasonGivenBack
	}
	switch {
	case !inLine && q.refusals == nil:
		return &step{reason: reason, message: "one pod of each kind is tried before the test stands in line",
			try: q.placement.samples()}
	case !inLine && len(q.refusals) > 0:
		return q.placement.refusedStep(q.refusals)
	}
	s := q.deadlines.wait(reason, q.turn.Message+q.whyGivenBack())
	s.activity, s.brief = "Queued", q.turn.Brief
	return s.waitUntil(q.turn.Due)
}

// whyGivenBack says what was missing when pods were last given back, since whoever reads that the test queues has to
// mend that. Empty means that none were given back.
func (q *queueing) whyGivenBack() string {
	givenBack := q.givenBack
	if givenBack == nil || givenBack.Message == "" {
		return ""
	}
	times := "once"
	if givenBack.Times > 1 {
		times = fmt.Sprintf("%d times", givenBack.Times)
	}
	words := "; pods were given back " + times + ", last for this: " + givenBack.Message
	if givenBack.Reason == v1alpha1.GivenBackNotStarted && q.test.Spec.SchedulingDeadline == "" {
		words += "; until that is mended it is tried again and again: spec.stop ends the test, and " +
			"spec.schedulingDeadline " +
			"can still be set"
	}
	return words
}

// isInLine says whether the status already says that the test waits for others, so that its pods were tried.
func (q *queueing) isInLine() bool {
	switch q.history.condition(v1alpha1.ConditionScheduled).Reason {
	case v1alpha1.ReasonQueued, v1alpha1.ReasonGivenBack:
		return true
	}
	return false
}

// halfPlaced is the rule for pods that didn't all find nodes in time. The placed ones hold devices that another test
// may wait for while it holds what this test lacks, so all are given back. Pods of which none is placed hold nothing,
// and may go on waiting.
func (q *queueing) halfPlaced() *step {
	void, words, awaitsNode := &voided{givenBack: queue.Delay(string(q.test.UID), int(q.timesGivenBack())+1)}, "", false
	switch trouble, due := q.cannotStart(); {
	case Reached(q.placelessUntil(), q.observedAt):
		waiting, _ := q.attempt.podsByPlacement()
		words = fmt.Sprintf("%s within %s%s", unplacedWords(namesOf(waiting)), q.placeBound(),
			schedulersReason(waiting))
		if awaited := q.awaitedNode(waiting); awaited != "" {
			words, awaitsNode = awaited, true
		}
		void.reason, void.lacks = v1alpha1.GivenBackUnplaced, words
	case Reached(due, q.observedAt):
		words = fmt.Sprintf("%s; it has been so for %s, and other tests wait for its devices", trouble, q.startBound())
		void.reason, void.lacks = v1alpha1.GivenBackNotStarted, trouble
	default:
		return nil
	}
	message := fmt.Sprintf("%s: all pods are given back, so that others can go on; others go first until %s at the "+
		"latest",
		words, q.observedAt.Add(void.givenBack).UTC().Format(time.TimeOnly))
	return &step{
		reason: v1alpha1.ReasonGivenBack, message: message, activity: "Queued",
		scheduled: isFalse(v1alpha1.ReasonGivenBack, message), void: void, awaitsNode: awaitsNode,
	}
}

// Reached says whether there is a moment, and it has come.
func Reached(due, moment time.Time) bool { return !due.IsZero() && !moment.Before(due) }

// givesBackAt is when the pods are given back because one has no node or can't start. Zero means that there is no
// such pod.
func (q *queueing) givesBackAt() time.Time {
	_, due := q.cannotStart()
	return earliest(q.placelessUntil(), due)
}

// cannotStart says what keeps a pod from starting that waiting won't mend, such as an image that can't be pulled, and
// when all pods are given back for it. Otherwise they would keep devices from waiting tests until a person looks. Zero
// means that there is no such pod, or that no test waits for its devices.
func (q *queueing) cannotStart() (trouble string, deadline time.Time) {
	if q.attempt.hasBegun() || !q.turn.Wanted {
		return "", deadline
	}
	for _, p := range q.attempt.measuringPods() {
		if p.Spec.NodeName == "" || Ended(p) || p.DeletionTimestamp != nil {
			continue
		}
		words := troubleOf(p)
		start := latest(p.CreationTimestamp.Time, condition(p, corev1.PodScheduled).LastTransitionTime.Time)
		if due := start.Add(q.startBound()); words != "" && (deadline.IsZero() || due.Before(deadline)) {
			trouble, deadline = words, due
		}
	}
	return trouble, deadline
}

// startBound is how long a pod may be kept from starting while others wait. It is shorter where pods were given back
// for that before.
func (q *queueing) startBound() time.Duration {
	if givenBack := q.givenBack; givenBack != nil && givenBack.Reason == v1alpha1.GivenBackNotStarted {
		return restartBound
	}
	return startBound
}

// placelessUntil is when pods that aren't all placed are given back. Zero means never, as things are.
func (q *queueing) placelessUntil() time.Time {
	if q.attempt.hasBegun() || q.kueue.hasGatedPod() {
		return time.Time{}
	}
	waiting, placed := q.attempt.podsByPlacement()
	if len(waiting) == 0 || (len(placed) == 0 && !q.turn.Wanted) {
		return time.Time{}
	}
	var start time.Time
	for _, p := range waiting {
		start = latest(start, p.CreationTimestamp.Time)
	}
	if admittedAt := q.kueue.admittedAt(); admittedAt != nil {
		start = latest(start, admittedAt.Time) // until then Kueue held them back, and no scheduler looked
	}
	return start.Add(q.placeBound())
}

// placeBound is how long pods may be without nodes while others of the test have theirs. It is longer where a node may
// have to be made for them.
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

// schedulersReason is what the scheduler says of the first of these pods that it speaks of. Empty means nothing.
func schedulersReason(pods []*corev1.Pod) string {
	for _, p := range pods {
		if c, nodeless := unschedulable(p); nodeless && c.Message != "" {
			return " (" + schedulersWords(c.Message) + ")"
		}
	}
	return ""
}

// gated is the rule for pods that Kueue hasn't admitted yet. That may take days, and no deadline counts.
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
			"(manageJobsWithoutQueueName), and lets none of them go: create the test with the label %s and a "+
			"LocalQueue of "+
			"namespace %s: %s",
			v1alpha1.LabelKueueQueue, q.test.Namespace, listed(waiting))
	} else if !managed {
		message += "; Kueue doesn't look after these pods: turn its integration for pods on, also for this namespace " +
			"(kubectl linerate doctor), or create the test without the label " + v1alpha1.LabelKueueQueue
	}
	s := q.deadlines.wait(v1alpha1.ReasonQueued, message)
	s.activity, s.brief = "Queued", strings.TrimSpace("in Kueue's queue "+q.kueue.queueName())
	return s
}

// unscheduled is the rule for pods that wait for a node.
func (q *queueing) unscheduled() *step {
	var waiting, refused []string
	var placeless []*corev1.Pod
	var reason string
	for _, p := range q.attempt.measuringPods() {
		if p.Spec.NodeName != "" {
			continue
		}
		waiting = append(waiting, p.Name)
		if c, nodeless := unschedulable(p); nodeless {
			refused, reason = append(refused, p.Name), cmp.Or(reason, schedulersWords(c.Message))
			placeless = append(placeless, p)
		}
	}
	switch {
	case len(waiting) == 0:
		return nil
	case len(refused) == 0:
		s := q.deadlines.wait(v1alpha1.ReasonPending, "the scheduler hasn't placed yet: "+listed(waiting))
		s.activity = "Placing"
		return s.waitUntil(q.givesBackAt())
	}
	if awaited := q.awaitedNode(placeless); awaited != "" {
		s := q.deadlines.wait(v1alpha1.ReasonUnschedulable, awaited)
		s.awaitsNode = true
		return s.waitUntil(q.givesBackAt()).waitUntil(q.deadlines.nodeAwaitedUntil())
	}
	return q.deadlines.wait(v1alpha1.ReasonUnschedulable, wording.JoinNonEmpty(": ", unplacedWords(refused), reason)+
		": it goes on by itself when there is room; other tests and pods hold devices too (kubectl describe node "+
		"shows "+
		"them)").waitUntil(q.givesBackAt())
}

// awaitedNode says which node the first of these pods waits for because the spec names it, why the pod can't have that
// node, and the way out. It is empty where the scheduler may choose.
func (q *queueing) awaitedNode(pods []*corev1.Pod) string {
	for _, p := range pods {
		name := manifests.NodeOf(q.test, q.attempt.number, p)
		if name == "" {
			continue
		}
		state, remedy := q.nodes.whyUnavailable(name)
		if c, _ := unschedulable(p); state == "" {
			state = wording.JoinNonEmpty(": ", "which doesn't take it", schedulersWords(c.Message))
			remedy = "free its CPUs, memory and devices (kubectl describe node " + name + ")"
		}
		alternative := "create the LoadTest with another node"
		if suite := q.test.Labels[v1alpha1.LabelSuite]; suite != "" {
			name += " (the first run of suite " + suite + " was there)"
			alternative = "create the suite with placement.sameNodes: false"
		}
		return fmt.Sprintf("pod %s waits for node %s, %s: %s, or %s; the test goes on by itself within %s", p.Name,
			name, state, remedy, alternative, cmp.Or(string(q.test.Spec.SchedulingDeadline), wording.Span(nodeBound)))
	}
	return ""
}

// unschedulable says whether the scheduler finds no node for a pod, and why. A pod whose scheduling gates were
// just removed still has the condition of a gated pod, and isn't nodeless, since the scheduler hasn't tried it
// yet.
func unschedulable(p *corev1.Pod) (corev1.PodCondition, bool) {
	c := condition(p, corev1.PodScheduled)
	freed := c.Reason == corev1.PodReasonSchedulingGated && len(p.Spec.SchedulingGates) == 0
	return c, c.Status == corev1.ConditionFalse && !freed
}

// unplacedWords says which pods find no node.
func unplacedWords(pods []string) string {
	if len(pods) == 1 {
		return fmt.Sprintf("pod %s finds no node", pods[0])
	}
	return fmt.Sprintf("pods %s and %d more find no node", pods[0], len(pods)-1)
}

// unscheduledWords is what the scheduler says of a pod that it can't place. Empty means nothing.
func unscheduledWords(p *corev1.Pod) string {
	c, nodeless := unschedulable(p)
	if p.Spec.NodeName != "" || !nodeless {
		return ""
	}
	return wording.JoinNonEmpty(": ", unplacedWords([]string{p.Name}), schedulersWords(c.Message))
}

// schedulersWords are why no node fits, without the scheduler's remarks on preemption, claims and the like,
// which no author of a test can act on.
func schedulersWords(message string) string {
	reason, rest, found := strings.Cut(message, ". ")
	if found && (strings.HasPrefix(rest, "no new claims") || strings.HasPrefix(rest, "preemption:")) {
		return reason
	}
	return strings.TrimSuffix(message, ".")
}
