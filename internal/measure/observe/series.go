package observe

import (
	"cmp"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

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
		s = &series{VitalSign: report.VitalSign{Name: v.name, Subject: v.part, Unit: v.unit, Kind: v.kind},
			source: v.source}
		b.series = append(b.series, s)
	}
	if b.plan.Asks() {
		s.note(v)
		s.date(&v)
	}
	moment := plan.Duration(v.instant)
	if n := len(s.Samples); v.missing != "" || n > 0 && (moment <= s.Samples[n-1].Time || v.clock <= s.clocks[n-1] ||
		v.stamp != 0 && v.stamp == s.stamp) {
		return
	}
	s.Samples, s.Step, s.stamp = append(s.Samples, report.VitalSample{Time: moment, Value: v.number,
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
		if s.Name == name && s.Subject == part {
			return s
		}
	}
	return nil
}

// lack says why a series has no new sample. It is empty where the series has one.
func (b *book) lack(s *series) string {
	return cmp.Or(b.missing, b.lacks[s.source])
}
