package rig

import (
	"testing"
	"time"
)

func TestQuiet(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(ticks int) time.Time { return begin.Add(time.Duration(ticks) * tick) }
	var l Listener
	for i, frames := range []uint64{500, 500, 3, 500, 2, 0, 1, 0, 700} {
		l.ticks = append(l.ticks, Tick{at(i), frames})
	}
	for _, c := range []struct {
		since int
		span  time.Duration
		want  int
		found bool
	}{
		{0, tick, 1, true},      // the first pause
		{0, 3 * tick, 3, true},  // that one is too short
		{4, 2 * tick, 4, true},  // quiet from the first moment on
		{0, 5 * tick, 0, false}, // never for so long
		{8, tick, 0, false},     // nothing is known of what comes
	} {
		got, found := l.Quiet(at(c.since), c.span)
		if found != c.found || found && got != at(c.want) {
			t.Errorf("quiet for %v since tick %d: %v %v, want tick %d %v", c.span, c.since, got, found, c.want, c.found)
		}
	}
}
