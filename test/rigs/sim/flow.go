package sim

import (
	"sort"
	"time"
)

// flow is one direction's fluid.
//
//	offered rate r ──▶ bucket (limit R, burst B) ──▶ delay ──▶ receiver
//
// While r > R the bucket empties in B ÷ (r − R); until then all passes, afterwards R does.
type flow struct {
	Direction
	tokens  float64
	emptied float64 // what was forwarded when the device's table was emptied last
	sent    []line  // per generator
	back    []line  // per generator, when it left the device
}

// line is a cumulative number of frames over time, as straight pieces between marks. However often it is read, a piece is computed once, from its
// beginning.
type line []mark

// mark is the number at a moment, and its growth per second up to that moment.
type mark struct {
	at    time.Duration
	total float64
	slope float64
}

// grow extends the line to a moment, with a slope per second.
func (l line) grow(until time.Duration, slope float64) line {
	end := len(l) - 1
	if end > 0 && l[end].slope == slope {
		l, end = l[:end], end-1
	}
	return append(l, mark{until, l[end].total + slope*(until-l[end].at).Seconds(), slope})
}

func (l line) end() float64 { return l[len(l)-1].total }

// whole removes the fraction of a frame at the line's end: traffic that has stopped consisted of whole frames.
func (l line) whole() {
	last := &l[len(l)-1]
	last.total = float64(int64(last.total + sliver))
}

// sliver is the rounding error within which a fraction counts as a whole frame.
const sliver = 1e-6

func newFlow(d Direction, generators int) *flow {
	f := &flow{Direction: d, sent: make([]line, generators), back: make([]line, generators)}
	f.tokens = f.burst()
	for g := range generators {
		f.sent[g], f.back[g] = line{{}}, line{{}}
	}
	return f
}

func (f *flow) burst() float64 { return f.Device.Limit.PerSecond() * f.Device.Burst.Seconds() }

// advance lets each generator send at its rate from one moment to another. Nothing arrives while the link to the receivers is cut.
func (f *flow) advance(from, to time.Duration, rates []float64, cut bool) {
	total := 0.0
	for _, r := range rates {
		total += r
	}
	for from < to {
		until, share := f.piece(from, f.Device.Trouble.next(from, to), total)
		share *= f.Device.Trouble.passes(from)
		if cut {
			share = 0
		}
		for g, r := range rates {
			f.sent[g] = f.sent[g].grow(until, r)
			f.back[g] = f.back[g].grow(until, r*share)
		}
		from = until
	}
}

// piece is for how long, at most to the given moment, the device forwards the same share of the offered load, and that share.
func (f *flow) piece(from, to time.Duration, offered float64) (time.Duration, float64) {
	pass := 1 - f.Device.Loss.Float()
	limit, to := f.limit(from, to)
	if room := float64(f.Device.Table.Room); room > 0 && offered > 0 {
		left := room - (f.forwarded() - f.emptied)
		if left <= sliver {
			return to, pass * min(1, f.Device.Table.Full.PerSecond()/offered)
		}
		to = min(to, from+max(1, time.Duration(left/offered*float64(time.Second)))) // at the soonest: as if all were forwarded
	}
	switch {
	case f.Device.Silent || offered == 0:
		f.refill(from, to, offered)
		return to, 0
	case f.Device.Capacity != nil:
		return to, pass * min(1, f.Device.Capacity(offered)/offered)
	case limit == 0:
		return to, pass
	case offered <= limit:
		f.refill(from, to, offered)
		return to, pass
	}
	empty := f.tokens / (offered - limit)
	if empty < 1e-9 {
		f.tokens = 0
		return to, pass * limit / offered
	}
	until := min(to, from+max(1, time.Duration(empty*float64(time.Second))))
	f.tokens = max(0, f.tokens-(offered-limit)*(until-from).Seconds())
	return until, pass
}

// limit is the device's limit at a moment, in packets per second, and until when it has it, at most to the given moment.
func (f *flow) limit(from, to time.Duration) (limit float64, until time.Duration) {
	limit = f.Device.Limit.PerSecond()
	for _, l := range f.Device.Later {
		if l.From > from {
			return limit, min(to, l.From)
		}
		limit = l.Limit.PerSecond()
	}
	return limit, to
}

// forwarded is what the device forwarded so far.
func (f *flow) forwarded() (total float64) {
	for _, back := range f.back {
		total += back.end()
	}
	return total
}

// next is the first moment of a trouble after from, and not after to.
func (t Trouble) next(from, to time.Duration) time.Duration {
	for _, m := range []time.Duration{t.From, t.To} {
		if m > from && m < to {
			to = m
		}
	}
	return to
}

// passes is the share that a trouble lets through.
func (t Trouble) passes(at time.Duration) float64 {
	if at < t.From || at >= t.To {
		return 1
	}
	return 1 - t.Loss.Float()
}

func (f *flow) refill(from, to time.Duration, offered float64) {
	f.tokens = min(f.burst(), f.tokens+(f.Device.Limit.PerSecond()-offered)*(to-from).Seconds())
}

// arrived is what had come back to a generator by a moment.
func (f *flow) arrived(generator int, at time.Duration) float64 {
	at -= f.Device.Delay
	line := f.back[generator]
	i := sort.Search(len(line), func(i int) bool { return line[i].at >= at })
	switch {
	case i == len(line):
		return line.end()
	case i == 0:
		return 0
	}
	a, b := line[i-1], line[i]
	return a.total + (b.total-a.total)*float64(at-a.at)/float64(b.at-a.at)
}
