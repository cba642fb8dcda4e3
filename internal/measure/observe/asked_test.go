package observe_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// watts is an observer that asks for power each 5 s.
var watts = plan.Observer{Name: "power", Observed: plan.OfLab, Type: plan.ObservePrometheus, Interval: plan.Duration(5 * time.Second), Prometheus: &plan.PrometheusQuery{Unit: plan.Watts}}

// answered is a moment at which the collector tells what it was told at a time before, which was 100 ms old then.
func answered(at, told time.Duration, kind report.VitalKind, number float64) observe.Moment {
	const its = time.Hour // the collector's clock
	return observe.Moment{At: at, Collected: &observe.Collected{Clock: its + at, Answers: []observe.Answer{{Observer: "power", At: its + told,
		Numbers: []observe.Number{{Name: "value", Part: "pdu", Unit: plan.Watts, Kind: kind, Value: number, Age: 100 * ms}}}}}}
}

// told is a log of these numbers, one each 5 s from the beginning of the run on.
func told(o plan.Observer, kind report.VitalKind, numbers ...float64) *observe.Log {
	log := observe.NewLog([]plan.Observer{o}, setup)
	for i, n := range numbers {
		for again := range 5 { // what is told again is no reading
			at := time.Duration(5*i)*time.Second + 100*ms
			log.Add(answered(at+time.Duration(again)*100*ms, at, kind, n))
		}
	}
	return log
}

func TestASlowReadingIsANumberWhereItIsSteady(t *testing.T) {
	const window = 40 * time.Second
	over30 := watts
	over30.AveragingTime = plan.Duration(30 * time.Second)
	for name, c := range map[string]struct {
		observer plan.Observer
		numbers  []float64
		want     float64
		over     time.Duration
		missing  string
	}{
		"all the time":            {watts, []float64{200, 200, 200, 200, 200, 200, 200, 200}, 200, window, ""},
		"scattering":              {watts, []float64{200, 260, 200, 260, 200, 260, 200, 260}, 230, window, ""},
		"after it came up":        {watts, []float64{100, 150, 195, 200, 200, 200, 200, 200}, 1195.0 / 6, 30 * time.Second, ""},
		"slowly, all the time":    {watts, []float64{100, 110, 120, 130, 140, 150, 160, 170}, 0, 0, "it had not settled: 8 readings in the window go from 100 to 170 W"},
		"too late":                {watts, []float64{100, 100, 100, 100, 100, 100, 300, 300}, 0, 0, "it had not settled"},
		"a jump at the end":       {watts, []float64{100, 100, 100, 100, 100, 100, 100, 150}, 0, 0, "it had not settled"},
		"nothing of its end":      {watts, []float64{200, 200, 200, 200, 200, 200}, 0, 0, "there is no reading of the window's last 15s"},
		"too few":                 {watts, []float64{200, 200, 200}, 0, 0, "readings that are wholly of the window of 40s: 3, and it takes 4 (one each 5s): the window is long enough, and there was nothing new as often"},
		"of what was before, too": {over30, []float64{200, 200, 200, 200, 200, 200, 200, 200}, 0, 0, "readings that are wholly of the window of 40s: 2, and it takes 4 (one each 5s, each the average of 30s): windows of 55s and more have them"},
	} {
		t.Run(name, func(t *testing.T) {
			o := find(t, told(c.observer, report.Gauge, c.numbers...).Window(0, window), "value", "pdu")
			if c.missing != "" {
				if o.Mean != nil || !strings.HasPrefix(o.Missing, c.missing) {
					t.Errorf("%+v, want %q", o, c.missing)
				}
				return
			}
			if o.Mean == nil || math.Abs(*o.Mean-c.want) > 1e-9 || o.Over.Std() != c.over || o.Unit != "W" {
				t.Errorf("%+v, want %g W over %s", o, c.want, c.over)
			}
		})
	}
}

// What was highest before the level had settled was in the window, too: a limit that must never be passed is of all
// of it.
func TestLeastAndMostAreOfTheWholeWindow(t *testing.T) {
	o := find(t, told(watts, report.Gauge, 300, 250, 205, 200, 200, 200, 200, 200).Window(0, 40*time.Second), "value", "pdu")
	if o.Mean == nil || math.Abs(*o.Mean-1205.0/6) > 1e-9 || o.Min == nil || *o.Min != 200 || o.Max == nil || *o.Max != 300 {
		t.Errorf("%+v, want a mean of the settled ones, 200 W at least and 300 W at most", o)
	}
}

