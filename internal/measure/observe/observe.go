package observe

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/signs"
)

// value is one series' value at a moment.
type value struct {
	name, part, unit string
	kind             report.VitalKind
	instant          time.Duration // in the run's time
	clock            time.Duration // by the reader's own clock, and the same for a value that is reported twice
	number           float64
	doubt            time.Duration // by how much earlier or later than clock the value may have been read
	step             float64       // by which a coarse counter grows, or 0 for an exact one
	age              time.Duration // of a number from the network, how old it was when it was reported
	// when it was taken, by the clock of the server that was asked, or 0 where the server doesn't say
	stamp    float64
	question time.Duration // of a number from the network, when it was asked for, by the collector's clock
	// of a counter from the network, that the time of its number is known, apart from the time of the answer
	dated bool
	epoch int    // of a counter from the network, how often the counters began anew,
	anew  string // and why it did last
	// source is the machine that the value is from, where an observer looks at several. missing says why the value
	// has no number, nor any other value of that source.
	source, missing string
}

// observer takes its values from a moment. If there are none, missing says why.
type observer interface {
	read(s Setup, kind string, m Moment) (values []value, missing string)
}

// observers are all types. docs/development.md says how one is added.
var observers = map[string]observer{
	plan.ObserveProcessors: processorTimes{},
	plan.ObserveLimiter:    limiter{},
	plan.ObserveInterfaces: deviceOrGenerators{device: machineSigns{signs.Interfaces}},

	signs.Memory: machineSigns{signs.Memory}, signs.Load: machineSigns{signs.Load},
	signs.SoftIRQs:    machineSigns{signs.SoftIRQs},
	signs.Frequencies: machineSigns{signs.Frequencies}, signs.Temperatures: machineSigns{signs.Temperatures},
}

// observerOf finds the implementation of one of the Plan's observers.
func observerOf(o plan.Observer) (_ observer, ok bool) {
	if o.Asks() {
		return asked(o.Name), true
	}
	implementation, ok := observers[o.Type]
	return implementation, ok
}

// Log keeps what a Plan's observers read. It is used by one goroutine.
type Log struct {
	setup     Setup
	books     []*book // one for each observer
	clocks    []clock // the generators'
	device    clock
	collector clock
	rested    time.Duration // when the traffic's counters stopped growing after the trial before
}

// NewLog is an empty Log.
func NewLog(observers []plan.Observer, setup Setup) *Log {
	l := &Log{setup: setup}
	for _, o := range observers {
		l.books = append(l.books, &book{plan: o, missing: "nothing was read", lacks: map[string]string{}})
	}
	return l
}

// Add takes each observer's values from a moment. A value that was already added adds nothing, as some signs are
// read less often than moments are made.
func (l *Log) Add(m Moment) {
	if len(l.books) == 0 {
		return // Add is called fifty times a second, and most tests have no observers
	}
	for len(l.clocks) < len(m.Readings) {
		l.clocks = append(l.clocks, clock{})
	}
	m.behind = make([]time.Duration, len(m.Readings))
	for g, reading := range m.Readings {
		m.behind[g] = l.clocks[g].follow(m.At, reading.Instant)
	}
	if m.Device != nil && m.Device.Clock != 0 {
		m.deviceBehind = l.device.follow(m.At-m.Device.Age, m.Device.Clock)
	}
	if m.Collected != nil && m.Collected.Clock != 0 {
		m.collectorBehind = l.collector.follow(m.At-m.Collected.Age, m.Collected.Clock)
	}
	for _, b := range l.books {
		o, ok := observerOf(b.plan)
		if !ok {
			b.missing = "this linerate knows no observer of type " + b.plan.Type
			continue
		}
		values, missing := o.read(l.setup, b.plan.Observed, m)
		if len(values) == 0 && missing == "" {
			continue // the observer's sources weren't asked
		}
		b.heard = b.heard || b.answered(m)
		if b.missing = missing; missing != "" {
			continue
		}
		clear(b.lacks)
		for _, v := range values {
			b.add(v)
		}
	}
}

// Unread says which of the observers that ask a source had no number in the last answer, and why. It is empty where
// all had one, or there was no answer yet.
func (l *Log) Unread() string {
	var names []string
	for _, b := range l.books {
		if b.plan.Asks() && b.heard && b.missing != "" {
			names = append(names, fmt.Sprintf("observer %s reads nothing: %s", b.plan.Name, b.missing))
		}
	}
	return strings.Join(names, "; ")
}

