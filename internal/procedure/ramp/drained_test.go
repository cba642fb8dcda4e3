package ramp_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/ramp"
	"github.com/linerate-dev/linerate/internal/units"
)

// read carries the ramp out where both edges of a held window together are so long that frames of that time may be on either side of them; a trial has no edges. Widened changes a window.
func read(t *testing.T, p plan.Procedure, d device, edges time.Duration, widened func(*report.Window)) (history []report.Window, kinds []procedure.Kind, trace []string) {
	t.Helper()
	for range ramp.New(p).Bound().Steps {
		s := ramp.New(p).Next(history)
		trace = append(trace, s.Reason)
		if s.Done {
			return history, kinds, trace
		}
		w := d.window(s, len(history)+1)
		for i := range w.Directions {
			if m := &w.Directions[i]; s.Kind == procedure.Held {
				m.EdgeFrames = 2 + m.Offered.PacketsPerSecond*int64(edges)/int64(time.Second)
			}
		}
		if widened != nil {
			widened(&w)
		}
		history, kinds = append(history, w), append(kinds, s.Kind)
	}
	t.Fatalf("no end:\n%s", strings.Join(trace, "\n"))
	return nil, nil, nil
}

// A load is confirmed by a trial where the edges of a held window could hide or feign more loss than the limit allows; 10 s at 0.1 % allow as much as passes in 10 ms.
func TestTheConfirmationIsATrialWhereEdgesWouldDecide(t *testing.T) {
	loss := func(r units.Ratio) func(*plan.Procedure) { return func(p *plan.Procedure) { p.MaxLossRatio = r } }
	for name, c := range map[string]struct {
		edges   time.Duration
		options []func(*plan.Procedure)
		want    procedure.Kind
		windows int // of the confirmation's length
	}{
		"a limit of zero":                          {0, []func(*plan.Procedure){loss(0)}, procedure.Trial, 1},
		"a limit of zero, after a hold":            {0, []func(*plan.Procedure){loss(0), hold(10 * time.Second)}, procedure.Trial, 2},
		"a small limit":                            {2 * time.Millisecond, []func(*plan.Procedure){loss(units.One / 10_000)}, procedure.Trial, 1},
		"the usual limit":                          {2 * time.Millisecond, nil, procedure.Held, 1},
		"the usual limit, after a hold":            {2 * time.Millisecond, []func(*plan.Procedure){hold(10 * time.Second)}, procedure.Held, 1},
		"the usual limit, with long readings":      {11 * time.Millisecond, nil, procedure.Trial, 1},
		"the usual limit, with readings as long":   {9900 * time.Microsecond, nil, procedure.Held, 1},
		"a small limit, with windows of no edges":  {-time.Second, []func(*plan.Procedure){loss(units.One / 10_000)}, procedure.Held, 1},
		"a small limit, confirmed for long enough": {2 * time.Millisecond, []func(*plan.Procedure){loss(units.One / 10_000), func(p *plan.Procedure) { p.Ramp.ConfirmDuration = plan.Duration(30 * time.Second) }}, procedure.Held, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := rampOf(c.options...)
			history, kinds, trace := read(t, p, limited(1e9, 0), c.edges, nil)
			long := 0
			for i, w := range history {
				if w.Duration >= p.Ramp.ConfirmDuration {
					long++
				} else if kinds[i] != procedure.Held {
					t.Errorf("window %d of the search is a trial", w.Number)
				}
			}
			last := len(history) - 1
			if got := ramp.New(p).Conclude(history); kinds[last] != c.want || long != c.windows || !got.Confirmed || got.Reason != report.ReachedTarget || got.Window != last {
				t.Errorf("%d long windows, the last is %s; %+v\n%s", long, kinds[last], got, strings.Join(trace, "\n"))
			}
		})
	}
}

// A held window whose edges came out wider than those before, so that they hide more than the limit, confirms nothing; a trial of the same load does.
func TestAHeldWindowThatIsNotSureIsRepeatedAsATrial(t *testing.T) {
	p := rampOf()
	history, kinds, trace := read(t, p, limited(1e9, 0), time.Millisecond, func(w *report.Window) {
		if w.Phase == report.Confirm && w.Directions[0].EdgeFrames > 0 {
			w.Directions[0].EdgeFrames = w.Directions[0].Sent.Packets / 100
		}
	})
	last := len(history) - 1
	if got := ramp.New(p).Conclude(history); kinds[last-1] != procedure.Held || kinds[last] != procedure.Trial || history[last].Load != history[last-1].Load || !got.Confirmed || got.Window != last {
		t.Errorf("%s, then %s; %+v\n%s", kinds[last-1], kinds[last], got, strings.Join(trace, "\n"))
	}
}

