package observe

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Collected is the last answer of a collector, which asks sources over the network and beside the traffic.
type Collected struct {
	// Age is how long ago the answer arrived. Clock is the collector's own clock when it answered.
	Age, Clock time.Duration
	Answers    []Answer
	// Missing says why the collector tells nothing now. It is empty where the collector does.
	Missing string
}

// Answer is the last answer to one observer.
type Answer struct {
	Observer string `json:"observer"`
	// At is when the observer was answered, by the collector's clock, in nanoseconds. It is halfway between
	// question and answer, which were Took apart.
	At      time.Duration `json:"at"`
	Took    time.Duration `json:"took,omitempty"`
	Numbers []Number      `json:"numbers,omitempty"`
	// Missing says why there is no newer answer. It is empty where the observer was answered.
	Missing string `json:"missing,omitempty"`
}

// Number is one number of an answer.
type Number struct {
	Name  string           `json:"name"` // such as "value" or "power"
	Part  string           `json:"of"`   // the part that the number is of, such as a sensor's name
	Unit  string           `json:"unit"`
	Kind  report.VitalKind `json:"kind"`
	Value float64          `json:"value"`
	// Age is how old the number was when the source sent it, in nanoseconds, as far as the source says.
	Age time.Duration `json:"age,omitempty"`
	// Earliest and Latest are the times, by the collector's clock, between which the source took a counter's
	// number. The source told an older number until Earliest, and this one by Latest. Both are 0 where nobody
	// knows when, because the number has been the same as long as anybody asked.
	Earliest time.Duration `json:"after,omitempty"`
	Latest   time.Duration `json:"by,omitempty"`
	// Epoch is how often the counters began anew. Two numbers of different epochs have no difference. Anew is why
	// the counters began anew last.
	Epoch int    `json:"epoch,omitempty"`
	Anew  string `json:"anew,omitempty"`
	// Stamp is when the number was taken by the source's clock, in seconds, or 0 where the source doesn't say. The
	// same number told again has the same Stamp, and is no new reading.
	Stamp float64 `json:"stamp,omitempty"`
	// Missing says why it is no number now, such as an infinite one. It is empty for a number.
	Missing string `json:"missing,omitempty"`
}

// dating is when the number was taken, by the collector's clock, and by how much earlier or later it may have been
// taken. dated says that the time is known apart from the time of the answer.
func (n Number) dating(answered, took time.Duration) (clock, doubt time.Duration, dated bool) {
	if n.Latest > 0 && n.Latest >= n.Earliest {
		return n.Earliest + (n.Latest-n.Earliest)/2, (n.Latest - n.Earliest) / 2, true
	}
	return answered - n.Age, took / 2, false
}

// mostAsked is how many series of an observer that asks are followed. Labels may be others each time, and a
// collector's pod is its author's.
const mostAsked = 64

// mostName bounds the name of a series, and of its part, in bytes.
const mostName = 256

// mostNumber is how large a number may be, as sums of larger ones are infinite.
const mostNumber = 1e300

// asked is an observer of this name that a collector asks for.
type asked string

func (name asked) read(_ Setup, _ string, m Moment) (values []value, missing string) {
	c := m.Collected
	if c == nil {
		return nil, ""
	}
	i := slices.IndexFunc(c.Answers, func(a Answer) bool { return a.Observer == string(name) })
	if i < 0 {
		return nil, cmp.Or(c.Missing, "there is no answer yet")
	}
	a := c.Answers[i]
	if reason := cmp.Or(c.Missing, a.Missing); reason != "" {
		return nil, reason
	}
	for _, n := range a.Numbers[:min(len(a.Numbers), mostAsked)] {
		if max(len(n.Name), len(n.Part), len(n.Unit)) > mostName {
			return nil, fmt.Sprintf("the collector tells a name of more than %d bytes", mostName)
		}
		source := n.Name + " of " + n.Part
		if math.IsNaN(n.Value) || math.IsNaN(n.Stamp) || math.Abs(n.Stamp) > mostNumber ||
			math.Abs(n.Value) > mostNumber {
			n.Missing = cmp.Or(n.Missing, "the collector tells a number that is too large")
		}
		if n.Missing != "" {
			values = append(values, value{name: n.Name, part: n.Part, unit: n.Unit, kind: n.Kind, clock: a.At,
				instant: a.At + m.collectorBehind, source: source, missing: n.Missing})
			continue
		}
		clock, doubt, dated := n.dating(a.At, a.Took)
		values = append(values, value{name: n.Name, part: n.Part, unit: n.Unit, kind: n.Kind, number: n.Value,
			clock: clock, instant: clock + m.collectorBehind, doubt: doubt, age: max(0, a.At-clock), stamp: n.Stamp,
			source: source, question: a.At - a.Took/2 - n.Age, dated: dated, epoch: n.Epoch, anew: n.Anew})
	}
	return values, ""
}

