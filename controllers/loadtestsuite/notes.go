package loadtestsuite

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
)

// memory is what this process has read about each suite, so that it reads everything once. The next process
// reads it again. It is safe for concurrent use. One pass at a time uses the notes on a suite.
type memory struct {
	mu     sync.Mutex
	suites map[types.NamespacedName]*notes
	// beginnings are the suites whose stored runs are being read.
	beginnings map[types.NamespacedName]*sheetReading
}

// sheetReading is how far this process has read the stored runs of a suite that it reconciles for the first
// time.
type sheetReading struct {
	suite   *v1alpha1.LoadTestSuite // as it was stored then
	notes   *notes
	reading *suite.Reading
}

// notes are what this process remembers about one suite.
type notes struct {
	uid    types.UID
	matrix *suite.Matrix
	// version is the suite's own, as the last write of its status left it.
	version string
	// checking is how far the cells have been validated as LoadTests. It is nil before the first check.
	checking *suite.Checking
	// pending are writes to tests that the caches may not show yet, by the tests' names. deleted are the tests
	// that were deleted.
	pending map[string]pending
	deleted map[types.UID]time.Time
	// runs are the runs of complete tests, sheets the ConfigMaps that hold runs, and stored the runs that they
	// hold. storedAt is when the last run that was due was written. unreported says that the report, written at
	// reportAt, may lack some runs.
	runs               suite.Runs
	sheets             suite.Sheets
	stored             suite.Stored
	storedAt, reportAt time.Time
	unreported         bool
	// light says that the suite is complete, and that only the sheets have the details of its runs.
	light bool
	// earlier is the suite that this one is compared with. It is nil if there is none, or if it hasn't been read.
	earlier *earlierSuite
	// earlierRead says that earlier suites' calibrations were read.
	earlierRead bool
	// versions are the resource versions of the ConfigMaps that were written.
	versions map[string]string
	// obstacles are why tests can't be made, by the tests' names.
	obstacles map[string]obstacle
	// unstored is why results can't be stored.
	unstored obstacle
	// tries is how often each test was refused, and refused is when any test was, within the last minute.
	tries   map[string]int
	refused []time.Time
	// underWay is how many incomplete tests exist, and pace how fast more are made.
	underWay int
	pace     pace
	// foreignMaps are ConfigMaps whose names other people's objects have, and until when the names aren't
	// checked again.
	foreignMaps map[string]time.Time
}

// pending is a write to a test, which was created, or must stop. The caches needn't show it after expiry.
type pending struct {
	stop   bool
	expiry time.Time
}

// obstacle is why something can't be written. It isn't tried again before retryAt.
type obstacle struct {
	reason  string
	retryAt time.Time
}

func newNotes(s *v1alpha1.LoadTestSuite) *notes {
	return &notes{
		uid: s.UID, matrix: suite.Expand(s.DeepCopy()), pending: map[string]pending{},
		deleted: map[types.UID]time.Time{}, runs: suite.Runs{}, stored: suite.Stored{},
		versions: map[string]string{}, obstacles: map[string]obstacle{}, tries: map[string]int{},
		foreignMaps: map[string]time.Time{},
	}
}

func newMemory() *memory {
	return &memory{suites: map[types.NamespacedName]*notes{}, beginnings: map[types.NamespacedName]*sheetReading{}}
}

// notesOn are the notes on this suite. They are nil if there are none, or only those on an earlier suite of its
// name.
func (m *memory) notesOn(s *v1alpha1.LoadTestSuite) *notes {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.suites[types.NamespacedName{Namespace: s.Namespace, Name: s.Name}]
	if n == nil || n.uid != s.UID {
		return nil
	}
	return n
}

func (m *memory) keep(s *v1alpha1.LoadTestSuite, n *notes) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
	m.suites[name] = n
	delete(m.beginnings, name)
}

// reading is how far this suite's stored runs have been read, or nil.
func (m *memory) reading(s *v1alpha1.LoadTestSuite) *sheetReading {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.beginnings[types.NamespacedName{Namespace: s.Namespace, Name: s.Name}]
	if b == nil || b.suite.UID != s.UID {
		return nil
	}
	return b
}

func (m *memory) begin(b *sheetReading) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.beginnings[types.NamespacedName{Namespace: b.suite.Namespace, Name: b.suite.Name}] = b
}

func (m *memory) forget(name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.suites, name)
	delete(m.beginnings, name)
}

