package turns

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/internal/cluster/queue"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// opened is when a lab opens.
var opened = time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)

// come has the turns of tests of equal duration come in one moment, the youngest first. The tests' numbers are
// in the order of their age.
func come(b *beginning, takes time.Duration, tests ...int) {
	slices.Reverse(tests)
	for _, i := range tests {
		b.add(nameOf(i), &queue.Claim{ID: fmt.Sprint(i), Created: opened.Add(time.Duration(i) * time.Second),
			Takes: takes})
	}
}

// starts is which tests begin when, if due is called each drawPause for a while.
func starts(b *beginning, start time.Time, long time.Duration) (names []types.NamespacedName, offsets []time.Duration) {
	for now := start; now.Before(start.Add(long)); now = now.Add(drawPause) {
		for _, name := range b.due(now) {
			names, offsets = append(names, name), append(offsets, now.Sub(opened))
		}
	}
	return names, offsets
}

func TestTestsWhoseTurnsComeAtOnceBeginOneAfterTheOther(t *testing.T) {
	b := newBeginning()
	var tests []int
	for i := range 50 {
		tests = append(tests, i)
	}
	come(&b, time.Hour, tests...)
	names, offsets := starts(&b, opened, time.Minute)
	if len(names) != 50 {
		t.Fatalf("%d of 50 begin: %v", len(names), names)
	}
	for i := range names {
		if names[i] != nameOf(i) {
			t.Errorf("%s is the one to begin after %d others: want the oldest", names[i], i)
		}
		want := max(0, time.Duration(i-beginAtOnce+1)*maxBetween)
		if offsets[i] < want || offsets[i] > want+drawPause {
			t.Errorf("%s begins at %s, want %s", names[i], offsets[i], want)
		}
	}
}

func TestTestsWhoseTurnsComeNowAndThenBeginAtOnce(t *testing.T) {
	b := newBeginning()
	for i := range 20 {
		now := opened.Add(time.Duration(i) * maxBetween)
		come(&b, time.Hour, i)
		if names := b.due(now); !slices.Equal(names, []types.NamespacedName{nameOf(i)}) {
			t.Errorf("%v begin at %s", names, now.Sub(opened))
		}
	}
}

// Namespaces take turns, so the first test in line begins first, and needn't be the oldest.
func TestTestsBeginAsTheyStandInLine(t *testing.T) {
	b := newBeginning()
	come(&b, time.Hour, 0, 1, 2, 3, 4, 5, 6)
	b.reorder([]string{"6", "0", "5", "1", "4", "2", "3"})
	names, _ := starts(&b, opened, time.Minute)
	var want []types.NamespacedName
	for _, i := range []int{6, 0, 5, 1, 4, 2, 3} {
		want = append(want, nameOf(i))
	}
	if !slices.Equal(names, want) {
		t.Errorf("%v begin, want %v", names, want)
	}
}

func TestWhoHasLeftTheLineOrLostItsTurnDoesNotBegin(t *testing.T) {
	b := newBeginning()
	come(&b, time.Hour, 0, 1, 2, 3, 4, 5, 6)
	b.due(opened)
	b.drop(nameOf(4))
	b.dropGone(func(uid string) bool { return uid != "5" })
	names, offsets := starts(&b, opened, time.Minute)
	if !slices.Equal(names, []types.NamespacedName{nameOf(6)}) || offsets[0] > maxBetween {
		t.Errorf("%v begin at %s, want the one that is left, in its turn", names, offsets)
	}
}

// Fifty tests' devices are released in one moment, and each test's again at its end, for an hour. The devices
// must not be idle for long, also if tests are short.
func TestHowLongTestsWaitToBeginThoughItIsTheirTurn(t *testing.T) {
	tier.Plain(t)
	const places = 50
	for _, takes := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, time.Minute,
		10 * time.Minute} {
		t.Run(takes.String(), func(t *testing.T) {
			b, next, idle := newBeginning(), 0, time.Duration(0)
			ends := make([]time.Time, places) // of those that measure, the first to end first
			for range ends {
				come(&b, takes, next)
				next++
			}
			ends = ends[:0]
			busiest, second := 0, map[int]int{}
			for now := opened; now.Before(opened.Add(time.Hour)); now = now.Add(drawPause) {
				for len(ends) > 0 && !ends[0].After(now) {
					ends = ends[1:]
					come(&b, takes, next)
					next++
				}
				for range b.due(now) {
					ends = append(ends, now.Add(takes))
					second[int(now.Sub(opened)/time.Second)]++
				}
				idle += time.Duration(places-len(ends)) * drawPause
			}
			for _, n := range second {
				busiest = max(busiest, n)
			}
			share := float64(idle) / float64(places*time.Hour)
			t.Logf("%d begin, %d in the busiest second; devices idle for %.1f %%", next, busiest, 100*share)
			if share > 0.01 {
				t.Errorf("devices idle for %.1f %%, want 3 %% at most", 100*share)
			}
			if limit := max(beginAtOnce+2, 1+int(4*places*time.Second/(3*takes))+beginAtOnce); busiest > limit {
				t.Errorf("%d begin in one second, want %d at most", busiest, limit)
			}
		})
	}
}
