package collect

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// A counter is asked for again and again, until its number changes. Sources keep a number for a while (net-snmp
// for 3 s), and only a change says when it was taken. Two questions are at least leastApart apart, and
// leastPatient times as long as an answer takes. At most mostFit of them fit into a period.
const (
	leastApart   = 100 * time.Millisecond
	leastPatient = 4
	mostFit      = 50
)

// longestPeriod is how far apart readings of counters are at most, whatever the observer's period, as 32 bits
// may begin anew in less than a minute.
const longestPeriod = 5 * time.Second

// question is one that was answered.
type question struct {
	asked, answered time.Duration // by the collector's clock
	reading         reading
}

// asker asks one source, period by period, and remembers its newest answer.
type asker struct {
	ask   func(context.Context) (reading, error)
	clock func() time.Duration
	o     plan.Observer

	newest *question // nil before the first answer
	epoch  int       // how often counters began anew
	anew   string    // why they did last
}

// result is what a period's questions gave.
type result struct {
	question
	err error
	// earliest and latest are the times between which the source took the counters' numbers. Before earliest it
	// reported older ones. Both are 0 if that isn't known.
	earliest, latest time.Duration
}

// poll asks until it is known when the numbers were taken, and until the next period at most. It calls first
// with the first answer ever.
func (a *asker) poll(ctx context.Context, first func(result)) result {
	began := a.clock()
	var found result
	grown := false
	for fine := false; ; fine = true {
		previous := a.newest
		current, err := a.question(ctx)
		if err != nil {
			return result{question: current, err: err}
		}
		found.question = current
		if !current.reading.counts() {
			return found
		}
		if previous == nil {
			first(found)
		} else {
			a.beginAnew(previous.reading, current.reading)
			grew := current.reading.grewSince(previous.reading)
			if grew || !grown && current.reading.pulse != previous.reading.pulse {
				found.earliest, found.latest = previous.asked, current.answered
			}
			if grew && fine {
				return found
			}
			grown = grown || grew
		}
		next := current.answered + max(leastApart, a.period()/mostFit, leastPatient*(current.answered-current.asked))
		if a.o.SNMP == nil || next > began+a.period() || bounded.Pause(ctx, next-a.clock()) != nil {
			return found
		}
	}
}

// question asks once.
func (a *asker) question(ctx context.Context) (q question, err error) {
	q.asked = a.clock()
	q.reading, err = a.ask(ctx)
	q.answered = a.clock()
	if err == nil {
		a.newest = &q
	}
	return q, err
}

// beginAnew notes that counters can't be compared with the reading before.
func (a *asker) beginAnew(previous, current reading) {
	reason := current.anew
	for _, n := range current.numbers {
		if old, found := previous.number(n); found && n.Kind == report.Counter && n.Value < old.Value && reason == "" {
			reason = wentBack
		}
	}
	if reason != "" {
		a.epoch, a.anew = a.epoch+1, reason
	}
}

// period is the time between two readings.
func (a *asker) period() time.Duration {
	if a.newest != nil && a.newest.reading.counts() {
		return min(a.o.Interval.Std(), longestPeriod)
	}
	return a.o.Interval.Std()
}

// answer is the observer's answer of a period.
func (a *asker) answer(t result) observe.Answer {
	took := t.answered - t.asked
	answer := observe.Answer{Observer: a.o.Name, At: t.asked + took/2, Took: took}
	if t.err != nil {
		answer.Missing = t.err.Error()
		return answer
	}
	answer.Numbers = slices.Clone(t.reading.numbers)
	for i := range answer.Numbers {
		n := &answer.Numbers[i]
		if n.Kind == report.Counter {
			n.Earliest, n.Latest, n.Epoch, n.Anew = t.earliest, t.latest, a.epoch, a.anew
		}
		// JSON has no such number, so one of them would keep all others from the runner
		if notFinite(n.Value) || notFinite(n.Stamp) {
			n.Value, n.Stamp, n.Missing = 0, 0,
				cmp.Or(n.Missing, "what it tells, or of when it is, is no number (NaN or infinite)")
		}
	}
	return answer
}

func notFinite(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) }
