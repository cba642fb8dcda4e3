package transit_test

import (
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/linerate-dev/linerate/internal/units/transit"
)

// TestAHistogramComesBackAsItWas: HdrHistogram has the same buckets, so that not even a single frame changes its own.
func TestAHistogramComesBackAsItWas(t *testing.T) {
	var each transit.Histogram
	for i := range transit.Buckets {
		each.Add(i, uint64(1+i%7))
	}
	for name, h := range map[string]transit.Histogram{"empty": {}, "one frame": counted([]time.Duration{37 * time.Microsecond}), "some": counted(times(3, 5000)), "each bucket": each} {
		t.Run(name, func(t *testing.T) {
			text, err := h.Encode()
			if err != nil {
				t.Fatal(err)
			}
			back, err := transit.Decode(text)
			if err != nil || !same(back, h) {
				t.Errorf("%v (%v), want %v", back.Read(0), err, h.Read(0))
			}
		})
	}
	if _, err := transit.Decode("no histogram"); err == nil {
		t.Error("what is no histogram was decoded")
	}
}

// TestHdrHistogramReadsTheSamePercentiles: who reads a Report with HdrHistogram sees what the Report says.
func TestHdrHistogramReadsTheSamePercentiles(t *testing.T) {
	h := counted(times(9, 20_000))
	text, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, share := range []transit.Share{transit.P50, transit.P90, transit.P99, transit.P999, transit.Whole} {
		ours, known := h.Percentile(share)
		if got := time.Duration(theirs.ValueAtPercentile(float64(share) / 10_000)); !known || got != ours {
			t.Errorf("%v: %v, and HdrHistogram reads %v", share, ours, got)
		}
	}
}

// TestMicrosecondsAreRoundedUp: 34 µs, rounded down by whoever told it, may have been anything less than 35.
func TestMicrosecondsAreRoundedUp(t *testing.T) {
	theirs := hdrhistogram.New(1, 10_000_000, 3)
	for _, microseconds := range []int64{0, 34, 5000, 9_999_999} {
		if err := theirs.RecordValue(microseconds); err != nil {
			t.Fatal(err)
		}
	}
	text, err := theirs.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	h, err := transit.DecodeMicroseconds(string(text))
	if err != nil || h.Frames() != 4 {
		t.Fatalf("%d frames (%v), want 4", h.Frames(), err)
	}
	for share, took := range map[transit.Share]time.Duration{250_000: time.Microsecond, 500_000: 35 * time.Microsecond, 750_000: 5004 * time.Microsecond, transit.Whole: 10 * time.Second} {
		if within, known := h.Percentile(share); !known || within < took-1 || within > took*102/100 {
			t.Errorf("%v: %v, want at least %v and hardly more", share, within, took)
		}
	}
}
