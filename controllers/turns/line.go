package turns

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/inventory"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
	"github.com/linerate-dev/linerate/internal/compile"
)

// Line is the queue of all tests for devices. It is drawn again from the caches when something changed that it
// depends on. One drawing serves all tests that ask, so that each of a thousand waiting tests doesn't read the
// other thousand.
//
//	LoadTests, pods, nodes, networks ──watch──▶ marked ──▶ draw ──▶ tests whose turn changed are woken
//	                                              ▲         │
//	                      observe of one test ────┴─────────┴──▶ its Turn
//
// One pass draws at a time, and passes that the last line can answer read that one meanwhile. A new process
// finds everything in the caches again, except when namespaces began tests that no longer have pods. The
// namespaces of the oldest tests are first then. It is safe for concurrent use.
type Line struct {
	// client reads tests and pods.
	client   client.Reader
	lab      *inventory.Inventory
	settings manifests.Settings
	clock    func() time.Time
	// notOver selects the tests that aren't complete. Without an index it selects all tests.
	notOver func() []client.ListOption
	// watched says that watches mark changes. Without watches the line is drawn for each test that asks.
	watched bool
	// signal has a mark while the line is behind, or tests must be woken.
	signal chan struct{}
	// drawing guards found. It is full while a pass draws the line, which only one pass does at a time.
	drawing chan struct{}
	found   *findings
	wants   *wants

	mu sync.Mutex
	// marked counts the changes. drawn is that count when the last drawing began. The line is behind while the
	// two differ.
	marked, drawn uint64
	// nodes counts the changes of nodes.
	nodes uint64
	// line is replaced by the pass that draws, and never changed otherwise. later are its tests that have no
	// place in it yet.
	line  queue.Line
	later map[types.UID]bool
	// The following tests must still be woken. beginning has those whose turn has come, changed those whose
	// turn changed in another way, and notices those whose place in line, or the tests that they wait for,
	// changed.
	beginning beginning
	changed   map[types.NamespacedName]bool
	notices   notices
}

// New makes a line that is drawn for each test that asks. settings are what pods are made with. After Watch it
// is drawn when something changes.
func New(c client.Reader, lab *inventory.Inventory, settings manifests.Settings, clock func() time.Time) *Line {
	return &Line{
		client: c, lab: lab, settings: settings, clock: clock, notOver: func() []client.ListOption { return nil },
		signal: make(chan struct{}, 1), drawing: make(chan struct{}, 1), found: newFindings(), wants: newWants(),
		marked:  1,
		changed: map[types.NamespacedName]bool{}, beginning: newBeginning(),
	}
}

// TurnOf is a test's turn. A line that is behind is good enough to let a test wait, and for a test that has
// pods, since a change wakes both. That a test may make its first pods is read only from a line that includes
// every change marked before the test asked.
func (l *Line) TurnOf(ctx context.Context, test *v1alpha1.LoadTest, hasPods bool, now time.Time) (queue.Turn, error) {
	if _, _, claims := lifecycle.Claim(lifecycle.Observed{Test: test}, nil); !claims {
		return queue.Turn{}, nil
	}
	turn, marked, current := l.lastTurn(test.UID, hasPods, now)
	if current {
		return turn, nil
	}
	err := l.draw(ctx, test, func() (current bool) {
		turn, current = l.turnDrawnSince(test.UID, marked, now)
		return current
	})
	if err != nil || current {
		return turn, err
	}
	return l.Drawn().Turns[string(test.UID)], nil
}

// lastTurn is a test's turn in the last line. current says that this line is good enough. Otherwise the test
// needs a line that was begun at marked or later.
func (l *Line) lastTurn(test types.UID, hasPods bool, now time.Time) (turn queue.Turn, marked uint64, current bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	turn, ok := l.line.Turns[string(test)]
	if !ok || !l.watched || lifecycle.Reached(turn.Due, now) {
		return turn, l.marked, false
	}
	if lifecycle.Reached(l.line.Due, now) && l.marked == l.drawn { // another test's time has come
		l.marked++
		l.nudge()
	}
	return turn, l.marked, turn.Waits || hasPods || l.marked == l.drawn
}

// turnDrawnSince is a test's turn if another pass has drawn a line that was begun at marked or later. Otherwise
// the caller draws one.
func (l *Line) turnDrawnSince(test types.UID, marked uint64, now time.Time) (queue.Turn, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	turn, ok := l.line.Turns[string(test)]
	joins := l.later[test] && l.wants.wantedBy(test) != nil // its wants were found meanwhile
	return turn, ok && l.watched && l.drawn >= marked && !joins && !lifecycle.Reached(turn.Due, now)
}

// claimDrawing waits until no other pass draws.
func (l *Line) claimDrawing(ctx context.Context) error {
	select {
	case l.drawing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the line of tests that want devices: %w", context.Cause(ctx))
	}
}

func (l *Line) releaseDrawing() { <-l.drawing }

// mark records a change of something that the line depends on.
func (l *Line) mark() {
	l.mu.Lock()
	l.marked++
	l.mu.Unlock()
	l.nudge()
}

// NetworkChanged records that a network changed. Tests that name it may want other devices. The zero value
// stands for all networks.
func (l *Line) NetworkChanged(network compile.NetworkKey) {
	l.wants.networkChanged(network)
	l.mark()
}

