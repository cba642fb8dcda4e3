package controllers

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/suite"
)

// suiteMemory is what this process has read of each suite, so that it is read once. It is lost with the process, and read anew by the next. It is
// safe for concurrent use; what it keeps of one suite is used by one pass at a time.
type suiteMemory struct {
	mu     sync.Mutex
	suites map[types.NamespacedName]*suiteNotes
}

// suiteNotes are what is kept of one suite.
type suiteNotes struct {
	uid    types.UID
	matrix *suite.Matrix
	// version is the suite's own, as the last write of its status left it.
	version string
	// runs are the tests that are over; stored those of them that are in the pages; storedAt is when a page was written last.
	runs     suite.Runs
	stored   map[string]bool
	storedAt time.Time
	// light: the suite is over, and what its judgements were made from is in the pages alone.
	light bool
	// versions are those of the ConfigMaps that were written.
	versions map[string]string
	// obstacles are tests that the API server didn't take.
	obstacles map[string]obstacle
	// unstored is why the API server didn't take what was to be stored.
	unstored obstacle
	// tries are how often it didn't take a test, and refused when it didn't take any, within the last minute.
	tries   map[string]int
	refused []time.Time
	// taken are ConfigMaps whose names others have, and until when that is believed.
	taken map[string]time.Time
}

// obstacle is why a test can't be made; until then it isn't tried again.
type obstacle struct {
	why   string
	until time.Time
}

func newSuiteNotes(s *v1alpha1.LoadTestSuite) *suiteNotes {
	return &suiteNotes{
		uid: s.UID, matrix: suite.Expand(s.DeepCopy()), runs: suite.Runs{}, stored: map[string]bool{}, versions: map[string]string{}, obstacles: map[string]obstacle{}, tries: map[string]int{}, taken: map[string]time.Time{},
	}
}

func newSuiteMemory() *suiteMemory {
	return &suiteMemory{suites: map[types.NamespacedName]*suiteNotes{}}
}

// of are the notes on a suite; nil: none of this one, only of an earlier one of its name.
func (m *suiteMemory) of(s *v1alpha1.LoadTestSuite) *suiteNotes {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.suites[types.NamespacedName{Namespace: s.Namespace, Name: s.Name}]
	if n == nil || n.uid != s.UID {
		return nil
	}
	return n
}

func (m *suiteMemory) keep(s *v1alpha1.LoadTestSuite, n *suiteNotes) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.suites[types.NamespacedName{Namespace: s.Namespace, Name: s.Name}] = n
}

func (m *suiteMemory) forget(name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.suites, name)
}

// behind says that the view is older than what this process wrote last.
func (n *suiteNotes) behind(s *v1alpha1.LoadTestSuite) bool {
	older, err := resourceversion.CompareResourceVersion(s.ResourceVersion, n.version)
	return err == nil && older < 0
}

// inTheWay are the obstacles that still stand.
func (n *suiteNotes) inTheWay(now time.Time) map[string]string {
	out := map[string]string{}
	for name, o := range n.obstacles {
		if !now.Before(o.until) {
			delete(n.obstacles, name)
			continue
		}
		out[name] = o.why
	}
	return out
}

// takenNames are the names that others still have, as far as is known.
func (n *suiteNotes) takenNames(now time.Time) []string {
	maps.DeleteFunc(n.taken, func(_ string, until time.Time) bool { return !now.Before(until) })
	return slices.Sorted(maps.Keys(n.taken))
}

// whyUnstored is why what is to be stored isn't taken; empty: it may be tried.
func (n *suiteNotes) whyUnstored(now time.Time) string {
	if !now.Before(n.unstored.until) {
		return ""
	}
	return n.unstored.why
}

// mostRefused is how many tests that the API server doesn't take are tried in a minute. A quota or a policy refuses them all alike, and of a large
// suite there are thousands.
const mostRefused = 32

// mayCreate says whether another test may be tried.
func (n *suiteNotes) mayCreate(now time.Time) bool {
	n.refused = slices.DeleteFunc(n.refused, func(at time.Time) bool { return !now.Before(at.Add(takenAgain)) })
	return len(n.refused) < mostRefused
}

// refuse keeps why a test isn't taken. It is tried again less and less often, so that all others have their tries as well.
func (n *suiteNotes) refuse(name, why string, now time.Time) {
	const mostDoubled = 5
	n.obstacles[name] = obstacle{why: why, until: now.Add(takenAgain << min(n.tries[name], mostDoubled))}
	n.tries[name]++
	n.refused = append(n.refused, now)
}

// lighten lets go of what nothing asks for any more once a suite is over: suites stay for months, and each may have thousands of runs.
func (n *suiteNotes) lighten() {
	if n.light || slices.ContainsFunc(slices.Collect(maps.Keys(n.runs)), func(name string) bool { return !n.stored[name] }) {
		return
	}
	for name, run := range n.runs {
		run.Evidence, run.Message = nil, ""
		n.runs[name] = run
	}
	n.light = true
}
