package frames

import (
	"context"
	"time"

	"github.com/linerate-dev/linerate/internal/observe"
	"github.com/linerate-dev/linerate/internal/pause"
	"github.com/linerate-dev/linerate/internal/processors"
	"github.com/linerate-dev/linerate/internal/report"
)

// The bounds of reading a machine: how long before a window's first edge it begins, which it must not delay, and how long it may take at most.
const (
	machineLead  = 50 * time.Millisecond
	machineBound = time.Second
)

// machine follows what disturbs windows, by readings of the machine before and after each, and never within one.
//
//	settle ── read ── first edge ├──── window ────┤ last edge ── read
//
// Where the first can't be had in time, the one after the window before stands for it: what disturbed the time in between counts, too.
type machine struct {
	read func(context.Context) (processors.Reading, error) // nil: nobody can
	seen processors.Reading                                // the last that could be had
	err  error                                             // why there can be none
}

// begin takes the reading before any traffic, in which nobody waits for frames.
func (m *machine) begin(ctx context.Context) error {
	if m.read == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, machineBound)
	defer cancel()
	m.seen, m.err = m.read(ctx)
	return m.err
}

// before reads before a window's first edge, if there is time for that, and returns by then.
func (m *machine) before(ctx context.Context, edge time.Time) {
	if m.read == nil || m.err != nil || time.Until(edge) < machineLead || pause.Until(ctx, edge.Add(-machineLead)) != nil {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, edge)
	defer cancel()
	if now, err := m.read(ctx); err == nil {
		m.seen = now
	}
}

// since is what disturbed the window since the reading before it; nil where nobody can tell. A machine that could be asked before, and doesn't get round to
// answering, is disturbed.
func (m *machine) since(ctx context.Context) *report.Disturbance {
	if m.read == nil || m.err != nil {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, machineBound)
	defer cancel()
	now, err := m.read(bounded)
	switch {
	case ctx.Err() != nil:
		return nil // the run has ended
	case err != nil:
		return &report.Disturbance{Missing: err.Error()}
	}
	before := m.seen
	m.seen = now
	return new(observe.Disturbance(before, now))
}
