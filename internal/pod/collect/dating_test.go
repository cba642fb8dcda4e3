package collect

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// device is an agent with a counter that its kernel counts, and that the agent keeps for a while.
type device struct {
	counts func(time.Duration) float64 // the truth, since the run began
	keeps  time.Duration               // how long the agent keeps a number, 0 not at all
	phase  time.Duration               // when it renews the first one
	asks   bool                        // it renews an old number only when asked
	pulse  func(time.Duration) float64 // what else the same table counts, nil for nothing

	restarts, recovers time.Duration // no answer in between, and 0 for 3 s more
	stalls, goesOn     time.Duration // no answer in between

	renewed time.Duration // when it took the number
}

// errSilent is that of an agent which doesn't answer.
var errSilent = errors.New("no answer")

// at takes the number anew, if it is old.
func (d *device) renew(clock time.Duration) {
	switch {
	case d.keeps == 0 || d.asks && clock-d.renewed >= d.keeps:
		d.renewed = clock
	case !d.asks:
		d.renewed = max(0, clock-(clock-d.phase+d.keeps)%d.keeps)
	}
}

func (d *device) ask(clock time.Duration) (reading, error) {
	if d.recovers > 0 && clock >= d.restarts && clock < d.recovers || clock >= d.stalls && clock < d.goesOn {
		return reading{}, errSilent
	}
	d.renew(clock)
	value, pulse := d.counts(d.renewed), ""
	if d.recovers > 0 && clock >= d.recovers && clock < d.recovers+3*time.Second {
		value = 0
	}
	if d.pulse != nil {
		pulse = time.Duration(d.pulse(d.renewed)).String()
	}
	return reading{numbers: []observe.Number{{Name: "value", Part: "port", Unit: "packets", Kind: report.Counter,
		Value: value}}, pulse: pulse}, nil
}

// watch is what an observer with the default period makes of a device in windows of this length, from a run's
// fifth second on; beside each what the device counted in the time that the value is of.
func watch(t *testing.T, d *device, window time.Duration, windows int) (observed []report.Window) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := plan.Observer{Name: "port", Observed: plan.OfDUT, Type: plan.ObserveSNMP, Interval: plan.Duration(5 * time.Second),
			SNMP: &plan.SNMPObject{Unit: "packets"}}
		began := time.Now()
		c := start(t.Context(), []plan.Observer{o}, func(plan.Observer) func(context.Context) (reading, error) {
			return func(ctx context.Context) (reading, error) {
				time.Sleep(2 * time.Millisecond) // on its way
				defer time.Sleep(2 * time.Millisecond)
				r, err := d.ask(time.Since(began))
				if err != nil {
					time.Sleep(4 * time.Second)
				}
				return r, err
			}
		})
		log := observe.NewLog([]plan.Observer{o}, observe.Setup{})
		look := func(end time.Duration) {
			for time.Since(began) < end {
				log.Add(observe.Moment{At: time.Since(began), Collected: new(c.Newest())})
				time.Sleep(100 * time.Millisecond)
			}
		}
		start := 5 * time.Second
		for range windows {
			look(start + window)
			observed = append(observed, report.Window{Start: plan.Duration(start), Duration: plan.Duration(window),
				Observed: log.Window(start, start+window)})
			start += window
		}
		look(start + 6*time.Second) // it is idle then
		log.Complete(observed)
		c.Close()
	})
	return observed
}

// valueOf is the only one of a window.
func valueOf(t *testing.T, w report.Window) report.Observed {
	t.Helper()
	if len(w.Observed) != 1 {
		t.Fatalf("%+v, want one series", w.Observed)
	}
	return w.Observed[0]
}

// steadily is a counter that grows by so many each second.
func steadily(perSecond float64) func(time.Duration) float64 {
	return func(elapsed time.Duration) float64 { return 1_000_000 + math.Floor(perSecond*elapsed.Seconds()) }
}

func TestACounterThatItsAgentKeepsForAWhile(t *testing.T) {
	for name, d := range map[string]*device{
		"not at all":                 {},
		"for 3 s, as net-snmp does":  {keeps: 3 * time.Second, phase: 600 * time.Millisecond},
		"for 3 s after a question":   {keeps: 3 * time.Second, asks: true},
		"for 1 s":                    {keeps: time.Second, phase: 100 * time.Millisecond},
		"for 5 s, as it is asked":    {keeps: 5 * time.Second, phase: 50 * time.Millisecond},
		"for 10 s, for two readings": {keeps: 10 * time.Second, phase: 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			d.counts = steadily(4000)
			for _, w := range watch(t, d, 60*time.Second, 2) {
				o := valueOf(t, w)
				if o.Mean == nil || math.Abs(*o.Mean-4000) > 40 || math.Abs(*o.Mean-4000) > o.Unsure+0.1 ||
					o.Unsure > 40 {
					t.Errorf("%+v, want 4000 within what it is unsure by, and within 1 %%", o)
				}
			}
		})
	}
}

// Nobody can say of an agent that keeps a number for longer than a window what was in it; that of 20 s has two
// numbers in some windows of 30 s.
func TestACounterThatIsKeptForTooLongIsNoNumber(t *testing.T) {
	for _, keeps := range []time.Duration{20 * time.Second, 45 * time.Second, time.Minute} {
		for i, w := range watch(t, &device{keeps: keeps, phase: time.Second, counts: steadily(4000)}, 30*time.Second,
			4) {
			if o := valueOf(t, w); o.Missing == "" && math.Abs(*o.Mean-4000) > o.Unsure+0.1 {
				t.Errorf("kept for %s, window %d: %+v, and 4000 it was", keeps, i+1, o)
			}
		}
	}
}

