package controllers

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// beginEvery is how long after another a test begins whose turn came in the same moment.
	beginEvery = 250 * time.Millisecond
	// beginAtOnce is how many begin at once, where none did before.
	beginAtOnce = 4
)

// beginning is whose turn came, and who wasn't woken for it yet. A test that begins, or has its Report read, is a dozen writes. Where the devices of fifty
// are let go in one moment, as when a lab opens again, they would all wait for each other; and where they measure equally long they would
// end in one moment too, and so would those that come after them. So the first ones begin at once, and the others one after the other, the oldest first:
//
//	turns come   a b c d e f g
//	woken        a b c d   e   f   g
//	             ───────────────────▶  a quarter of a second each
type beginning struct {
	pending map[types.NamespacedName]candidate
	pace    *rate.Limiter
}

// candidate is a test whose turn came.
type candidate struct {
	uid     string
	created time.Time
}

func newBeginning() beginning {
	return beginning{pending: map[types.NamespacedName]candidate{}, pace: rate.NewLimiter(rate.Every(beginEvery), beginAtOnce)}
}

// add has a test be woken when those before it were.
func (b *beginning) add(test types.NamespacedName, uid string, created time.Time) {
	b.pending[test] = candidate{uid, created}
}

// drop forgets a test whose turn it isn't any more.
func (b *beginning) drop(test types.NamespacedName) { delete(b.pending, test) }

// dropGone forgets those that are in line no more.
func (b *beginning) dropGone(inLine func(uid string) bool) {
	maps.DeleteFunc(b.pending, func(_ types.NamespacedName, c candidate) bool { return !inLine(c.uid) })
}

// due takes the tests that may begin now, the oldest first.
func (b *beginning) due(now time.Time) []types.NamespacedName {
	names := slices.SortedFunc(maps.Keys(b.pending), func(x, y types.NamespacedName) int {
		p, q := b.pending[x], b.pending[y]
		return cmp.Or(p.created.Compare(q.created), cmp.Compare(p.uid, q.uid))
	})
	n := 0
	for n < len(names) && b.pace.AllowN(now, 1) {
		b.drop(names[n])
		n++
	}
	return names[:n]
}
