package search_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/search"
	. "github.com/linerate-dev/linerate/test/rigs/proceduretest"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// policed is what steps show of a policer in each direction.
func policed(rate float64, depth time.Duration) func(procedure.Step, int) report.Window {
	buckets := [2]*Bucket{NewBucket(rate, depth), NewBucket(rate, depth)}
	return func(s procedure.Step, n int) report.Window {
		return Paired(func(_ int, asked [2]float64) (offered, received [2]float64) {
			return asked, [2]float64{buckets[0].Pass(s, asked[0]), buckets[1].Pass(s, asked[1])}
		}).Window(s, n)
	}
}

// lasting are trials that last so long, as often as goals of a second's trials have them.
func lasting(trial time.Duration) func(*plan.Procedure) {
	return func(p *plan.Procedure) {
		for i := range p.Search.Goals {
			p.Search.Goals[i].FinalTrialDuration, p.Search.Goals[i].DurationSum = plan.Duration(trial),
				max(plan.Duration(2*trial), plan.Duration(21*time.Second))
		}
	}
}

// A policer fills its bucket between trials, so that trials of a second pass at two thirds more than it
// forwards for as long as one likes. Each goal's figure is the committed rate, of which the goal's share may be
// lost, and the trials' own bounds are beside it.
func TestTrialsOfAPolicerClaimTheCommittedRateAlone(t *testing.T) {
	rnd := rand.New(rand.NewPCG(58, 2))
	for _, trial := range []time.Duration{time.Second, 10 * time.Second, 60 * time.Second} {
		for _, depth := range []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second} {
			for range tier.Times(1, 6) {
				committed := 200 + rnd.Float64()*6000
				p := search.New(planned(bothWays[rnd.IntN(2)], lasting(trial)))
				history, trace := CarryOutBy(t, p, policed(committed, depth))
				for i, loss := range []float64{0, 0.005} {
					g, truth := p.Found(history)[i], committed/(1-loss)
					if g.Window == procedure.NoWindow || !g.Saturated || rate(history[g.Window].Load) > truth*1.0051 ||
						rate(history[g.Window].Load) < truth*0.99 {
						t.Errorf("trials of %s, %.0f packets/s and a bucket of %s: %s is %+v\n%s", trial, committed,
							depth, g.Name, g.Conclusion, strings.Join(trace, "\n"))
						continue
					}
					bursts := rate(g.Lower.Load) > truth*1.0051
					if bursts != (g.Reason == report.BurstsOnly) || bursts != strings.Contains(g.Sentence,
						"for as long as one likes") {
						t.Errorf("trials of %s, %.0f packets/s and a bucket of %s: %s is met at %.0f: %s, %s", trial,
							committed, depth, g.Name, rate(g.Lower.Load), g.Reason, g.Sentence)
					}
					for _, d := range g.Directions {
						if !d.Saturated || d.Window != g.Window || d.Reason != g.Reason {
							t.Errorf("a direction is %+v beside %+v", d, g.Conclusion)
						}
					}
				}
			}
		}
	}
}

// A policer by bytes drops large frames of a mix and lets small ones pass: what came back by frames is far
// above its committed rate, which is found by bits.
func TestTrialsOfAPolicerByBytesClaimTheCommittedRateAlone(t *testing.T) {
	rnd := rand.New(rand.NewPCG(58, 3))
	for _, depth := range []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second} {
		committed := 500 + rnd.Float64()*4000
		buckets := [2]*ByteBucket{NewByteBucket(committed, depth), NewByteBucket(committed, depth)}
		p := search.New(planned(bothWays[0], lasting(time.Second)))
		history, trace := CarryOutBy(t, p, func(s procedure.Step, n int) report.Window {
			w := Paired(func(_ int, asked [2]float64) (offered, received [2]float64) {
				return asked, [2]float64{buckets[0].Pass(s, asked[0]), buckets[1].Pass(s, asked[1])}
			}).Window(s, n)
			for d := range w.Directions {
				buckets[d].Weigh(&w.Directions[d])
			}
			return w
		})
		g := p.Conclude(history).Goals[0]
		if g.Window == procedure.NoWindow || !g.Saturated || rate(history[g.Window].Load) > committed*1.01 ||
			rate(history[g.Window].Load) < committed*0.99 {
			t.Errorf("%.0f packets/s and a bucket of %s: %s is %+v\n%s", committed, depth, g.Name, g.Conclusion,
				strings.Join(trace, "\n"))
		}
	}
}

// A policer by packets may drop the large frames of a mix, as they come round while nothing is saved up: what
// came back by bits is far below its committed rate, which is found by frames. The sizes are those of a Linux
// policer, whose lost frames had 678 bytes on average.
func TestTrialsOfAPolicerByPacketsThatDropsLargeFramesClaimTheCommittedRateAlone(t *testing.T) {
	rnd := rand.New(rand.NewPCG(58, 4))
	for _, depth := range []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second} {
		committed := 500 + rnd.Float64()*4000
		play := policed(committed, depth)
		p := search.New(planned(bothWays[0], lasting(time.Second)))
		history, trace := CarryOutBy(t, p, func(s procedure.Step, n int) report.Window {
			w := play(s, n)
			for i := range w.Directions {
				d := &w.Directions[i]
				lost := d.Offered.PacketsPerSecond - d.Received.PacketsPerSecond
				d.Offered.Layer2BitsPerSecond = 8 * 362 * d.Offered.PacketsPerSecond
				d.Received.Layer2BitsPerSecond = max(8*64*d.Received.PacketsPerSecond,
					d.Offered.Layer2BitsPerSecond-8*678*lost)
			}
			return w
		})
		g := p.Conclude(history).Goals[0]
		if g.Window == procedure.NoWindow || !g.Saturated || rate(history[g.Window].Load) > committed*1.01 ||
			rate(history[g.Window].Load) < committed*0.99 {
			t.Errorf("%.0f packets/s and a bucket of %s: %s is %+v\n%s", committed, depth, g.Name, g.Conclusion,
				strings.Join(trace, "\n"))
		}
	}
}

// An overload that can't be judged leaves a goal's figure what trials after a pause show, and the sentence says so.
func TestALowerBoundThatCannotBeHeldIsShownInTrialsAlone(t *testing.T) {
	p := search.New(planned())
	history, _ := CarryOutBy(t, p, func(s procedure.Step, n int) report.Window {
		w := Window(Limited(9_000), s, n)
		if s.Kind == procedure.Hold {
			Void("link west was down", n)(n, &w)
		}
		return w
	})
	for _, g := range p.Conclude(history).Goals {
		if !strings.Contains(g.Sentence, "that is shown in trials of 1s that begin after a pause, and for no longer") {
			t.Errorf("%s", g.Sentence)
		}
	}
}
