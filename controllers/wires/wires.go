// Package wires records which test has which physical port: each port that a test holds has a Lease.
package wires

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/lifecycle"
)

// Each wire that a test holds has a Lease, in one namespace for all operators of the cluster. Names are unique, so no second test can claim the wire, even across a restart
// of the operator. The Lease isn't renewed: the operator observes the holder itself to see whether it still needs the wire.
const wirePrefix = "linerate-wire-"

// errWireTaken isn't a fault: another test was quicker, or the cache doesn't show yet who holds a wire.
var errWireTaken = pass.Wait("a physical port was taken by another test just now", time.Second)

// Leases are the Leases of wires. Their client need not have a cache; Watch gives them caches. They are safe for concurrent use once they are set
// up.
type Leases struct {
	options Options
	// client writes, and reads through the cache where there is one; live reads past it, leases reads Leases.
	client       client.Client
	live, leases client.Reader
	// ofTest lists objects with a test's label; waiting lists the tests that wait for something, and possibly others.
	ofTest  func(test types.UID) client.ListOption
	waiting func() []client.ListOption
	// ofHolder lists the Leases of tests of a name, and possibly others.
	ofHolder func(holder types.NamespacedName) []client.ListOption
}

// Options are what the operator was started with.
type Options struct {
	// Namespace is where the Leases are kept: the operator's own, or one that it shares with the cluster's other operators. Empty: no test can take any wire.
	Namespace string
	// Namespaces are those whose LoadTests the operator reconciles.
	Namespaces caches.Namespaces
	Clock      func() time.Time
}

// New makes Leases that are read and written through one client; ofTest lists objects with a test's label.
func New(c client.Client, ofTest func(test types.UID) client.ListOption, options Options) *Leases {
	return &Leases{
		options: options, client: c, live: c, leases: c, ofTest: ofTest, waiting: func() []client.ListOption { return nil },
		ofHolder: func(types.NamespacedName) []client.ListOption { return nil },
	}
}

// leaseName is the name of a wire's Lease, whichever test claims it.
func leaseName(w lifecycle.Wire) string {
	sum := sha256.Sum256([]byte(w.Node + "\n" + w.Port))
	return fmt.Sprintf("%s%x", wirePrefix, sum[:10])
}

// leaseOf is the Lease by which a test claims a wire.
func leaseOf(namespace string, take lifecycle.Take, now time.Time) *coordinationv1.Lease {
	h := take.Holder
	annotations := map[string]string{v1alpha1.AnnotationWireNode: take.Wire.Node, v1alpha1.AnnotationWirePort: take.Wire.Port}
	if len(take.Senders) > 0 {
		annotations[v1alpha1.AnnotationWirePods] = writeSenders(take.Senders)
	}
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: leaseName(take.Wire),
			Labels:      map[string]string{"app.kubernetes.io/managed-by": "linerate", v1alpha1.LabelWire: "true"},
			Annotations: annotations,
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new(strings.Join([]string{h.Namespace, h.Name, string(h.UID), strconv.Itoa(int(h.Attempt))}, "/")),
			AcquireTime:    &metav1.MicroTime{Time: now},
		},
	}
}

// writeSenders and readSenders convert a holder's generators to and from a Lease's annotation: NAME/UID, separated by commas.
func writeSenders(senders []lifecycle.Sender) string {
	named := make([]string, 0, len(senders))
	for _, s := range senders {
		named = append(named, s.Name+"/"+string(s.UID))
	}
	return strings.Join(named, ",")
}

func readSenders(text string) (senders []lifecycle.Sender) {
	for named := range strings.SplitSeq(text, ",") {
		if name, uid, ok := strings.Cut(named, "/"); ok {
			senders = append(senders, lifecycle.Sender{Name: name, UID: types.UID(uid)})
		}
	}
	return senders
}

// holderOf reads who holds a Lease; false: it isn't one of ours, or can't be read.
func holderOf(lease *coordinationv1.Lease) (h lifecycle.Holder, ok bool) {
	if lease.Spec.HolderIdentity == nil {
		return h, false
	}
	parts := strings.Split(*lease.Spec.HolderIdentity, "/")
	if len(parts) != 4 {
		return h, false
	}
	attempt, err := strconv.ParseInt(parts[3], 10, 32)
	return lifecycle.Holder{Namespace: parts[0], Name: parts[1], UID: types.UID(parts[2]), Attempt: int32(attempt)}, err == nil
}

