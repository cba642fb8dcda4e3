package observe

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/signs"
)

// Moment is all that was read at one moment. Observers take their values from a Moment, and ask nobody themselves.
type Moment struct {
	// At is the time since the run started.
	At time.Duration
	// Readings are the generators', in the order of Setup.Generators. They are nil where generators weren't asked.
	Readings []engine.Reading
	// Limited is what a Reference's limit on this machine counted, in the order of Setup.Directions. It is nil
	// where the limit wasn't asked, or didn't answer.
	Limited []report.Limiter
	// Asked and Answered are the times between which the limits counted.
	Asked, Answered time.Duration
	// Device is the newest reading of the device's node. It is nil where nobody asks that node.
	Device *MachineReading
	// Collected is the collector's newest answer. It is nil where there is no collector.
	Collected *Collected

	behind       []time.Duration // by how much each generator's clock is behind the run's
	deviceBehind time.Duration

	collectorBehind time.Duration
}

// timeOf is the time since the run started at which a generator's clock showed this.
func (m Moment) timeOf(generator int, clock time.Duration) time.Duration {
	return clock + m.behind[generator]
}

// MachineReading is the newest answer of a machine that is asked over the network again and again while traffic
// runs.
type MachineReading struct {
	// Age is how long ago the answer arrived.
	Age time.Duration
	// Clock is the machine's own clock when it answered. At is the same clock when it read what follows.
	Clock, At time.Duration
	// Processors are the machine's. NoProcessors says why the answer has none.
	Processors   []machine.Processor
	NoProcessors string
	// Signs are the machine's other vital signs, of the types that it was Asked for.
	Signs []signs.Reading
	Asked []string
	// Limited is what a Reference's limit counted, in the order of Setup.Directions. NoLimited says why the answer
	// lacks it.
	Limited   []report.Limiter
	NoLimited string
	// Missing says why the machine doesn't answer now, though it may have before. It is empty while the machine
	// answers.
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

// Whereabouts say on which machines generators and device run, and who reads the device's.
type Whereabouts struct {
	// Device returns the newest reading of the device's node, without waiting. It is nil where nobody asks that
	// node.
	Device func() MachineReading
	// OneMachine says that generators and device are on one machine, so any generator's readings are the device's,
	// too. The caller must say so. Otherwise a device that nobody asks counts as missing, since a generator's
	// reading shown as the device's would be a wrong number.
	OneMachine bool
	// Nodes are the cluster's nodes that the generators run on, by the generators' names. A generator without an
	// entry runs outside of the cluster. DeviceNode is the device's, and empty for a device outside of the cluster.
	// Both are empty with OneMachine.
	Nodes      map[string]string
	DeviceNode string
	// Wanted are the vital signs that generators and the device's node are asked for beside their counters, or nil
	// for none.
	Wanted *Wanted
	// Refresh asks the device's node at once, and waits for its answer until the context ends. It is nil where
	// nobody asks that node.
	Refresh func(context.Context)
	// Collector returns the collector's newest answer, without waiting. It is nil where there is no collector.
	Collector func() Collected
}

// DeviceReading is the newest reading of the device's node, for a Moment. It is nil where nobody asks that node.
func (w Whereabouts) DeviceReading() *MachineReading {
	if w.Device == nil {
		return nil
	}
	return new(w.Device())
}

// mostRefresh bounds the wait for an answer between two windows. It is most of the time that may pass between them.
const mostRefresh = 150 * time.Millisecond

// RefreshDevice asks the device's node anew, if the node is asked at all, and waits for the answer, mostRefresh at
// most.
func (w Whereabouts) RefreshDevice(ctx context.Context) {
	if w.Refresh == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, mostRefresh)
	defer cancel()
	w.Refresh(ctx)
}

// Moment is the Moment at this time since the run started, with the newest readings of the device's node and the
// collector.
func (w Whereabouts) Moment(moment time.Duration) Moment {
	return Moment{At: moment, Device: w.DeviceReading(), Collected: w.Collected()}
}

// Collected is the collector's newest answer, for a Moment. It is nil where there is no collector.
func (w Whereabouts) Collected() *Collected {
	if w.Collector == nil {
		return nil
	}
	return new(w.Collector())
}

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

// clock follows by how much a machine's clock is behind the run's. A reading that arrives late seems to be of a
// later time than it is, so the one that arrived soonest counts. An allowance covers the drift of the clocks since
// then.
type clock struct {
	behind, reference time.Duration
	ok                bool
}

// drift is by how much two clocks may go apart, as a share of the time. Computers' clocks are within 100 millionths
// of the truth each.
const drift = 5000

