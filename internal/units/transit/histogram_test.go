package transit_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/units/transit"
)

// times are some that a device might take, from 100 ns to some seconds.
func times(seed uint64, n int) []time.Duration {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = 100 + time.Duration(r.Uint64N(1<<r.UintN(33)+1))
	}
	return out
}

func counted(all []time.Duration) (h transit.Histogram) {
	for _, d := range all {
		h.Record(d)
	}
	return h
}

func TestAShareIsReadAtMostOnePercentTooLong(t *testing.T) {
	for seed := range uint64(50) {
		all := times(seed, int(1+seed*seed))
		h := counted(all)
		slices.Sort(all)
		for _, share := range []transit.Share{0, 1, transit.P50, transit.P90, 987_654, transit.P99, transit.P999, transit.P9999, transit.P99999, transit.Whole} {
			rank := max((len(all)*int(share)+999_999)/1_000_000, 1)
			exact := all[rank-1]
			got, known := h.Percentile(share)
			if !known || got < exact || float64(got) > 1.01*float64(exact) {
				t.Errorf("seed %d: %v of %d frames arrived within %v (known: %v), exactly %v", seed, share, len(all), got, known, exact)
			}
		}
	}
}

func TestMergedHistogramsAreOneOfAllFrames(t *testing.T) {
	for seed := range uint64(20) {
		all := times(seed, 1000)
		cut := int(seed) * 50
		first, second := counted(all[:cut]), counted(all[cut:])
		first.Merge(second)
		if !same(first, counted(all)) {
			t.Errorf("cut at %d: the parts are not the whole", cut)
		}
	}
}

func TestSinceIsWhatCameBetweenTwoReadings(t *testing.T) {
	all := times(1, 1000)
	h := counted(all[:600])
	earlier := h.Clone()
	h.Merge(counted(all[600:]))
	if got := h.Since(earlier); !same(got, counted(all[600:])) {
		t.Errorf("%v", got.Read(0))
	}
	if got := (transit.Histogram{}).Since(earlier); got.Frames() != 0 {
		t.Errorf("a histogram that was begun anew has %d frames", got.Frames())
	}
}

func TestAProgramsCountsAreAHistogram(t *testing.T) {
	counts := make([]uint64, transit.Buckets+5)
	counts[transit.Index(time.Millisecond)] = 7
	h := transit.FromCounts(counts)
	if got, known := h.Percentile(transit.Whole); !known || h.Frames() != 7 || transit.Index(got) != transit.Index(time.Millisecond) {
		t.Errorf("%d frames within %v (known: %v)", h.Frames(), got, known)
	}
}

func same(a, b transit.Histogram) bool {
	return maps.Equal(maps.Collect(a.All()), maps.Collect(b.All()))
}
