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

// wants is what tests want. It is found out by compiling the tests and making their pods. That takes long for a large
// test, so the pass that finds it out lets others draw meanwhile.
//
//	look ──▶ of some tests it isn't known ──▶ let others draw ──▶ find it out ──▶ draw
//
// A drawing for a test that asks finds out nothing of other namespaces' tests. No drawing finds out more than
// mostFoundOut of a namespace. The tests that are left out join the line at a later drawing.
//
// It is safe for concurrent use.
type wants struct {
	mu    sync.Mutex
	known map[types.UID]*wanted
	// changes counts the changes of networks; changed has its value at the last change of each, all at the last change
	// of all. They are kept while somebody finds out what tests want (under way).
	changes, all uint64
	changed      map[compile.NetworkKey]uint64
	underWay     int
}

func newWants() *wants {
	return &wants{known: map[types.UID]*wanted{}, changed: map[compile.NetworkKey]uint64{}}
}

// of is what a test wants, by the attempt that was found out last; nil: that isn't known.
func (w *wants) of(test types.UID) *wanted {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known[test]
}

// networkChanged forgets what the tests that name a network want; without a network, what all want.
func (w *wants) networkChanged(network compile.NetworkKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes++
	if network == (compile.NetworkKey{}) {
		w.all = w.changes
		clear(w.known)
		return
	}
	if w.underWay > 0 {
		w.changed[network] = w.changes
	}
	maps.DeleteFunc(w.known, func(_ types.UID, of *wanted) bool { return slices.Contains(of.networks, network) })
}

// forgetAll forgets everything, where nobody says what changes.
func (w *wants) forgetAll() { w.networkChanged(compile.NetworkKey{}) }

// keepOnly forgets tests that are gone, once most of the remembered tests are.
func (w *wants) keepOnly(tests []v1alpha1.LoadTest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.known) > 2*len(tests) {
		there := uidsOf(tests)
		maps.DeleteFunc(w.known, func(uid types.UID, _ *wanted) bool { return !there[uid] })
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
func (w *wants) begin() (since uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.underWay++
	return w.changes
}

// end keeps what was found out since then, unless it followed from a network that has changed. Nil: nothing was found
// out.
func (w *wants) end(since uint64, test types.UID, found *wanted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	stale := found == nil || w.all > since ||
		slices.ContainsFunc(found.networks, func(n compile.NetworkKey) bool { return w.changed[n] > since })
	if !stale {
		w.known[test] = found
	}
	if w.underWay--; w.underWay == 0 {
		clear(w.changed)
	}
}

// findOut finds out what a test wants.
func (w *wants) findOut(ctx context.Context, lab *inventory.Inventory, o lifecycle.Observed) error {
	since := w.begin()
	found := &wanted{attempt: lifecycle.Attempt(o), networks: lab.Named(o.Test)}
	var err error
	if o.Inventory, err = lab.NetworksOf(ctx, o.Test); err != nil {
		w.end(since, o.Test.UID, nil)
		return err
	}
	o.Compiled = lab.Compiled(o.Test)
	found.pods = lifecycle.Wants(o)
	w.end(since, o.Test.UID, found)
	return nil
}

// mostFoundOut is how many tests of a namespace are looked into before the line is drawn. A test of more than 64 KiB of
// memory counts as several. The bound keeps a namespace of many tests from delaying the others.
const mostFoundOut = 64

// missing are the tests of which isn't known what they want and is to be found out now: the one that asks, and the
// oldest ones of its namespace; if none asks, of each namespace.
func (l *Line) missing(s *snapshot, asks *v1alpha1.LoadTest) (all []lifecycle.Observed) {
	for i := range s.tests {
		test := &s.tests[i]
		if l.watched && asks != nil && asks.Namespace != test.Namespace {
			continue
		}
		pods := s.pods[ownerKey{test.Namespace, test.UID}]
		known := l.wants.of(test.UID)
		stands, ok := l.found.stands[test.UID]
		if ok && known != nil && stands.wants == known && stands.isOf(test, pods) {
			continue
		}
		o := observedOf(test, pods, l.settings)
		if _, _, claims := lifecycle.Claim(o, nil); claims && (known == nil || known.attempt != lifecycle.Attempt(o)) {
			all = append(all, o)
		}
	}
	if !l.watched {
		return all
	}
	slices.SortStableFunc(all, func(a, b lifecycle.Observed) int {
		return cmp.Or(a.Test.CreationTimestamp.Compare(b.Test.CreationTimestamp.Time),
			cmp.Compare(a.Test.Name, b.Test.Name))
	})
	spent := map[string]int64{}
	return slices.DeleteFunc(all, func(o lifecycle.Observed) bool {
		over := spent[o.Test.Namespace] >= mostFoundOut
		spent[o.Test.Namespace] += 1 + o.Test.Spec.FreeformMemory()>>16
		return over && (asks == nil || o.Test.UID != asks.UID)
	})
}