func TestASampleIsOfWhenItsValueWasAndTellsItsAge(t *testing.T) {
	of := told(watts, report.Gauge, 200, 201).Observations()[0]
	if len(of.Series) != 1 || len(of.Series[0].Samples) != 2 {
		t.Fatalf("%+v, want two samples", of)
	}
	if s := of.Series[0].Samples[1]; s.Time.Std() != 5*time.Second || s.Age.Std() != 100*ms || s.Value != 201 {
		t.Errorf("%+v, want 201 W at 5 s, told 100 ms later", s)
	}
}

// A server that is asked more often than it scrapes tells the same sample again, and when that was can be told to
// some milliseconds only.
func TestTheSameSampleToldAgainIsNoReadingMore(t *testing.T) {
	log := observe.NewLog([]plan.Observer{watts}, setup)
	for i := range 9 {
		at := time.Duration(i) * 5 * time.Second
		m := answered(at, at, report.Gauge, 200)
		n := &m.Collected.Answers[0].Numbers[0]
		n.Stamp = float64(1000 + i/3*15) // scraped each 15 s
		n.Age = time.Duration(i%3)*5*time.Second - time.Duration(i)*ms
		log.Add(m)
	}
	if samples := log.Observations()[0].Series[0].Samples; len(samples) != 3 {
		t.Errorf("%d samples, want three: %+v", len(samples), samples)
	}
}

// A number that is another than before was taken at some time since the reading before, and nobody knows when.
func TestASlowCounterIsARateBetweenItsReadings(t *testing.T) {
	o := find(t, told(watts, report.Counter, 0, 10, 30, 60, 100, 150).Window(4*time.Second, 26*time.Second), "value", "pdu")
	if o.Mean == nil || *o.Mean != 8 || o.Unit != "W/s" || o.Over.Std() != 15*time.Second || math.Abs(o.Unsure-4) > 1e-9 {
		t.Errorf("%+v, want (150 - 30) ÷ 15 s, and 12/s if it was within 10 s", o)
	}
	o = find(t, told(watts, report.Counter, 0, 10, 5).Window(0, 11*time.Second), "value", "pdu")
	if o.Mean != nil || !strings.Contains(o.Missing, "went back") {
		t.Errorf("%+v, want that it went back", o)
	}
}

// Nobody makes traffic wait for a slow reading: what was read before the traffic, and after it, is what was idle.
func TestIdleIsTheLastReadingBeforeAndAfter(t *testing.T) {
	log := told(watts, report.Gauge, 90, 91, 200, 200, 92)
	log.Idle(7*time.Second, 8*time.Second, false)
	log.Idle(15*time.Second+ms, 21*time.Second, true)
	s := log.Observations()[0].Series[0]
	if s.IdleBefore == nil || *s.IdleBefore != 91 || s.IdleAfter == nil || *s.IdleAfter != 92 {
		t.Errorf("idle %v before and %v after, want 91 and 92", s.IdleBefore, s.IdleAfter)
	}
	log.Idle(20*time.Second+ms, 21*time.Second, true)
	if s := log.Observations()[0].Series[0]; s.IdleAfter != nil {
		t.Errorf("%v W after, of a time in which nobody read", *s.IdleAfter)
	}
}

// What was averaged over a time before the run began is of whatever ran then.
func TestAnAverageOfBeforeTheRunIsNotIdle(t *testing.T) {
	over10 := watts
	over10.AveragingTime = plan.Duration(10 * time.Second)
	log := told(over10, report.Gauge, 200, 180, 90, 91)
	log.Idle(7*time.Second, 8*time.Second, false)
	if s := log.Observations()[0].Series[0]; s.IdleBefore != nil {
		t.Errorf("idle %g W before, of an average that begins before the run", *s.IdleBefore)
	}
	log.Idle(10*time.Second, 11*time.Second, false)
	if s := log.Observations()[0].Series[0]; s.IdleBefore == nil || *s.IdleBefore != 90 {
		t.Errorf("idle %v before, want 90 W: it averages over the run alone", s.IdleBefore)
	}
}