// list lists holds, without observing their holders.
func (l *Leases) list(ctx context.Context, options ...client.ListOption) (holds []lifecycle.Hold, err error) {
	if l.options.Namespace == "" {
		return nil, nil
	}
	var leases coordinationv1.LeaseList
	options = append([]client.ListOption{client.InNamespace(l.options.Namespace), client.HasLabels{v1alpha1.LabelWire}, client.UnsafeDisableDeepCopy}, options...)
	if err := l.leases.List(ctx, &leases, options...); err != nil {
		return nil, fmt.Errorf("list the Leases of physical ports: %w", err)
	}
	for i := range leases.Items {
		if hold, ok := holdOf(ctx, &leases.Items[i]); ok {
			holds = append(holds, hold)
		}
	}
	return holds, nil
}

// holdOf reads a Lease; false: it isn't one of ours, or can't be read.
func holdOf(ctx context.Context, lease *coordinationv1.Lease) (hold lifecycle.Hold, ok bool) {
	holder, ok := holderOf(lease)
	if !ok {
		ctrl.LoggerFrom(ctx).Info("a Lease of a physical port has no holder that can be read, and is let be", "lease", lease.Name)
		return hold, false
	}
	return lifecycle.Hold{
		Wire:   lifecycle.Wire{Node: lease.Annotations[v1alpha1.AnnotationWireNode], Port: lease.Annotations[v1alpha1.AnnotationWirePort]},
		Holder: holder, Lease: lease.Namespace + "/" + lease.Name, UID: lease.UID, Senders: readSenders(lease.Annotations[v1alpha1.AnnotationWirePods]),
	}, true
}

// of are the holds of the test of this name, and of earlier tests of the same name.
func (l *Leases) of(ctx context.Context, holder types.NamespacedName) ([]lifecycle.Hold, error) {
	holds, err := l.list(ctx, l.ofHolder(holder)...)
	return slices.DeleteFunc(holds, func(h lifecycle.Hold) bool { return nameOf(h.Holder) != holder }), err
}

func nameOf(h lifecycle.Holder) types.NamespacedName {
	return types.NamespacedName{Namespace: h.Namespace, Name: h.Name}
}

// whose is the hold on a physical port; false: no test holds it.
func (l *Leases) whose(ctx context.Context, wire lifecycle.Wire) (hold lifecycle.Hold, held bool, err error) {
	if l.options.Namespace == "" {
		return hold, false, nil
	}
	lease := &coordinationv1.Lease{}
	if err := l.leases.Get(ctx, client.ObjectKey{Namespace: l.options.Namespace, Name: leaseName(wire)}, lease); err != nil {
		return hold, false, client.IgnoreNotFound(err)
	}
	hold, held = holdOf(ctx, lease)
	return hold, held, nil
}

// Of observes the wires that concern a test: those that it holds, those of its pods, and those that it waits for. It also deletes orphaned generators that an
// earlier test of the same name left.
func (l *Leases) Of(ctx context.Context, test *v1alpha1.LoadTest, pods []corev1.Pod) (seen lifecycle.Wires, err error) {
	if seen.Holds, err = l.of(ctx, client.ObjectKeyFromObject(test)); err != nil {
		return seen, err
	}
	concerned := lifecycle.WiresOf(test.Status.Pods)
	if test.Status.StartedAt == nil {
		concerned = lifecycle.WiresOf(lifecycle.PodStatuses(pods))
		if len(concerned) > 0 {
			if seen.Ahead, err = l.ahead(ctx, test); err != nil {
				return seen, err
			}
		}
	}
	for _, port := range test.Status.AwaitedPorts {
		concerned = append(concerned, lifecycle.Wire{Node: port.Node, Port: port.Port})
	}
	for _, waiter := range seen.Ahead {
		concerned = append(concerned, waiter.Wires...)
	}
	for _, wire := range concerned {
		if slices.ContainsFunc(seen.Holds, func(h lifecycle.Hold) bool { return h.Wire == wire }) {
			continue
		}
		hold, held, err := l.whose(ctx, wire)
		if err != nil {
			return seen, fmt.Errorf("look whose %s is: %w", wire, err)
		}
		if held {
			seen.Holds = append(seen.Holds, hold)
		}
	}
	for i := range seen.Holds {
		if hold := &seen.Holds[i]; hold.Holder.UID != test.UID {
			if err := l.observeOther(ctx, test, hold); err != nil {
				return seen, err
			}
		}
	}
	return seen, nil
}

