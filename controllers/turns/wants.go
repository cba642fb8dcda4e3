package turns

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/inventory"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/compile"
)

// wanted is what an attempt of a test wants, and the networks from which that follows. It is never changed.
type wanted struct {
	attempt  int32
	pods     []lifecycle.Want
	networks []compile.NetworkKey
}

// wants is what tests want. It is found by compiling the tests and making their pods. That takes long for a
// large test, so the pass that does it lets others draw meanwhile.
//
//	look ──▶ of some tests it isn't known ──▶ let others draw ──▶ find it out ──▶ draw
//
// A drawing for a test that asks finds out nothing about other namespaces' tests. No drawing finds out more
// than maxFoundOut of a namespace. The remaining tests join the line at a later drawing. It is safe for
// concurrent use.
type wants struct {
	mu    sync.Mutex
	found map[types.UID]*wanted
	// changes counts the changes of networks. changed has its value at the last change of each, and allChanged
	// at the last change of all. They are kept while a pass finds out what tests want (underWay).
	changes, allChanged uint64
	changed             map[compile.NetworkKey]uint64
	underWay            int
}

func newWants() *wants {
	return &wants{found: map[types.UID]*wanted{}, changed: map[compile.NetworkKey]uint64{}}
}

// wantedBy is what a test wants, by the attempt that was examined last, or nil if that is unknown.
func (w *wants) wantedBy(test types.UID) *wanted {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.found[test]
}

// networkChanged drops the wants of the tests that name a network. Without a network, it drops all.
func (w *wants) networkChanged(network compile.NetworkKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes++
	if network == (compile.NetworkKey{}) {
		w.allChanged = w.changes
		clear(w.found)
		return
	}
	if w.underWay > 0 {
		w.changed[network] = w.changes
	}
	maps.DeleteFunc(w.found, func(_ types.UID, want *wanted) bool { return slices.Contains(want.networks, network) })
}

// keepOnly drops deleted tests, once most of the remembered tests are deleted.
func (w *wants) keepOnly(tests []v1alpha1.LoadTest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.found) > 2*len(tests) {
		uids := uidsOf(tests)
		maps.DeleteFunc(w.found, func(uid types.UID, _ *wanted) bool { return !uids[uid] })
	}
}

func uidsOf(tests []v1alpha1.LoadTest) map[types.UID]bool {
	uids := map[types.UID]bool{}
	for i := range tests {
		uids[tests[i].UID] = true
	}
	return uids
}

// begin begins to find out what a test wants.
func (w *wants) begin() (version uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.underWay++
	return w.changes
}

// end keeps what was found since version, unless a network from which it follows has changed. found is nil if
// nothing was found.
func (w *wants) end(version uint64, test types.UID, found *wanted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	stale := found == nil || w.allChanged > version ||
		slices.ContainsFunc(found.networks, func(n compile.NetworkKey) bool { return w.changed[n] > version })
	if !stale {
		w.found[test] = found
	}
	if w.underWay--; w.underWay == 0 {
		clear(w.changed)
	}
}

// findOut finds out what a test wants.
func (w *wants) findOut(ctx context.Context, lab *inventory.Inventory, o lifecycle.Observed) error {
	version := w.begin()
	found := &wanted{attempt: lifecycle.Attempt(o), networks: lab.Named(o.Test)}
	var err error
	if o.Inventory, err = lab.NetworksOf(ctx, o.Test); err != nil {
		w.end(version, o.Test.UID, nil)
		return err
	}
	o.Compiled = lab.Compiled(o.Test)
	found.pods = lifecycle.Wants(o)
	w.end(version, o.Test.UID, found)
	return nil
}

// maxFoundOut is how many tests of a namespace are examined before the line is drawn. A test of more than 64
// KiB of memory counts as several. The bound keeps a namespace of many tests from delaying the others.
const maxFoundOut = 64

// missing are the tests whose unknown wants must be found out now. These are the test that asks, and the oldest
// ones of its namespace or, if none asks, of each namespace.
func (l *Line) missing(s *snapshot, asks *v1alpha1.LoadTest) (tests []lifecycle.Observed) {
	for i := range s.tests {
		test := &s.tests[i]
		if l.watched && asks != nil && asks.Namespace != test.Namespace {
			continue
		}
		pods := s.pods[ownerKey{test.Namespace, test.UID}]
		want := l.wants.wantedBy(test.UID)
		stands, ok := l.found.stands[test.UID]
		if ok && want != nil && stands.wants == want && stands.isOf(test, pods) {
			continue
		}
		o := observedOf(test, pods, l.settings)
		if _, _, claims := lifecycle.Claim(o, nil); claims && (want == nil || want.attempt != lifecycle.Attempt(o)) {
			tests = append(tests, o)
		}
	}
	if !l.watched {
		return tests
	}
	slices.SortStableFunc(tests, func(a, b lifecycle.Observed) int {
		return cmp.Or(a.Test.CreationTimestamp.Compare(b.Test.CreationTimestamp.Time),
			cmp.Compare(a.Test.Name, b.Test.Name))
	})
	spent := map[string]int64{}
	return slices.DeleteFunc(tests, func(o lifecycle.Observed) bool {
		exceeded := spent[o.Test.Namespace] >= maxFoundOut
		spent[o.Test.Namespace] += 1 + o.Test.Spec.FreeformMemory()>>16
		return exceeded && (asks == nil || o.Test.UID != asks.UID)
	})
}
