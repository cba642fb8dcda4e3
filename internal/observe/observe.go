// Package observe makes something of what is read beside the traffic: series of vital signs, joined to windows by time, and of two readings of a machine who was
// disturbed in between, and by whom. It is pure: whoever drives the generators reads, and no observer ever makes traffic wait.
//
//	driver ── Moment ──▶ Log.Add ─┬─▶ Log.Window: what each series was in a window
//	                              └─▶ Log.Observations: series for the Report, idle before and after
package observe

import (
	"cmp"
	"context"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/processors"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/signs"
)

// Moment is all that was read at one moment, for observers to take theirs from: they ask nobody themselves.
type Moment struct {
	// At is the time since the run started.
	At time.Duration
	// Readings are the generators', in the order of Setup.Generators; nil: they weren't asked.
	Readings []engine.Reading
	// Limited is what a Reference's limit on this machine counted, in the order of Setup.Directions; nil: it wasn't asked, or didn't answer.
	Limited []report.Limiter
	// Asked and Answered are the times between which the limits counted that.
	Asked, Answered time.Duration
	// Device is what the device's node told last; nil: nobody asks one.
	Device *Told
	// Judged says that the device was judged meanwhile, and nobody asked for what takes something from it.
	Judged bool
	// Collected is what the collector told last; nil: nobody collects.
	Collected *Collected

	behind       []time.Duration // by how much each generator's clock is behind the run's
	deviceBehind time.Duration

	collectorBehind time.Duration
}

// timeOf is when it was, in the run's time, at a moment of a generator's clock.
func (m Moment) timeOf(generator int, clock time.Duration) time.Duration {
	return clock + m.behind[generator]
}

// Told is what a machine that somebody else asks, time and again and beside the traffic, told last.
type Told struct {
	// Age is how long ago its answer was heard.
	Age time.Duration
	// Clock is its own clock when it answered, At when it read what follows.
	Clock, At time.Duration
	// Processors are its own. NoProcessors says why there are none.
	Processors   []processors.Processor
	NoProcessors string
	// Signs are what it tells of itself besides.
	Signs []signs.Told
	// Limited is what a Reference's limit counted, in the order of Setup.Directions. NoLimited says why there is nothing of it.
	Limited   []report.Limiter
	NoLimited string
	// Missing says why it tells nothing now, though it may have before; empty: it answers.
	Missing string
}

// Setup is what stays the same for a run.
type Setup struct {
	Generators []string
	// Links are the links that each generator's ports are on, by the ports' numbers.
	Links      []map[int]string
	Directions []plan.Direction
	Whereabouts
}

// Whereabouts say on which machines generators and device are, and who tells of the device's.
type Whereabouts struct {
	// Device is what the device's node told last, where somebody asks it; this returns at once. Nil: nobody does.
	Device func() Told
	// OneMachine says that generators and device are on one machine, of which any of the generators' readings tells. Nothing else says so: a device that nobody asks is
	// missing else, since a generator's machine told as the device's would be a wrong number.
	OneMachine bool
	// Nodes are those that the generators run on, by the generators' names; one that isn't there runs elsewhere. DeviceNode is the device's; empty: it is none of the
	// cluster's. Of one machine they say nothing.
	Nodes      map[string]string
	DeviceNode string
	// Wanted is what generators and the device's node are asked for beside their counters; nil: nothing.
	Wanted *Wanted
	// Refresh asks the device's node at once, and waits for its answer within the context; nil: nobody asks one.
	Refresh func(context.Context)
	// Collector is what the collector told last; this returns at once. Nil: nobody collects.
	Collector func() Collected
}

// Told is what the device's node told last, for a Moment; nil: nobody asks it.
func (w Whereabouts) Told() *Told {
	if w.Device == nil {
		return nil
	}
	return new(w.Device())
}

// mostRefresh is how long an answer may take that somebody waits for between two windows: most of what may pass between these.
const mostRefresh = 150 * time.Millisecond

