package ramp_test

import (
	"fmt"
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
	. "github.com/linerate-dev/linerate/test/rigs/proceduretest"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// policed is a device with a bucket.
func policed(rate float64, depth time.Duration) device {
	b := NewBucket(rate, depth)
	return func(s procedure.Step, asked float64) (float64, float64) { return asked, b.Pass(s, asked) }
}

// short are short settings: a second's steps, held for five seconds.
func short(p *plan.Procedure) {
	p.Ramp.RampDuration, p.Ramp.StepDuration, p.Ramp.SettleDuration, p.Ramp.ConfirmDuration = plan.Duration(12*time.Second),
		plan.Duration(time.Second), plan.Duration(300*time.Millisecond), plan.Duration(5*time.Second)
}

// byDefault are the API's settings.
func byDefault(p *plan.Procedure) {
	p.Ramp.RampDuration, p.Ramp.HoldDuration, p.Ramp.StopAtSaturation = plan.Duration(10*time.Minute),
		plan.Duration(30*time.Second), false
}

// claimsCommittedRate says what is wrong with a claim about a policer of that rate; empty: the claim is right.
func claimsCommittedRate(p plan.Procedure, history []report.Window, rate float64) string {
	c := ramp.New(p).Conclude(history)
	switch {
	case c.Reason == report.TargetReached && history[c.Window].Load == units.One &&
		history[c.Window].Duration == p.Ramp.ConfirmDuration:
		return "" // the bucket carried all that was asked for, and more is not claimed
	case !c.Saturated:
		return "no limit is claimed"
	case !c.Confirmed:
		return "it is not confirmed"
	}
	limit := rate / (1 - p.MaxLossRatio.Float()) // at which the loss limit is lost
	if low, high := receivedAt(history, c), receivedAt(history, c)/(1-c.Resolution.Float()); low > limit*1.0015 ||
		high < rate*0.999 || low < rate*0.985 {
		return fmt.Sprintf("the claim is %.0f to %.0f", low, high)
	}
	return ""
}

// A policer forwards its committed rate for as long as one likes, and more until its bucket is empty: a second
// and more after a calm moment. The committed rate is found, whatever the windows before.
func TestTheCommittedRateOfAPolicerIsFound(t *testing.T) {
	for name, settings := range map[string]func(*plan.Procedure){"usual": func(*plan.Procedure) {},
		"default": byDefault, "short": short} {
		for _, depth := range []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second} {
			for _, rate := range []float64{7_300, 30_500, 48_300, 77_700} {
				p := rampOf(settings)
				history, trace := carryOut(t, p, policed(rate, depth))
				if wrong := claimsCommittedRate(p, history, rate); wrong != "" {
					t.Errorf("%s settings, %.0f packets/s, a bucket of %s: %s\n%s", name, rate, depth, wrong,
						strings.Join(trace, "\n"))
				}
			}
		}
	}
}

// A policer by bytes drops large frames of a mix and lets small ones pass, so that it loses far fewer frames
// than bits. Its committed rate is found all the same, as closely as asked for.
func TestTheCommittedRateOfAPolicerByBytesIsFound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(58, 3))
	for name, settings := range map[string]func(*plan.Procedure){"usual": func(*plan.Procedure) {}, "short": short} {
		for _, depth := range []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second} {
			p, rate := rampOf(settings), 2_000+rnd.Float64()*60_000
			b := NewByteBucket(rate, depth)
			history, trace := carryOut(t, p, func(s procedure.Step, asked float64) (float64, float64) {
				return asked, b.Pass(s, asked)
			}, func(w *report.Window) { b.Weigh(&w.Directions[0]) })
			c := ramp.New(p).Conclude(history)
			if !c.Saturated || !c.Confirmed || receivedAt(history, c) > rate*1.01 ||
				receivedAt(history, c) < rate*0.99 || c.Resolution > units.One/50 {
				t.Errorf("%s settings, %.0f packets/s, a bucket of %s: %s, within %s\n%s", name, rate, depth, c.Reason,
					c.Resolution, strings.Join(trace, "\n"))
			}
		}
	}
}

// Drawn policers, settings and disturbances: what is confirmed as a limit is the committed rate.
func TestPropertyAConfirmedLimitHoldsForLongerThanItsWindows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(58, 2))
	confirmed, runs := 0, tier.Times(100, 3000)
	for range runs {
		rate, depth := target*(0.02+0.9*rnd.Float64()), time.Duration(rnd.ExpFloat64()*float64(2*time.Second))
		p := rampOf(func(p *plan.Procedure) {
			p.Ramp.StepDuration = plan.Duration(500+rnd.IntN(3000)) * plan.Duration(time.Millisecond)
			p.Ramp.SettleDuration = p.Ramp.StepDuration * plan.Duration(1+rnd.IntN(5)) / 10
			p.Ramp.RampDuration = p.Ramp.StepDuration * plan.Duration(1+rnd.IntN(100))
			p.Ramp.ConfirmDuration = plan.Duration(1+rnd.IntN(30)) * plan.Duration(time.Second)
			p.Ramp.HoldDuration = plan.Duration(rnd.IntN(2)*10) * plan.Duration(time.Second)
			p.Ramp.StopAtSaturation = rnd.IntN(2) == 0
			p.Ramp.Precision = units.One / units.Ratio(50+rnd.IntN(300))
		})
		edges := time.Duration(rnd.IntN(2)*rnd.IntN(12)) * time.Millisecond
		p.MaxLossRatio *= units.Ratio(rnd.IntN(4))
		history, _, trace := read(t, p, policed(rate, depth), edges, func(w *report.Window) {
			w.Quality = report.Good
			for i := range w.Directions {
				m := &w.Directions[i]
				m.Quality = report.Good
				switch {
				case m.LossRatio <= p.MaxLossRatio:
				case measure.OnlyEdgesSay(*m, p.MaxLossRatio):
				case !exceedsSurely(*m, p.MaxLossRatio):
					m.Quality = report.Invalid
				default:
					m.Quality = report.Lossy
				}
				w.Quality = m.Quality
			}
		})
		c := ramp.New(p).Conclude(history)
		if !c.Confirmed || !c.Saturated {
			continue
		}
		confirmed++
		limit := rate / (1 - p.MaxLossRatio.Float()) * (1 + edges.Seconds()/p.Ramp.ConfirmDuration.Std().Seconds())
		if low, high := receivedAt(history, c), receivedAt(history, c)/(1-c.Resolution.Float()); low > limit*1.001+1 ||
			high < rate*0.999-1 {
			t.Fatalf("%.0f packets/s, a bucket of %s, steps of %s, held for %s: the claim is %.0f to %.0f\n%s", rate,
				depth, p.Ramp.StepDuration.Std(), p.Ramp.ConfirmDuration.Std(), low, high, strings.Join(trace, "\n"))
		}
	}
	if confirmed < runs*9/10 {
		t.Errorf("only %d of %d are confirmed", confirmed, runs)
	}
}

// exceedsSurely says that a direction lost more than the limit, whatever its edges hide.
func exceedsSurely(m report.Direction, limit units.Ratio) bool {
	return float64(m.Sent.Packets-m.Returned.Packets-m.EdgeFrames) > limit.Float()*float64(m.Sent.Packets)
}
