package units

import (
	"fmt"
	"math/big"
)

// FormatSI writes the packet rate for people, with two decimals and an SI prefix, such as "654.40 kpps".
func (r PacketRate) FormatSI() string { return formatSI(int64(r), int64(PacketPerSecond)) + "pps" }

// FormatSI writes the bit rate for people, with two decimals and an SI prefix, such as "2.00 Gb/s".
func (b BitRate) FormatSI() string { return formatSI(int64(b), int64(BitPerSecond)) + "b/s" }

// FormatFixed writes the percentage with two decimals, rounded to the nearest, such as "99.95".
func (p Percent) FormatFixed() string {
	return formatHundredths(nearest(product(int64(p), 100*100), big.NewInt(int64(One))))
}

// formatSI writes v ÷ unit with two decimals and the prefix that leaves at most three digits before the point,
// where there is one. The prefix is chosen after rounding, so 999.999 k is 1.00 M.
func formatSI(v, unit int64) string {
	const full = 1000 * 100 // four digits, in hundredths
	prefixes := []string{"", "k", "M", "G", "T", "P"}
	for i := 0; ; i++ {
		hundredths := nearest(product(v, 100), product(unit, int64(pow10(3*i))))
		if i == len(prefixes)-1 || magnitude(hundredths) < full {
			return formatHundredths(hundredths) + " " + prefixes[i]
		}
	}
}

func formatHundredths(v int64) string {
	sign := ""
	if v < 0 {
		sign = "-"
	}
	m := magnitude(v)
	return fmt.Sprintf("%s%d.%02d", sign, m/100, m%100)
}
