package softgen

import (
	"time"

	"github.com/linerate-dev/linerate/internal/units"
)

// gaugeWindow is the shortest time over which a gauge takes a mean.
const gaugeWindow = 500 * time.Millisecond

// gauge shows a counter's rate for people to look at: the mean since the last reading that is at least gaugeWindow old. Nothing is
// measured with it: measurements use two readings of the counter itself.
type gauge struct {
	at          time.Duration
	seen        units.Traffic
	pps, layer2 float64
}

// read brings the gauge up to date.
func (g *gauge) read(now time.Duration, counter units.Traffic) {
	past := now - g.at
	if past < gaugeWindow {
		return
	}
	moved := counter.Sub(g.seen)
	g.pps, g.layer2 = float64(moved.Packets)/past.Seconds(), float64(moved.Layer2Bits())/past.Seconds()
	g.at, g.seen = now, counter
}
