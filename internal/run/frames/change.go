package frames

import (
	"context"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// startDelay is how long it may take until all of the started ports send: an engine sets a common start a moment ahead. A window that began before it would have frames in flight at
// its last edge and none at its first, and count them as lost.
const startDelay = 500 * time.Millisecond

// change changes the load of running traffic. A port that goes on sending changes its rate without a gap. A port whose new load is zero is stopped, since a rate of zero
// doesn't stop every generator: TRex refuses a multiplier of 0, and keeps latency streams at their own rate whatever the multiplier. The port is started again when it
// gets a load again, for as long as the other ports still send.
//
//	west→east ─────┐updated┌──────────┐stopped
//	               └───────┘          └──────────────
//	east→west             started ───────┐ startDelay ├ settle ┤ judge
func (r *run) change(ctx context.Context, before, after [][]engine.PortLoad) error {
	woken := make([]bool, len(r.gens))
	err := r.each(ctx, updateTimeout, "change the load of", func(ctx context.Context, g int) error {
		c := changesOf(before[g], after[g])
		woken[g] = len(c.start) > 0
		if len(c.stop) > 0 {
			if err := r.gens[g].Engine.Stop(ctx, c.stop); err != nil {
				return err
			}
		}
		if len(c.update) > 0 {
			return r.gens[g].Engine.Update(ctx, c.update)
		}
		return nil
	})
	if err != nil {
		return &orderError{err}
	}
	if !slices.Contains(woken, true) {
		return nil
	}
	err = r.each(ctx, updateTimeout, "start more ports of", func(ctx context.Context, g int) error {
		if !woken[g] {
			return nil
		}
		return r.gens[g].Engine.Start(ctx, changesOf(before[g], after[g]).start, time.Until(r.drive.until))
	})
	r.passOnRemarks()
	if err != nil {
		return &orderError{err}
	}
	return bounded.Pause(ctx, startDelay)
}

// changes are which of one generator's ports to update, stop and start for another load.
type changes struct {
	stop          []int
	update, start []engine.PortLoad
}

// changesOf are the changes from one load to the next; none where both are the same.
func changesOf(before, after []engine.PortLoad) (c changes) {
	if slices.Equal(before, after) {
		return c
	}
	sends := func(loads []engine.PortLoad, port int) bool {
		return slices.ContainsFunc(loads, func(l engine.PortLoad) bool { return l.Port == port })
	}
	for _, l := range before {
		if !sends(after, l.Port) {
			c.stop = append(c.stop, l.Port)
		}
	}
	for _, l := range after {
		if sends(before, l.Port) {
			c.update = append(c.update, l)
		} else {
			c.start = append(c.start, l)
		}
	}
	return c
}
