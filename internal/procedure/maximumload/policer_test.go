package maximumload_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	. "github.com/linerate-dev/linerate/test/rigs/proceduretest"
)

// A policer's trials begin with a full bucket. What is claimed is what it forwards for as long as one likes.
func TestTheForwardingRateOfAPolicerIsItsCommittedRate(t *testing.T) {
	rnd := rand.New(rand.NewPCG(58, 2))
	for _, trial := range []time.Duration{5 * time.Second, 10 * time.Second, time.Minute} {
		for _, depth := range []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second} {
			committed := 300 + rnd.Float64()*9000
			buckets := [2]*Bucket{NewBucket(committed, depth), NewBucket(committed, depth)}
			p := trials(times(1+rnd.IntN(3)),
				func(m *plan.MaximumOfferedLoad) { m.TrialDuration = plan.Duration(trial) })
			history, _ := CarryOutBy(t, p, func(s procedure.Step, n int) report.Window {
				return Paired(func(_ int, asked [2]float64) (offered, received [2]float64) {
					return asked, [2]float64{buckets[0].Pass(s, asked[0]), buckets[1].Pass(s, asked[1])}
				}).Window(s, n)
			})
			c := p.Conclude(history)
			if c.Reason != report.MaximumOffered || !c.Finished {
				t.Errorf("%+v", c)
			}
			for _, d := range c.Whole.Directions {
				if got := float64(d.Received.PacketsPerSecond); got < committed*0.99 || got > committed*1.01 {
					t.Errorf("trials of %s, a bucket of %s: %.0f packets/s came back, and the device forwards %.0f: %s",
						trial, depth, got, committed, c.Sentence)
				}
			}
			if deep := float64(depth) > 0.011*float64(trial); deep != strings.Contains(c.Sentence,
				"for as long as one likes") && depth >= time.Second {
				t.Errorf("trials of %s, a bucket of %s: %s", trial, depth, c.Sentence)
			}
		}
	}
}

// A policer by bytes rather drops a mix's large frames: what its bucket carries of a trial shows in bits, not
// in frames.
func TestTheForwardingRateOfAPolicerByBytesIsItsCommittedRate(t *testing.T) {
	rnd := rand.New(rand.NewPCG(58, 3))
	for _, depth := range []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second} {
		buckets := [2]*ByteBucket{NewByteBucket(300+rnd.Float64()*5000, depth), NewByteBucket(300+rnd.Float64()*5000,
			depth)}
		p := trials(times(1), func(m *plan.MaximumOfferedLoad) { m.TrialDuration = plan.Duration(5 * time.Second) })
		history, _ := CarryOutBy(t, p, func(s procedure.Step, n int) report.Window {
			w := Paired(func(_ int, asked [2]float64) (offered, received [2]float64) {
				return asked, [2]float64{buckets[0].Pass(s, asked[0]), buckets[1].Pass(s, asked[1])}
			}).Window(s, n)
			for d := range w.Directions {
				buckets[d].Weigh(&w.Directions[d])
			}
			return w
		})
		c := p.Conclude(history)
		for i, d := range c.Whole.Directions {
			if got, committed := float64(d.Received.Layer2BitsPerSecond)/8, buckets[i].Rate; got < committed*0.99 ||
				got > committed*1.01 {
				t.Errorf("a bucket of %s: %.0f bytes/s came back, and the device forwards %.0f: %s", depth, got,
					committed, c.Sentence)
			}
		}
	}
}