// nodesChanged records that nodes were added, removed or changed, so pods may fit elsewhere.
func (l *Line) nodesChanged() {
	l.mu.Lock()
	l.nodes++
	l.marked++
	l.mu.Unlock()
	l.nudge()
}

func (l *Line) nudge() {
	select {
	case l.signal <- struct{}{}:
	default:
	}
}

// draw draws the line, unless needless says that another pass has done so. While it finds out what tests want,
// other passes may draw. asks is the test for which the line is drawn, or nil.
func (l *Line) draw(ctx context.Context, asks *v1alpha1.LoadTest, needless func() bool) error {
	if !l.watched {
		l.wants.networkChanged(compile.NetworkKey{}) // without watches any network may have changed
	}
	var snap *snapshot
	for foundOut := false; ; foundOut = true {
		if err := l.claimDrawing(ctx); err != nil {
			return err
		}
		missing, err := l.drawOf(ctx, &snap, asks, foundOut, needless)
		l.releaseDrawing()
		if err == nil {
			err = l.findOut(ctx, missing)
		}
		if err != nil {
			return fmt.Errorf("draw the line of tests that want devices: %w", err)
		}
		if len(missing) == 0 {
			return nil
		}
	}
}

// findOut finds out what tests want.
func (l *Line) findOut(ctx context.Context, tests []lifecycle.Observed) error {
	for _, o := range tests {
		if err := l.wants.findOut(ctx, l.lab, o); err != nil {
			return fmt.Errorf("find out what %s/%s wants: %w", o.Test.Namespace, o.Test.Name, err)
		}
	}
	return nil
}

// drawOf draws the line of the snapshot, or takes a new one if another pass has drawn meanwhile. If some wants
// must still be found out, it returns the tests with unknown wants instead, and draws nothing. The caller holds
// drawing.
func (l *Line) drawOf(
	ctx context.Context, snap **snapshot, asks *v1alpha1.LoadTest, foundOut bool, needless func() bool,
) (missing []lifecycle.Observed, err error) {
	if needless() {
		return nil, nil
	}
	if *snap == nil {
		*snap = l.stillTrue(l.found.undrawn)
	}
	if *snap == nil || l.drawnSince((*snap).marked) {
		if *snap, err = l.look(ctx); err != nil {
			return nil, err
		}
		l.found.undrawn = *snap
	}
	if !foundOut {
		if missing = l.missing(*snap, asks); len(missing) > 0 {
			return missing, nil
		}
	}
	l.found.undrawn = nil
	lab, later := l.labOf(*snap)
	line := queue.Arrange(lab)
	for i := range later {
		line.Turns[later[i].ID] = queue.JoiningTurn
	}
	l.replace(line, (*snap).marked, slices.Concat(lab.Claims, later), later)
	if len(later) > 0 {
		l.mark()
	}
	return nil, nil
}

// stillTrue is a snapshot after which nothing changed, as of now. It is nil if something did, or if nobody
// watches changes. While one pass finds out what an eleventh test wants, one of ten tests that ask reads the
// caches.
func (l *Line) stillTrue(s *snapshot) *snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s == nil || !l.watched || l.marked != s.marked {
		return nil
	}
	refreshed := *s
	refreshed.now = pass.AsStored(l.clock())
	return &refreshed
}

// drawnSince says that a line was drawn that includes changes beyond marked.
func (l *Line) drawnSince(marked uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.drawn > marked
}

// replace replaces the last line.
func (l *Line) replace(line queue.Line, marked uint64, claims, later []queue.Claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.line
	l.line, l.drawn, l.later = line, marked, map[types.UID]bool{}
	for i := range later {
		l.later[types.UID(later[i].ID)] = true
	}
	for i := range claims {
		oldTurn, ok := old.Turns[claims[i].ID]
		newTurn := line.Turns[claims[i].ID]
		if !ok || oldTurn == newTurn {
			continue
		}
		l.changes(&claims[i], oldTurn, newTurn)
	}
	inLine := func(uid string) bool { _, ok := line.Turns[uid]; return ok }
	l.beginning.dropGone(inLine)
	l.beginning.reorder(line.Order)
	l.notices.dropGone(inLine)
	if len(l.changed) > 0 {
		l.nudge()
	}
}

// changes has a test woken whose turn changed, in one of three ways.
func (l *Line) changes(claim *queue.Claim, old, updated queue.Turn) {
	namespace, name, _ := strings.Cut(claim.Test, "/")
	test := types.NamespacedName{Namespace: namespace, Name: name}
	if sameButForWords(old, updated) {
		l.notices.add(test, claim.ID)
		return
	}
	l.notices.drop(test)
	if old.Waits && !updated.Waits {
		l.beginning.add(test, claim)
		return
	}
	l.beginning.drop(test)
	l.changed[test] = true
}

// sameButForWords says that two turns differ in nothing but the status's text about the wait.
func sameButForWords(a, b queue.Turn) bool {
	a.Message, a.Brief, a.Lacks = b.Message, b.Brief, b.Lacks
	return a == b
}

// Drawn is the last line that was drawn. It is never changed.
func (l *Line) Drawn() queue.Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.line
}
