package losscurve

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

func poisson(r *rand.Rand, mean float64) int64 {
	if mean > 50 {
		return int64(max(0, math.Round(mean+math.Sqrt(mean)*r.NormFloat64())))
	}
	l, k, p := math.Exp(-mean), int64(0), 1.0
	for {
		p *= r.Float64()
		if p <= l {
			return k
		}
		k++
	}
}

type dev struct {
	name  string
	ratio func(x float64) float64
	clump int64
	jit   float64
}

func TestProto(t *testing.T) {
	if os.Getenv("PROTO") == "" {
		t.Skip()
	}
	C := 0.37e6
	mk := func(s Shape, sp float64) func(float64) float64 {
		return func(x float64) float64 { return math.Exp(Curve{s, C, sp * C}.LogLossRatio(x)) }
	}
	hard := func(x float64) float64 { return max(0, 1-C/x) }
	devs := []dev{
		{"stretch.01", mk(Stretch, .01), 1, 0}, {"stretch.002", mk(Stretch, .002), 1, 0}, {"erf.03", mk(Erf, .03), 1, 0}, {"erf.005", mk(Erf, .005), 1, 0}, {"hard", hard, 1, 0},
		{"clump32 stretch.01", mk(Stretch, .01), 32, 0}, {"clump32 hard", hard, 32, 0}, {"floor 1e-5 + hard", func(x float64) float64 { return 1e-5 + hard(x) }, 1, 0},
		{"power", func(x float64) float64 { return math.Pow(x/C, 12) * 1e-3 }, 1, 0},
		{"stretch .01 jit 0.5", mk(Stretch, .01), 1, 0.5},
	}
	target := 1e-6
	q := Question{target, 1e4, 1e6}
	N := 40
	for _, d := range devs {
		truth := 0.0
		lo, hi := q.Least, 2*q.Most
		for range 60 {
			m := (lo + hi) / 2
			if d.ratio(m) > target {
				hi = m
			} else {
				lo = m
			}
		}
		truth = lo
		in, w, start, bias := 0, 0.0, time.Now(), 0.0
		inS, inE := 0, 0
		seeds := 6
		for seed := range seeds {
			r := rand.New(rand.NewPCG(uint64(seed), 5))
			var trials []Trial
			x := q.Most
			var fs []Fit
			for k := range N {
				dur := 5.1 + 0.1*float64(k)
				sent := int64(x * dur)
				mean := d.ratio(x) * float64(sent)
				if d.jit > 0 {
					mean *= math.Exp(d.jit*r.NormFloat64() - d.jit*d.jit/2)
				}
				lost := min(sent, d.clump*poisson(r, mean/float64(d.clump)))
				trials = append(trials, Trial{x, sent, lost})
				fs = fs[:0]
				if k < 2 {
					x = max(q.Least, x*(1-float64(lost)/float64(sent)))
					continue
				}
				for _, s := range Shapes {
					fs = append(fs, Of(s, trials, q))
				}
				switch k % 3 {
				case 0, 1:
					x = fs[k%3].Mean()
				case 2:
					x = min(fs[0].Quantile(.1), fs[1].Quantile(.1))
				}
				x = min(q.Most, max(q.Least, x))
				if seed == 0 && os.Getenv("PROTO") == "2" {
					fmt.Printf("  k=%d load %.4g lost %d -> st %.4g±%.2g erf %.4g±%.2g\n", k, trials[k].Load, lost, fs[0].Mean(), fs[0].Deviation(), fs[1].Mean(), fs[1].Deviation())
				}
			}
			l, h := min(fs[0].Quantile(.025), fs[1].Quantile(.025)), max(fs[0].Quantile(.975), fs[1].Quantile(.975))
			if l <= truth && truth <= h {
				in++
			}
			if fs[0].Quantile(.025) <= truth && truth <= fs[0].Quantile(.975) {
				inS++
			}
			if fs[1].Quantile(.025) <= truth && truth <= fs[1].Quantile(.975) {
				inE++
			}
			w += (h - l) / truth
			bias += ((fs[0].Mean()+fs[1].Mean())/2 - truth) / truth
		}
		fmt.Printf("%-22s truth %.0f in %d/%d (stretch %d erf %d) width %.3f%% bias %.3f%% %v\n", d.name, truth, in, seeds, inS, inE, 100*w/float64(seeds), 100*bias/float64(seeds), time.Since(start)/time.Duration(seeds))
	}
}