func (c *clock) follow(run, machine time.Duration) time.Duration {
	behind := run - machine
	if c.ok {
		behind = min(behind, c.behind+(run-c.reference)/drift)
	}
	c.behind, c.reference, c.ok = behind, run, true
	return behind
}

// book is what one observer read.
type book struct {
	plan    plan.Observer
	heard   bool   // its source was asked, whether it answered or not
	missing string // why the last moment had nothing
	series  []*series
	lacks   map[string]string // why a source had nothing at the last moment, by the source's name
}

// series is a vital sign of one of the sources that the observer looks at.
type series struct {
	report.VitalSign
	source string
	clocks []time.Duration // when each sample was taken, by the reader's own clock
	doubts []time.Duration // by how much each sample's time may be off
	// when the last sample was taken, by the clock of the server that was asked, or 0 where the server doesn't say
	stamp float64
	asked []askedSample   // what else is known of each sample from the network
	holes []time.Duration // when a source over the network had no number
}

// askedSample is what is known of a sample from the network.
type askedSample struct {
	question time.Duration // when the source was asked, by the collector's clock
	dated    bool
	epoch    int
	anew     string
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
		values, missing := o.read(l.setup, b.plan.Of, m)
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

// answered says that a moment has the outcome of asking the observer's source.
func (b *book) answered(m Moment) bool {
	return m.Collected != nil && slices.ContainsFunc(m.Collected.Answers,
		func(a Answer) bool { return a.Observer == b.plan.Name && a.At > 0 })
}

func (b *book) add(v value) {
	if v.missing != "" {
		b.lacks[v.source] = v.missing
	}
	s := b.find(v.name, v.part)
	if s == nil && (len(b.series) >= b.mostSeries() || max(len(v.name), len(v.part)) > mostName) {
		return
	}
	if s == nil {
		s = &series{VitalSign: report.VitalSign{Name: v.name, Of: v.part, Unit: v.unit, Kind: v.kind}, source: v.source}
		b.series = append(b.series, s)
	}
	if b.plan.Asks() {
		s.note(v)
		s.date(&v)
	}
	moment := plan.Duration(v.instant)
	if n := len(s.Samples); v.missing != "" || n > 0 && (moment <= s.Samples[n-1].At || v.clock <= s.clocks[n-1] ||
		v.stamp != 0 && v.stamp == s.stamp) {
		return
	}
	s.Samples, s.Step, s.stamp = append(s.Samples, report.VitalSample{At: moment, Value: v.number,
		Age: plan.Duration(v.age)}), v.step, v.stamp
	s.clocks, s.doubts = append(s.clocks, v.clock), append(s.doubts, v.doubt)
	s.asked = append(s.asked, askedSample{v.question, v.dated, v.epoch, v.anew})
}

// mostRead is how many series of an observer of machines are followed. Several machines with many processors,
// sensors or interfaces have that many.
const mostRead = 1024

// mostSeries is how many series of an observer are followed. A source over the network may make up others each
// time.
func (b *book) mostSeries() int {
	if b.plan.Asks() {
		return mostAsked
	}
	return mostRead
}

// note keeps the times at which the series had no number.
func (s *series) note(v value) {
	if n := len(s.holes); v.missing != "" && (n == 0 || v.instant > s.holes[n-1]+time.Millisecond) {
		s.holes = append(s.holes, v.instant)
	}
}

// date dates a counter's number that differs from the one before, where its collector didn't. The number was taken
// between the two readings.
func (s *series) date(v *value) {
	n := len(s.Samples) - 1
	if v.kind != report.Counter || v.dated || v.missing != "" || n < 0 || v.epoch != s.asked[n].epoch ||
		v.number == s.Samples[n].Value {
		return
	}
	earliest, latest := s.asked[n].question, v.clock+v.doubt
	read := earliest + (latest-earliest)/2
	v.instant, v.age, v.clock, v.doubt, v.dated = v.instant+read-v.clock, v.age+v.clock-read, read, (latest-earliest)/2,
		true
}

func (b *book) find(name, part string) *series {
	for _, s := range b.series {
		if s.Name == name && s.Of == part {
			return s
		}
	}
	return nil
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

// lack says why a series has no new sample. It is empty where the series has one.
func (b *book) lack(s *series) string {
	return cmp.Or(b.missing, b.lacks[s.source])
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
		if w.Phase == report.Trial || w.Phase == report.BackToBack || w.Phase == report.AtLoad {
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
			s := b.find(o.Series, o.Of)
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
			if s := b.find(o.Series, o.Of); s != nil && s.Kind == report.Counter {
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
		observations = append(observations, o)
	}
	return observations
}