// Idle keeps each series' level between two times without traffic, before all traffic or after it. Only samples in
// between count.
func (l *Log) Idle(start, end time.Duration, afterTraffic bool) {
	for _, b := range l.books {
		for _, s := range b.series {
			idle := s.idle(start, end)
			if b.plan.Asks() {
				idle = s.idleAsked(b.plan, start, end, afterTraffic)
			}
			if afterTraffic {
				s.IdleAfter = idle
			} else {
				s.IdleBefore = idle
			}
		}
	}
}

// Window is each series' value in a window. For an observer without series it says why there is none.
func (l *Log) Window(start, end time.Duration) []report.Observed { return l.window(start, end, 0) }

// Trial is Window for a trial that was sent between two times, where the traffic's counters stand still before and
// after. rest is the time since which they stand still again.
func (l *Log) Trial(start, end, rest time.Duration) []report.Observed {
	defer func() { l.rested = rest }()
	return l.window(start, end, rest)
}

func (l *Log) window(start, end, rest time.Duration) []report.Observed {
	var observed []report.Observed
	for _, b := range l.books {
		for _, s := range b.series {
			var o report.Observed
			switch {
			case signs.Kinds[b.plan.Type].Intrusive:
				o = s.afterwards(start, end, rest > 0)
			case b.plan.Asks():
				o = s.steady(b.plan, start, end)
			case rest > 0 && b.ofTraffic(s):
				o = s.between(l.rested, start, end, rest)
			default:
				o = s.join(start, end, reachOf(start, end))
			}
			o.Observer = b.plan.Name
			if lack := b.lack(s); o.Missing != "" && lack != "" {
				o.Missing += ": " + lack
			}
			observed = append(observed, o)
		}
		if len(b.series) == 0 {
			observed = append(observed, report.Observed{Observer: b.plan.Name, Missing: b.missing})
		}
	}
	return observed
}

// Complete completes windows at the end of a run. It adds counters that weren't read in time at an edge, or whose
// numbers were told after the window, and says which numbers may have been old.
func (l *Log) Complete(windows []report.Window) {
	for i := range windows {
		l.askedLater(&windows[i])
	}
	for _, w := range windows {
		if w.Phase == report.Trial || w.Phase == report.Bursting || w.Phase.AfterAnswer() {
			continue // these end in silence, and a reading after one is of no load
		}
		start := w.Start.Std()
		for i, o := range w.Observed {
			s := l.counter(o)
			if o.Missing == "" || s == nil {
				continue
			}
			if value, ok := s.bridged(start, start+w.Duration.Std()); ok {
				value.Observer = o.Observer
				w.Observed[i] = value
			}
		}
	}
}

// askedLater completes the series from the network in a window, by all later answers.
func (l *Log) askedLater(w *report.Window) {
	start, end := w.Start.Std(), w.Start.Std()+w.Duration.Std()
	changed := false
	for i := range w.Observed {
		o := &w.Observed[i]
		for _, b := range l.books {
			s := b.find(o.Series, o.Subject)
			if b.plan.Name != o.Observer || !b.plan.Asks() || s == nil {
				continue
			}
			changed = true
			doubt := s.stood(b.plan, start, end)
			if s.Kind == report.Counter {
				if later := s.steady(b.plan, start, end); later.Missing == "" || o.Missing == "" {
					later.Observer = o.Observer
					*o = later
				}
				doubt /= (end - start).Seconds()
			}
			if o.Missing == "" {
				o.Unsure = max(o.Unsure, doubt)
			}
		}
	}
	if changed {
		w.Observed = slices.DeleteFunc(w.Observed, derived)
		w.Observed = append(w.Observed, Derived(w)...)
	}
}

// counter is the counter that a window's value is of. It is nil where the value is of no counter, or of one that is
// read by itself.
func (l *Log) counter(o report.Observed) *series {
	for _, b := range l.books {
		if b.plan.Name == o.Observer && !b.plan.Asks() && !signs.Kinds[b.plan.Type].Intrusive {
			if s := b.find(o.Series, o.Subject); s != nil && s.Kind == report.Counter {
				return s
			}
		}
	}
	return nil
}

// Observations are all series until now.
func (l *Log) Observations() []report.Observation {
	var observations []report.Observation
	for _, b := range l.books {
		o := report.Observation{Observer: b.plan.Name, Observed: b.plan.Observed, Type: b.plan.Type}
		for _, s := range b.series {
			if len(s.Samples) == 0 {
				s.Missing = b.lack(s)
			}
			o.Series = append(o.Series, s.VitalSign)
		}
		if len(o.Series) == 0 {
			o.Missing = b.missing
		}
		observations = append(observations, o)
	}
	return observations
}
