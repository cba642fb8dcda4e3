package frames

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// A trial that has lost more than it may lose in all is decided, however much longer it lasts: it is ended, as the rest of it would tell nothing.
//
//	sent      ├───────────────┤ flight ├ now          lost for sure: what was sent until then, and has neither come back nor been
//	came back ├─────────── · · · · · · ┤              dropped by the generator itself until now
//
// How long frames are on their way nobody knows before they are back. So the guess is proven by the drain: where it shows that less was lost, the trial says nothing, and the guess grows.
const (
	flightAtFirst = 200 * time.Millisecond
	flightAtMost  = drainBound
)

// loss watches what a trial loses while it goes on.
type loss struct {
	run     *run
	step    procedure.Step
	before  []engine.Reading
	earlier []sentUntil // by time
	early   bool        // the trial was ended by this
}

// sentUntil is what each direction had sent by a moment.
type sentUntil struct {
	at   time.Time
	sent []int64
}

// lossOf watches a trial's loss; nil: the step isn't to be ended early.
func (r *run) lossOf(step procedure.Step, before []engine.Reading) *loss {
	if step.StopAbove == nil {
		return nil
	}
	return &loss{run: r, step: step, before: before}
}

// enough is what ends the trial early; nil: nothing does.
func (l *loss) enough() func([]engine.Reading) bool {
	if l == nil {
		return nil
	}
	return l.add
}

// ended says that the trial was ended early.
func (l *loss) ended() bool { return l != nil && l.early }

// add takes a reading, and says whether the trial is decided by all that is known to be lost. The reading's own moment is taken when it is over, which is late for what was sent, and so on the safe side.
func (l *loss) add(readings []engine.Reading) bool {
	flight := max(l.run.drive.flight, flightAtFirst)
	now := sentUntil{at: time.Now()}
	for _, d := range l.run.setup.Directions {
		now.sent = append(now.sent, between(d, l.before, readings).Sent.Packets)
	}
	l.earlier = append(l.earlier, now)
	landed := -1 // the last moment whose frames are no longer on their way
	for i, e := range l.earlier {
		if now.at.Sub(e.at) >= flight {
			landed = i
		}
	}
	if landed < 0 {
		return false
	}
	l.early = l.lostMore(readings, l.earlier[landed].sent)
	l.earlier = l.earlier[landed:]
	return l.early
}

// decided says, when the counters stand still, that as much was lost as ended the trial.
func (l *loss) decided(readings []engine.Reading) bool { return l.lostMore(readings, nil) }

// lostMore says that in some direction that is judged more was lost of what was sent, or of what was sent earlier, than the step allows of the frames that were planned.
func (l *loss) lostMore(readings []engine.Reading, sentEarlier []int64) bool {
	for i, d := range l.run.setup.Directions {
		if l.step.Varied != "" && l.step.Varied != d.From+"→"+d.To {
			continue
		}
		t := between(d, l.before, readings)
		sent := t.Sent.Packets
		if sentEarlier != nil {
			if sent = sentEarlier[i]; t.Returned.Packets == 0 {
				continue // perhaps none is back yet, and then nothing shows the drain that any is on its way
			}
		}
		planned := int64(l.run.drive.intended[i] * units.PacketRate(l.step.Judge.Milliseconds()) / (1000 * units.PacketPerSecond))
		if lost := sent - t.Returned.Packets - t.ReceiveErrors - t.SendDrops; lost > 0 && units.RatioOf(lost, planned) > *l.step.StopAbove {
			return true
		}
	}
	return false
}

// sending is for how long frames were sent, of a trial that was ended early: at the rate that two readings in its midst show, as nobody knows to the millisecond when it began and was stopped.
func (l *loss) sending(last []engine.Reading) time.Duration {
	first, latest := l.earlier[0], l.earlier[len(l.earlier)-1]
	var before, after, all int64
	for i, d := range l.run.setup.Directions {
		before, after = before+first.sent[i], after+latest.sent[i]
		all += between(d, l.before, last).Sent.Packets
	}
	span := latest.at.Sub(first.at)
	if after <= before || span <= 0 || all <= 0 {
		return l.step.Judge
	}
	return min(l.step.Judge, time.Duration(float64(span)*float64(all)/float64(after-before)))
}

// tooEarly is why a trial says nothing that was ended early and had lost less than that by the end: frames are on their way for longer than was thought, and the next trial waits for longer.
func (r *run) tooEarly() string {
	was := max(r.drive.flight, flightAtFirst)
	r.drive.flight = min(2*was, flightAtMost)
	return fmt.Sprintf("it was ended early for frames that came back later than %s after they were sent; from now on frames count as lost after %s", was, r.drive.flight)
}
