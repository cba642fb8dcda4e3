package controllers

import (
	"context"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/lifecycle"
	"github.com/linerate-dev/linerate/internal/queue"
)

// seen is what was found out when the line was drawn before. It is of whoever draws.
type seen struct {
	// networks counts the changes of networks that wants and stands are from, nodeChanges those of nodes that nodes and places are from.
	networks, nodeChanges uint64
	// nodes are all of them; nil: they aren't known. queueNodes are those that count.
	nodes      []lifecycle.Node
	queueNodes []queue.Node
	// filters are what pods demand of nodes, places which nodes that leaves, by the same keys.
	filters  map[string]lifecycle.NodeFilter
	places   map[string]queue.Where
	wants    map[types.UID]wanted
	stands   map[types.UID]standing
	holds    holds
	released map[string]time.Time
}

// wanted is what an attempt of a test wants.
type wanted struct {
	attempt int32
	pods    []lifecycle.Want
}

// standing is how a test stands in line, and what its other pods hold. It follows from the test, its pods, what it wants and what the operator
// was started with, and from no time: as long as none of these changes it is good.
type standing struct {
	test   string               // the version of the test
	pods   map[types.UID]string // the versions of its pods
	claim  queue.Claim
	held   []queue.Holding
	claims bool
	// has is what all of its pods have together.
	has queue.Resources
}

func newSeen() *seen {
	return &seen{filters: map[string]lifecycle.NodeFilter{}, places: map[string]queue.Where{}, wants: map[types.UID]wanted{}, stands: map[types.UID]standing{}, holds: holds{}, released: map[string]time.Time{}}
}

// of forgets what followed from networks and nodes that changed since.
func (s *seen) of(networks, nodes uint64) {
	if s.networks != networks {
		s.networks = networks
		s.forgetTests()
	}
	if s.nodeChanges != nodes {
		s.nodeChanges, s.nodes = nodes, nil
	}
}

func (s *seen) forgetTests() {
	clear(s.wants)
	clear(s.stands)
	clear(s.filters)
	clear(s.places)
}

// where is which nodes pods may be on, by the keys that claims have.
func (s *seen) where() map[string]queue.Where {
	for key, filter := range s.filters {
		if _, known := s.places[key]; !known {
			s.places[key] = filter.Where(s.nodes)
		}
	}
	return s.places
}

// mostFilters are kept in any case: nearly all tests demand the same.
const mostFilters = 16

// keepOnly forgets tests that are gone, once they are many.
func (s *seen) keepOnly(tests []v1alpha1.LoadTest) {
	if len(s.filters) > 2*len(tests)+mostFilters {
		s.forgetTests() // most are of tests that are gone
	}
	if max(len(s.wants), len(s.stands)) <= 2*len(tests) {
		return
	}
	there := map[types.UID]bool{}
	for i := range tests {
		there[tests[i].UID] = true
	}
	maps.DeleteFunc(s.wants, func(uid types.UID, _ wanted) bool { return !there[uid] })
	maps.DeleteFunc(s.stands, func(uid types.UID, _ standing) bool { return !there[uid] })
}

// holds is who has which devices, by the test's name.
type holds map[string]queue.Resources

// add adds what a test has; the devices aren't changed.
func (h holds) add(test string, more queue.Resources) {
	if len(more) == 0 {
		return
	}
	had, some := h[test]
	if !some {
		h[test] = more
		return
	}
	h[test] = sum(had, more)
}

func sum(a, b queue.Resources) queue.Resources {
	both := queue.Resources{}
	for _, d := range []queue.Resources{a, b} {
		for name, n := range d {
			both[name] += n
		}
	}
	return both
}

// noteReleases notes of which resources a test let devices go since the line was drawn last. What a test gave back that found no nodes
// doesn't count: it would be its own turn at once.
func (s *seen) noteReleases(now time.Time, held holds, given map[string]bool) {
	for test, before := range s.holds {
		for name, n := range before {
			if held[test][name] < n && !given[test] {
				s.released[name] = now.Add(time.Second) // a status has no fractions of seconds: later than any pods that were given back by now
			}
		}
	}
	s.holds = held
}

// standingOf finds out how a test stands in line where it or its pods changed since: of a thousand, few have at a time.
func (l *turns) standingOf(ctx context.Context, test *v1alpha1.LoadTest, pods []*corev1.Pod) (standing, error) {
	if known, ok := l.seen.stands[test.UID]; ok && l.watched && known.isOf(test, pods) {
		return known, nil
	}
	s := standing{test: test.ResourceVersion, pods: make(map[types.UID]string, len(pods))}
	o := lifecycle.Observed{Test: test, Settings: l.reconciler.options.Settings}
	for _, p := range pods {
		s.pods[p.UID] = p.ResourceVersion
		o.Children.Pods = append(o.Children.Pods, *p)
	}
	if s.claim, s.held, s.claims = lifecycle.Claim(o, nil); s.claims {
		wants, err := l.wantsOf(ctx, o)
		if err != nil {
			return s, err
		}
		s.claim, s.held, _ = lifecycle.Claim(o, wants)
		s.claim = queue.Shaped(s.claim)
		for _, w := range wants {
			l.seen.filters[w.Where] = w.Filter
		}
	}
	s.has = s.together()
	l.seen.stands[test.UID] = s
	return s, nil
}

// isOf says whether it follows from these very versions of the test and its pods; of objects without versions nothing does.
func (s *standing) isOf(test *v1alpha1.LoadTest, pods []*corev1.Pod) bool {
	if s.test != test.ResourceVersion || s.test == "" || len(s.pods) != len(pods) {
		return false
	}
	for _, p := range pods {
		if version := s.pods[p.UID]; version == "" || version != p.ResourceVersion {
			return false
		}
	}
	return true
}

// together is what all pods of the test have that have a node.
func (s *standing) together() queue.Resources {
	all := holds{}
	for _, h := range s.held {
		all.add("", h.Resources)
	}
	for _, p := range s.claim.Pods {
		if p.Node != "" {
			all.add("", p.Resources)
		}
	}
	return all[""]
}

// wantsOf is what a test wants, found out once for each attempt.
func (l *turns) wantsOf(ctx context.Context, o lifecycle.Observed) ([]lifecycle.Want, error) {
	attempt := lifecycle.Attempt(o)
	if known, ok := l.seen.wants[o.Test.UID]; ok && known.attempt == attempt && l.watched {
		return known.pods, nil
	}
	lab, err := l.reconciler.networksOf(ctx, o.Test)
	if err != nil {
		return nil, err
	}
	o.Lab = lab
	pods := lifecycle.Wants(o)
	l.seen.wants[o.Test.UID] = wanted{attempt, pods}
	return pods, nil
}
