package maximumload_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/maximumload"
	"github.com/linerate-dev/linerate/internal/units"
	. "github.com/linerate-dev/linerate/test/rigs/proceduretest"
)

// trials are usual ones: three of ten seconds after a warm-up.
func trials(options ...func(*plan.MaximumOfferedLoad)) maximumload.MaximumOfferedLoad {
	m := plan.MaximumOfferedLoad{Rate: units.Rate{Kind: units.Packets, Micros: Full * 1_000_000},
		WarmupDuration: plan.Duration(5 * time.Second), TrialDuration: plan.Duration(10 * time.Second), Trials: 3}
	for _, o := range options {
		o(&m)
	}
	return maximumload.New(plan.Procedure{Type: plan.TypeMaximumOfferedLoad, MaximumOfferedLoad: &m})
}

func cold(m *plan.MaximumOfferedLoad) { m.WarmupDuration = 0 }

func times(n int) func(*plan.MaximumOfferedLoad) {
	return func(m *plan.MaximumOfferedLoad) { m.Trials = n }
}

func steps(history []report.Window) string {
	var steps []string
	for _, w := range history {
		steps = append(steps, fmt.Sprintf("%s %s %s", w.Phase, w.Load, w.Duration.Std()))
	}
	return strings.Join(steps, ", ")
}

func TestTheTrials(t *testing.T) {
	for name, c := range map[string]struct {
		procedure procedure.Procedure
		edits     []Edit
		want      string
		ending    string
	}{
		"all at the one load": {trials(), nil, "WarmUp 1 5s, Trial 1 10s, Trial 1 10s, Trial 1 10s",
			"3 trials of 10s are over"},
		"one without a warm-up": {trials(cold, times(1)), nil, "Trial 1 10s", "the trial of 10s is over"},
		"no number is one":      {trials(cold, times(0)), nil, "Trial 1 10s", "the trial of 10s is over"},
		"one that was disturbed is repeated": {trials(cold, times(1)), []Edit{Void("link west was down", 0)},
			"Trial 1 10s, Trial 1 10s", "the trial of 10s is over"},
		"but no more than twice": {trials(cold, times(1)), []Edit{Void("link west was down", 0, 1, 2, 3)},
			"Trial 1 10s, Trial 1 10s, Trial 1 10s", "the trial of 10s is over"},
		"nothing set": {maximumload.New(plan.Procedure{}), nil, "Trial 1 0s", "the trial of 0s is over"},
	} {
		history, trace := CarryOut(t, c.procedure, Limited(1e9), c.edits...)
		if got := steps(history); got != c.want || trace[len(trace)-1] != c.ending {
			t.Errorf("%s: %s: %q; want %s: %s", name, got, trace, c.want, c.ending)
		}
		if c.edits != nil && trace[0] != "window 1 is repeated, as it could not be judged: link west was down" {
			t.Errorf("%s: the repeat has no reason: %q", name, trace)
		}
	}
}

// Whatever is offered, what comes back is what the device, whose limit only the test knows, forwards of it.
func TestADeviceOfAKnownLimit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		limit, fastest := Full*(0.01+1.5*rnd.Float64()), Full*(0.01+1.5*rnd.Float64())
		p := trials(times(1 + rnd.IntN(5)))
		history, _ := CarryOut(t, p, Limited(limit).Throttled(fastest))
		c := p.Conclude(history)
		want := report.MaximumOffered
		switch offered := min(Full, fastest); {
		case limit > offered-1 && limit < offered+1: // whether a frame is lost is a matter of rounding
			want = c.Reason
		case limit > offered && fastest < Full*0.99:
			want = report.GeneratorLimited
		case limit > offered:
			want = report.TargetReached
		}
		if !c.Finished || !c.Confirmed || c.Saturated || c.Reason != want || c.Lossy != procedure.NoWindow ||
			c.Resolution != 0 {
			t.Fatalf("%+v", c)
		}
		offered := min(Full, fastest)
		for _, d := range c.Whole.Directions {
			if diff := float64(d.Received.PacketsPerSecond) - min(offered, limit); diff > 1 || diff < -1 {
				t.Fatalf("limit %.0f, generator %.0f: %d came back", limit, fastest, d.Received.PacketsPerSecond)
			}
			if diff := float64(d.Offered.PacketsPerSecond) - offered; diff > 1 || diff < -1 {
				t.Fatalf("limit %.0f, generator %.0f: %d was offered", limit, fastest, d.Offered.PacketsPerSecond)
			}
		}
		if mentioned := strings.Contains(c.Sentence,
			"the generators' limit is no limit of the device"); mentioned != (fastest < Full*0.99) {
			t.Fatalf("limit %.0f, generator %.0f: %s", limit, fastest, c.Sentence)
		}
	}
}

