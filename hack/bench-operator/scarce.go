package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// scarcity is a lab with devices for a few tests only, whose scheduler gives none away twice. It measures how
// long devices lie idle while tests wait for some, and which tests overtake others. Nil: there are devices for
// all. It is safe for concurrent use.
type scarcity struct {
	mutex   sync.Mutex
	freed   *sync.Cond
	free    []int // devices of each network, by node
	total   int
	holders map[types.UID]int // the node on which a pod has its devices

	waiting   map[string]time.Time // tests in line, by when they were created
	placed    map[string]bool
	created   map[string]time.Time
	updatedAt time.Time // until when busy and possible are summed up

	busy, possible float64 // device seconds while tests waited
	mostWaiting    int
	overtaken      map[string]int // how many younger tests were placed before one that waited
}

// ofScarceNode is how many devices of each network a node has then: those of two pods.
const ofScarceNode = 2

// newScarcity has devices for so many tests at once, of two pods each; nil: there are for all.
func newScarcity(tests int) *scarcity {
	if tests == 0 {
		return nil
	}
	s := &scarcity{holders: map[types.UID]int{}, waiting: map[string]time.Time{}, placed: map[string]bool{},
		created: map[string]time.Time{}, overtaken: map[string]int{}, updatedAt: time.Now()}
	s.freed = sync.NewCond(&s.mutex)
	for range tests {
		s.free = append(s.free, ofScarceNode)
		s.total += ofScarceNode
	}
	return s
}

// node waits for a node that has a device for the pod, and gives it.
func (s *scarcity) node(ctx context.Context, pod *corev1.Pod) (int, error) {
	wakeUp := context.AfterFunc(ctx, s.freed.Broadcast)
	defer wakeUp()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for ctx.Err() == nil {
		if i := slices.IndexFunc(s.free, func(n int) bool { return n > 0 }); i >= 0 {
			s.sum()
			s.free[i]--
			s.holders[pod.UID] = i
			s.notePlaced(pod.Labels[v1alpha1.LabelTest])
			return i, nil
		}
		s.freed.Wait()
	}
	return 0, context.Cause(ctx)
}

// giveBack frees what a pod had that is gone.
func (s *scarcity) giveBack(pod *corev1.Pod) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if i, ok := s.holders[pod.UID]; ok {
		s.sum()
		s.free[i]++
		delete(s.holders, pod.UID)
		s.freed.Broadcast()
	}
}

// notePlaced counts the tests that a test has overtaken when it gets its first pod: those that are at least a
// second older, and wait.
func (s *scarcity) notePlaced(test string) {
	if s.placed[test] {
		return
	}
	s.placed[test] = true
	for nameWaiting, created := range s.waiting {
		if !s.placed[nameWaiting] && created.Before(s.created[test]) {
			s.overtaken[nameWaiting]++
		}
	}
}

// see notes whether a test waits in line.
func (s *scarcity) see(test *v1alpha1.LoadTest) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.sum()
	s.created[test.Name] = test.CreationTimestamp.Time
	delete(s.waiting, test.Name)
	if c := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionScheduled); c != nil &&
		c.Reason == v1alpha1.ReasonQueued {
		s.waiting[test.Name] = test.CreationTimestamp.Time
		s.mostWaiting = max(s.mostWaiting, len(s.waiting))
	}
}

// sum adds the time since the last change to what it was before that.
func (s *scarcity) sum() {
	instant := time.Now()
	if elapsed := instant.Sub(s.updatedAt).Seconds(); len(s.waiting) > 0 {
		s.busy += float64(len(s.holders)) * elapsed
		s.possible += float64(s.total) * elapsed
	}
	s.updatedAt = instant
}

// share is how much of the devices' time was used while tests waited.
func (s *scarcity) share() float64 {
	if s.possible == 0 {
		return 0
	}
	return s.busy / s.possible
}

// mostOvertaken is by how many younger tests one that waited was passed at most.
func (s *scarcity) mostOvertaken() (maximum int) {
	for _, n := range s.overtaken {
		maximum = max(maximum, n)
	}
	return maximum
}

func (s *scarcity) tell(b *strings.Builder) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	fmt.Fprintf(b, "\nDevices for %d tests at once: %d tests waited at most, devices were held %.1f %% of the time while any did; %d of those that waited were passed by younger ones, by %d at most\n",
		s.total/ofScarceNode, s.mostWaiting, 100*s.share(), len(s.overtaken), s.mostOvertaken())
}
