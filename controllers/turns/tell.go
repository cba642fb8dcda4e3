package turns

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/controllers/pass"
)

// tellEvery is how often a test is woken that only stands elsewhere in line, at most: its status isn't written more often anyway. Where many end, those in
// front would be looked at for each of them.
const tellEvery = 10 * time.Second

// tellAtOnce is how many are woken for it in each drawPause at most: 160 a second, which is about what one or two processors of an API server write.
const tellAtOnce = 8

// telling is which tests stand elsewhere in line, or wait for others, and don't know yet. Each that is told writes its status, the dearest of all
// writes: woken in one moment they would wait for each other, and everybody else for them. So each test has a moment of its own in every ten seconds:
//
//	moments of    a  b     c    d  │  a  b     c    d  │  a
//	reworded       b c a           │     b             │
//	woken              ... c       │  a  b             │
//	            ───────────────────┼───────────────────┼──▶
//	            hand ──▶          10 s                20 s
//
// A hand goes round, and takes whom it passes: nobody is met twice in a round, and nobody waits for it longer than one. Only where more are to be told
// than tellAtOnce allows it goes slower, and catches up after them: a round for up to 1600 tests, 100 s for 16 000. The zero value has nobody.
type telling struct {
	pending map[types.NamespacedName]reworded
	// hand is how far it went.
	hand time.Duration
}

// reworded is a test that is to be told other words.
type reworded struct {
	uid string
	// moment is its own in each round.
	moment time.Duration
}

// add has a test be told when the hand comes to its moment.
func (t *telling) add(test types.NamespacedName, uid string) {
	if t.pending == nil {
		t.pending = map[types.NamespacedName]reworded{}
	}
	t.pending[test] = reworded{uid, pass.MomentOf(uid, tellEvery)}
}

// drop forgets a test that is woken for something else: it is told all then.
func (t *telling) drop(test types.NamespacedName) { delete(t.pending, test) }

// dropGone forgets those that are in line no more.
func (t *telling) dropGone(inLine func(uid string) bool) {
	maps.DeleteFunc(t.pending, func(_ types.NamespacedName, r reworded) bool { return !inLine(r.uid) })
}

// due takes the tests that the hand passes until now, the first one first. It is asked each drawPause or so.
func (t *telling) due(now time.Duration) []types.NamespacedName {
	var passed []types.NamespacedName
	for test := range t.pending {
		if t.ahead(test) <= now-t.hand {
			passed = append(passed, test)
		}
	}
	slices.SortFunc(passed, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(t.ahead(a), t.ahead(b)), cmp.Compare(a.Name, b.Name))
	})
	to := now
	if len(passed) > tellAtOnce {
		passed = passed[:tellAtOnce]
		to = t.hand + t.ahead(passed[tellAtOnce-1])
	}
	for _, test := range passed {
		delete(t.pending, test)
	}
	t.hand = to
	return passed
}

// ahead is how far the hand has to go to a test's moment: a whole round from there.
func (t *telling) ahead(test types.NamespacedName) time.Duration {
	ahead := (t.pending[test].moment - t.hand%tellEvery + tellEvery) % tellEvery
	return cmp.Or(ahead, tellEvery)
}
