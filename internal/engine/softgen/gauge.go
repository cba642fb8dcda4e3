package softgen

import (
	"time"

	"github.com/linerate-dev/linerate/internal/units"
)

// gaugeWindow is the shortest time over which a gauge takes a mean.
const gaugeWindow = 500 * time.Millisecond

// gauge shows a counter's rate to people. It is the mean since the last reading that
// is at least gaugeWindow old. Measurements use two readings of the counter instead.
type gauge struct {
	readAt      time.Duration
	counter     units.Traffic
	pps, layer2 float64
}

// read brings the gauge up to date.
func (g *gauge) read(instant time.Duration, reading units.Traffic) {
	past := instant - g.readAt
	if past < gaugeWindow {
		return
	}
	moved := reading.Sub(g.counter)
	g.pps, g.layer2 = float64(moved.Packets)/past.Seconds(), float64(moved.Layer2Bits())/past.Seconds()
	g.readAt, g.counter = instant, reading
}
