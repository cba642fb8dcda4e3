package wording

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/units"
)

// NotMeasured stands in the place of a missing figure, where a zero never stands.
const NotMeasured = "not measured"

// PacketRate is a packet rate for people, such as "327.20 kpps".
func PacketRate(packetsPerSecond int64) string {
	const limit = math.MaxInt64 / int64(units.PacketPerSecond)
	return (units.PacketRate(min(max(packetsPerSecond, -limit), limit)) * units.PacketPerSecond).FormatSI()
}

// ShortPacketRate is a packet rate in a sentence, such as "327 kpps".
func ShortPacketRate(packetsPerSecond int64) string {
	const limit = math.MaxInt64 / int64(units.PacketPerSecond)
	return (units.PacketRate(min(max(packetsPerSecond, -limit), limit)) * units.PacketPerSecond).FormatShort()
}

// AtLeast takes off all digits of a rate but the first three, as a lower bound must not grow where it is written.
func AtLeast(rate int64) int64 {
	scale := int64(1)
	for rate/scale >= 1000 {
		scale *= 10
	}
	return rate / scale * scale
}

// RoundedPacketRate is a packet rate for people, of which a document has a fraction.
func RoundedPacketRate(packetsPerSecond float64) string {
	const limit = math.MaxInt64 / 2
	return PacketRate(int64(math.Round(min(max(packetsPerSecond, -limit), limit))))
}

// BitRate is a bit rate for people, such as "1.00 Gb/s".
func BitRate(bitsPerSecond int64) string { return units.BitRate(bitsPerSecond).FormatSI() }

// Bare takes the unit off a figure whose column names the unit, as in "327.20 k".
func Bare(figure, unit string) string { return strings.TrimSpace(strings.TrimSuffix(figure, unit)) }

// Percent is a share of a line rate, such as "99.95%". An impossible share is written unchanged.
func Percent(p units.Percent) string { return p.FormatFixed() + "%" }

// Loss is a loss ratio as a percentage, exact enough to tell a little from none. Only zero reads as zero.
func Loss(r units.Ratio) string {
	const tenThousandth = units.One / 1_000_000 // 0.0001 %
	switch magnitude := max(r, -r); {
	case r == 0:
		return "0%"
	case magnitude < tenThousandth && r < 0:
		return ">-0.0001%"
	case magnitude < tenThousandth:
		return "<0.0001%"
	case magnitude < units.One/100:
		return strconv.FormatFloat(r.Float()*100, 'f', 4, 64) + "%"
	default:
		return r.Percent().FormatFixed() + "%"
	}
}

// LossBetween is loss of which only both ends are known, such as "0% to 0.0016%".
func LossBetween(lowest, highest units.Ratio) string {
	return Loss(max(0, lowest)) + " to " + Loss(highest)
}

// Ratio is a ratio that a person chose, as a percentage in its shortest exact form, such as "0.1%".
func Ratio(r units.Ratio) string { return r.Percent().String() + "%" }

// Share is such a ratio within a sentence, such as "0.1 %".
func Share(r units.Ratio) string { return r.Percent().String() + " %" }

// LostShare is a share of frames that were lost, as a sentence has it, with two digits after its point, such as
// "0.23 %". A small share has four.
func LostShare(lost units.Ratio) string {
	percent := lost.Float() * 100
	digits := 2
	if percent < 0.1 {
		digits = 4
	}
	if text := strconv.FormatFloat(percent, 'f', digits, 64); strings.Trim(text, "0.") != "" {
		return strings.TrimRight(strings.TrimRight(text, "0"), ".") + " %"
	}
	return "less than 0.0001 %"
}

// Count is a whole number with a comma between its thousands, such as "1,234,567".
func Count(v int64) string {
	digits := strconv.FormatInt(v, 10)
	first := len(digits) % 3
	if v < 0 {
		first = (len(digits)-1)%3 + 1
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (i-first)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Span is a duration for people, to the millisecond, such as "1m30s".
func Span(d time.Duration) string { return d.Round(time.Millisecond).String() }

// Nanoseconds is a very short time for people, to three digits, such as "850 ns", "3.52 µs" or "1.9 ms".
func Nanoseconds(v int64) string {
	unit := "ns"
	amount := float64(v)
	for _, next := range []string{"µs", "ms", "s"} {
		if amount < 999.5 {
			break
		}
		amount, unit = amount/1000, next
	}
	return strconv.FormatFloat(amount, 'g', 3, 64) + " " + unit
}

// Microseconds is a short time for people, to three digits, such as "85 µs" or "1.9 ms".
func Microseconds(v int64) string {
	switch {
	case v < 1000:
		return strconv.FormatInt(v, 10) + " µs"
	case v < 1_000_000:
		return strconv.FormatFloat(float64(v)/1000, 'g', 3, 64) + " ms"
	}
	return strconv.FormatFloat(float64(v)/1_000_000, 'f', 2, 64) + " s"
}

// Direction names a direction, as in "west→east".
func Direction(source, target string) string { return source + "→" + target }

// Counted is a number with its noun, as in "1 window" and "3 windows".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Verb agrees with its number, as in "1 window says" and "3 windows say".
func Verb(n int, singular, plural string) string {
	if n == 1 {
		return singular
	}
	return plural
}

// ShareOf is "3 of 5".
func ShareOf(part, total int) string { return strconv.Itoa(part) + " of " + strconv.Itoa(total) }

// JoinNonEmpty joins texts with a separator, and leaves out empty ones.
func JoinNonEmpty(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" }), separator)
}

// Limited cuts a text to so many bytes, not in the middle of a character, and says that it did.
func Limited(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes-len("…")], "") + "…"
}

// Hidden says that a character drives a terminal, breaks a line, turns the text after it round, or isn't drawn.
// Such are control characters, Unicode's format characters (Cf, with the bidirectional marks, spaces without width
// and tags), separators of lines, and other characters that no font draws.
func Hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Bidi_Control, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point)
}

// Printable takes out characters that would drive a terminal, break a line or turn the text after them round, but
// for the allowed control characters. A report, a fault or a pod's last words may come from anywhere.
func Printable(s string, allowed ...rune) string {
	return strings.Map(func(r rune) rune {
		if Hidden(r) && !slices.Contains(allowed, r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// PrintableTexts makes all texts of what a pointer points to Printable.
func PrintableTexts(pointer any) { printableTexts(reflect.ValueOf(pointer).Elem()) }

func printableTexts(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			printableTexts(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				printableTexts(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			printableTexts(v.Index(i))
		}
	case reflect.String:
		if s := v.String(); strings.ContainsFunc(s, Hidden) {
			v.SetString(Printable(s))
		}
	default: // a number, or a map of names that the API server has checked
	}
}