// What a trial loses that held windows hid at every load is a limit of nothing: no load was shown to be clean, and the answer says so.
func TestLossThatOnlyTrialsShowProvesNoLoadBelowThem(t *testing.T) {
	p := rampOf(func(p *plan.Procedure) { p.MaxLossRatio = 0 })
	history, _, trace := read(t, p, limited(1e9, 0), 2*time.Millisecond, func(w *report.Window) {
		for i := range w.Directions {
			if m := &w.Directions[i]; m.EdgeFrames == 0 && w.Phase != report.WarmUp {
				m.Returned.Packets, m.Quality, w.Quality, m.LossRatio, m.LossRatioMin = m.Sent.Packets-2, report.Lossy, report.Lossy, 2000, 2000
			}
		}
	})
	got := ramp.New(p).Conclude(history)
	if got.Saturated || got.Confirmed || !got.Unproven || got.Reason != report.Inconclusive || got.Window != procedure.None {
		t.Errorf("%+v\n%s", got, strings.Join(trace, "\n"))
	}
}

// A device that loses a little more than is allowed of every load looks clean in a short window now and then, where its edges happen to hide that. That says nothing, and is no lower bound either.
func TestADeviceThatLosesALittleOfEveryLoadHasNoAnswer(t *testing.T) {
	doubtful := 0
	for seed := range uint64(300) {
		p, chance := rampOf(func(p *plan.Procedure) { p.Ramp.ConfirmDuration = plan.Duration(4 * time.Second) }), rand.New(rand.NewPCG(seed, 500))
		history, _, trace := read(t, p, limited(1e9, 0), 3*time.Millisecond, func(w *report.Window) {
			w.Quality = report.Good
			for i := range w.Directions {
				m := &w.Directions[i]
				missing := max(0, m.Sent.Packets/500+chance.Int64N(2*m.EdgeFrames+1)-m.EdgeFrames)
				m.Returned.Packets, m.LossRatio, m.Quality = m.Sent.Packets-missing, units.RatioOf(missing, m.Sent.Packets), report.Good
				switch {
				case measure.OnlyEdgesSay(*m, p.MaxLossRatio):
					m.Quality = report.Invalid
				case m.LossRatio > p.MaxLossRatio:
					m.Quality = report.Lossy
				}
				if m.Quality == report.Lossy || w.Quality == report.Good {
					w.Quality = m.Quality
				}
			}
		})
		got := ramp.New(p).Conclude(history)
		if got.Window != procedure.None || got.Saturated || got.Confirmed {
			t.Fatalf("seed %d: %+v\n%s", seed, got, strings.Join(trace, "\n"))
		}
		if got.Unproven {
			doubtful++
		}
	}
	if doubtful == 0 {
		t.Error("no load looked clean in any of them: this shows nothing")
	}
}

// Of a short window that misses more frames than the limit allows, all of which its edges may account for, a longer one tells more, unless even the longest of the search would not.
func TestALongerWindowTellsWhatShortEdgesLeaveOpen(t *testing.T) {
	for name, c := range map[string]struct {
		limit    units.Ratio
		repeated bool
	}{"at a limit that a longer one can tell": {units.One / 1000, true}, "at a limit of zero": {0, false}} {
		t.Run(name, func(t *testing.T) {
			p := rampOf(func(p *plan.Procedure) { p.MaxLossRatio = c.limit })
			_, _, trace := read(t, p, limited(52_000, 0), 3*time.Millisecond, func(w *report.Window) {
				if m := &w.Directions[0]; w.Phase == report.Refine && m.Quality == report.Good && m.EdgeFrames > 0 && w.Duration.Std() < 2*time.Second {
					m.Returned.Packets = m.Sent.Packets - m.EdgeFrames
				}
			})
			if got := strings.Contains(strings.Join(trace, "\n"), "is repeated for longer, which shows more"); got != c.repeated {
				t.Errorf("repeated: %v\n%s", got, strings.Join(trace, "\n"))
			}
		})
	}
}

// The same of a load at which a trial lost frames once, and later ones could not be judged.
func TestLossThatATrialShowedOnceIsNotForgotten(t *testing.T) {
	p := rampOf(func(p *plan.Procedure) { p.MaxLossRatio = 0 })
	tried := 0
	history, _, trace := read(t, p, limited(1e9, 0), 2*time.Millisecond, func(w *report.Window) {
		if w.Phase != report.Confirm {
			return
		}
		tried++
		w.Quality = map[bool]report.Quality{true: report.Lossy, false: report.Invalid}[tried == 1]
		for i := range w.Directions {
			w.Directions[i].Quality = w.Quality
		}
	})
	if got := ramp.New(p).Conclude(history); got.Saturated || got.Confirmed || !got.Unproven || got.Reason != report.Inconclusive || got.Window != procedure.None {
		t.Errorf("%+v\n%s", got, strings.Join(trace, "\n"))
	}
}
