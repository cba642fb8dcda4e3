// Package observe makes something of what is read beside the traffic: series of vital signs, joined to windows by time, and of two readings of a machine who was
// disturbed in between, and by whom. It is pure: whoever drives the generators reads, and no observer ever makes traffic wait.
//
//	driver ── Moment ──▶ Log.Add ─┬─▶ Log.Window: what each series was in a window
//	                              └─▶ Log.Observations: series for the Report, idle before and after
package observe

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

// Moment is all that was read at one moment, for observers to take theirs from: they ask nobody themselves.
type Moment struct {
	// At is the time since the run started.
	At time.Duration
	// Readings are the generators', in the order of Setup.Generators.
	Readings []engine.Reading
	// Limited is what a Reference's limit counted, in the order of Setup.Directions; nil: it wasn't asked, or didn't answer.
	Limited []report.Limiter

	behind []time.Duration // by how much each generator's clock is behind the run's
}

// timeOf is when it was, in the run's time, at a moment of a generator's clock.
func (m Moment) timeOf(generator int, clock time.Duration) time.Duration {
	return clock + m.behind[generator]
}

// Setup is what stays the same for a run.
type Setup struct {
	Generators []string
	Directions []plan.Direction
}

// value is one series' value at a moment.
type value struct {
	name, of, unit string
	kind           report.VitalKind
	at             time.Duration
	number         float64
	step           float64 // by which a coarse counter grows; 0: it is exact
}

// observer takes its values from a moment; with none it says why.
type observer interface {
	read(s Setup, m Moment) (values []value, missing string)
}

// observers are all types; docs/development.md says how one is added.
var observers = map[string]observer{
	plan.ObserveProcessors: processorTimes{},
	plan.ObserveLimiter:    limiter{},
}

// Log keeps what a Plan's observers read. It is used by one goroutine.
type Log struct {
	setup  Setup
	each   []*book
	clocks []clock
}

// clock follows by how much a generator's clock is behind the run's: a reading that is told late seems to be of a later time than it is, and the one that was told soonest
// knows best. What two clocks may drift apart since then is allowed for.
type clock struct {
	behind, since time.Duration
	known         bool
}

// drift is by how much two clocks may go apart, a share of the time: computers' are within 100 millionths of the truth each.
const drift = 5000

func (c *clock) follow(run, generator time.Duration) time.Duration {
	behind := run - generator
	if c.known {
		behind = min(behind, c.behind+(run-c.since)/drift)
	}
	c.behind, c.since, c.known = behind, run, true
	return behind
}

// book is what one observer read.
type book struct {
	plan    plan.Observer
	missing string // why the last moment had nothing
	series  []*report.VitalSign
}

// NewLog is an empty one.
func NewLog(of []plan.Observer, setup Setup) *Log {
	l := &Log{setup: setup}
	for _, o := range of {
		l.each = append(l.each, &book{plan: o, missing: "nothing was read"})
	}
	return l
}

// Add takes each observer's values from a moment. One that says the same as before, as it was read less often, adds nothing.
func (l *Log) Add(m Moment) {
	if len(l.each) == 0 {
		return // it is called fifty times a second, and most tests have no observers
	}
	for len(l.clocks) < len(m.Readings) {
		l.clocks = append(l.clocks, clock{})
	}
	m.behind = make([]time.Duration, len(m.Readings))
	for g, reading := range m.Readings {
		m.behind[g] = l.clocks[g].follow(m.At, reading.At)
	}
	for _, b := range l.each {
		o, known := observers[b.plan.Type]
		if !known {
			b.missing = "this linerate knows no observer of type " + b.plan.Type
			continue
		}
		var values []value
		if values, b.missing = o.read(l.setup, m); b.missing != "" {
			continue
		}
		for _, v := range values {
			b.add(v)
		}
	}
}

func (b *book) add(v value) {
	s := b.find(v.name, v.of)
	if s == nil {
		s = &report.VitalSign{Name: v.name, Of: v.of, Unit: v.unit, Kind: v.kind, Step: v.step}
		b.series = append(b.series, s)
	}
	at := plan.Duration(v.at)
	if n := len(s.Samples); n > 0 && at <= s.Samples[n-1].At {
		return
	}
	s.Samples = append(s.Samples, report.VitalSample{At: at, Value: v.number})
}

func (b *book) find(name, of string) *report.VitalSign {
	for _, s := range b.series {
		if s.Name == name && s.Of == of {
			return s
		}
	}
	return nil
}

// Idle keeps what each series was between two times without traffic: before it, or after it. Only what was read in between counts.
func (l *Log) Idle(from, to time.Duration, after bool) {
	for _, b := range l.each {
		for _, s := range b.series {
			quiet := *s
			quiet.Samples = slices.DeleteFunc(slices.Clone(s.Samples), func(v report.VitalSample) bool { return v.At.Std() < from || v.At.Std() > to })
			was := join(quiet, from, to, mostReach) // none of them is of another time
			if after {
				s.IdleAfter = was.Mean
			} else {
				s.IdleBefore = was.Mean
			}
		}
	}
}

// Window is what each series was in a window; of an observer that has none, why.
func (l *Log) Window(from, to time.Duration) []report.Observed {
	var all []report.Observed
	for _, b := range l.each {
		for _, s := range b.series {
			was := join(*s, from, to, reachOf(from, to))
			was.Observer = b.plan.Name
			all = append(all, was)
		}
		if len(b.series) == 0 {
			all = append(all, report.Observed{Observer: b.plan.Name, Missing: b.missing})
		}
	}
	return all
}

// Observations are all series, as they stand.
func (l *Log) Observations() []report.Observation {
	var all []report.Observation
	for _, b := range l.each {
		o := report.Observation{Observer: b.plan.Name, Of: b.plan.Of, Type: b.plan.Type}
		for _, s := range b.series {
			o.Series = append(o.Series, *s)
		}
		if len(o.Series) == 0 {
			o.Missing = b.missing
		}
		all = append(all, o)
	}
	return all
}