// starved has one direction alone, of which so many frames may be lost as threads waited, those that send for so long.
func starved(senders time.Duration, frames int64) Edit {
	return func(_ int, w *report.Window) {
		w.Directions = w.Directions[:1]
		w.Directions[0].DisturbedFrames, w.Directions[0].SendersWaited = frames, plan.Duration(senders)
		w.Disturbance = &report.Disturbance{Over: plan.Duration(10 * time.Second),
			Waited: plan.Duration(2 * time.Second), Waits: []report.Wait{{Thread: "napi/east-12", ID: 12, Processor: 1,
				Waited: plan.Duration(2 * time.Second)}}}
	}
}

// wobbling forwards another share in each window.
func wobbling(shares ...float64) Device {
	return func(n int, asked float64) (float64, float64) { return asked, asked * shares[n%len(shares)] }
}

func TestWhatIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		procedure procedure.Procedure
		device    Device
		edits     []Edit
		window    int // its number
		want      string
	}{
		"a weak generator": {trials(cold, times(1)), Limited(4000).Throttled(9000), nil, 1,
			"of 40.00 kpps asked for, the generators offered 18.00 kpps, and 8.00 kpps came back, all directions " +
				"together: that is the forwarding rate at this offered load, " +
				"and the generators' limit is no limit of the device; west→east: 4.00 kpps of 9.00 kpps offered; " +
				"east→west: 4.00 kpps of 9.00 kpps offered"},
		"one direction": {trials(cold, times(1)), Limited(4000).Throttled(9000),
			[]Edit{func(_ int, w *report.Window) { w.Directions = w.Directions[:1] }}, 1,
			"of 20.00 kpps asked for, the generators offered 9.00 kpps, and 4.00 kpps came back: that is the " +
				"forwarding rate at this offered load, " +
				"and the generators' limit is no limit of the device"},
		"several trials, of which the median is shown": {trials(cold), wobbling(0.4, 0.2, 0.3), nil, 3,
			"of 40.00 kpps asked for, the generators offered 40.00 kpps, and 12.00 kpps came back, all directions " +
				"together: that is the forwarding rate at this offered load; " +
				"west→east: 6.00 kpps of 20.00 kpps offered; east→west: 6.00 kpps of 20.00 kpps offered; in 3 trials " +
				"from 8.00 kpps to 16.00 kpps came back"},
		"one of two could not be judged": {trials(cold, times(2)), Limited(4000),
			[]Edit{Void("link west was down", 0, 1, 2)}, 4,
			"of 40.00 kpps asked for, the generators offered 40.00 kpps, and 8.00 kpps came back, all directions " +
				"together: that is the forwarding rate at this offered load; " +
				"west→east: 4.00 kpps of 20.00 kpps offered; east→west: 4.00 kpps of 20.00 kpps offered; " +
				"1 trial could not be judged, however often repeated (window 3: link west was down)"},
		"who sends and who forwards waited": {trials(cold, times(1)), Limited(4000).Throttled(9000),
			[]Edit{starved(time.Second, 20_000)}, 1,
			"of 20.00 kpps asked for, the generators offered 9.00 kpps, and 4.00 kpps came back: that is the " +
				"forwarding rate at this offered load, " +
				"and neither is a limit, as what sends and what forwards waited for processors; " +
				"thread napi/east-12 (12), which carries frames, waited 2s of 10s for processor 1, and what sends " +
				"waited 1s, so that its frames left in the time that remained: " +
				"up to 20000 of the frames that did not come back may have been lost for that, so that the device " +
				"may have forwarded more"},
		"who sends waited for a moment": {trials(cold, times(1)), Limited(4000).Throttled(9000),
			[]Edit{starved(50*time.Millisecond, 90_000)}, 1,
			"of 20.00 kpps asked for, the generators offered 9.00 kpps, and 4.00 kpps came back: that is the " +
				"forwarding rate at this offered load, " +
				"and the generators' limit is no limit of the device; " +
				"thread napi/east-12 (12), which carries frames, waited 2s of 10s for processor 1, and what sends " +
				"waited 50ms, so that its frames left in the time that remained: " +
				"up to 50000 of the frames that did not come back may have been lost for that, so that the device " +
				"may have forwarded more"},
		"who forwards waited, and nothing is known of who sends": {trials(cold, times(1)), Limited(4000).Throttled(9000),
			[]Edit{starved(0, 20_000)}, 1,
			"of 20.00 kpps asked for, the generators offered 9.00 kpps, and 4.00 kpps came back: that is the " +
				"forwarding rate at this offered load, " +
				"and the generators' limit is no limit of the device"},
		"a generator that drops": {trials(cold, times(1)), Limited(4000), []Edit{func(_ int, w *report.Window) {
			w.Directions = w.Directions[:1]
			w.Directions[0].ReceiveErrors = 7
		}}, 1, "of 20.00 kpps asked for, the generators offered 20.00 kpps, and 4.00 kpps came back: that is the " +
			"forwarding rate at this offered load; " +
			"the generators themselves dropped 7 frames that reached them, so that the device may have forwarded more"},
	} {
		history, _ := CarryOut(t, c.procedure, c.device, c.edits...)
		got := c.procedure.Conclude(history)
		if got.Sentence != c.want || history[got.Window].Number != c.window {
			t.Errorf("%s: window %d: %s\nwant window %d: %s", name, history[got.Window].Number, got.Sentence, c.window,
				c.want)
		}
	}
}

