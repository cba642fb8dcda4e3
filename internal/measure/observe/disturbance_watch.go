package observe

// This file follows what disturbs the windows of a run. It finds the threads that carry or send frames and waited
// for a processor, by readings of the machine around each window. The drivers of frames and of sessions use it
// alike.

import (
	"context"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/reception"
)

// These bound reading a machine. Lead is how long before a window's first edge the reading begins, which it must
// not delay. bound is how long a reading may take at most.
const (
	Lead  = 50 * time.Millisecond
	bound = time.Second
)

// DisturbanceWatch follows what disturbs windows, by readings of the machine before and after each, and never
// within one. It is used by one goroutine.
//
//	settle ── read ── first edge ├──── window ────┤ last edge ── read
//
// Where the first can't be had in time, the one after the window before stands for it. So disturbances of the time
// in between count, too.
type DisturbanceWatch struct {
	read   func(context.Context) (machine.Reading, error) // nil where nobody can read the machine
	latest machine.Reading                                // the last reading
	err    error                                          // why no reading can be had

	place  func(context.Context) (reception.Reading, error) // nil where nobody can read the device's queues
	placed reception.Reading                                // the last reading, taken with latest
	window *report.Placement                                // of the last window, nil where it is unknown
}

// FollowDisturbance is a DisturbanceWatch that reads the machine, and where the device receives frames, with these
// functions. A nil function reads nothing, and the watch tells nothing.
func FollowDisturbance(read func(context.Context) (machine.Reading, error),
	place func(context.Context) (reception.Reading, error)) DisturbanceWatch {
	return DisturbanceWatch{read: read, place: place}
}

// Placement is where the device received frames in the last window. It is nil where that is unknown.
func (m *DisturbanceWatch) Placement() *report.Placement { return m.window }

// readPlace reads where the device receives frames. What can't be read is left out of findings.
func (m *DisturbanceWatch) readPlace(ctx context.Context) (reception.Reading, bool) {
	if m.place == nil {
		return reception.Reading{}, false
	}
	reading, err := m.place(ctx)
	return reading, err == nil
}

// Begin takes the reading before any traffic, while nobody waits for frames. Its error is why the machine can't be
// followed in this run.
func (m *DisturbanceWatch) Begin(ctx context.Context) error {
	if m.read == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	m.latest, m.err = m.read(ctx)
	m.placed, _ = m.readPlace(ctx)
	return m.err
}

// ReadBefore reads the machine before a window's first edge, if there is time for that, and returns by the edge.
func (m *DisturbanceWatch) ReadBefore(ctx context.Context, edge time.Time) {
	m.window = nil
	if m.read == nil || m.err != nil || time.Until(edge) < Lead || bounded.PauseUntil(ctx, edge.Add(-Lead)) != nil {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, edge)
	defer cancel()
	if reading, err := m.read(ctx); err == nil {
		m.latest = reading
	}
	if reading, ok := m.readPlace(ctx); ok {
		m.placed = reading
	}
}

// SoFar is what disturbed a window that goes on, up to now. ReadAfter of the whole window later has that, too. An
// answer costs a device on this machine something, so ask within a window only when it is about to be ended.
func (m *DisturbanceWatch) SoFar(ctx context.Context) *report.Disturbance {
	earlier, place := m.latest, m.place
	m.place = nil
	defer func() { m.latest, m.place = earlier, place }()
	return m.ReadAfter(ctx)
}

// ReadAfter is what disturbed the window since the reading before it. It is nil where nobody can tell. A machine
// that could be asked before, and doesn't get round to answering, is disturbed.
func (m *DisturbanceWatch) ReadAfter(ctx context.Context) *report.Disturbance {
	m.window = nil
	if m.read == nil || m.err != nil {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	reading, err := m.read(bounded)
	switch {
	case ctx.Err() != nil:
		return nil // the run has ended
	case err != nil:
		return &report.Disturbance{Missing: err.Error()}
	}
	earlier := m.latest
	m.latest = reading
	if place, ok := m.readPlace(bounded); ok {
		if m.placed.Moment > 0 {
			m.window = Placement(m.placed, place, processes(earlier, reading))
		}
		m.placed = place
	}
	return new(Disturbance(earlier, reading))
}
