package impaired

import "time"

// line decides what becomes of each frame that enters a port, by nothing but the times at which frames came,
// which never go back. It is pure.
type line struct {
	Impairment
	came, forwarded int64
	limiter         limiter
	recent          recent
	owed            float64 // of frames that the knee is to take, what isn't a whole one yet
	warmAt          time.Duration
	flows           map[flow]int64 // how many of it came this far
}

// fate is what becomes of a frame.
type fate struct {
	lost   cause
	leaves time.Duration // on the clock of the times at which frames came
	behind bool          // it leaves behind the next one of its flow
	copies int
}

// cause is the reason why a frame is lost. The zero cause means that it isn't.
type cause int

const (
	forwarded cause = iota
	chosen          // it was the Nth
	bent            // the knee took it
	overload        // it came above the limit, and there is no queue, or no room in it
)

func newLine(i Impairment) *line {
	l := &line{Impairment: i, flows: map[flow]int64{}, limiter: limiter{perSecond: i.Limit, queue: i.Queue,
		wasted: i.Wasted}}
	if l.limiter.saves = i.Saves; i.Saves == 0 {
		l.limiter.saves = defaultSaves
	}
	if i.Knee != nil {
		l.recent = make(recent, max(1, int(float64(i.Limit)*kneeWindow.Seconds())))
	}
	return l
}

// decide is asked once for each frame, in the order in which they came.
func (l *line) decide(arrival time.Duration, f flow) fate {
	l.came++
	if l.came == coldFrames && l.Cold != nil {
		l.warmAt = arrival + l.Cold.Duration
	}
	if l.LoseOneIn > 0 && l.came%l.LoseOneIn == 0 {
		return fate{lost: chosen}
	}
	if l.Knee != nil && l.takenByKnee(arrival) {
		return fate{lost: bent}
	}
	leaves := arrival
	if l.Limit > 0 {
		l.limiter.perSecond = l.limit(arrival)
		wait, passes := l.limiter.pass(arrival)
		if !passes {
			return fate{lost: overload}
		}
		leaves += wait
	}
	l.forwarded++
	decided := fate{leaves: leaves + l.Delay, copies: 1}
	if l.ReorderOneIn > 0 {
		if _, ok := l.flows[f]; !ok {
			// else all flows of a generator that sends them in turn would wait in the same moment
			l.flows[f] = int64(len(l.flows)) % l.ReorderOneIn
		}
		l.flows[f]++
		decided.behind = l.flows[f]%l.ReorderOneIn == 0
	}
	if l.DuplicateOneIn > 0 && l.forwarded%l.DuplicateOneIn == 0 {
		decided.copies = 2
	}
	return decided
}

// limit is the device's at a time.
func (l *line) limit(arrival time.Duration) int64 {
	if l.Cold != nil && (l.came < coldFrames || arrival < l.warmAt) {
		return int64(float64(l.Limit) * l.Cold.Share)
	}
	return l.Limit
}

// kneeWindow is the time, at the limit, over which the knee sees how high the load is. It is longer than a
// generator's batches, and shorter than a tester's settling.
const kneeWindow = 200 * time.Millisecond

// takenByKnee says whether the knee takes this frame. The knee takes exactly its share of the load of the last 200 ms.
func (l *line) takenByKnee(arrival time.Duration) bool {
	load := l.recent.rate(l.came, arrival)
	if l.owed += l.Knee.loss(load / float64(l.Limit)); l.owed < 1 {
		return false
	}
	l.owed--
	return true
}

// recent are the times at which the last frames came.
type recent []time.Duration

// rate records the nth frame (from 1), and returns the rate of the last frames, as many as recent holds. It is 0
// until recent is full.
func (r recent) rate(n int64, arrival time.Duration) float64 {
	place := n % int64(len(r))
	earlier := r[place]
	r[place] = arrival
	if n <= int64(len(r)) || arrival == earlier {
		return 0
	}
	return float64(len(r)) * float64(time.Second) / float64(arrival-earlier)
}

// limiter is a token bucket, or a queue that is emptied at a rate. It counts in billionths of a frame, so that
// nothing is ever rounded.
//
//	level  saves × rate ┬ full: nothing more is saved up
//	                  0 ┼ a bucket is empty; a queue begins
//	     −queue × rate ┴ the queue is full
type limiter struct {
	perSecond    int64
	saves, queue time.Duration
	wasted       float64
	level        int64
	updated      time.Duration
	filled       bool
}

// oneFrame is a frame in the limiter's unit. A limit of one packet/s saves up one frame in a second.
const oneFrame = int64(time.Second)

// pass says whether a frame passes, and how long it waits before.
func (b *limiter) pass(arrival time.Duration) (wait time.Duration, passes bool) {
	full := max(oneFrame, int64(b.saves)*b.perSecond)
	if b.queue > 0 {
		full = oneFrame // it is idle, and serves the next frame at once
	}
	if !b.filled {
		b.level, b.updated, b.filled = full, arrival, true
	}
	// More than a second fills any bucket and empties any queue but very long ones. Those are emptied in steps, so
	// that nothing overflows.
	for ; arrival > b.updated; b.updated += min(arrival-b.updated, time.Second) {
		b.level = min(full, b.level+int64(min(arrival-b.updated, time.Second))*b.perSecond)
	}
	if b.queue > 0 {
		return b.enqueue()
	}
	onArrival := int64(b.wasted * float64(oneFrame))
	b.level = max(-full, b.level-onArrival)
	if b.level < oneFrame-onArrival {
		return 0, false
	}
	b.level -= oneFrame - onArrival
	return 0, true
}

// enqueue lets a frame wait until those before it are through, if that is no longer than the queue.
func (b *limiter) enqueue() (wait time.Duration, passes bool) {
	behind := max(0, oneFrame-b.level) // of frames before this one, and of this one
	if behind > int64(b.queue)*b.perSecond {
		return 0, false
	}
	b.level -= oneFrame
	return time.Duration(behind / b.perSecond), true
}