// Of an answer that took long, the number may have been taken any time between question and answer.
func TestASlowAnswerIsOfAWindowWhenQuestionAndAnswerAre(t *testing.T) {
	log := observe.NewLog([]plan.Observer{watts}, setup)
	for i := range 8 {
		at := time.Duration(5*i) * time.Second
		m := answered(at, at, report.Gauge, 200)
		m.Collected.Answers[0].Took = 4 * time.Second
		log.Add(m)
	}
	// Of 100 ms before they were told, and of 2 s around that: 4.9 s, 9.9 s, ..., 34.9 s.
	for _, c := range []struct {
		from, to time.Duration
		want     bool
	}{
		// from 9.9 s on it would be three
		{2800 * ms, 22 * time.Second, true}, {3 * time.Second, 22 * time.Second, false},
		{2800 * ms, 21900 * ms, true}, {2800 * ms, 21800 * ms, false},
	} {
		if o := log.Window(c.from, c.to)[0]; (o.Mean != nil) != c.want {
			t.Errorf("from %s to %s: %+v", c.from, c.to, o)
		}
	}
}

// A query that divides by a counter which stands still now and then is infinite there: the rest is no level of the
// window.
func TestReadingsThatAreNoNumberAreMissing(t *testing.T) {
	log := observe.NewLog([]plan.Observer{watts}, setup)
	for i := range 8 {
		m := answered(time.Duration(5*i)*time.Second, time.Duration(5*i)*time.Second, report.Gauge, 7)
		if i%2 == 1 {
			m.Collected.Answers[0].Numbers[0].Missing = "what it answers is no number (NaN or infinite)"
		}
		log.Add(m)
	}
	if o := log.Window(0, 40*time.Second)[0]; o.Mean != nil || o.Missing != "4 of its readings in the window are no number: what it answers is no number (NaN or infinite)" {
		t.Errorf("%+v, want that half of them are infinite", o)
	}
}

// A controller that renews its reading once a minute tells what was before the load all through a window of it.
func TestALevelThatMayBeAnOldOneIsUnsure(t *testing.T) {
	for name, c := range map[string]struct {
		numbers []float64
		unsure  float64
	}{
		"it changed when the window was over": {[]float64{100, 100, 100, 100, 100, 100, 100, 100, 300}, 200},
		"it never changed":                    {[]float64{100, 100, 100, 100, 100, 100, 100, 100, 100}, 0},
		"it changed within the window":        {[]float64{90, 90, 100, 100, 100, 100, 100, 100, 300}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			log := told(watts, report.Gauge, c.numbers...)
			w := report.Window{Start: plan.Duration(4 * time.Second), Duration: plan.Duration(34 * time.Second), Directions: []report.Direction{{Received: report.Flow{PacketsPerSecond: 1000, Layer1BitsPerSecond: 2_000_000_000}}}}
			w.Observed = log.Window(w.Start.Std(), (w.Start + w.Duration).Std())
			w.Observed = append(w.Observed, observe.Derived(&w)...)
			windows := []report.Window{w}
			log.Complete(windows)
			if o := find(t, windows[0].Observed, "value", "pdu"); o.Mean == nil || o.Unsure != c.unsure {
				t.Errorf("%+v, want unsure by %g W", o, c.unsure)
			}
			if o := find(t, windows[0].Observed, plan.WattsPerGbps, "pdu"); o.Mean == nil || o.Unsure != c.unsure/2 {
				t.Errorf("%+v, want unsure by half of %g W per Gb/s", o, c.unsure)
			}
		})
	}
}

