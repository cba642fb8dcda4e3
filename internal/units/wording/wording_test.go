package wording_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

func TestFigures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{wording.Loss(0), "0%"},
		{wording.Loss(1), "<0.0001%"},
		{wording.Loss(-1), ">-0.0001%"},
		{wording.Loss(300_000), "0.0300%"},
		{wording.Loss(units.One / 8), "12.50%"},
		{wording.Loss(-200_000), "-0.0200%"},
		{wording.Loss(units.One), "100.00%"},
		{wording.Count(0), "0"},
		{wording.Count(999), "999"},
		{wording.Count(1000), "1,000"},
		{wording.Count(1234567), "1,234,567"},
		{wording.Count(-123456), "-123,456"},
		{wording.Count(-1234), "-1,234"},
		{wording.PacketRate(9_000_000_000_000_000_000), "9.22 Ppps"},
		{wording.RoundedPacketRate(1999.5), "2.00 kpps"},
		{wording.RoundedPacketRate(1e300), "9.22 Ppps"},
		{wording.RoundedPacketRate(-1e300), "-9.22 Ppps"},
		{wording.JoinNonEmpty("; ", "", "one", "", "two"), "one; two"},
		{wording.JoinNonEmpty("; ", "", ""), ""},
		{wording.Limited("four", 4), "four"},
		{wording.Limited("→→→", 8), "→…"},
		{wording.Microseconds(999), "999 µs"},
		{wording.Microseconds(1900), "1.9 ms"},
		{wording.Microseconds(1_900_000), "1.90 s"},
		{wording.Nanoseconds(999), "999 ns"},
		{wording.Nanoseconds(1000), "1 µs"},
		{wording.Nanoseconds(999_499_000), "999 ms"},
		{wording.Nanoseconds(1_250_000_000), "1.25 s"},
		{wording.Ratio(units.One / 8), "12.5%"},
		{wording.Share(units.One / 8), "12.5 %"},
		{wording.Percent(units.Hundred + units.Hundred/20), "105.00%"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
