package units

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
)

const (
	ratioPlaces   = 9 // a Ratio counts billionths of the whole
	percentPlaces = ratioPlaces - 2
)

// ParseShare reads a share of a whole as a person writes it, with its percent sign, such as "0.1%". The share is kept
// exactly. ParseShare refuses a share finer than a billionth, negative or above the whole.
func ParseShare(s string) (Ratio, error) {
	number, signed := strings.CutSuffix(s, "%")
	v, err := parseDecimal(number, percentPlaces)
	switch {
	case !signed && !errors.Is(err, errNotDecimal):
		return 0, fmt.Errorf("a share has a percent sign: write %s", withSign(s))
	case errors.Is(err, errNotDecimal):
		return 0, errors.New("a share is a number with a percent sign: write 0% to 100%, such as 0.1%")
	case errors.Is(err, errTooFine):
		return 0, errors.New("a share is a multiple of 0.0000001%: leave out decimals")
	case err != nil || Ratio(v) > One:
		return 0, errors.New("a share is at most the whole: write 0% to 100%, such as 0.1%")
	}
	return Ratio(v), nil
}

// withSign is the share that is meant by a number without a percent sign, which is a ratio up to 1 and a percentage
// above that.
func withSign(number string) string {
	ratio, err := parseDecimal(number, ratioPlaces)
	switch {
	case err != nil:
		return "0% to 100%, such as 0.1%"
	case Ratio(ratio) == One:
		return "1%, or 100% for the whole"
	case Ratio(ratio) < One:
		return Ratio(ratio).Percent().String() + "%"
	case Ratio(ratio) <= 100*One:
		return number + "%"
	}
	return "0% to 100%, such as 0.1%"
}

// RatioOf is part ÷ whole to the nearest billionth, halves away from zero. It is 0 of a whole of 0. It can be
// negative or above One. A ratio under half a billionth becomes 0, so a decision between no loss and some loss
// compares counts.
func RatioOf(part, whole int64) Ratio {
	return Ratio(nearest(product(part, int64(One)), big.NewInt(whole)))
}

// RatioOfShare is a share of 1 as a ratio, to the nearest billionth. A share that no ratio can hold becomes the
// greatest ratio.
func RatioOfShare(share float64) Ratio {
	const limit = math.MaxInt64 / 2
	return Ratio(math.Round(min(max(share*float64(One), -limit), limit)))
}

// Float is the ratio as a floating-point number, so 0.5 is half.
func (r Ratio) Float() float64 { return float64(r) / float64(One) }

// Percent is the same share as a percentage, above 100 too.
func (r Ratio) Percent() Percent { return Percent(r) }

// String is the shortest exact decimal, such as "0.0003", "1" or "-0.5".
func (r Ratio) String() string { return formatDecimal(int64(r), ratioPlaces) }

// MarshalText writes String.
func (r Ratio) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads every decimal that String writes, thus also negative ones and those above One.
func (r *Ratio) UnmarshalText(text []byte) error {
	v, err := parseSigned(string(text), ratioPlaces)
	if err != nil {
		return fmt.Errorf("ratio %q %w", text, err)
	}
	*r = Ratio(v)
	return nil
}

// Hundred is all of it.
const Hundred = Percent(One)

// PercentOf is part ÷ whole as a percentage to the nearest 10 millionth of a percent. It is 0 of a whole of 0. It
// may be above Hundred, by a hair where a counter was read a moment late, and by more where the whole is not what
// it is taken for.
func PercentOf(part, whole int64) Percent { return RatioOf(part, whole).Percent() }

// PercentOfShare is a share of 1 as a percentage. A share that no percentage can hold becomes the greatest
// percentage.
func PercentOfShare(share float64) Percent { return RatioOfShare(share).Percent() }

// Ratio is the same share as a ratio.
func (p Percent) Ratio() Ratio { return Ratio(p) }

// String is the shortest exact decimal, without a sign after it, such as "99.95" or "100".
func (p Percent) String() string { return formatDecimal(int64(p), percentPlaces) }

// MarshalText writes String.
func (p Percent) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads every decimal that String writes.
func (p *Percent) UnmarshalText(text []byte) error {
	v, err := parseSigned(string(text), percentPlaces)
	if err != nil {
		return fmt.Errorf("percent %q %w", text, err)
	}
	*p = Percent(v)
	return nil
}

// parseSigned is parseDecimal with an optional minus.
func parseSigned(s string, places int) (int64, error) {
	number, negative := strings.CutPrefix(s, "-")
	v, err := parseDecimal(number, places)
	if negative {
		return -v, err
	}
	return v, err
}
