package collect

import (
	"fmt"
	"math"
	"time"
)

// longestUnread is the longest time between two readings of a 32-bit counter that leaves no doubt of how much
// it grew. Half of its range in that time is 179 million/s, more packets than 100 Gb/s carry.
const longestUnread = 12 * time.Second

// exact is the largest count that a float64 holds exactly.
const exact = 1 << 53

// count is an agent's reading of a counter at one moment.
type count struct {
	raw  uint64
	bits int // of the counter, 32 or 64
	read time.Time
	// uptime is how long the agent has run, in hundredths of a second (sysUpTime). discontinuity is the uptime at
	// which the interface's counters last began anew. Both are nil if the agent doesn't report them.
	uptime, discontinuity *uint32
}

// counter remembers a counter from one reading to the next, and returns it without its wraps.
type counter struct {
	previous *count // nil before the first reading
	value    uint64 // the first count (0 if no float64 holds it), and all growth since
}

// read takes a count. anew says why the growth since the last count isn't known. It is empty if the growth is known.
func (c *counter) read(current count) (value uint64, anew string) {
	previous := c.previous
	c.previous = &current
	if previous == nil {
		return c.begin(current), ""
	}
	if anew = current.beganAnew(*previous); anew != "" {
		return c.begin(current), anew
	}
	c.value += current.grown(*previous)
	return c.value, ""
}

func (c *counter) begin(first count) uint64 {
	c.value = first.raw
	if c.value > exact/2 { // it may grow by as much yet
		c.value = 0
	}
	return c.value
}

// grown is by how much a counter grew from one count to the next, if that is less than half of its range.
func (c count) grown(previous count) uint64 {
	return (c.raw - previous.raw) & (math.MaxUint64 >> (64 - c.bits))
}

// beganAnew says why a count can't be compared with the one before. It is empty if it can.
func (c count) beganAnew(previous count) string {
	elapsed := c.read.Sub(previous.read)
	switch {
	case c.uptime != nil && previous.uptime != nil && restarted(*previous.uptime, *c.uptime, elapsed):
		return "the agent was restarted"
	case c.discontinuity != nil && previous.discontinuity != nil && *c.discontinuity != *previous.discontinuity:
		return "the agent says that the interface's counters began anew (ifCounterDiscontinuityTime)"
	case c.bits != previous.bits || c.grown(previous) > math.MaxUint64>>(65-c.bits):
		return wentBack
	case c.bits == 32 && elapsed > longestUnread:
		return fmt.Sprintf("a counter of 32 bits was not read for %s, in which it may have begun anew without "+
			"anybody seeing it", elapsed.Round(time.Millisecond))
	}
	return ""
}

// wentBack is why nothing is known of a counter that is less than before.
const wentBack = "the counter went back: it was cleared, or what counts was restarted"

// tolerance is how far an agent's uptime may lag behind the time that passed, beside half of that time. Some
// agents count whole seconds, and clocks differ.
const tolerance = time.Second

// restarted says that an agent was restarted, as an agent that has run on for this long would report a longer
// uptime, or a much shorter one. An uptime begins anew after 497 days by itself.
func restarted(previous, current uint32, elapsed time.Duration) bool {
	const hundredth, day = 10 * time.Millisecond, 24 * time.Hour
	ran := time.Duration(int32(current-previous)) * hundredth //nolint:gosec // both may have wrapped
	return ran+tolerance < elapsed/2 || ran > elapsed+day
}
