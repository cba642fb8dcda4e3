package units

import (
	"errors"
	"fmt"
	"strings"
)

// rateForms is how a rate can be written, for people who wrote it otherwise.
const rateForms = "write a number with a unit: packets per second (1kpps, 14.88mpps), layer-2 bits per second (10gbps), " +
	"layer-1 bits per second (10gbpsl1), or percent of the line rate (95%)"

// scale is a prefix of TRex's rate syntax and its power of ten.
type scale struct {
	prefix string
	power  int
}

// scales returns the prefixes, largest first.
func scales() []scale {
	return []scale{{"t", 12}, {"g", 9}, {"m", 6}, {"k", 3}, {"", 0}}
}

// suffixes returns the units that can follow a number, each before those that it ends with.
func suffixes() []struct {
	text string
	kind RateKind
} {
	return []struct {
		text string
		kind RateKind
	}{{"bpsl1", Layer1Bits}, {"bps", Layer2Bits}, {"pps", Packets}, {"%", LinePercent}}
}

// ParseRate reads a rate in TRex's syntax, in upper or lower case. A rate is a decimal number, one of k, m, g, t
// (powers of 1000, not before %), and pps, bps (layer 2, FCS included), bpsl1 (layer 1) or %. The value is kept
// exactly. ParseRate refuses a value finer than a millionth of the unit, larger than 9.2 million millions of the
// unit, or not above zero.
func ParseRate(s string) (Rate, error) {
	number, power, kind, ok := cutRate(strings.ToLower(s))
	if !ok {
		return Rate{}, fmt.Errorf("rate %q is not understood: %s", s, rateForms)
	}
	micros, err := parseDecimal(number, microPlaces+power)
	switch {
	case errors.Is(err, errNotDecimal):
		return Rate{}, fmt.Errorf("rate %q is not understood: %s", s, rateForms)
	case errors.Is(err, errTooFine):
		return Rate{}, fmt.Errorf("rate %q is finer than a millionth of its unit: leave out decimals; %s", s, rateForms)
	case err != nil:
		return Rate{}, fmt.Errorf("rate %q %w: at most 9.2t of a unit; %s", s, err, rateForms)
	case micros == 0:
		return Rate{}, fmt.Errorf("rate %q is zero: a rate must be above zero; %s", s, rateForms)
	}
	return Rate{Kind: kind, Micros: micros}, nil
}

// cutRate takes the unit and the prefix off a rate in lower case.
func cutRate(s string) (number string, power int, kind RateKind, ok bool) {
	for _, unit := range suffixes() {
		rest, found := strings.CutSuffix(s, unit.text)
		if !found {
			continue
		}
		if unit.kind == LinePercent {
			return rest, 0, unit.kind, true
		}
		for _, sc := range scales() {
			if number, found := strings.CutSuffix(rest, sc.prefix); found {
				return number, sc.power, unit.kind, true
			}
		}
	}
	return "", 0, 0, false
}

// String writes the rate so that ParseRate reads the same one, with the largest prefix that leaves at least one
// before the point.
func (r Rate) String() string {
	if r.Kind == LinePercent {
		return formatDecimal(r.Micros, microPlaces) + "%"
	}
	number, prefix := scaled(r.Micros, microPlaces)
	for _, unit := range suffixes() {
		if unit.kind == r.Kind {
			return number + prefix + unit.text
		}
	}
	return fmt.Sprintf("%s%s(unit %d)", number, prefix, int(r.Kind))
}

// scaled writes v × 10^-places exactly, with its prefix.
func scaled(v int64, places int) (number, prefix string) {
	for _, sc := range scales() {
		if magnitude(v) >= pow10(places+sc.power) {
			return formatDecimal(v, places+sc.power), sc.prefix
		}
	}
	return formatDecimal(v, places), ""
}

// pow10 is 10^n for n up to 19.
func pow10(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

// IsZero says that no rate is set.
func (r Rate) IsZero() bool { return r.Micros == 0 }

// MarshalText writes String. The zero Rate, which no text stands for, is the empty string.
func (r Rate) MarshalText() ([]byte, error) {
	if r.IsZero() {
		return nil, nil
	}
	return []byte(r.String()), nil
}

// UnmarshalText reads what ParseRate reads, and the empty string as the zero Rate.
func (r *Rate) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*r = Rate{}
		return nil
	}
	v, err := ParseRate(string(text))
	if err != nil {
		return err
	}
	*r = v
	return nil
}

// ParseBitRate reads a line rate such as "25gbps" or "2.5gbps". It counts whole bits per second, at layer 1 where
// it is a port's speed.
func ParseBitRate(s string) (BitRate, error) {
	r, err := ParseRate(s)
	if err != nil || r.Kind != Layer2Bits || r.Micros%micro != 0 {
		return 0, fmt.Errorf("bit rate %q is not understood: write whole bits per second above zero, such as 25gbps, 2.5gbps or 100mbps", s)
	}
	return BitRate(r.Micros / micro), nil
}

// String writes the bit rate so that ParseBitRate reads the same one.
func (b BitRate) String() string {
	number, prefix := scaled(int64(b), 0)
	return number + prefix + "bps"
}

// String writes the packet rate exactly, in the syntax of rates.
func (r PacketRate) String() string {
	number, prefix := scaled(int64(r), 3)
	return number + prefix + "pps"
}
