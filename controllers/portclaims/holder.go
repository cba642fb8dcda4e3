package portclaims

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

// observeOther observes the holder of a port that isn't this test itself. If the holder is an earlier test of
// the same name, it also deletes that test's remaining generators. ReleaseOf does that only for names that no
// test has.
func (l *Leases) observeOther(ctx context.Context, test *v1alpha1.LoadTest, claim *lifecycle.PortClaim) error {
	if err := l.observeHolder(ctx, claim); err != nil {
		return err
	}
	if nameOf(claim.Holder) == client.ObjectKeyFromObject(test) && !claim.Exists && claim.Pods > 0 {
		return l.endOrphans(ctx, claim)
	}
	return nil
}

// observeHolder finds out whether a claim's test exists, is complete, and could still send. A test that can't be
// observed, as in a namespace that this operator no longer watches, counts as existing.
func (l *Leases) observeHolder(ctx context.Context, claim *lifecycle.PortClaim) error {
	claim.Exists = true
	if claim.Unseen = !l.options.Namespaces.Contains(claim.Holder.Namespace); claim.Unseen {
		return nil
	}
	holder := &v1alpha1.LoadTest{}
	err := l.client.Get(ctx, types.NamespacedName{Namespace: claim.Holder.Namespace, Name: claim.Holder.Name}, holder)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("look at LoadTest %s, which holds %s: %w", claim.Holder, claim.Port, err)
	}
	claim.Exists = err == nil && holder.UID == claim.Holder.UID
	if complete := meta.FindStatusCondition(holder.Status.Conditions, v1alpha1.ConditionComplete); claim.Exists &&
		complete != nil && complete.Status == metav1.ConditionTrue {
		claim.Finished = complete.LastTransitionTime.Time
	}
	if claim.Exists && claim.Finished.IsZero() {
		return nil // an ongoing test claims its ports, whatever its pods do
	}
	senders, err := l.activeSenders(ctx, claim)
	claim.Pods = len(senders)
	return err
}

// activeSenders are the holder's generators that could still send. They are the pods that its Lease names, by
// their UIDs.
func (l *Leases) activeSenders(ctx context.Context, claim *lifecycle.PortClaim) (active []corev1.Pod, err error) {
	for _, sender := range claim.Senders {
		pod, err := l.sender(ctx, claim.Holder.Namespace, sender)
		if err != nil {
			return nil, fmt.Errorf("look at pod %s of %s: %w", sender.Name, claim.Holder, err)
		}
		if pod != nil && lifecycle.MaySend(pod, l.options.Clock()) {
			active = append(active, *pod)
		}
	}
	return active, nil
}

// sender reads a pod by its UID, past the cache, since a pod that lost its labels is in no cache, and may still
// send. It is nil if the pod is gone.
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