// behind says that the cache's suite is older than this process' last write.
func (n *notes) behind(s *v1alpha1.LoadTestSuite) bool {
	older, err := resourceversion.CompareResourceVersion(s.ResourceVersion, n.version)
	return err == nil && older < 0
}

// catchUp removes the tests that this process has deleted from those that the caches show, and drops the writes
// that the caches show by now. A write that they never show is dropped at its expiry.
func (n *notes) catchUp(tests map[string]*v1alpha1.LoadTest, now time.Time) {
	maps.DeleteFunc(n.pending, func(name string, p pending) bool {
		t := tests[name]
		return !now.Before(p.expiry) || !p.stop && t != nil || p.stop && (t == nil || t.Spec.Stop)
	})
	maps.DeleteFunc(n.deleted, func(_ types.UID, expiry time.Time) bool { return !now.Before(expiry) })
	maps.DeleteFunc(tests, func(_ string, t *v1alpha1.LoadTest) bool { _, deleted := n.deleted[t.UID]; return deleted })
	n.underWay = 0
	for _, t := range tests {
		if !meta.IsStatusConditionTrue(t.Status.Conditions, v1alpha1.ConditionComplete) {
			n.underWay++
		}
	}
	for name, p := range n.pending {
		if tests[name] == nil && !p.stop {
			n.underWay++
		}
	}
}

// pendingNames are the tests with writes that the caches may not show yet.
func (n *notes) pendingNames() map[string]bool {
	names := make(map[string]bool, len(n.pending))
	for name := range n.pending {
		names[name] = true
	}
	return names
}

// await is when the first write that the caches don't show expires, or zero.
func (n *notes) await() (earliest time.Time) {
	for _, p := range n.pending {
		earliest = pass.Earlier(earliest, p.expiry)
	}
	return earliest
}

// inTheWay are the obstacles that still count.
func (n *notes) inTheWay(now time.Time) map[string]string {
	reasons := map[string]string{}
	for name, o := range n.obstacles {
		if !now.Before(o.retryAt) {
			delete(n.obstacles, name)
			continue
		}
		reasons[name] = o.reason
	}
	return reasons
}

// takenNames are the ConfigMaps' names that other people's objects still have, as far as is known.
func (n *notes) takenNames(now time.Time) []string {
	maps.DeleteFunc(n.foreignMaps, func(_ string, expiry time.Time) bool { return !now.Before(expiry) })
	return slices.Sorted(maps.Keys(n.foreignMaps))
}

// whyUnstored is why results can't be stored for the moment. It is empty if storing may be tried.
func (n *notes) whyUnstored(now time.Time) string {
	if !now.Before(n.unstored.retryAt) {
		return ""
	}
	return n.unstored.reason
}

// maxRefused is how many refused creations a suite may have in a minute. A quota or a policy refuses all tests
// alike, and a large suite has thousands.
const maxRefused = 32

// mayTry is how many tests may be tried now. If that is none, earliest is the time from which some may be.
func (n *notes) mayTry(now time.Time) (tests int, earliest time.Time) {
	n.refused = slices.DeleteFunc(n.refused, func(t time.Time) bool { return !now.Before(t.Add(pass.TakenAgain)) })
	if len(n.refused) >= maxRefused {
		return 0, n.refused[0].Add(pass.TakenAgain)
	}
	tests, earliest = n.pace.mayMake(n.underWay, now)
	return min(maxRefused-len(n.refused), tests), earliest
}

// recordCreated records that a test was created.
func (n *notes) recordCreated(name string, now time.Time) {
	n.pending[name] = pending{expiry: now.Add(caches.MaxBehind)}
	n.underWay++
	n.pace.recordMade(n.underWay, now)
}

// refuse records why a test was refused. It is tried again less and less often, so that all others have their
// tries as well.
func (n *notes) refuse(name, reason string, now time.Time) {
	const maxDoubled = 5
	n.obstacles[name] = obstacle{reason: reason, retryAt: now.Add(pass.TakenAgain << min(n.tries[name], maxDoubled))}
	n.tries[name]++
	n.refused = append(n.refused, now)
}

// lighten drops the details of runs once a suite is complete. Suites stay for months, and each may have
// thousands of runs.
func (n *notes) lighten() {
	n.earlier = nil
	if n.light || !n.runs.AllIn(n.stored) {
		return
	}
	for name, run := range n.runs {
		run.Lighten()
		n.runs[name] = run
	}
	n.light = true
}
