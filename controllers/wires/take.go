package wires

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

// errWireTaken isn't a fault. Another test was quicker, or the cache doesn't show yet which test holds a wire.
var errWireTaken = pass.Wait("a physical port was taken by another test just now", time.Second)

// Take claims wires, in their order. It claims all of them, or none.
func (l *Leases) Take(ctx context.Context, takes []lifecycle.PortRequest) error {
	var claimed []*coordinationv1.Lease
	for _, take := range takes {
		lease, err := l.takeOne(ctx, take)
		if err == nil {
			claimed = append(claimed, lease)
			continue
		}
		for _, lease := range slices.Backward(claimed) {
			err = errors.Join(err, l.deleteLease(ctx, lease))
		}
		return err
	}
	return nil
}

// takeOne claims a wire. An existing Lease of this very attempt is no error, since the cache doesn't show it
// yet.
func (l *Leases) takeOne(ctx context.Context, take lifecycle.PortRequest) (*coordinationv1.Lease, error) {
	if l.options.Namespace == "" {
		return nil, errors.New("the operator doesn't know which namespace its Leases are kept in")
	}
	log := ctrl.LoggerFrom(ctx).WithValues("node", take.Port.Node, "port", take.Port.Name)
	if take.Replaces != nil {
		log.Info("taking a physical port over", "from", take.Replaces.Holder.String())
		if err := l.GiveBack(ctx, *take.Replaces); err != nil {
			return nil, err
		}
	}
	lease := leaseOf(l.options.Namespace, take, l.options.Clock())
	err := l.client.Create(ctx, lease)
	switch {
	case apierrors.IsAlreadyExists(err):
		return l.ownLease(ctx, take)
	case err != nil:
		return nil, fmt.Errorf("take %s by Lease %s/%s: %w", take.Port, lease.Namespace, lease.Name, err)
	}
	log.Info("took a physical port", "lease", lease.Name)
	return lease, nil
}

func (l *Leases) ownLease(ctx context.Context, take lifecycle.PortRequest) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	if err := l.live.Get(ctx, client.ObjectKey{Namespace: l.options.Namespace, Name: leaseName(take.Port)},
		lease); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("look whose %s is: %w", take.Port, err)
	}
	if holder, ok := holderOf(lease); !ok || holder.UID != take.Holder.UID || holder.Attempt != take.Holder.Attempt {
		return nil, errWireTaken
	}
	return lease, nil
}

// GiveBack releases a hold, unless another test has the wire by now.
func (l *Leases) GiveBack(ctx context.Context, hold lifecycle.PortClaim) error {
	namespace, name, _ := strings.Cut(hold.Lease, "/")
	ctrl.LoggerFrom(ctx).Info("giving a physical port back", "node", hold.Port.Node, "port", hold.Port.Name, "of",
		hold.Holder.String())
	return l.deleteLease(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
		UID: hold.UID}})
}

func (l *Leases) deleteLease(ctx context.Context, lease *coordinationv1.Lease) error {
	uid := lease.UID
	if err := pass.IgnoreGone(l.client.Delete(ctx, lease, client.Preconditions{UID: &uid})); err != nil {
		return fmt.Errorf("delete Lease %s/%s: %w", lease.Namespace, lease.Name, err)
	}
	return nil
}

// lookAgain is how often the operator checks whether generators of a deleted test have ended. For all but pods
// that lost their labels, a watch is quicker.
const lookAgain = 10 * time.Second

// GiveBackOf deletes the remaining Leases of a deleted test, as soon as none of its generators can still send.
// Garbage collection deletes Leases with their owner. GiveBackOf deletes those whose owner reference was
// removed.
func (l *Leases) GiveBackOf(ctx context.Context, test types.NamespacedName) error {
	holds, err := l.holdsOf(ctx, test)
	if err != nil {
		return err
	}
	waits := false
	for _, hold := range holds {
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

// endOrphans deletes generators of a deleted test whose owner reference was removed.
func (l *Leases) endOrphans(ctx context.Context, hold *lifecycle.PortClaim) error {
	pods, err := l.activeSenders(ctx, hold)
	if err != nil {
		return err
	}
	for i := range pods {
		pod := &pods[i]
		if owner := metav1.GetControllerOf(pod); pod.DeletionTimestamp != nil || owner != nil &&
			owner.UID == hold.Holder.UID {
			continue // garbage collection deletes it
		}
		ctrl.LoggerFrom(ctx).Info("deleting a generator that a test left which is gone", "pod", pod.Name, "node",
			hold.Port.Node, "port", hold.Port.Name)
		uid := pod.UID
		if err := pass.IgnoreGone(l.client.Delete(ctx, pod, client.Preconditions{UID: &uid})); err != nil {
			return fmt.Errorf("delete pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return nil
}
