package turns

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
)

// turnsRemembered is for how long the turns of a namespace without LoadTests in line are remembered.
const turnsRemembered = 24 * time.Hour

// turnOf is the turn that a test had: it began when the first of its pods with devices was created.
func turnOf(test *v1alpha1.LoadTest, pods []*corev1.Pod) []queue.Had {
	at := map[string]time.Time{}
	for _, p := range pods {
		made := p.CreationTimestamp.Time
		for name := range lifecycle.Resources(p) {
			if first, known := at[name]; queue.IsDevice(name) && (!known || made.Before(first)) {
				at[name] = made
			}
		}
	}
	var had []queue.Had
	for _, name := range slices.Sorted(maps.Keys(at)) {
		had = append(had, queue.Had{Namespace: test.Namespace, Resource: name, Created: test.CreationTimestamp.UTC(), At: at[name].UTC()})
	}
	return had
}

// turnsHad is a set of turns.
type turnsHad map[queue.Had]bool

func (t turnsHad) add(had []queue.Had) {
	for _, h := range had {
		t[h] = true
	}
}

// recordTurns remembers the turns that namespaces had, also by tests that are gone, as long as they matter to waiting or future tests.
func (s *findings) recordTurns(now time.Time, had turnsHad, claims []queue.Claim) {
	had.add(s.had)
	oldest := map[string]time.Time{}
	for i := range claims {
		c := &claims[i]
		namespace, _, _ := strings.Cut(c.Test, "/")
		if first, known := oldest[namespace]; (c.Stage == queue.Waiting || c.Stage == queue.Stuck) && (!known || c.Created.Before(first)) {
			oldest[namespace] = c.Created
		}
	}
	folded := queue.Folded(slices.Collect(maps.Keys(had)), oldest)
	s.had = slices.DeleteFunc(folded, func(h queue.Had) bool {
		_, waits := oldest[h.Namespace]
		return !waits && now.Sub(h.At) > turnsRemembered
	})
}
