package softgen

import (
	"math"
	"strconv"
	"strings"
)

// real is a floating-point number as TRex's JSON writer prints it: always with a point or an exponent, so that a reader which tells
// integers from reals sees a real; infinity is 1e+9999 and not-a-number null.
type real float64

// MarshalJSON implements json.Marshaler.
func (r real) MarshalJSON() ([]byte, error) {
	v := float64(r)
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

// plain prints a number for a person: six significant digits, no trailing zeros.
func plain(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