// observeOther observes the holder of a wire that isn't this test itself. If the holder is an earlier test of the same name, it also deletes the generators that this one left:
// GiveBackOf does that only for names that no test has.
func (l *Leases) observeOther(ctx context.Context, test *v1alpha1.LoadTest, hold *lifecycle.Hold) error {
	if err := l.observeHolder(ctx, hold); err != nil {
		return err
	}
	if nameOf(hold.Holder) == client.ObjectKeyFromObject(test) && !hold.Exists && hold.Pods > 0 {
		return l.endOrphans(ctx, hold)
	}
	return nil
}

// observeHolder finds out whether a hold's test exists, is complete, and could still send. A test that can't be observed, as in a namespace that this
// operator no longer watches, counts as existing.
func (l *Leases) observeHolder(ctx context.Context, hold *lifecycle.Hold) error {
	hold.Exists = true
	if hold.Unseen = !l.options.Namespaces.Has(hold.Holder.Namespace); hold.Unseen {
		return nil
	}
	holder := &v1alpha1.LoadTest{}
	err := l.client.Get(ctx, types.NamespacedName{Namespace: hold.Holder.Namespace, Name: hold.Holder.Name}, holder)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("look at LoadTest %s, which holds %s: %w", hold.Holder, hold.Wire, err)
	}
	hold.Exists = err == nil && holder.UID == hold.Holder.UID
	if done := meta.FindStatusCondition(holder.Status.Conditions, v1alpha1.ConditionComplete); hold.Exists && done != nil && done.Status == metav1.ConditionTrue {
		hold.Finished = done.LastTransitionTime.Time
	}
	if hold.Exists && hold.Finished.IsZero() {
		return nil // an ongoing test holds its wires, whatever its pods do
	}
	left, err := l.left(ctx, hold)
	hold.Pods = len(left)
	return err
}

// left are the holder's generators that could still send: the pods that its Lease names, by their UIDs. An earlier release's Lease names none: then
// they are the pods that the holder controls.
func (l *Leases) left(ctx context.Context, hold *lifecycle.Hold) (left []corev1.Pod, err error) {
	if len(hold.Senders) == 0 {
		var pods corev1.PodList
		if err := l.client.List(ctx, &pods, client.InNamespace(hold.Holder.Namespace), l.ofTest(hold.Holder.UID)); err != nil {
			return nil, fmt.Errorf("list the pods of %s: %w", hold.Holder, err)
		}
		return lifecycle.Sending(pods.Items, hold.Holder.UID, l.options.Clock()), nil
	}
	for _, sender := range hold.Senders {
		pod, err := l.sender(ctx, hold.Holder.Namespace, sender)
		if err != nil {
			return nil, fmt.Errorf("look at pod %s of %s: %w", sender.Name, hold.Holder, err)
		}
		if pod != nil && lifecycle.MaySend(pod, l.options.Clock()) {
			left = append(left, *pod)
		}
	}
	return left, nil
}

// sender reads a pod by its UID, past the cache: a pod that lost its labels is in no cache, and may still send. Nil: it is gone.
func (l *Leases) sender(ctx context.Context, namespace string, sender lifecycle.Sender) (*corev1.Pod, error) {
	for _, reader := range []client.Reader{l.client, l.live} {
		pod := &corev1.Pod{}
		err := reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: sender.Name}, pod)
		if client.IgnoreNotFound(err) != nil {
			return nil, err
		}
		if err == nil && pod.UID == sender.UID {
			return pod, nil
		}
	}
	return nil, nil
}

// ahead are the tests that wait for wires with their pods in place, and were created before this one.
func (l *Leases) ahead(ctx context.Context, test *v1alpha1.LoadTest) ([]lifecycle.Waiter, error) {
	var tests v1alpha1.LoadTestList
	if err := l.client.List(ctx, &tests, append(l.waiting(), client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("list the tests that wait: %w", err)
	}
	var out []lifecycle.Waiter
	for i := range tests.Items {
		other := &tests.Items[i]
		if !waitsForPort(other) || compareAge(other, test) >= 0 || other.DeletionTimestamp != nil {
			continue
		}
		if wires := lifecycle.WiresOf(other.Status.Pods); len(wires) > 0 {
			out = append(out, lifecycle.Waiter{Namespace: other.Namespace, Name: other.Name, Wires: wires})
		}
	}
	return out, nil
}

// compareAge puts the test that was created first before the other.
func compareAge(a, b *v1alpha1.LoadTest) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
}

// Take claims wires, in their order: all of them, or none.
func (l *Leases) Take(ctx context.Context, takes []lifecycle.Take) error {
	var taken []*coordinationv1.Lease
	for _, take := range takes {
		lease, err := l.takeOne(ctx, take)
		if err == nil {
			taken = append(taken, lease)
			continue
		}
		for _, lease := range slices.Backward(taken) {
			err = errors.Join(err, l.deleteLease(ctx, lease))
		}
		return err
	}
	return nil
}

