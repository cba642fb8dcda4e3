package pass

import (
	"sync"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

type (
	request = reconcile.Request
	limiter = workqueue.TypedRateLimiter[request]
	passes  = workqueue.TypedRateLimitingInterface[request]
)

// newQueue makes a controller's queue of passes, in which namespaces take turns, and no namespace has more than half of
// the workers.
func newQueue(workers int) func(string, limiter) passes {
	return func(controller string, retries limiter) passes {
		fair := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[request]{Name: controller,
			Queue: &turns{due: map[string][]request{}}})
		delaying := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[request]{
			Name: controller, Queue: fair})
		limited := workqueue.NewTypedRateLimitingQueueWithConfig(retries,
			workqueue.TypedRateLimitingQueueConfig[request]{Name: controller, DelayingQueue: delaying})
		return &halves{passes: limited, maxPasses: max(1, workers/2), busy: map[string]int{},
			parked: map[string][]request{}}
	}
}

// halves is a queue that gives no namespace more than half of the workers. Another namespace's pass then finds
// a worker at once, however long the first one's passes take. A pass beyond that is parked until one of its
// namespace ends.
type halves struct {
	passes
	// maxPasses is how many passes of a namespace are under way at most.
	maxPasses int

	mu sync.Mutex
	// busy is how many passes of a namespace are under way. parked are those that were due and found no worker,
	// the oldest first.
	busy   map[string]int
	parked map[string][]request
}

// Get waits for a pass whose namespace may have a worker.
func (h *halves) Get() (request, bool) {
	for {
		next, ends := h.passes.Get()
		if ends || h.begin(next) {
			return next, ends
		}
	}
}

// begin says that a pass may begin. Otherwise it parks the pass.
func (h *halves) begin(r request) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.busy[r.Namespace] >= h.maxPasses {
		h.parked[r.Namespace] = append(h.parked[r.Namespace], r)
		return false
	}
	h.busy[r.Namespace]++
	return true
}

// Done ends a pass, and has the oldest parked pass of its namespace due again.
func (h *halves) Done(r request) {
	h.passes.Done(r)
	if next, ok := h.end(r.Namespace); ok {
		h.Add(next)
		h.passes.Done(next)
	}
}

func (h *halves) end(namespace string) (next request, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.busy[namespace]--; h.busy[namespace] == 0 {
		delete(h.busy, namespace)
	}
	parked := h.parked[namespace]
	if len(parked) == 0 {
		return next, false
	}
	next = parked[0]
	if parked[0] = (request{}); len(parked) > 1 {
		h.parked[namespace] = parked[1:]
	} else {
		delete(h.parked, namespace)
	}
	return next, true
}

// turns has the passes that are due. Namespaces take turns, each with its oldest due pass. A namespace with
// thousands of objects then keeps another namespace waiting for one pass.
//
//	due     a1 a2 a3 a4 b1 a5 c1
//	passes  a1 b1 c1 a2 a3 a4 a5
//
// Its user, a workqueue, guards it.
type turns struct {
	// namespaces are those with passes that are due, in the order of their turns.
	namespaces []string
	due        map[string][]request
	len        int
}

// Touch does nothing, since a pass that is due already keeps its place.
func (*turns) Touch(request) {}

// Push adds a pass, behind those of its namespace.
func (t *turns) Push(r request) {
	if len(t.due[r.Namespace]) == 0 {
		t.namespaces = append(t.namespaces, r.Namespace)
	}
	t.due[r.Namespace] = append(t.due[r.Namespace], r)
	t.len++
}

// Len is how many passes are due.
func (t *turns) Len() int { return t.len }

// Pop removes the next pass. The queue must not be empty.
func (t *turns) Pop() request {
	namespace := t.namespaces[0]
	t.namespaces = t.namespaces[1:]
	due := t.due[namespace]
	next := due[0]
	due[0] = request{}
	if due = due[1:]; len(due) > 0 {
		t.due[namespace] = due
		t.namespaces = append(t.namespaces, namespace)
	} else {
		delete(t.due, namespace)
	}
	t.len--
	return next
}
