package pass

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func requestOf(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

// Two thousand tests of one namespace are due, as after a restart. Another namespace's test waits for one of
// them.
func TestANamespaceWithThousandsOfPassesDueKeepsAnotherWaitingForOne(t *testing.T) {
	options := ControllerOptions(1, nil)
	queue := options.NewQueue("", options.RateLimiter)
	defer queue.ShutDown()
	for i := range 2000 {
		queue.Add(requestOf("hostile", fmt.Sprint(i)))
	}
	queue.Add(requestOf("lab", "innocent"))
	for earlierPasses := 0; ; earlierPasses++ {
		next, _ := queue.Get()
		queue.Done(next)
		if next == requestOf("lab", "innocent") {
			if earlierPasses > 1 {
				t.Errorf("%d passes of the other namespace came first", earlierPasses)
			}
			break
		}
		queue.Add(next) // it is due again at once
	}
	if n := queue.Len(); n < 1999 {
		t.Errorf("%d passes are left of 2000", n)
	}
}

func TestNamespacesTakeTurnsWithTheirOldestPasses(t *testing.T) {
	due := &turns{due: map[string][]reconcile.Request{}}
	for _, r := range []string{"a1", "a2", "a3", "a4", "b1", "a5", "c1"} {
		due.Push(requestOf(r[:1], r))
	}
	var order []string
	for due.Len() > 0 {
		order = append(order, due.Pop().Name)
	}
	if want := []string{"a1", "b1", "c1", "a2", "a3", "a4", "a5"}; !slices.Equal(order, want) {
		t.Errorf("the passes come in the order %v, want %v", order, want)
	}
	if len(due.due)+len(due.namespaces) > 0 {
		t.Errorf("%v is kept", due)
	}
}

// A namespace whose passes take very long has half of the workers. Another namespace's pass begins at once.
func TestPassesThatTakeLongLeaveWorkersToOtherNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers = 4
		options := ControllerOptions(workers, nil)
		queue := options.NewQueue("", options.RateLimiter)
		for i := range 100 {
			queue.Add(requestOf("hostile", fmt.Sprint(i)))
		}
		var mu sync.Mutex
		underWay, highest, handled, innocentAfter := map[string]int{}, map[string]int{}, map[string]int{},
			time.Duration(0)
		start := time.Now()
		var pool sync.WaitGroup
		for range workers {
			pool.Go(func() {
				for {
					next, ends := queue.Get()
					if ends {
						return
					}
					mu.Lock()
					underWay[next.Namespace]++
					highest[next.Namespace] = max(highest[next.Namespace], underWay[next.Namespace])
					if next.Namespace == "lab" {
						innocentAfter = time.Since(start)
					}
					mu.Unlock()
					time.Sleep(time.Minute)
					mu.Lock()
					underWay[next.Namespace]--
					handled[next.Namespace]++
					mu.Unlock()
					queue.Done(next)
				}
			})
		}
		time.Sleep(time.Second)
		queue.Add(requestOf("lab", "innocent"))
		time.Sleep(2 * time.Hour)
		queue.ShutDown()
		pool.Wait()
		if highest["hostile"] != workers/2 || innocentAfter != time.Second {
			t.Errorf("%d passes of the hostile namespace were under way, and the other's began after %s",
				highest["hostile"], innocentAfter)
		}
		if handled["hostile"] != 100 || handled["lab"] != 1 {
			t.Errorf("%v were handled, want 100 and 1", handled)
		}
	})
}
