package datapath

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/units"
)

func TestRingTally(t *testing.T) {
	came := func(arrived, dropped int64) func() (int64, int64) {
		return func() (int64, int64) { return arrived, dropped }
	}
	walk := func(tally *ringTally, frames int) {
		for range frames {
			tally.walk(units.Traffic{Packets: 1, Bytes: 64}, false)
		}
	}
	settles := func(t *testing.T, tally *ringTally, m *ringMark, received, missed int64) {
		t.Helper()
		if got, want := tally.settle(m, time.Millisecond),
			(receiveCounts{received: units.Traffic{Packets: received, Bytes: 64 * received},
				missed: missed}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	t.Run("a reading waits for the walk, and stops counting at its own moment", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var tally ringTally
			m := tally.mark(came(10, 3))
			go walk(&tally, 15)
			settles(t, &tally, m, 10, 3)
			settles(t, &tally, tally.mark(came(5, 0)), 15, 3)
		})
	})
	t.Run("strays are counted with all others, and by themselves", func(t *testing.T) {
		var tally ringTally
		walk(&tally, 2)
		tally.walk(units.Traffic{Packets: 1, Bytes: 64}, true)
		want := receiveCounts{received: units.Traffic{Packets: 3, Bytes: 192}, strays: units.Traffic{Packets: 1,
			Bytes: 64}}
		if got := tally.settle(tally.mark(came(3, 0)), time.Millisecond); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
	t.Run("frames that aren't walked in time are missed, and never received", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var tally ringTally
			walk(&tally, 4)
			settles(t, &tally, tally.mark(came(10, 0)), 4, 6)
			settles(t, &tally, tally.mark(came(2, 0)), 4, 8)
			walk(&tally, 9)
			settles(t, &tally, tally.mark(came(1, 0)), 5, 8)
		})
	})
}

func TestNarrowest(t *testing.T) {
	for name, c := range map[string]struct {
		widths []int // half the widths, in microseconds
		want   int
		reads  int
	}{
		"a short moment is taken":                {[]int{50, 1}, 50, 1},
		"a long one is tried again":              {[]int{900, 20, 1}, 20, 2},
		"three times, and the shortest is taken": {[]int{900, 80, 400, 1}, 80, 3},
	} {
		t.Run(name, func(t *testing.T) {
			reads := 0
			got := narrowest(func() Counters {
				reads++
				return Counters{Uncertainty: time.Duration(c.widths[reads-1]) * time.Microsecond}
			})
			if got.Uncertainty != time.Duration(c.want)*time.Microsecond || reads != c.reads {
				t.Errorf("give or take %v after %d readings", got.Uncertainty, reads)
			}
		})
	}
}
