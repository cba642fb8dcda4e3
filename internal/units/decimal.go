package units

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// What can be wrong with a decimal number that a person wrote.
var (
	errNotDecimal = errors.New("not a decimal number")
	errTooFine    = errors.New("has more decimals than can be kept exactly")
	errTooLarge   = errors.New("is too large")
)

// parseDecimal reads "12", "12.5" or "0.001" as a whole number of 10^-places. It takes digits and at most one point
// between digits, but no sign, exponent, grouping or space. Zeros without meaning are accepted at either end. A
// digit finer than 10^-places is refused, not rounded away.
func parseDecimal(s string, places int) (int64, error) {
	whole, fraction, pointed := strings.Cut(s, ".")
	if !isDigits(whole) || pointed && !isDigits(fraction) {
		return 0, errNotDecimal
	}
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > places {
		return 0, errTooFine
	}
	digits := strings.TrimLeft(whole+fraction+strings.Repeat("0", places-len(fraction)), "0")
	if digits == "" {
		return 0, nil
	}
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, errTooLarge
	}
	return v, nil
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// formatDecimal writes v × 10^-places in its shortest exact form, without trailing zeros or exponent, and with a
// zero before the point.
func formatDecimal(v int64, places int) string {
	sign, digits := "", strconv.FormatUint(magnitude(v), 10)
	if v < 0 {
		sign = "-"
	}
	if missing := places + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - places
	fraction := strings.TrimRight(digits[point:], "0")
	if fraction == "" {
		return sign + digits[:point]
	}
	return sign + digits[:point] + "." + fraction
}

// magnitude is |v|, also of the smallest int64.
func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// product is the exact product of its factors.
func product(factors ...int64) *big.Int {
	p := big.NewInt(1)
	for _, f := range factors {
		p.Mul(p, big.NewInt(f))
	}
	return p
}

// quotient is n ÷ d rounded to the nearest whole number, halves away from zero. ok is false where the quotient is
// no int64, and then q is the nearest int64. A zero d gives 0 and ok, because nothing of nothing is nothing.
func quotient(n, d *big.Int) (q int64, ok bool) {
	if d.Sign() == 0 {
		return 0, true
	}
	negative := n.Sign()*d.Sign() < 0
	double := new(big.Int).Abs(n)
	double.Lsh(double, 1).Add(double, new(big.Int).Abs(d))
	result := double.Quo(double, new(big.Int).Lsh(new(big.Int).Abs(d), 1))
	if negative {
		result.Neg(result)
	}
	switch {
	case result.IsInt64():
		return result.Int64(), true
	case negative:
		return math.MinInt64, false
	}
	return math.MaxInt64, false
}

// nearest is quotient for results that may be cut off at the ends of int64.
func nearest(n, d *big.Int) int64 {
	q, _ := quotient(n, d)
	return q
}
