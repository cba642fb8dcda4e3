package wire

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Float is a real number as TRex writes it. An infinity is 1e+9999 or -1e+9999, not-a-number is null.
type Float float64

// UnmarshalJSON never fails on a JSON number, however large, nor on null.
func (f *Float) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*f = Float(math.NaN())
		return nil
	}
	v, err := parseReal(b)
	if err != nil {
		return err
	}
	*f = Float(v)
	return nil
}

// MarshalJSON writes as TRex does, always with a point or an exponent, so that a reader which tells integers from
// reals sees a real.
func (f Float) MarshalJSON() ([]byte, error) {
	v := float64(f)
	switch {
	case math.IsNaN(v):
		return []byte("null"), nil
	case math.IsInf(v, 1):
		return []byte("1e+9999"), nil
	case math.IsInf(v, -1):
		return []byte("-1e+9999"), nil
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return []byte(text), nil
}

// parseReal turns numbers beyond a float64 into infinities, which strconv returns with its range error.
func parseReal(b []byte) (float64, error) {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", b)
	}
	return v, nil
}

// Count is a counter, an unsigned 64-bit integer on the wire, and an int64 here as all other counters are. A counter
// written as a real is accepted, null is 0, and a value that doesn't fit becomes the nearest that does.
type Count int64

// UnmarshalJSON reads integers exactly.
func (c *Count) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*c = 0
		return nil
	}
	if v, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		*c = Count(v)
		return nil
	}
	v, err := parseReal(b)
	if err != nil {
		return err
	}
	*c = clampCount(v)
	return nil
}

func clampCount(v float64) Count {
	switch {
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	}
	return Count(v)
}
