package burstiness

import (
	"math/rand/v2"
	"testing"
	"time"
)

// every are so many frames, gap apart, from a time on.
func every(from, gap time.Duration, count int) (arrivals []time.Duration) {
	for i := range count {
		arrivals = append(arrivals, from+time.Duration(i)*gap)
	}
	return arrivals
}

// bursts are frames of 100 kpps that come so many at a time.
func bursts(size, count int) (arrivals []time.Duration) {
	for i := range count {
		arrivals = append(arrivals, time.Duration(i/size*size)*10*time.Microsecond)
	}
	return arrivals
}

func TestTheSmallestQueue(t *testing.T) {
	const gap, rate, second = 10 * time.Microsecond, 100_000, 100_000
	for name, c := range map[string]struct {
		arrivals      []time.Duration
		typical, most int
	}{
		"nothing came":                  {nil, 0, 0},
		"frames that come one by one":   {every(time.Hour, gap, second), 1, 1},
		"8 at a time":                   {bursts(8, second), 8, 8},
		"64 at a time":                  {bursts(64, second), 64, 64},
		"5 % too fast: the queue grows": {every(0, gap*100/105, 2000), 42, 42},
		"half a percent too fast":       {every(0, 9950*time.Nanosecond, second), 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Judge(c.arrivals, rate, nil); got.Typical != c.typical || got.Longest != c.most {
				t.Errorf("typically %d, at most %d frames; want %d and %d", got.Typical, got.Longest, c.typical, c.most)
			}
		})
	}
	t.Run("one burst in a thousand stretches is the most, and not what is typical", func(t *testing.T) {
		arrivals := every(0, gap, 12*second)
		for i := range 9 {
			arrivals[50_000-i] = arrivals[50_000-9]
		}
		if got := Judge(arrivals, rate, nil); got.Half != 1 || got.Typical != 1 || got.Longest != 10 {
			t.Errorf("in half of all %d, typically %d, at most %d frames; want 1, 1 and 10", got.Half, got.Typical, got.Longest)
		}
	})
}

// TestNoSmallerQueueWouldDo holds the figure to a queue of so many places that is played frame by frame.
func TestNoSmallerQueueWouldDo(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		rate, at := 50_000+500_000*random.Float64(), time.Duration(0)
		var arrivals []time.Duration
		for at < 50*time.Millisecond {
			at += time.Duration(random.ExpFloat64() * float64(time.Second) / rate)
			arrivals = append(arrivals, at)
		}
		got := Judge(arrivals, rate, nil)
		whole := arrivals[:got.Frames]
		if lost := lostBy(got.Longest, whole, rate); lost != 0 {
			t.Fatalf("a queue of %d frames loses %d of %d", got.Longest, lost, len(whole))
		}
		if lost := lostBy(got.Longest-1, whole, rate); lost == 0 {
			t.Fatalf("a queue of %d frames loses none, and the answer is that %d is the smallest", got.Longest-1, got.Longest)
		}
	}
}

// lostBy is how many frames find all of a queue's places taken.
func lostBy(places int, arrivals []time.Duration, rate float64) (lost int) {
	service := float64(time.Second) / rate / spare
	var leaves []float64 // of those inside
	for _, at := range arrivals {
		for len(leaves) > 0 && leaves[0] <= float64(at) {
			leaves = leaves[1:]
		}
		if len(leaves) >= places {
			lost++
			continue
		}
		begins := float64(at)
		if n := len(leaves); n > 0 {
			begins = leaves[n-1]
		}
		leaves = append(leaves, begins+service)
	}
	return lost
}

func TestStolenStretchesArentJudged(t *testing.T) {
	const gap, rate = 10 * time.Microsecond, 100_000
	held := append(every(0, gap, 10_000), every(130*time.Millisecond, 0, 3_000)...) // 30 ms nothing, and then all that was due
	held = append(held, every(130*time.Millisecond+gap, gap, 10_000)...)
	if got := Judge(held, rate, nil); got.Longest < 2_990 || got.Stolen != 0 {
		t.Errorf("a stall of our own needs a queue of %d frames (%d stretches stolen)", got.Longest, got.Stolen)
	}
	got := Judge(held, rate, []Span{{101 * time.Millisecond, 131 * time.Millisecond}})
	if got.Longest != 1 || got.Typical != 1 || got.Stolen != 4 || got.Stretches != 19 {
		t.Errorf("a stall of the host's: %+v", got)
	}
	if whole := got.Stretches * int(Stretch/gap); got.Frames != whole {
		t.Errorf("%d frames in %d stretches that have %d", got.Frames, got.Stretches, whole)
	}
	if longest := got.Share(2, bounds()[len(bounds())-1]); longest != 0 {
		t.Errorf("the gap that was stolen is among the gaps (%.4f %% of them)", 100*longest)
	}
}

func TestGaps(t *testing.T) {
	got := Judge(bursts(4, 100_000), 100_000, nil)
	if none, four := got.Share(0, 1./16), got.Share(4, 16); none < 0.7499 || none > 0.7501 || four < 0.2499 || four > 0.2501 {
		t.Errorf("of frames that come 4 at a time %.4f have no gap before, and %.4f one of four", none, four)
	}
	if even := Judge(every(0, 10*time.Microsecond, 100_000), 100_000, nil); even.Share(7./8, 9./8) != 1 {
		t.Errorf("of even frames %.4f have an even gap", even.Share(7./8, 9./8))
	}
	if nothing := (Verdict{}).Share(0, 1); nothing != 0 {
		t.Errorf("of no gaps %g are short", nothing)
	}
}
