package controllers

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// opened is when a lab opens.
var opened = time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)

// come has the turns of so many tests come in one moment, the youngest first; the tests' numbers tell their age.
func come(b *beginning, tests ...int) {
	slices.Reverse(tests)
	for _, i := range tests {
		b.add(nameOf(i), fmt.Sprint(i), opened.Add(time.Duration(i)*time.Second))
	}
}

// begun is who begins when, asked each drawPause for so long.
func begun(b *beginning, from time.Time, long time.Duration) (names []types.NamespacedName, at []time.Duration) {
	for now := from; now.Before(from.Add(long)); now = now.Add(drawPause) {
		for _, name := range b.due(now) {
			names, at = append(names, name), append(at, now.Sub(opened))
		}
	}
	return names, at
}

func TestTestsWhoseTurnsComeAtOnceBeginOneAfterTheOther(t *testing.T) {
	b := newBeginning()
	var all []int
	for i := range 50 {
		all = append(all, i)
	}
	come(&b, all...)
	names, at := begun(&b, opened, time.Minute)
	if len(names) != 50 {
		t.Fatalf("%d of 50 begin: %v", len(names), names)
	}
	for i := range names {
		if names[i] != nameOf(i) {
			t.Errorf("%s is the one to begin after %d others: want the oldest", names[i], i)
		}
		want := max(0, time.Duration(i-beginAtOnce+1)*beginEvery)
		if at[i] < want || at[i] > want+drawPause {
			t.Errorf("%s begins at %s, want %s", names[i], at[i], want)
		}
	}
}

func TestTestsWhoseTurnsComeNowAndThenBeginAtOnce(t *testing.T) {
	b := newBeginning()
	for i := range 20 {
		now := opened.Add(time.Duration(i) * beginEvery)
		come(&b, i)
		if names := b.due(now); !slices.Equal(names, []types.NamespacedName{nameOf(i)}) {
			t.Errorf("%v begin at %s", names, now.Sub(opened))
		}
	}
}

func TestWhoHasLeftTheLineOrLostItsTurnDoesNotBegin(t *testing.T) {
	b := newBeginning()
	come(&b, 0, 1, 2, 3, 4, 5, 6)
	b.due(opened)
	b.drop(nameOf(4))
	b.dropGone(func(uid string) bool { return uid != "5" })
	names, at := begun(&b, opened, time.Minute)
	if !slices.Equal(names, []types.NamespacedName{nameOf(6)}) || at[0] > beginEvery {
		t.Errorf("%v begin at %s, want the one that is left, in its turn", names, at)
	}
}
