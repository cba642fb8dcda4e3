package controllers

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/lifecycle"
	"github.com/linerate-dev/linerate/internal/queue"
)

// line is whose turn it is among all tests. It is drawn anew from the caches where something changed that it depends on, and once for all
// tests that ask: a thousand that wait don't each look at the thousand.
//
//	LoadTests, pods, nodes, networks ──watch──▶ stale ──▶ draw ──▶ tests whose turn changed are woken
//	                                              ▲         │
//	                      observe of one test ────┴─────────┴──▶ its Turn
//
// What is remembered is lost with the process, and follows from the caches again, but for when devices were let go: then a test that gave its
// pods back waits until its time. It is safe for concurrent use.
type turns struct {
	reconciler *LoadTestReconciler
	// watched: watches say when it is stale; without them it always is.
	watched bool
	// signal has a mark while it is stale, or somebody is to be woken.
	signal chan struct{}

	mu       sync.Mutex
	stale    bool
	drawn    queue.Line
	wants    map[types.UID]wanted
	stands   map[types.UID]stand
	holds    map[string]queue.Devices // by the test's name
	released map[string]time.Time
	// changed are the tests whose turn changed, and who weren't woken yet.
	changed map[types.NamespacedName]bool
}

// wanted is what an attempt of a test wants.
type wanted struct {
	attempt int32
	pods    []lifecycle.Want
}

func newTurns(r *LoadTestReconciler) *turns {
	return &turns{
		reconciler: r, signal: make(chan struct{}, 1), stale: true, wants: map[types.UID]wanted{}, stands: map[types.UID]stand{}, released: map[string]time.Time{},
		changed: map[types.NamespacedName]bool{},
	}
}

// of is a test's turn. That it waits may be told from a line that is being drawn anew, and so may all of one that has pods: a change wakes
// it. That one without pods goes is not.
func (l *turns) of(ctx context.Context, test *v1alpha1.LoadTest, hasPods bool, now time.Time) (queue.Turn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	turn, known := l.drawn.Turns[string(test.UID)]
	due := !l.drawn.Due.IsZero() && !now.Before(l.drawn.Due)
	if known && (turn.Waits || hasPods) && l.watched && !due {
		return turn, nil
	}
	if !known || l.stale || !l.watched || due {
		if err := l.draw(ctx, now); err != nil {
			return queue.Turn{}, err
		}
	}
	return l.drawn.Turns[string(test.UID)], nil
}

// mark says that something changed that the line depends on.
func (l *turns) mark() {
	l.mu.Lock()
	l.stale = true
	l.mu.Unlock()
	l.nudge()
}

// forget says that networks changed: other devices may be wanted.
func (l *turns) forget() {
	l.mu.Lock()
	clear(l.wants)
	clear(l.stands)
	l.mu.Unlock()
	l.mark()
}

func (l *turns) nudge() {
	select {
	case l.signal <- struct{}{}:
	default:
	}
}

// draw draws the line; l.mu is held.
func (l *turns) draw(ctx context.Context, now time.Time) error {
	l.stale = false
	lab, err := l.look(ctx, now)
	if err != nil {
		l.stale = true
		return fmt.Errorf("draw the line of tests that want devices: %w", err)
	}
	drawn := queue.Arrange(lab)
	for _, c := range lab.Claims {
		if was, known := l.drawn.Turns[c.ID]; known && was != drawn.Turns[c.ID] {
			namespace, name, _ := strings.Cut(c.Test, "/")
			l.changed[types.NamespacedName{Namespace: namespace, Name: name}] = true
		}
	}
	l.drawn = drawn
	if len(l.changed) > 0 {
		l.nudge()
	}
	return nil
}