func TestTheMedianOfAnEvenNumberIsTheLowerOne(t *testing.T) {
	p := trials(cold, times(4))
	history, _ := CarryOut(t, p, wobbling(0.4, 0.2, 0.3, 0.1))
	if c := p.Conclude(history); c.Window != 1 || c.Whole.Directions[0].Received.PacketsPerSecond != Full/4 {
		t.Errorf("%+v", c)
	}
}

func TestTrialsOfWhichNothingCounts(t *testing.T) {
	p := trials()
	history, _ := CarryOut(t, p, Limited(1e9),
		func(_ int, w *report.Window) { w.Quality, w.Reason = report.Invalid, "the generator sent nothing" })
	c := p.Conclude(history)
	if len(history) != 10 || c.Reason != report.NotMeasured || c.Confirmed || c.Whole != nil ||
		c.Window != procedure.NoWindow ||
		c.Sentence != "3 trials could not be judged, however often repeated (window 4: the generator sent nothing)" {
		t.Errorf("%d windows: %+v", len(history), c)
	}
}

func TestAWarmUpThatReturnsNothingEndsTheRun(t *testing.T) {
	p := trials()
	history, trace := CarryOut(t, p, Limited(0))
	c := p.Conclude(history)
	if len(history) != 1 || c.Reason != report.NotMeasured || c.Ending != trace[0] ||
		trace[0] != "warm-up: none of 100000 frames came back from west to east" {
		t.Errorf("%+v after %d windows: %q", c, len(history), trace)
	}
}

func TestTheTimeItTakes(t *testing.T) {
	p := trials()
	if got, want := p.Bound(), (procedure.Bound{Steps: 18, Time: 167 * time.Second, Trials: 10, Trial: 10 * time.Second,
		LongestHold: 72 * time.Second}); got != want || p.Usual() != 35*time.Second {
		t.Errorf("%+v, usually %s; want %+v", got, p.Usual(), want)
	}
	if got := trials(func(m *plan.MaximumOfferedLoad) { m.WarmupDuration = plan.Duration(time.Minute) }).Bound().Trial; got != time.Minute {
		t.Errorf("a generator sends for %s at most, want a minute of warm-up", got)
	}
	history, _ := CarryOut(t, p, Limited(1e9), Void("link west was down", 1))
	var remaining []time.Duration
	for n := range len(history) + 1 {
		remaining = append(remaining, p.Remaining(history[:n])/time.Second)
	}
	if want := []time.Duration{35, 30, 30, 20, 10, 0}; !slices.Equal(remaining, want) {
		t.Errorf("%d remain, want %d", remaining, want)
	}
}

func TestWhatItSaysOfItself(t *testing.T) {
	p := trials()
	if d, want := p.Describe(), "maximum offered load: ask for 20kpps per direction in 3 trials of "+
		"10s"; d.Sentence != want {
		t.Errorf("%+v, want %q", d, want)
	}
	rates := p.Rates()
	if rates.Full.Field != "maximumOfferedLoad.rate" || rates.WarmUp != rates.Full || rates.Full.String() != "20kpps" {
		t.Errorf("%+v", rates)
	}
	if rates := trials(cold).Rates(); rates.WarmUp.Field != "" {
		t.Errorf("without a warm-up %+v", rates)
	}
}

func TestPropertyAnyHistoryEnds(t *testing.T) {
	AnyHistoryEnds(t, func(rnd *rand.Rand) procedure.Procedure {
		return trials(times(rnd.IntN(6)), func(m *plan.MaximumOfferedLoad) { m.WarmupDuration *= plan.Duration(rnd.IntN(2)) })
	})
}
