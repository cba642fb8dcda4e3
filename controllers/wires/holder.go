package wires

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

// observeOther observes the holder of a wire that isn't this test itself. If the holder is an earlier test of
// the same name, it also deletes that test's remaining generators. GiveBackOf does that only for names that no
// test has.
func (l *Leases) observeOther(ctx context.Context, test *v1alpha1.LoadTest, hold *lifecycle.PortClaim) error {
	if err := l.observeHolder(ctx, hold); err != nil {
		return err
	}
	if nameOf(hold.Holder) == client.ObjectKeyFromObject(test) && !hold.Exists && hold.Pods > 0 {
		return l.endOrphans(ctx, hold)
	}
	return nil
}

// observeHolder finds out whether a hold's test exists, is complete, and could still send. A test that can't be
// observed, as in a namespace that this operator no longer watches, counts as existing.
func (l *Leases) observeHolder(ctx context.Context, hold *lifecycle.PortClaim) error {
	hold.Exists = true
	if hold.Unseen = !l.options.Namespaces.Contains(hold.Holder.Namespace); hold.Unseen {
		return nil
	}
	holder := &v1alpha1.LoadTest{}
	err := l.client.Get(ctx, types.NamespacedName{Namespace: hold.Holder.Namespace, Name: hold.Holder.Name}, holder)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("look at LoadTest %s, which holds %s: %w", hold.Holder, hold.Port, err)
	}
	hold.Exists = err == nil && holder.UID == hold.Holder.UID
	if complete := meta.FindStatusCondition(holder.Status.Conditions, v1alpha1.ConditionComplete); hold.Exists &&
		complete != nil && complete.Status == metav1.ConditionTrue {
		hold.Finished = complete.LastTransitionTime.Time
	}
	if hold.Exists && hold.Finished.IsZero() {
		return nil // an ongoing test holds its wires, whatever its pods do
	}
	senders, err := l.activeSenders(ctx, hold)
	hold.Pods = len(senders)
	return err
}

// activeSenders are the holder's generators that could still send. They are the pods that its Lease names, by
// their UIDs.
func (l *Leases) activeSenders(ctx context.Context, hold *lifecycle.PortClaim) (activeSenders []corev1.Pod, err error) {
	for _, sender := range hold.Senders {
		pod, err := l.sender(ctx, hold.Holder.Namespace, sender)
		if err != nil {
			return nil, fmt.Errorf("look at pod %s of %s: %w", sender.Name, hold.Holder, err)
		}
		if pod != nil && lifecycle.MaySend(pod, l.options.Clock()) {
			activeSenders = append(activeSenders, *pod)
		}
	}
	return activeSenders, nil
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