// A window must have so many readings of a source with a period of its own before they are a number of the window.
const (
	leastReadings = 4
	leastShare    = 2 // one in so many of the readings that are wholly the window's is steady at least
	steadyWithin  = 0.02
	scatters      = 1.499 // one and a half, which a jump in the last of four readings just reaches
	mostLate      = 2     // there is a reading at most this many periods before the window's end, or
	mostSilent    = 4     // one in so many of the window's length before it
)

// steady is the level at which an asked series had settled in a window, or why there is none. Least and most are of
// all the window's readings. The mean is of those since it had settled.
//
//	readings        ·   ·   ·   ·   ·   ·   ·   ·   ·   ·        each is of averagedOver before it
//	window            ├───────────────────────────────┤
//	wholly of it           ·   ·   ·   ·   ·   ·   ·            four at least
//	steady                         └──── mean ────┘             from the first on after which they only scatter: half of them at least
func (s *series) steady(o plan.Observer, start, end time.Duration) report.Observed {
	observed := report.Observed{Series: s.Name, Subject: s.Subject, Unit: s.Unit}
	if s.Kind == report.Counter {
		return s.counted(o, start, end)
	}
	samples := s.samples(s.wholly(o, start, end))
	if holes := s.holesBetween(start, end); holes > 0 {
		observed.Missing = fmt.Sprintf("%d of its readings in the window are no number", holes)
		return observed
	}
	if len(samples) < leastReadings {
		observed.Missing = tooFew(o, samples, end-start)
		return observed
	}
	if silent := end - samples[len(samples)-1].Time.Std(); silent > max(mostLate*o.Interval.Std(),
		(end-start)/mostSilent) {
		observed.Missing = fmt.Sprintf("there is no reading of the window's last %s", silent.Round(time.Millisecond))
		return observed
	}
	first := settledFrom(samples)
	if first < 0 {
		observed.Missing = fmt.Sprintf("it had not settled: %d readings in the window go from %g to %g %s, by more than they scatter; hold the load for longer", len(samples), samples[0].Value, samples[len(samples)-1].Value, s.Unit)
		return observed
	}
	values := numbersOf(samples)
	observed.Mean, observed.Min, observed.Max = new(meanOf(values[first:])), new(slices.Min(values)),
		new(slices.Max(values))
	observed.Over = plan.Duration(end) - samples[first].Time
	return observed
}

