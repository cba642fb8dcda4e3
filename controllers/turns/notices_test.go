package turns

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// catchesUp is how much later than in its moment a test is woken at most, where many moments are close
// together.
const catchesUp = time.Second

// noticeWorld is how notices to 1000 tests go out.
type noticeWorld struct {
	notices
	t *testing.T
	// waitingSince is from when those wait who aren't told yet, last when each was told last.
	waitingSince, lastNotice map[types.NamespacedName]time.Duration
	count                    int
}

func nameOf(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: "lab", Name: fmt.Sprintf("test-%d", i)}
}

func (l *noticeWorld) reword(i int, now time.Duration) {
	name := nameOf(i)
	l.add(name, fmt.Sprintf("7f1c2c1e-%04d", i))
	if _, waits := l.waitingSince[name]; !waits {
		l.waitingSince[name] = now
	}
}

// tell lets time go on, and says what is wrong with whom is told then.
func (l *noticeWorld) tell(now time.Duration) {
	names := l.due(now)
	if len(names) > noticesAtOnce {
		l.t.Errorf("%s: %d of %d are told at once", now, len(names), len(l.waitingSince))
	}
	for _, name := range names {
		waiting, waits := l.waitingSince[name]
		if previous, noticed := l.lastNotice[name]; !waits || noticed && now-previous < noticeEvery-catchesUp {
			l.t.Errorf("%s: %s is told, and was at %s (it waits: %t)", now, name, previous, waits)
		}
		if now-waiting > noticeEvery+catchesUp {
			l.t.Errorf("%s: %s waits since %s", now, name, waiting)
		}
		delete(l.waitingSince, name)
		l.lastNotice[name] = now
	}
	l.count += len(names)
}

func TestTestsAreToldOneAfterTheOther(t *testing.T) {
	const tests, end = 1000, 2 * time.Minute
	for name, words := range map[string]func(now time.Duration, random *rand.Rand) (indexes []int){
		"few are reworded at any time": func(_ time.Duration,
			random *rand.Rand) []int {
			return []int{random.IntN(tests)}
		},
		"50 at once, as a wave of them end": func(now time.Duration,
			random *rand.Rand) []int {
			return wave(now, 50, random)
		},
		"all at once, again and again": func(now time.Duration,
			random *rand.Rand) []int {
			return wave(now, tests, random)
		},
		"the first ten, all the time": func(time.Duration,
			*rand.Rand) []int {
			return []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, random := noticeWorld{t: t, waitingSince: map[types.NamespacedName]time.Duration{},
				lastNotice: map[types.NamespacedName]time.Duration{}}, rand.New(rand.NewPCG(1, 2))
			now := time.Duration(0)
			for ; now < end; now += drawPause {
				for _, i := range words(now, random) {
					l.reword(i, now)
				}
				l.tell(now)
			}
			if l.count == 0 {
				t.Error("nobody is told anything")
			}
			for name, since := range l.waitingSince {
				if now-since > noticeEvery+catchesUp {
					t.Errorf("%s waits since %s", name, since)
				}
			}
		})
	}
}

// wave is which tests are reworded if so many are at once, every 23 seconds.
func wave(now time.Duration, n int, random *rand.Rand) []int {
	if now%(23*time.Second) != 0 {
		return nil
	}
	return random.Perm(1000)[:n]
}

// A drawing may take long. The moments that came meanwhile are caught up with, a share at a time.
func TestTellingCatchesUp(t *testing.T) {
	l := notices{}
	for i := range 1000 {
		l.add(nameOf(i), fmt.Sprint(i))
	}
	offset, met := time.Minute, 0
	for ; len(l.pending) > 0; offset += drawPause {
		names := l.due(offset)
		if met += len(names); len(names) > noticesAtOnce {
			t.Fatalf("%d of 1000 are told at once", len(names))
		}
	}
	if met != 1000 || offset > time.Minute+noticeEvery {
		t.Errorf("%d are told by %s", met, offset)
	}
}

func TestWhoIsToldOtherwiseIsNotToldAgain(t *testing.T) {
	l := notices{}
	for i := range 3 {
		l.add(nameOf(i), fmt.Sprint(i))
	}
	l.drop(nameOf(0))
	l.dropGone(func(uid string) bool { return uid != "1" })
	var names []types.NamespacedName
	for now := time.Duration(0); now < 3*noticeEvery; now += drawPause {
		names = append(names, l.due(now)...)
	}
	if !slices.Equal(names, []types.NamespacedName{nameOf(2)}) {
		t.Errorf("%v are told, and only %s is in line and doesn't know", names, nameOf(2))
	}
}

// Forty tests are in line behind two that run, one of which ends. The next test is woken at once, and those
// whose place changed one after the other.
func TestWhoseTurnCameIsWokenAheadOfThoseThatOnlyMoveUp(t *testing.T) {
	l := newLineLab(t)
	synctest.Test(t, func(t *testing.T) {
		l.t = t
		line := l.line(true)
		for i := range 42 {
			l.add(fmt.Sprintf("t%02d", i), i)
		}
		l.place("t00", 1, "rack-1")
		l.place("t01", 1, "rack-2")
		l.ask(line, "t02", false)
		ctx, cancel := context.WithCancel(t.Context())
		wake, woken, keeping := make(chan event.GenericEvent), map[string]time.Duration{}, sync.WaitGroup{}
		defer keeping.Wait()
		defer cancel()
		keeping.Go(func() {
			if err := line.run(ctx, wake); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		l.mu.Lock()
		delete(l.tests, "t00")
		clear(l.pods)
		l.mu.Unlock()
		l.place("t01", 1, "rack-2")
		line.mark()
		ended, latest := time.Now(), time.Duration(0)
		for timeout := time.After(3 * noticeEvery); ; {
			select {
			case e := <-wake:
				name, offset := e.Object.GetName(), time.Since(ended)
				if _, twice := woken[name]; twice || len(woken) > 1 && offset-latest < drawPause {
					t.Errorf("%s is woken at %s, the one before at %s: %v", name, offset, latest, woken)
				}
				woken[name], latest = offset, offset
				continue
			case <-timeout:
			}
			break
		}
		if offset, came := woken["t02"]; !came || offset > drawPause {
			t.Errorf("t02, whose turn came, is woken after %s: %v", offset, woken)
		}
		if len(woken) < 11 || latest > noticeEvery+drawPause {
			t.Errorf("the last of %d is woken after %s: %v", len(woken), latest, woken)
		}
	})
}
