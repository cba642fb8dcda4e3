package turns

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/internal/cluster/queue"
)

const (
	// beginAtOnce is how many tests begin at once, if none began before.
	beginAtOnce = 4
	// maxBetween is the longest pause between the beginnings of two tests whose turns came in the same moment.
	maxBetween = 500 * time.Millisecond
	// longestCrowd is how long turns count as one crowd at most, however long the tests take.
	longestCrowd = 10 * time.Minute
)

// beginning is which tests' turns came that weren't woken yet. A test that begins, or whose Report is read,
// takes a dozen writes. When a lab opens again, the devices of fifty tests are released in one moment. If all
// fifty began then, they would wait for each other. If they measured for equally long, they would end in one
// moment too, and so would their successors. The first tests therefore begin at once, and the others follow one
// by one in the order of the queue.
//
//	turns come   a b c d e f g
//	woken        a b c d   e   f   g
//	             ───────────────────▶  half a second each, or less
//
// They are spread over at most three quarters of the shortest test's time, so that no devices are idle for
// long. All
// turns of that time are counted, so on the whole turns never come faster than tests begin.
type beginning struct {
	pending map[types.NamespacedName]candidate
	// came are the times at which turns came, the oldest first.
	came []time.Time
	pace *rate.Limiter
}

// candidate is a test whose turn came. counted says that came includes it. place is its place in the last line.
type candidate struct {
	uid     string
	place   int
	created time.Time
	takes   time.Duration
	counted bool
}

func newBeginning() beginning {
	return beginning{
		pending: map[types.NamespacedName]candidate{}, pace: rate.NewLimiter(rate.Every(maxBetween), beginAtOnce),
	}
}

// add has a test woken after the pending ones.
func (b *beginning) add(test types.NamespacedName, claim *queue.Claim) {
	b.pending[test] = candidate{uid: claim.ID, created: claim.Created, takes: claim.Takes}
}

// drop removes a test that lost its turn.
func (b *beginning) drop(test types.NamespacedName) { delete(b.pending, test) }

// dropGone removes the tests that are no longer in line.
func (b *beginning) dropGone(inLine func(uid string) bool) {
	maps.DeleteFunc(b.pending, func(_ types.NamespacedName, c candidate) bool { return !inLine(c.uid) })
}

// reorder puts the pending tests into the order of a line.
func (b *beginning) reorder(order []string) {
	if len(b.pending) == 0 {
		return
	}
	places := make(map[string]int, len(order))
	for i, id := range order {
		places[id] = i
	}
	for name, c := range b.pending {
		c.place = places[c.uid]
		b.pending[name] = c
	}
}

// due takes the tests that may begin now, in the order of the line.
func (b *beginning) due(now time.Time) []types.NamespacedName {
	if len(b.pending) == 0 {
		return nil
	}
	b.count(now)
	b.pace.SetLimitAt(now, rate.Every(b.between(now)))
	names := slices.SortedFunc(maps.Keys(b.pending), func(x, y types.NamespacedName) int {
		p, q := b.pending[x], b.pending[y]
		return cmp.Or(cmp.Compare(p.place, q.place), p.created.Compare(q.created), cmp.Compare(x.String(), y.String()),
			cmp.Compare(p.uid, q.uid))
	})
	n := 0
	for n < len(names) && b.pace.AllowN(now, 1) {
		b.drop(names[n])
		n++
	}
	return names[:n]
}

// count records the turns that came since the last count, and drops old ones.
func (b *beginning) count(now time.Time) {
	old := 0
	for old < len(b.came) && now.Sub(b.came[old]) > longestCrowd {
		old++
	}
	b.came = slices.Delete(b.came, 0, old)
	for name, c := range b.pending {
		if !c.counted {
			c.counted = true
			b.pending[name] = c
			b.came = append(b.came, now)
		}
	}
}

// between is the pause before the next test begins. As many tests begin in three quarters of the shortest
// test's time as had their turn in all of it.
func (b *beginning) between(now time.Time) time.Duration {
	shortest := longestCrowd
	for _, c := range b.pending {
		if c.takes > 0 {
			shortest = min(shortest, c.takes)
		}
	}
	first, _ := slices.BinarySearchFunc(b.came, now.Add(-shortest), time.Time.Compare)
	crowd := max(1, len(b.came)-first)
	return min(maxBetween, shortest*3/4/time.Duration(crowd))
}
