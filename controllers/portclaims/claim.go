package portclaims

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

// errPortClaimed isn't a fault. Another test was quicker, or the cache doesn't show yet which test holds a port.
var errPortClaimed = pass.Wait("a physical port was taken by another test just now", time.Second)

// Claim claims ports, in their order. It claims all of them, or none.
func (l *Leases) Claim(ctx context.Context, requests []lifecycle.PortRequest) error {
	var claimed []*coordinationv1.Lease
	for _, request := range requests {
		lease, err := l.claimOne(ctx, request)
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

// claimOne claims a port. An existing Lease of this very attempt is no error, since the cache doesn't show it
// yet.
func (l *Leases) claimOne(ctx context.Context, request lifecycle.PortRequest) (*coordinationv1.Lease, error) {
	if l.options.Namespace == "" {
		return nil, errors.New("the operator doesn't know which namespace its Leases are kept in")
	}
	log := ctrl.LoggerFrom(ctx).WithValues("node", request.Port.Node, "port", request.Port.Name)
	if request.Replaces != nil {
		log.Info("taking a physical port over", "from", request.Replaces.Holder.String())
		if err := l.Release(ctx, *request.Replaces); err != nil {
			return nil, err
		}
	}
	lease := leaseOf(l.options.Namespace, request, l.options.Clock())
	err := l.client.Create(ctx, lease)
	switch {
	case apierrors.IsAlreadyExists(err):
		return l.ownLease(ctx, request)
	case err != nil:
		return nil, fmt.Errorf("claim %s by Lease %s/%s: %w", request.Port, lease.Namespace, lease.Name, err)
	}
	log.Info("took a physical port", "lease", lease.Name)
	return lease, nil
}

func (l *Leases) ownLease(ctx context.Context, request lifecycle.PortRequest) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	if err := l.live.Get(ctx, client.ObjectKey{Namespace: l.options.Namespace, Name: leaseName(request.Port)},
		lease); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("look whose %s is: %w", request.Port, err)
	}
	holder, ok := holderOf(lease)
	if !ok || holder.UID != request.Holder.UID || holder.Attempt != request.Holder.Attempt {
		return nil, errPortClaimed
	}
	return lease, nil
}

// Release releases a claim, unless another test has the port by now.
func (l *Leases) Release(ctx context.Context, claim lifecycle.PortClaim) error {
	namespace, name, _ := strings.Cut(claim.Lease, "/")
	ctrl.LoggerFrom(ctx).Info("giving a physical port back", "node", claim.Port.Node, "port", claim.Port.Name, "of",
		claim.Holder.String())
	return l.deleteLease(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
		UID: claim.UID}})
}

func (l *Leases) deleteLease(ctx context.Context, lease *coordinationv1.Lease) error {
	uid := lease.UID
	if err := pass.IgnoreGone(l.client.Delete(ctx, lease, client.Preconditions{UID: &uid})); err != nil {
		return fmt.Errorf("delete Lease %s/%s: %w", lease.Namespace, lease.Name, err)
	}
	return nil
}

// retryInterval is how often the operator checks whether generators of a deleted test have ended. For all but pods
// that lost their labels, a watch is quicker.
const retryInterval = 10 * time.Second

// ReleaseOf deletes the remaining Leases of a deleted test, as soon as none of its generators can still send.
// Garbage collection deletes Leases with their owner. ReleaseOf deletes those whose owner reference was
// removed.
func (l *Leases) ReleaseOf(ctx context.Context, test types.NamespacedName) error {
	claims, err := l.claimsOf(ctx, test)
	if err != nil {
		return err
	}
	waits := false
	for _, claim := range claims {
		if err := l.observeHolder(ctx, &claim); err != nil {
			return err
		}
		switch {
		case claim.Exists:
			continue
		case claim.Pods == 0:
			err = l.Release(ctx, claim)
		default:
			waits = true
			err = l.endOrphans(ctx, &claim)
		}
		if err != nil {
			return err
		}
	}
	if waits {
		return pass.Wait("generators of a test that is gone have physical ports, and haven't ended", retryInterval)
	}
	return nil
}

// endOrphans deletes generators of a deleted test whose owner reference was removed.
func (l *Leases) endOrphans(ctx context.Context, claim *lifecycle.PortClaim) error {
	pods, err := l.activeSenders(ctx, claim)
	if err != nil {
		return err
	}
	for i := range pods {
		pod := &pods[i]
		if owner := metav1.GetControllerOf(pod); pod.DeletionTimestamp != nil || owner != nil &&
			owner.UID == claim.Holder.UID {
			continue // garbage collection deletes it
		}
		ctrl.LoggerFrom(ctx).Info("deleting a generator that a test left which is gone", "pod", pod.Name, "node",
			claim.Port.Node, "port", claim.Port.Name)
		uid := pod.UID
		if err := pass.IgnoreGone(l.client.Delete(ctx, pod, client.Preconditions{UID: &uid})); err != nil {
			return fmt.Errorf("delete pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return nil
}