func TestWhyNobodyAnswersIsTold(t *testing.T) {
	for want, c := range map[string]*observe.Collected{
		"the collector's pod is gone":          {Missing: "the collector's pod is gone"},
		"there is no answer yet":               {Clock: 1},
		"401 Unauthorized: look at secret bmc": {Clock: 1, Answers: []observe.Answer{{Observer: "power", Missing: "401 Unauthorized: look at secret bmc"}}},
	} {
		log := observe.NewLog([]plan.Observer{watts}, setup)
		log.Add(observe.Moment{At: time.Second, Collected: c})
		if got := log.Window(0, time.Second); len(got) != 1 || got[0].Missing != want {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}

// A collector's pod is its author's, and the runner isn't: it doesn't fill the runner's memory.
func TestACollectorIsNotFollowedWithoutBounds(t *testing.T) {
	log := observe.NewLog([]plan.Observer{watts}, setup)
	for i := range 200 {
		m := answered(time.Duration(i)*time.Second, time.Duration(i)*time.Second, report.Gauge, 1)
		m.Collected.Answers[0].Numbers[0].Part = strings.Repeat("x", i)
		log.Add(m)
	}
	if series := log.Observations()[0].Series; len(series) != 64 {
		t.Errorf("%d series, want 64", len(series))
	}
	m := answered(300*time.Second, 300*time.Second, report.Gauge, 1)
	m.Collected.Answers[0].Numbers[0].Part = strings.Repeat("x", 300)
	log.Add(m)
	if o := log.Window(299*time.Second, 301*time.Second)[0]; !strings.Contains(o.Missing, "a name of more than 256 bytes") {
		t.Errorf("%+v", o)
	}
}

func TestANumberThatIsTooLargeIsNone(t *testing.T) {
	for _, number := range []float64{1e301, -1e301, math.Inf(1), math.NaN()} {
		log := told(watts, report.Gauge, 200, 200, 200, 200, number)
		if o := log.Window(0, time.Second)[0]; o.Mean != nil || !strings.HasSuffix(o.Missing, "the collector tells a number that is too large") {
			t.Errorf("%g: %+v", number, o)
		}
	}
}

// A collector tells a number that is none beside another one: that one is missing, and its name says which; the
// other stays.
func TestASampleThatIsNoNumberSilencesNoOther(t *testing.T) {
	for name, bad := range map[string]observe.Number{
		"an infinite number":  {Value: math.Inf(1)},
		"no number":           {Value: math.NaN()},
		"one that is large":   {Value: -1e301},
		"of an infinite time": {Value: 1, Stamp: math.Inf(-1)},
	} {
		bad.Name, bad.Part, bad.Unit, bad.Kind = "value", "bad", plan.Watts, report.Gauge
		log := observe.NewLog([]plan.Observer{watts}, setup)
		for i := range 8 {
			m := answered(time.Duration(5*i)*time.Second+100*ms, time.Duration(5*i)*time.Second+100*ms, report.Gauge, 200)
			m.Collected.Answers[0].Numbers = append([]observe.Number{bad}, m.Collected.Answers[0].Numbers...)
			log.Add(m)
		}
		window := log.Window(0, 40*time.Second)
		if o := find(t, window, "value", "pdu"); o.Mean == nil || *o.Mean != 200 {
			t.Errorf("%s: beside it the other is %+v", name, o)
		}
		if o := find(t, window, "value", "bad"); o.Mean != nil || !strings.Contains(o.Missing, "too large") {
			t.Errorf("%s: it is %+v", name, o)
		}
	}
}

func TestPowerPerTraffic(t *testing.T) {
	w := report.Window{
		Directions: []report.Direction{
			{Received: report.Flow{PacketsPerSecond: 60_000, Layer1BitsPerSecond: 1_500_000_000}},
			{Received: report.Flow{PacketsPerSecond: 40_000, Layer1BitsPerSecond: 500_000_000}},
		},
		Observed: []report.Observed{{Observer: "power", Series: "value", Subject: "pdu", Unit: "W", Mean: new(250.0), Min: new(200.0), Max: new(300.0), Over: 7}, {Observer: "heat", Series: "value", Unit: "°C", Mean: new(50.0)}},
	}
	all := observe.PerTraffic(&w)
	if len(all) != 2 {
		t.Fatalf("%+v, want two of power", all)
	}
	if o := find(t, all, plan.WattsPerGbps, "pdu"); o.Mean == nil || *o.Mean != 125 || o.Over != 7 || o.Observer != "power" {
		t.Errorf("%+v, want 250 W ÷ 2 Gb/s", o)
	}
	if o := find(t, all, plan.WattsPerGbps, "pdu"); o.Min == nil || *o.Min != 100 || o.Max == nil || *o.Max != 150 {
		t.Errorf("%+v, want 200 W and 300 W ÷ 2 Gb/s as least and most", o)
	}
	if o := find(t, all, plan.JoulesPerPacket, "pdu"); o.Mean == nil || *o.Mean != 0.0025 || o.Unit != "J" {
		t.Errorf("%+v, want 250 W ÷ 100 kpps", o)
	}
	w.Directions = []report.Direction{{}}
	if o := find(t, observe.PerTraffic(&w), plan.WattsPerGbps, "pdu"); o.Missing != "nothing was received in the window" {
		t.Errorf("%+v, want that nothing was received", o)
	}
	w.Phase = report.Bursting
	for _, o := range observe.PerTraffic(&w) {
		if o.Mean != nil || o.Missing != "a burst has no rate at which it came back" {
			t.Errorf("%+v of a burst", o)
		}
	}
	w.Phase = report.Trial
	w.Directions = []report.Direction{{Sessions: &report.Sessions{GoodputBitsPerSecond: 5_000_000_000}}}
	if all := observe.PerTraffic(&w); len(all) != 1 || *all[0].Mean != 50 {
		t.Errorf("%+v of sessions, want 250 W ÷ 5 Gb/s, and nothing of packets", all)
	}
}
