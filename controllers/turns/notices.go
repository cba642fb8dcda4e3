package turns

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/controllers/pass"
)

// noticeEvery is the shortest time between two wake-ups of a test whose place in line changed, since its status
// isn't written more often anyway. Otherwise each test that ends would wake all tests behind it.
const noticeEvery = 10 * time.Second

// noticesAtOnce is how many such tests are woken in each drawPause at most. That is 160 a second, about as many
// status writes as one or two processors of an API server do.
const noticesAtOnce = 8

// notices are the tests whose status doesn't show yet their new place in line, or the tests that they wait for.
// Each test that is woken writes its status. If all were woken in one moment, they would wait for each other,
// and all other tests for them. So each test has a moment of its own in every ten seconds.
//
//	moments of    a  b     c    d  │  a  b     c    d  │  a
//	reworded       b c a           │     b             │
//	woken              ... c       │  a  b             │
//	            ───────────────────┼───────────────────┼──▶
//	            hand ──▶          10 s                20 s
//
// A hand goes round like a clock's, and wakes the tests that it passes. No test is woken twice in a round, or
// waits longer than one. Only if more tests are due than noticesAtOnce allows, the hand slows down, and catches
// up afterwards. A round takes 10 s for up to 1600 tests, and 100 s for 16 000. The zero value has no tests.
type notices struct {
	pending map[types.NamespacedName]notice
	// hand is how far the hand has gone.
	hand time.Duration
}

// notice is a test that must be woken.
type notice struct {
	uid string
	// moment is the test's own in each round.
	moment time.Duration
}

// add has a test woken when the hand comes to its moment.
func (t *notices) add(test types.NamespacedName, uid string) {
	if t.pending == nil {
		t.pending = map[types.NamespacedName]notice{}
	}
	t.pending[test] = notice{uid, pass.MomentOf(uid, noticeEvery)}
}

// drop removes a test that is woken for another reason, and writes its status then.
func (t *notices) drop(test types.NamespacedName) { delete(t.pending, test) }

// dropGone removes the tests that are no longer in line.
func (t *notices) dropGone(inLine func(uid string) bool) {
	maps.DeleteFunc(t.pending, func(_ types.NamespacedName, r notice) bool { return !inLine(r.uid) })
}

// due removes and returns the tests that the hand passes until now, in that order. It is called about every
// drawPause.
func (t *notices) due(now time.Duration) []types.NamespacedName {
	var passed []types.NamespacedName
	for test := range t.pending {
		if t.ahead(test) <= now-t.hand {
			passed = append(passed, test)
		}
	}
	slices.SortFunc(passed, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(t.ahead(a), t.ahead(b)), cmp.Compare(a.Name, b.Name))
	})
	reached := now
	if len(passed) > noticesAtOnce {
		passed = passed[:noticesAtOnce]
		reached = t.hand + t.ahead(passed[noticesAtOnce-1])
	}
	for _, test := range passed {
		delete(t.pending, test)
	}
	t.hand = reached
	return passed
}

// ahead is how far the hand has to go to a test's moment. At that very moment it is a whole round.
func (t *notices) ahead(test types.NamespacedName) time.Duration {
	ahead := (t.pending[test].moment - t.hand%noticeEvery + noticeEvery) % noticeEvery
	return cmp.Or(ahead, noticeEvery)
}