// RefreshTold has the device's node asked anew, where somebody asks it, and waits a moment for that.
func (w Whereabouts) RefreshTold(ctx context.Context) {
	if w.Refresh == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, mostRefresh)
	defer cancel()
	w.Refresh(ctx)
}

// Moment is one at this time since the run started, with what the device's node and the collector told last.
func (w Whereabouts) Moment(at time.Duration) Moment {
	return Moment{At: at, Device: w.Told(), Collected: w.Collected(), Judged: w.Wanted.Judged()}
}

// Collected is what the collector told last, for a Moment; nil: nobody collects.
func (w Whereabouts) Collected() *Collected {
	if w.Collector == nil {
		return nil
	}
	return new(w.Collector())
}

// value is one series' value at a moment.
type value struct {
	name, of, unit string
	kind           report.VitalKind
	at             time.Duration // in the run's time
	clock          time.Duration // by the clock of whoever read it: the same value told again is of the same
	number         float64
	within         time.Duration // by how much it may have been read earlier or later than that
	step           float64       // by which a coarse counter grows; 0: it is exact
	age            time.Duration // of what is asked for over the network: how old it was when it was told
	stamp          float64       // when it was taken, by the clock of whoever was asked; 0: they don't say
	// source is whose value it is, of several that an observer looks at. Missing says why there is none of it, nor of all others of that source.
	source, missing string
}

// observer takes its values from a moment; with none it says why.
type observer interface {
	read(s Setup, of string, m Moment) (values []value, missing string)
}

// observers are all types; docs/development.md says how one is added.
var observers = map[string]observer{
	plan.ObserveProcessors: processorTimes{},
	plan.ObserveLimiter:    limiter{},
	plan.ObserveInterfaces: deviceOrGenerators{device: machineSigns{signs.Interfaces}},

	signs.Memory: machineSigns{signs.Memory}, signs.Load: machineSigns{signs.Load}, signs.SoftIRQs: machineSigns{signs.SoftIRQs},
	signs.Frequencies: machineSigns{signs.Frequencies}, signs.Temperatures: machineSigns{signs.Temperatures},
}

// observerOf is who takes the values of one of the Plan's observers.
func observerOf(o plan.Observer) (_ observer, known bool) {
	if o.Asks() {
		return asked(o.Name), true
	}
	of, known := observers[o.Type]
	return of, known
}

// Log keeps what a Plan's observers read. It is used by one goroutine.
type Log struct {
	setup     Setup
	each      []*book
	clocks    []clock // the generators'
	device    clock
	collector clock
	rested    time.Duration // since when the counters of traffic stood still after the trial before
}

// clock follows by how much a machine's clock is behind the run's: a reading that is told late seems to be of a later time than it is, and the one that was told soonest
// knows best. What two clocks may drift apart since then is allowed for.
type clock struct {
	behind, since time.Duration
	known         bool
}

// drift is by how much two clocks may go apart, a share of the time: computers' are within 100 millionths of the truth each.
const drift = 5000

func (c *clock) follow(run, machine time.Duration) time.Duration {
	behind := run - machine
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
	series  []*series
	lacks   map[string]string // why a source had nothing at the last moment, by its name
}

// series is a vital sign, and whose it is of those that the observer looks at.
type series struct {
	report.VitalSign
	source string
	clocks []time.Duration // when each sample was taken, by the clock of whoever did
	within []time.Duration // by how much each may be from that
	stamp  float64         // the last sample's, by the clock of whoever was asked; 0: they don't say
}

