package frames

import (
	"context"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/pause"
)

// wakes is how long ports that begin to send may take until they all do: an engine appoints a common start a moment ahead. A window that began before would have frames that are on their way at
// its last edge and none at its first, and take them for lost.
const wakes = 500 * time.Millisecond

// change has running traffic send other loads. A port that goes on changes its rate without a gap. One that is to send nothing is stopped, as no rate means
// nothing to every generator: TRex refuses a multiplier of 0, and keeps latency streams at their own rate whatever the multiplier. It is started again where it
// has a load again, for as long as the others go on.
//
//	west→east ─────┐updated┌──────────┐stopped
//	               └───────┘          └──────────────
//	east→west             started ───────┐ wakes ├ settle ┤ judge
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
	if err != nil || !slices.Contains(woken, true) {
		return err
	}
	err = r.each(ctx, updateTimeout, "start more ports of", func(ctx context.Context, g int) error {
		if !woken[g] {
			return nil
		}
		return r.gens[g].Engine.Start(ctx, changesOf(before[g], after[g]).start, time.Until(r.drive.until))
	})
	r.passOnRemarks()
	if err != nil {
		return err
	}
	return pause.For(ctx, wakes)
}

// changes are what one generator's ports have to do for another load.
type changes struct {
	stop          []int
	update, start []engine.PortLoad
}

// changesOf is what leads from one load to the next; nothing where both are the same.
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
