package sim

import (
	"sort"
	"time"
)

// flow is one direction's fluid.
//
//	offered rate r ──▶ bucket (limit R, burst B) ──▶ delay ──▶ receiver
//
// While r > R the bucket empties in B ÷ (r − R). Until then all passes, afterwards R does.
type flow struct {
	Direction
	tokens   float64
	emptied  float64 // what was forwarded when the device's table was emptied last
	sent     []line  // per generator
	returned []line  // per generator, when it left the device
}

// line is a cumulative number of frames over time, as straight pieces between marks. However often it is read,
// a piece is computed once, from its beginning.
type line []mark

// mark is the number at a moment, and its growth per second up to that moment.
type mark struct {
	instant time.Duration
	total   float64
	slope   float64
}

// grow extends the line to a moment, with a slope per second.
func (l line) grow(until time.Duration, slope float64) line {
	end := len(l) - 1
	if end > 0 && l[end].slope == slope {
		l, end = l[:end], end-1
	}
	return append(l, mark{until, l[end].total + slope*(until-l[end].instant).Seconds(), slope})
}

func (l line) end() float64 { return l[len(l)-1].total }

// whole removes the fraction of a frame at the line's end, as traffic that has stopped consisted of whole frames.
func (l line) whole() {
	end := &l[len(l)-1]
	end.total = float64(int64(end.total + sliver))
}

// sliver is the rounding error within which a fraction counts as a whole frame.
const sliver = 1e-6

func newFlow(d Direction, generators int) *flow {
	f := &flow{Direction: d, sent: make([]line, generators), returned: make([]line, generators)}
	f.tokens = f.burst()
	for g := range generators {
		f.sent[g], f.returned[g] = line{{}}, line{{}}
	}
	return f
}

func (f *flow) burst() float64 { return f.Device.Limit.PerSecond() * f.Device.Burst.Seconds() }

// advance lets each generator send at its rate from one moment to another. Nothing arrives while the link to
// the receivers is cut.
func (f *flow) advance(begin, end time.Duration, rates []float64, cut bool) {
	total := 0.0
	for _, r := range rates {
		total += r
	}
	for begin < end {
		pieceEnd, share := f.piece(begin, f.Device.Trouble.next(begin, end), total)
		share *= f.Device.Trouble.passes(begin)
		if cut {
			share = 0
		}
		for g, r := range rates {
			f.sent[g] = f.sent[g].grow(pieceEnd, r)
			f.returned[g] = f.returned[g].grow(pieceEnd, r*share)
		}
		begin = pieceEnd
	}
}

// piece is how long, at most to the given moment, the device forwards the same share of the offered load, and that
// share.
func (f *flow) piece(begin, end time.Duration, offered float64) (time.Duration, float64) {
	pass := 1 - f.Device.Loss.Float()
	limit, end := f.limit(begin, end)
	if room := float64(f.Device.Table.Room); room > 0 && offered > 0 {
		vacant := room - (f.forwarded() - f.emptied)
		if vacant <= sliver {
			return end, pass * min(1, f.Device.Table.Full.PerSecond()/offered)
		}
		// at the soonest, as if all were forwarded
		end = min(end, begin+max(1, time.Duration(vacant/offered*float64(time.Second))))
	}
	switch {
	case f.Device.Silent || offered == 0:
		f.refill(begin, end, offered)
		return end, 0
	case f.Device.Capacity != nil:
		return end, pass * min(1, f.Device.Capacity(offered)/offered)
	case limit == 0:
		return end, pass
	case offered <= limit:
		f.refill(begin, end, offered)
		return end, pass
	}
	empty := f.tokens / (offered - limit)
	if empty < 1e-9 {
		f.tokens = 0
		return end, pass * limit / offered
	}
	emptyAt := min(end, begin+max(1, time.Duration(empty*float64(time.Second))))
	f.tokens = max(0, f.tokens-(offered-limit)*(emptyAt-begin).Seconds())
	return emptyAt, pass
}

// limit is the device's limit at a moment, in packets per second, and until when it has it, at most to the
// given moment.
func (f *flow) limit(begin, end time.Duration) (limit float64, limitEnd time.Duration) {
	limit = f.Device.Limit.PerSecond()
	for _, l := range f.Device.Later {
		if l.Begin > begin {
			return limit, min(end, l.Begin)
		}
		limit = l.Limit.PerSecond()
	}
	return limit, end
}

// forwarded is what the device forwarded so far.
func (f *flow) forwarded() (total float64) {
	for _, back := range f.returned {
		total += back.end()
	}
	return total
}

// next is the first moment of a trouble after from, and not after to.
func (t Trouble) next(begin, end time.Duration) time.Duration {
	for _, m := range []time.Duration{t.Begin, t.End} {
		if m > begin && m < end {
			end = m
		}
	}
	return end
}

// passes is the share that a trouble lets through.
func (t Trouble) passes(instant time.Duration) float64 {
	if instant < t.Begin || instant >= t.End {
		return 1
	}
	return 1 - t.Loss.Float()
}

func (f *flow) refill(begin, end time.Duration, offered float64) {
	f.tokens = min(f.burst(), f.tokens+(f.Device.Limit.PerSecond()-offered)*(end-begin).Seconds())
}

// arrived is what had come back to a generator by a moment.
func (f *flow) arrived(generator int, instant time.Duration) float64 {
	instant -= f.Device.Delay
	line := f.returned[generator]
	i := sort.Search(len(line), func(i int) bool { return line[i].instant >= instant })
	switch {
	case i == len(line):
		return line.end()
	case i == 0:
		return 0
	}
	a, b := line[i-1], line[i]
	return a.total + (b.total-a.total)*float64(instant-a.instant)/float64(b.instant-a.instant)
}