// wholly are the numbers of the readings that are of nothing but this window. A reading counts whenever between
// question and answer it was taken, with all of the time that it averages over.
func (s *series) wholly(o plan.Observer, start, end time.Duration) (numbers []int) {
	for i, sample := range s.Samples {
		if moment := sample.Time.Std(); moment-s.doubts[i]-o.AveragingTime.Std() >= start && moment+s.doubts[i] <= end {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

func (s *series) samples(numbers []int) []report.VitalSample {
	samples := make([]report.VitalSample, len(numbers))
	for i, n := range numbers {
		samples[i] = s.Samples[n]
	}
	return samples
}

// holesBetween is how many readings between two times had no number.
func (s *series) holesBetween(start, end time.Duration) (holes int) {
	for _, moment := range s.holes {
		if moment >= start && moment <= end {
			holes++
		}
	}
	return holes
}

// tooFew says how many readings a window has, and how long the window would have to be for more. Where the window
// is long enough, it says that the source answered too seldom.
func tooFew(o plan.Observer, samples []report.VitalSample, window time.Duration) string {
	averaged := ""
	if o.AveragingTime > 0 {
		averaged = fmt.Sprintf(", each the average of %s", o.AveragingTime.Std())
	}
	text := fmt.Sprintf("readings that are wholly of the window of %s: %d, and it takes %d (one each %s%s)",
		window.Round(time.Millisecond), len(samples), leastReadings, o.Interval.Std(), averaged)
	if long := o.AveragingTime.Std() + (leastReadings+1)*o.Interval.Std(); window < long {
		return fmt.Sprintf("%s: windows of %s and more have them, if there is something new as often", text, long)
	}
	return text + ": the window is long enough, and there was nothing new as often"
}

// settledFrom is the first reading from which on a level only scatters. The later half of the rest is, on average,
// as high as the earlier half, within 2 % or one and a half times the difference of neighbours, whichever half has
// the reading in the middle. In a level that goes one way all the time the halves lie further apart than neighbours
// do. It is -1 where no reading leaves half of the readings, and four.
func settledFrom(readings []report.VitalSample) int {
	for first := 0; len(readings)-first >= max(leastReadings, (len(readings)+leastShare-1)/leastShare); first++ {
		rest := numbersOf(readings[first:])
		if sameHalves(rest, len(rest)/2) && sameHalves(rest, (len(rest)+1)/2) {
			return first
		}
	}
	return -1
}

// sameHalves says that values are as high, on average, from a cut on as before the cut.
func sameHalves(values []float64, cut int) bool {
	earlier, later := meanOf(values[:cut]), meanOf(values[cut:])
	moved := math.Abs(later - earlier)
	return moved < scatters*step(values) || moved <= steadyWithin*math.Abs(later)
}

// step is the mean difference of neighbours.
func step(values []float64) float64 {
	sum := 0.0
	for i, v := range values[1:] {
		sum += math.Abs(v - values[i])
	}
	return sum / float64(len(values)-1)
}

func numbersOf(samples []report.VitalSample) []float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = s.Value
	}
	return values
}

func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// idleAsked is the level of an asked series before the traffic, or after it, which is the last reading that is
// wholly of that time. It is nil where there is none.
func (s *series) idleAsked(o plan.Observer, start, end time.Duration, afterTraffic bool) *float64 {
	if s.Kind == report.Counter {
		return nil
	}
	if !afterTraffic {
		start = 0 // from the run's beginning, as another run may have sent before it
	}
	numbers := s.wholly(o, start, end)
	if len(numbers) == 0 {
		return nil
	}
	return new(s.Samples[numbers[len(numbers)-1]].Value)
}

// PerTraffic is the power per traffic that was received in a window. Each series in watts gives two more series,
// and one for sessions.
func PerTraffic(w *report.Window) (observations []report.Observed) {
	bits, packets := received(w.Directions)
	for _, o := range w.Observed {
		if o.Unit != plan.Watts {
			continue
		}
		if w.Phase == report.Bursting && o.Missing == "" {
			o.Missing = "a burst has no rate at which it came back"
		}
		observations = append(observations, divide(o, plan.WattsPerGbps, "W per Gb/s", bits/1e9))
		if packets > 0 || bits == 0 {
			observations = append(observations, divide(o, plan.JoulesPerPacket, "J", packets))
		}
	}
	return observations
}

func divide(power report.Observed, series, unit string, traffic float64) report.Observed {
	o := report.Observed{Observer: power.Observer, Series: series, Subject: power.Subject, Unit: unit,
		Missing: power.Missing}
	switch {
	case o.Missing != "":
	case traffic == 0:
		o.Missing = "nothing was received in the window"
	default:
		o.Mean, o.Min, o.Max, o.Over, o.Unsure = divided(power.Mean, traffic), divided(power.Min, traffic),
			divided(power.Max, traffic), power.Over, power.Unsure/traffic
	}
	return o
}

// divided is a number divided by traffic. It is nil for a nil number.
func divided(number *float64, traffic float64) *float64 {
	if number == nil {
		return nil
	}
	return new(*number / traffic)
}

// received is what came back per second in all directions together, in bits of layer 1, or of goodput, and in
// frames.
func received(directions []report.Direction) (bits, packets float64) {
	for _, d := range directions {
		if d.Sessions != nil {
			bits += float64(d.Sessions.GoodputBitsPerSecond)
			continue
		}
		bits, packets = bits+float64(d.Received.Layer1BitsPerSecond), packets+float64(d.Received.PacketsPerSecond)
	}
	return bits, packets
}
