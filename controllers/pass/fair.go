package pass

import (
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// newQueue makes a controller's queue of passes, in which namespaces take turns.
func newQueue(controller string, retries workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	type request = reconcile.Request
	fair := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[request]{Name: controller, Queue: &turns{of: map[string][]request{}}})
	delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[request]{Name: controller, Queue: fair})
	return workqueue.NewTypedRateLimitingQueueWithConfig(retries, workqueue.TypedRateLimitingQueueConfig[request]{Name: controller, DelayingQueue: delaying})
}

// turns has the passes that are due. Namespaces take turns, each with its pass that is due for longest. A namespace with thousands of objects keeps another namespace waiting for one pass.
//
//	due     a1 a2 a3 a4 b1 a5 c1
//	passes  a1 b1 c1 a2 a3 a4 a5
//
// Its user, a workqueue, guards it.
type turns struct {
	// namespaces are those with passes that are due, in the order of their turns.
	namespaces []string
	of         map[string][]reconcile.Request
	len        int
}

// Touch does nothing: what is due already keeps its place.
func (*turns) Touch(reconcile.Request) {}

// Push adds a pass, behind those of its namespace.
func (t *turns) Push(r reconcile.Request) {
	if len(t.of[r.Namespace]) == 0 {
		t.namespaces = append(t.namespaces, r.Namespace)
	}
	t.of[r.Namespace] = append(t.of[r.Namespace], r)
	t.len++
}

// Len is how many passes are due.
func (t *turns) Len() int { return t.len }

// Pop removes the next pass; there is one.
func (t *turns) Pop() reconcile.Request {
	namespace := t.namespaces[0]
	t.namespaces = t.namespaces[1:]
	due := t.of[namespace]
	next := due[0]
	due[0] = reconcile.Request{}
	if due = due[1:]; len(due) > 0 {
		t.of[namespace] = due
		t.namespaces = append(t.namespaces, namespace)
	} else {
		delete(t.of, namespace)
	}
	t.len--
	return next
}
