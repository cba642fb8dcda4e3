package render

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// The kinds of answers that a single direction may have, too, as pages name them.
const (
	estimated  = "estimated"
	lowerBound = "lower bound"
	saturated  = "saturated"
)

// capital begins a sentence.
func capital(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	// a field's path and a direction stay as they are written
	first, _, _ := strings.Cut(s, " ")
	if !unicode.IsLower(r) || strings.ContainsAny(strings.TrimRight(first, "."), ".→") {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}

// verdictText is the verdict with how it came about, such as "Passed (2 of 2 criteria)".
func verdictText(v report.Verdict) string {
	if len(v.Criteria) == 0 {
		return string(cmp.Or(v.Outcome, report.Undecided)) + " (no criteria)"
	}
	passed := 0
	for _, c := range v.Criteria {
		if c.Outcome == report.Passed {
			passed++
		}
	}
	return fmt.Sprintf("%s (%d of %s passed)", cmp.Or(v.Outcome, report.Undecided), passed, criteria(len(v.Criteria)))
}

func criteria(n int) string {
	if n == 1 {
		return "1 criterion"
	}
	return fmt.Sprintf("%d criteria", n)
}

// mostReceived is the highest rate that came back at any loss, which is not part of the result.
func mostReceived(s *report.Sum) string {
	return fmt.Sprintf("%s, %s at layer 1, at %s loss (window %d, %s offered)",
		wording.PacketRate(s.Received.PacketsPerSecond), wording.BitRate(s.Received.Layer1BitsPerSecond),
		wording.Loss(s.LossRatio), s.Window, wording.PacketRate(s.Offered.PacketsPerSecond))
}

// resolutionText says how close the search got to the limit. It is empty where there is no such figure.
func resolutionText(r *report.Report) string {
	if !report.HasFigure(r) || r.Answer.Resolution == 0 {
		return ""
	}
	return "within " + r.Answer.Resolution.Percent().FormatFixed() + "% of the next higher load tried"
}
