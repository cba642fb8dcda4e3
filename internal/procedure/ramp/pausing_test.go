package ramp_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/ramp"
)

// pausing carries no more than slow for a share of the time, which windows shorter than five seconds don't see.
func (d device) pausing(share, slow float64) device {
	return func(s procedure.Step, asked float64) (float64, float64) {
		offered, received := d(s, asked)
		if s.Judge >= 5*time.Second {
			received -= share * max(0, received-slow)
		}
		return offered, received
	}
}

// pausingIrregularly is slow for another share of each long window: anything up to twice the share.
func (d device) pausingIrregularly(share, slow float64, rnd *rand.Rand) device {
	return func(s procedure.Step, asked float64) (float64, float64) {
		return d.pausing(2*share*rnd.Float64(), slow)(s, asked)
	}
}

// pauses are what runs of a device gave that is slow now and then.
type pauses struct {
	confirmed, low int
	worst, longs   float64
}

// countPauses measures drawn devices that are slower by so much for a share of the time. What a confirmed run says, that the limit lies between the answer and the load that lost frames, has to be true of each.
func countPauses(t *testing.T, p plan.Procedure, share, by float64, runs int) (sum pauses) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(29, 3))
	for range runs {
		fast := target * (0.1 + 0.8*rnd.Float64())
		slow := fast * (1 - by)
		limit := min(fast, slow/(1-p.MaxLossRatio.Float()/share)) // where the loss limit is lost
		history, trace := carryOut(t, p, limited(fast, 0).pausing(share, slow))
		for _, w := range history[1:] {
			if w.Duration >= p.Ramp.ConfirmDuration {
				sum.longs++
			}
		}
		c := ramp.New(p).Conclude(history)
		if !c.Confirmed {
			continue
		}
		sum.confirmed++
		carried := receivedAt(history, c)
		if high := carried / (1 - c.Resolution.Float()); carried > limit*1.001 || high < limit*0.999 {
			t.Fatalf("slow by %.0f %% for %.0f %% of the time: the limit is %.0f packets/s, which is not between %.0f and %.0f\n%s", 100*by, 100*share, limit, carried, high, strings.Join(trace, "\n"))
		}
		off := carried/limit - 1
		sum.worst = min(sum.worst, off)
		if off < -0.01 {
			sum.low++
		}
	}
	return sum
}

// TestADeviceThatIsSlowNowAndThen counts the table of docs/measured/simulated-searches.md: its loss says little of how far above the limit it is, and yet the search gets there.
func TestADeviceThatIsSlowNowAndThen(t *testing.T) {
	p := rampOf(func(p *plan.Procedure) { p.Ramp.ConfirmDuration = plan.Duration(30 * time.Second) })
	table := "| slower by | for this share of the time | confirmed | more than 1 % too low | worst | long windows |\n|---|---|---|---|---|---|\n"
	runs := 25
	if *update {
		runs = 2000
	}
	for _, by := range []float64{0.05, 0.10, 0.20, 0.40} {
		for _, share := range []float64{0.02, 0.05, 0.10} {
			sum := countPauses(t, p, share, by, runs)
			if sum.confirmed < runs*9/10 {
				t.Errorf("slow by %.0f %% for %.0f %% of the time: only %d of %d are confirmed", 100*by, 100*share, sum.confirmed, runs)
			}
			part := func(n int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(runs)) }
			table += fmt.Sprintf("| %.0f %% | %.0f %% | %s | %s | %.1f %% | %.1f |\n", 100*by, 100*share, part(sum.confirmed), part(sum.low), 100*sum.worst, sum.longs/float64(runs))
		}
	}
	if *update {
		publish(t, "slow now and then", table)
	}
}

// TestADeviceThatIsSlowNowAndThenIrregularly counts how many runs are confirmed of devices that lose more of a load in one window than in the next, and sometimes more than of a higher load: that isn't the same share of every load.
func TestADeviceThatIsSlowNowAndThenIrregularly(t *testing.T) {
	p := rampOf(func(p *plan.Procedure) { p.Ramp.ConfirmDuration = plan.Duration(30 * time.Second) })
	table := "| slower by | for this share of the time, on average | confirmed | least figure ÷ slow rate | mean figure ÷ slow rate | largest |\n|---|---|---|---|---|---|\n"
	runs := 50
	if *update {
		runs = 2000
	}
	for _, by := range []float64{0.2, 0.4, 0.6} {
		for _, share := range []float64{0.1, 0.3, 0.5} {
			rnd, figures := rand.New(rand.NewPCG(29, 4)), []float64{}
			for range runs {
				fast := target * (0.1 + 0.8*rnd.Float64())
				slow := fast * (1 - by)
				history, _ := carryOut(t, p, limited(fast, 0).pausingIrregularly(share, slow, rnd))
				if c := ramp.New(p).Conclude(history); c.Confirmed {
					figures = append(figures, receivedAt(history, c)/slow)
				}
			}
			if len(figures) < runs*2/3 {
				t.Fatalf("slow by %.0f %% for about %.0f %% of the time: only %d of %d are confirmed", 100*by, 100*share, len(figures), runs)
			}
			if most := slices.Max(figures) * (1 - by); most > 1 {
				t.Errorf("slow by %.0f %% for about %.0f %% of the time: %.3f of what the device carries at its best", 100*by, 100*share, most)
			}
			sum := 0.0
			for _, f := range figures {
				sum += f
			}
			table += fmt.Sprintf("| %.0f %% | %.0f %% | %.1f %% | %.2f | %.2f | %.2f |\n", 100*by, 100*share, 100*float64(len(figures))/float64(runs), slices.Min(figures), sum/float64(len(figures)), slices.Max(figures))
		}
	}
	if *update {
		publish(t, "slow irregularly", table)
	}
}
