package transit

import (
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// hdrDigits is the precision at which HdrHistogram's buckets are the same as ours, which are 256 of one nanosecond,
// and then 128 in each power of two. So encoding and decoding lose nothing.
const hdrDigits = 2

// Encode is the histogram in nanoseconds as HdrHistogram encodes it (V2, compressed, base64). It counts frames in
// Beyond as frames of Limit.
func (h Histogram) Encode() (string, error) {
	encoded := hdrhistogram.New(1, 2*Limit.Nanoseconds(), hdrDigits)
	for i, frames := range h.All() {
		shortest, _ := Bounds(i)
		if err := encoded.RecordValues(shortest.Nanoseconds(), int64(min(frames, math.MaxInt64))); err != nil {
			return "", fmt.Errorf("encode %d frames of %v: %w", frames, shortest, err)
		}
	}
	text, err := encoded.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	return string(text), err
}

// Decode reads a histogram in nanoseconds that HdrHistogram encoded, of whatever precision.
func Decode(text string) (Histogram, error) {
	return decode(text, func(bar hdrhistogram.Bar) time.Duration { return time.Duration(bar.From) })
}

// DecodeMicroseconds reads a histogram in whole microseconds, rounded down, that HdrHistogram encoded. Each frame
// counts as having taken the longest time that it may have, so that no percentile is too short.
func DecodeMicroseconds(text string) (Histogram, error) {
	return decode(text, func(bar hdrhistogram.Bar) time.Duration {
		const longest = int64(Limit / time.Microsecond)
		return time.Duration(min(bar.To, longest)+1)*time.Microsecond - 1
	})
}

// Coarse is how far before a time of DecodeMicroseconds the frame's own may lie. That is one microsecond, or the
// width of HdrHistogram's buckets with three digits, which is at most a thousandth of the time.
func Coarse(d time.Duration) time.Duration { return max(time.Microsecond, d/1000) }

func decode(text string, took func(hdrhistogram.Bar) time.Duration) (h Histogram, err error) {
	decoded, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		return h, fmt.Errorf("decode a histogram: %w", err)
	}
	for _, bar := range decoded.Distribution() {
		if bar.Count > 0 {
			h.Add(Index(took(bar)), uint64(bar.Count))
		}
	}
	return h, nil
}
