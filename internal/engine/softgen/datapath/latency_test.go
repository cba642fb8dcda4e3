package datapath

import (
	"maps"
	"testing"
	"time"
)

// arrive plays sequences sent a millisecond apart, each with a transit time.
func arrive(a *arrivals, generation uint8, sequences ...uint32) {
	for _, s := range sequences {
		sent := time.Duration(s) * time.Millisecond
		a.record(stamp{generation: generation, sequence: s, sent: sent}, sent+20*time.Microsecond)
	}
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name      string
		sequences []uint32
		want      Latency
	}{
		{"in order", []uint32{0, 1, 2}, Latency{Received: 3}},
		{"a gap is dropped frames", []uint32{0, 1, 4}, Latency{Received: 3, Dropped: 2}},
		{"the first frames lost are dropped too", []uint32{2, 3}, Latency{Received: 2, Dropped: 2}},
		{"a late frame is out of order, and no longer dropped", []uint32{0, 2, 1, 3},
			Latency{Received: 4, OutOfOrder: 1}},
		{"the last one again is a duplicate", []uint32{0, 1, 1, 2}, Latency{Received: 4, Duplicate: 1}},
		{"far ahead is no gap", []uint32{0, 500_000}, Latency{Received: 2, SequenceTooHigh: 1}},
		{"far behind is not late", []uint32{0, 500_000, 1}, Latency{Received: 3, SequenceTooHigh: 1,
			SequenceTooLow: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var a arrivals
			arrive(&a, 1, c.sequences...)
			got := a.snapshot()
			got.Min, got.Max, got.Average, got.Latest, got.Jitter, got.Histogram = 0, 0, 0, 0, 0, nil
			if got.Received != c.want.Received || got.Dropped != c.want.Dropped ||
				got.OutOfOrder != c.want.OutOfOrder ||
				got.Duplicate != c.want.Duplicate || got.SequenceTooHigh != c.want.SequenceTooHigh ||
				got.SequenceTooLow != c.want.SequenceTooLow {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	t.Run("a new run begins at zero again", func(t *testing.T) {
		var a arrivals
		arrive(&a, 1, 0, 1, 2)
		arrive(&a, 2, 0, 1)
		if got := a.snapshot(); got.Received != 5 || got.Dropped+got.OutOfOrder+got.Duplicate != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestTimes(t *testing.T) {
	var a arrivals
	for i, micros := range []int{10, 30, 20, 2000, 5} {
		a.record(stamp{generation: 1, sequence: uint32(i)}, time.Duration(micros)*time.Microsecond)
	}
	got := a.snapshot()
	if got.Min != 5*time.Microsecond || got.Max != 2*time.Millisecond || got.Latest != 5*time.Microsecond ||
		got.Average != 413*time.Microsecond {
		t.Errorf("got %+v", got)
	}
	want := map[time.Duration]int64{0: 1, 10 * time.Microsecond: 1, 20 * time.Microsecond: 1, 30 * time.Microsecond: 1,
		2 * time.Millisecond: 1}
	if !maps.Equal(got.Histogram, want) {
		t.Errorf("histogram %v, want %v", got.Histogram, want)
	}
	// RFC 3550: J += (|D| - J) / 16 for the differences 20, 10, 1980 and 1995.
	jitter := 0.0
	for _, d := range []float64{20, 10, 1980, 1995} {
		jitter += (d - jitter) / 16
	}
	if difference := got.Jitter.Seconds()*1e6 - jitter; difference > 0.01 || difference < -0.01 {
		t.Errorf("jitter %v, want %v µs", got.Jitter, jitter)
	}
}

func TestBuckets(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		0: 0, 9999: 0, 10_000: 10_000, 19_999: 10_000, 99_999: 90_000, 100_000: 100_000, 450_000: 400_000,
		time.Millisecond: time.Millisecond, 999 * time.Millisecond: 900 * time.Millisecond,
		time.Hour: 900 * time.Millisecond,
	} {
		if got := bound(bucket(d)); got != want {
			t.Errorf("%v falls into the bucket from %v, want %v", d, got, want)
		}
	}
}
