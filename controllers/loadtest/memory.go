package loadtest

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
)

// memory is what this process has just written for each test, and may not see in its caches yet. A cache lags
// the server. A decision from a cache older than the operator's own last write would repeat that write, and
// make pods of a past attempt.
//
//	apply ──write──▶ API server ──watch──▶ cache ──▶ observe ──▶ decide, unless the cache is behind
//	  └───────────▶ memory ─────────────────────────────┘
//
// A new process lists everything again, so it doesn't need the memory. It is safe for concurrent use.
type memory struct {
	mu    sync.Mutex
	tests map[types.NamespacedName]*acts
	// retries is when a namespace's refused dry runs may be made again.
	retries map[string]time.Time
}

// acts are the writes that concern one test.
type acts struct {
	uid types.UID
	// version is the test's own, as the last write of its status left it.
	version string
	// created are children that must appear in the caches. deleted are those that must disappear or be marked
	// as being deleted. Both are forgotten at expiry.
	created, deleted map[types.UID]childRef
	expiry           time.Time
	// takenNames are children whose names other people's objects have.
	takenNames map[string]childRef
	// refused is the last dry run that was refused.
	refused refusedTry
}

func newMemory() *memory {
	return &memory{tests: map[types.NamespacedName]*acts{}, retries: map[string]time.Time{}}
}

// update lets f read or change the acts of a test. A later test of the same name starts with none.
func (m *memory) update(test *v1alpha1.LoadTest, f func(*acts)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := types.NamespacedName{Namespace: test.Namespace, Name: test.Name}
	a := m.tests[name]
	if a == nil || a.uid != test.UID {
		a = &acts{uid: test.UID, created: map[types.UID]childRef{}, deleted: map[types.UID]childRef{},
			takenNames: map[string]childRef{}}
		m.tests[name] = a
	}
	f(a)
}

func (m *memory) forget(test types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.tests, test)
}

func (m *memory) statusWritten(test *v1alpha1.LoadTest, version string) {
	m.update(test, func(a *acts) { a.version = version })
}

func (m *memory) childCreated(test *v1alpha1.LoadTest, child childRef, now time.Time) {
	m.update(test, func(a *acts) { a.created[child.uid], a.expiry = child, now.Add(caches.MaxBehind) })
}

func (m *memory) childDeleted(test *v1alpha1.LoadTest, child childRef, now time.Time) {
	m.update(test, func(a *acts) { a.deleted[child.uid], a.expiry = child, now.Add(caches.MaxBehind) })
}

func (m *memory) nameTaken(test *v1alpha1.LoadTest, child childRef) {
	m.update(test, func(a *acts) { a.takenNames[child.String()] = child })
}

func (m *memory) nameFree(test *v1alpha1.LoadTest, child childRef) {
	m.update(test, func(a *acts) { delete(a.takenNames, child.String()) })
}

// takenNames are the children whose names must be checked again.
func (m *memory) takenNames(test *v1alpha1.LoadTest) (children []childRef) {
	m.update(test, func(a *acts) {
		for _, child := range a.takenNames {
			children = append(children, child)
		}
	})
	return children
}

// behind returns the longest time to wait for caches that lack a write of the operator's own. It is 0 if they
// lack none.
func (m *memory) behind(test *v1alpha1.LoadTest, children map[types.UID]childRef,
	now time.Time) (atMost time.Duration) {
	m.update(test, func(a *acts) {
		if now.After(a.expiry) {
			clear(a.created)
			clear(a.deleted)
		}
		maps.DeleteFunc(a.created, func(uid types.UID, _ childRef) bool { return children[uid].uid == uid })
		maps.DeleteFunc(a.deleted, func(uid types.UID, _ childRef) bool {
			return children[uid].uid != uid ||
				children[uid].going
		})
		if len(a.created)+len(a.deleted) > 0 {
			atMost = a.expiry.Sub(now)
		}
		if older, err := resourceversion.CompareResourceVersion(test.ResourceVersion, a.version); err == nil &&
			older < 0 {
			atMost = caches.MaxBehind
		}
	})
	return atMost
}