// However long an agent keeps a number, and however its counter grows, the truth is within the uncertainty of
// each number.
func TestNoCounterIsSurerThanItIsKnown(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 60))
		rates := []float64{0, 3, 700, 4000, 900_000}
		first, second, change := rates[random.IntN(len(rates))], rates[random.IntN(len(rates))],
			time.Duration(random.IntN(100))*time.Second
		counts := func(elapsed time.Duration) float64 {
			return 1_000_000 + math.Floor(first*min(elapsed, change).Seconds()+second*max(0, elapsed-change).Seconds())
		}
		d := &device{counts: counts, keeps: time.Duration(random.IntN(25)) * 500 * time.Millisecond,
			phase: time.Duration(random.IntN(5000)) * time.Millisecond, asks: random.IntN(2) == 0}
		if random.IntN(2) == 0 {
			d.pulse = steadily(8000)
		}
		for i, w := range watch(t, d, 30*time.Second, 3) {
			o := valueOf(t, w)
			if o.Mean == nil {
				continue
			}
			// A mean is of a part of its window: it lies between what the window's least and most may be.
			start, end := w.Start.Std(), (w.Start + w.Duration).Std()
			lowest, highest := math.Inf(1), math.Inf(-1)
			for begin := start; begin+o.Over.Std() <= end; begin += 10 * time.Millisecond {
				rate := (counts(begin+o.Over.Std()) - counts(begin)) / o.Over.Std().Seconds()
				lowest, highest = min(lowest, rate), max(highest, rate)
			}
			if slack := 1 / o.Over.Std().Seconds(); *o.Mean+o.Unsure+slack < lowest ||
				*o.Mean-o.Unsure-slack > highest {
				t.Errorf("seed %d (%g/s, from %s on %g/s, kept for %s), window %d: %g/s, %+v, and it was %g to %g",
					seed, first, change, second, d.keeps, i+1, *o.Mean, o, lowest, highest)
			}
		}
	}
}

// An agent that was restarted tells 0 until it has read its kernel's counters again.
func TestAnAgentThatIsRestarted(t *testing.T) {
	// windows end at 35 s and 65 s
	for recovers := 30 * time.Second; recovers < 42*time.Second; recovers += 500 * time.Millisecond {
		d := &device{counts: steadily(2000), keeps: 3 * time.Second, restarts: recovers - 2*time.Second,
			recovers: recovers}
		measured := 0
		for i, w := range watch(t, d, 30*time.Second, 3) {
			o := valueOf(t, w)
			if o.Missing != "" {
				if !strings.Contains(o.Missing, "went back") && !strings.Contains(o.Missing, "no answer") {
					t.Errorf("back at %s, window %d: %q", recovers, i+1, o.Missing)
				}
				continue
			}
			measured++
			if math.Abs(*o.Mean-2000) > 20 || math.Abs(*o.Mean-2000) > o.Unsure+0.1 {
				t.Errorf("back at %s, window %d: %+v, want 2000", recovers, i+1, o)
			}
		}
		if measured == 0 {
			t.Errorf("back at %s: no window has a number", recovers)
		}
	}
}

func TestAnAgentThatStalls(t *testing.T) {
	for long := time.Second; long < 14*time.Second; long += time.Second {
		for i, w := range watch(t, &device{counts: steadily(2000), keeps: 3 * time.Second, stalls: 44 * time.Second,
			goesOn: 44*time.Second + long}, 30*time.Second, 3) {
			if o := valueOf(t, w); o.Missing == "" && (math.Abs(*o.Mean-2000) > 20 || math.Abs(*o.Mean-2000) > o.Unsure+
				0.1) || o.Missing != "" && (i != 1 || !strings.Contains(o.Missing, "seldom")) {
				t.Errorf("stalled for %s, window %d: %+v, want 2000", long, i+1, o)
			}
		}
	}
}

// Drops that nobody counts are 0, and the first ones are seen, also where they come at a window's end and the
// agent tells so later.
func TestACounterThatStandsStill(t *testing.T) {
	const first = 64500 * time.Millisecond // the second window ends at 65 s
	drops := func(elapsed time.Duration) float64 { return 7 + math.Floor(100*max(0, elapsed-first).Seconds()) }
	withoutPulse := watch(t, &device{counts: drops, keeps: 3 * time.Second, phase: time.Second}, 30*time.Second, 3)
	if o := valueOf(t, withoutPulse[0]); o.Mean == nil || *o.Mean != 0 || o.Unsure != 0 {
		t.Errorf("%+v, want 0", o)
	}
	if o := valueOf(t, withoutPulse[1]); o.Mean == nil || *o.Mean != 0 || o.Unsure < 50/30.0 {
		t.Errorf("%+v, want 0, and that it may be more, as it grew before anybody heard so", o)
	}
	if o := valueOf(t, withoutPulse[2]); o.Mean == nil || math.Abs(*o.Mean-100) > o.Unsure+0.1 || o.Unsure > 1 {
		t.Errorf("%+v, want 100", o)
	}
	withPulse := watch(t, &device{counts: drops, keeps: 3 * time.Second, phase: time.Second, pulse: steadily(8000)},
		30*time.Second, 3)
	for i, w := range withPulse[:2] {
		if o := valueOf(t, w); o.Mean == nil || *o.Mean != 0 || o.Unsure != 0 {
			t.Errorf("window %d: %+v, want 0: the octets beside it say until when", i+1, o)
		}
	}
}