// takeOne claims a wire. A Lease of this very attempt that exists already is no error: the cache doesn't show it yet.
func (l *Leases) takeOne(ctx context.Context, take lifecycle.Take) (*coordinationv1.Lease, error) {
	if l.options.Namespace == "" {
		return nil, errors.New("the operator doesn't know which namespace its Leases are kept in")
	}
	log := ctrl.LoggerFrom(ctx).WithValues("node", take.Wire.Node, "port", take.Wire.Port)
	if take.Over != nil {
		log.Info("taking a physical port over", "from", take.Over.Holder.String())
		if err := l.GiveBack(ctx, *take.Over); err != nil {
			return nil, err
		}
	}
	lease := leaseOf(l.options.Namespace, take, l.options.Clock())
	err := l.client.Create(ctx, lease)
	switch {
	case apierrors.IsAlreadyExists(err):
		return l.taken(ctx, take)
	case err != nil:
		return nil, fmt.Errorf("take %s by Lease %s/%s: %w", take.Wire, lease.Namespace, lease.Name, err)
	}
	log.Info("took a physical port", "lease", lease.Name)
	return lease, nil
}

func (l *Leases) taken(ctx context.Context, take lifecycle.Take) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	if err := l.live.Get(ctx, client.ObjectKey{Namespace: l.options.Namespace, Name: leaseName(take.Wire)}, lease); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("look whose %s is: %w", take.Wire, err)
	}
	if holder, ok := holderOf(lease); !ok || holder.UID != take.Holder.UID || holder.Attempt != take.Holder.Attempt {
		return nil, errWireTaken
	}
	return lease, nil
}

// GiveBack releases a hold, unless another test has the wire by now.
func (l *Leases) GiveBack(ctx context.Context, hold lifecycle.Hold) error {
	namespace, name, _ := strings.Cut(hold.Lease, "/")
	ctrl.LoggerFrom(ctx).Info("giving a physical port back", "node", hold.Wire.Node, "port", hold.Wire.Port, "of", hold.Holder.String())
	return l.deleteLease(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: hold.UID}})
}

func (l *Leases) deleteLease(ctx context.Context, lease *coordinationv1.Lease) error {
	uid := lease.UID
	if err := pass.IgnoreGone(l.client.Delete(ctx, lease, client.Preconditions{UID: &uid})); err != nil {
		return fmt.Errorf("delete Lease %s/%s: %w", lease.Namespace, lease.Name, err)
	}
	return nil
}

// lookAgain is how often the operator checks whether generators of a test that is gone have ended. For all but pods that lost their labels, a watch is quicker.
const lookAgain = 10 * time.Second

// GiveBackOf deletes the Leases that a deleted test left, as soon as none of its generators can still send. Garbage collection deletes Leases with their owner;
// those whose owner was taken away are deleted here, since nothing else would.
func (l *Leases) GiveBackOf(ctx context.Context, gone types.NamespacedName) error {
	left, err := l.of(ctx, gone)
	if err != nil {
		return err
	}
	waits := false
	for _, hold := range left {
		if err := l.observeHolder(ctx, &hold); err != nil {
			return err
		}
		switch {
		case hold.Exists:
			continue
		case hold.Pods == 0:
			err = l.GiveBack(ctx, hold)
		default:
			waits = true
			err = l.endOrphans(ctx, &hold)
		}
		if err != nil {
			return err
		}
	}
	if waits {
		return pass.Wait("generators of a test that is gone have physical ports, and haven't ended", lookAgain)
	}
	return nil
}

// endOrphans deletes generators of a test that is gone whose owner reference somebody removed.
func (l *Leases) endOrphans(ctx context.Context, hold *lifecycle.Hold) error {
	left, err := l.left(ctx, hold)
	if err != nil {
		return err
	}
	for i := range left {
		pod := &left[i]
		if owner := metav1.GetControllerOf(pod); pod.DeletionTimestamp != nil || owner != nil && owner.UID == hold.Holder.UID {
			continue // garbage collection takes it
		}
		ctrl.LoggerFrom(ctx).Info("deleting a generator that a test left which is gone", "pod", pod.Name, "node", hold.Wire.Node, "port", hold.Wire.Port)
		uid := pod.UID
		if err := pass.IgnoreGone(l.client.Delete(ctx, pod, client.Preconditions{UID: &uid})); err != nil {
			return fmt.Errorf("delete pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return nil
}
