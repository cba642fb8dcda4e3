package units

import (
	"fmt"
	"math/big"
	"strconv"
)

// FormatSI writes the packet rate for people, with two decimals and an SI prefix, such as "654.40 kpps".
func (r PacketRate) FormatSI() string { return formatSI(int64(r), int64(PacketPerSecond)) + "pps" }

// FormatSI writes the bit rate for people, with two decimals and an SI prefix, such as "2.00 Gb/s".
func (b BitRate) FormatSI() string { return formatSI(int64(b), int64(BitPerSecond)) + "b/s" }

// FormatShort writes the packet rate for a sentence, with three digits and an SI prefix, such as "654 kpps".
func (r PacketRate) FormatShort() string {
	return formatShort(int64(r), int64(PacketPerSecond)) + "pps"
}

// FormatShort writes the bit rate for a sentence, with three digits and an SI prefix, such as "2.00 Gb/s".
func (b BitRate) FormatShort() string { return formatShort(int64(b), int64(BitPerSecond)) + "b/s" }

// FormatFixed writes the percentage with two decimals, rounded to the nearest, such as "99.95".
func (p Percent) FormatFixed() string {
	return formatHundredths(nearest(product(int64(p), 100*100), big.NewInt(int64(One))))
}

// formatSI writes v ÷ unit with two decimals and the prefix that leaves at most three digits before the point,
// where there is one. The prefix is chosen after rounding, so 999.999 k is 1.00 M.
func formatSI(v, unit int64) string {
	const full = 1000 * 100 // four digits, in hundredths
	prefixes := siPrefixes()
	for i := 0; ; i++ {
		hundredths := nearest(product(v, 100), product(unit, int64(pow10(3*i))))
		if i == len(prefixes)-1 || magnitude(hundredths) < full {
			return formatHundredths(hundredths) + " " + prefixes[i]
		}
	}
}

func siPrefixes() []string { return []string{"", "k", "M", "G", "T", "P"} }

// formatShort writes v ÷ unit with three digits and a prefix, and with no digits behind the point of a number that has
// four before it.
func formatShort(v, unit int64) string {
	prefixes := siPrefixes()
	for i, prefix := range prefixes {
		for places := 2; places >= 0; places-- {
			digits := nearest(product(v, int64(pow10(places))), product(unit, int64(pow10(3*i))))
			if magnitude(digits) >= 1000 && (places > 0 || i < len(prefixes)-1) {
				continue
			}
			return strconv.FormatFloat(float64(digits)/float64(pow10(places)), 'f', places, 64) + " " + prefix
		}
	}
	return "" // the last prefix takes all
}

func formatHundredths(v int64) string {
	sign := ""
	if v < 0 {
		sign = "-"
	}
	m := magnitude(v)
	return fmt.Sprintf("%s%d.%02d", sign, m/100, m%100)
}