// NewLog is an empty one.
func NewLog(of []plan.Observer, setup Setup) *Log {
	l := &Log{setup: setup}
	for _, o := range of {
		l.each = append(l.each, &book{plan: o, missing: "nothing was read", lacks: map[string]string{}})
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
	if m.Device != nil && m.Device.Clock != 0 {
		m.deviceBehind = l.device.follow(m.At-m.Device.Age, m.Device.Clock)
	}
	if m.Collected != nil && m.Collected.Clock != 0 {
		m.collectorBehind = l.collector.follow(m.At-m.Collected.Age, m.Collected.Clock)
	}
	for _, b := range l.each {
		o, known := observerOf(b.plan)
		if !known {
			b.missing = "this linerate knows no observer of type " + b.plan.Type
			continue
		}
		values, missing := o.read(l.setup, b.plan.Of, m)
		if len(values) == 0 && missing == "" {
			continue // those that it looks at weren't asked
		}
		if b.missing = missing; missing != "" {
			continue
		}
		clear(b.lacks)
		for _, v := range values {
			b.add(v)
		}
	}
}

func (b *book) add(v value) {
	if v.missing != "" {
		b.lacks[v.source] = v.missing
	}
	s := b.find(v.name, v.of)
	if s == nil && b.plan.Asks() && len(b.series) >= mostAsked {
		return
	}
	if s == nil {
		s = &series{VitalSign: report.VitalSign{Name: v.name, Of: v.of, Unit: v.unit, Kind: v.kind}, source: v.source}
		b.series = append(b.series, s)
	}
	at := plan.Duration(v.at)
	if n := len(s.Samples); v.missing != "" || n > 0 && (at <= s.Samples[n-1].At || v.clock <= s.clocks[n-1] || v.stamp != 0 && v.stamp == s.stamp) {
		return
	}
	s.Samples, s.Step, s.stamp = append(s.Samples, report.VitalSample{At: at, Value: v.number, Age: plan.Duration(v.age)}), v.step, v.stamp
	s.clocks, s.within = append(s.clocks, v.clock), append(s.within, v.within)
}

func (b *book) find(name, of string) *series {
	for _, s := range b.series {
		if s.Name == name && s.Of == of {
			return s
		}
	}
	return nil
}

// lack is why a series has nothing new; empty: it has.
func (b *book) lack(s *series) string {
	return cmp.Or(b.missing, b.lacks[s.source])
}

// Idle keeps what each series was between two times without traffic: before it, or after it. Only what was read in between counts.
func (l *Log) Idle(from, to time.Duration, after bool) {
	for _, b := range l.each {
		for _, s := range b.series {
			was := s.idle(from, to)
			if b.plan.Asks() {
				was = s.idleAsked(b.plan, from, to, after)
			}
			if after {
				s.IdleAfter = was
			} else {
				s.IdleBefore = was
			}
		}
	}
}

// Window is what each series was in a window; of an observer that has none, why.
func (l *Log) Window(from, to time.Duration) []report.Observed { return l.window(from, to, 0) }

// Trial is Window of a trial that was sent from one time to another, before and after which counters of traffic stood still; since still they do again.
func (l *Log) Trial(from, to, still time.Duration) []report.Observed {
	defer func() { l.rested = still }()
	return l.window(from, to, still)
}

func (l *Log) window(from, to, still time.Duration) []report.Observed {
	var all []report.Observed
	for _, b := range l.each {
		for _, s := range b.series {
			var was report.Observed
			switch {
			case signs.Kinds[b.plan.Type].Intrusive:
				was = s.afterwards(from, to, still > 0)
			case b.plan.Asks():
				was = s.steady(b.plan, from, to)
			case still > 0 && b.ofTraffic(s):
				was = s.between(l.rested, from, to, still)
			default:
				was = s.join(from, to, reachOf(from, to))
			}
			was.Observer = b.plan.Name
			if lack := b.lack(s); was.Missing != "" && lack != "" {
				was.Missing += ": " + lack
			}
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
			if len(s.Samples) == 0 {
				s.Missing = b.lack(s)
			}
			o.Series = append(o.Series, s.VitalSign)
		}
		if len(o.Series) == 0 {
			o.Missing = b.missing
		}
		all = append(all, o)
	}
	return all
}
