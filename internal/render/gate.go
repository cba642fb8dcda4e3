package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// These bound what is written of a gate for people, as a comment on a pull request takes 65 536 characters.
const (
	gateLines   = 40
	gateWords   = 480
	gateMissing = 10
)

// viewOfGate has the judgement first, then the rows, what failed before all others, and what is said of them.
func viewOfGate(g *report.Gate) view {
	v := view{source: g, judgement: &judgement{g.Outcome, g.Message}, answer: &g.Answer, notes: g.Notes,
		comment: true, places: gatePlaces(g)}
	if len(g.Rows) == 0 {
		return v
	}
	v.legend = always(gateFootnotes(g)...)
	compares := gateCompares(g)
	heads := []string{"product", "loadtest", "verdict", "measured"}
	if compares {
		heads = []string{"product", "loadtest", "verdict", "baseline", "candidate", "change", "95 % interval",
			"would show"}
	}
	v.table = newTable(3, heads...)
	v.table.columns[2].verdict = true
	for _, r := range gateInOrder(g) {
		cells := []string{r.Product, r.Loadtest, string(r.Outcome)}
		if compares {
			cells = append(cells, baselineText(r.Baseline))
		}
		cells = append(cells, sideText(r.Candidate))
		if compares {
			cells = append(cells, sideChange(r.Candidate), cmp.Or(intervalText(r.Candidate.Change), "-"),
				smallestText(r.Candidate))
		}
		v.table.add(cells...)
		v.remarks = append(v.remarks, gateRemarks(r)...)
		if s, drawn := stripOf(r, stripRuns).section(r); drawn && len(v.sections) < gateStrips {
			s.background = true
			v.sections = append(v.sections, s)
		}
	}
	n := min(len(v.remarks), gateLines)
	v.remarks, v.leftOut = v.remarks[:n], len(v.remarks)-n
	return v
}

// gateRemarks are what a row has to say, bounded. All but what passed is marked.
func gateRemarks(r report.GateRow) (remarks []remark) {
	title := titleOf(r.Product, r.Loadtest)
	judged := func(o report.Outcome, text string) {
		remarks = append(remarks, remark{toneOf(o), title, shortened(text), o != report.Passed, o == report.Passed})
	}
	doubt := func(text string) { remarks = append(remarks, warning(title, shortened(text))) }
	for _, c := range r.Criteria {
		judged(c.Outcome, c.Name+": "+c.Message)
	}
	if r.Message != "" {
		judged(r.Outcome, r.Message)
	}
	if words := anchorWords(r); words != "" {
		remarks = append(remarks, remark{Tone: toneNone, Name: title, Text: words, background: true})
	}
	if r.Beside != "" {
		remarks = append(remarks, remark{toneOf(r.Outcome), title, r.Beside, r.Outcome == report.DidFail, false})
	}
	missing, repeated := r.Candidate.Missing, r.Candidate.Repeated
	for _, words := range gaps(missing[:min(len(missing), gateMissing)], nil) {
		judged(report.Undecided, words)
	}
	if hidden := len(missing) - gateMissing; hidden > 0 {
		judged(report.Undecided, fmt.Sprintf("and %d more runs were not measured", hidden))
	}
	for _, words := range gaps(nil, repeated[:min(len(repeated), gateMissing)]) {
		doubt(words)
	}
	if words := setAsideWords(r.Candidate); words != "" {
		doubt(words)
	}
	for _, o := range r.Candidate.Outliers {
		doubt(o + " lies far from the others, but counts")
	}
	return remarks
}

// anchorWords are what changed since the anchor. They are empty where there is none, or its change is unknown.
func anchorWords(r report.GateRow) string {
	if r.Anchor == nil || r.Anchor.Change == nil {
		return ""
	}
	words := "since the anchor, " + r.AnchorName + ": " + sideChange(*r.Anchor)
	if interval := intervalText(r.Anchor.Change); interval != "" {
		words += " (" + interval + ")"
	}
	return words
}

// gateInOrder are the rows as people want them, first those that failed, then the undecided ones.
func gateInOrder(g *report.Gate) []report.GateRow {
	rank := map[report.Outcome]int{report.DidFail: 0, report.Undecided: 1, report.Passed: 2}
	rows := slices.Clone(g.Rows)
	slices.SortStableFunc(rows, func(a, b report.GateRow) int { return cmp.Compare(rank[a.Outcome], rank[b.Outcome]) })
	return rows
}

// gateCompares says whether any row is compared with a baseline.
func gateCompares(g *report.Gate) bool {
	return slices.ContainsFunc(g.Rows, func(r report.GateRow) bool { return r.Baseline != nil })
}

func baselineText(b *report.Compared) string {
	if b == nil {
		return "-"
	}
	return sideText(*b)
}

// gateFootnotes say what the figures are.
func gateFootnotes(g *report.Gate) []string {
	var figures []*report.Figures
	for _, r := range g.Rows {
		figures = append(figures, r.Candidate.Figures)
		if r.Baseline != nil {
			figures = append(figures, r.Baseline.Figures)
		}
	}
	words := []string{rateWords(trafficOf(headlines(figures))) +
		": the median, ± how far runs are apart, (how many runs)."}
	if gateCompares(g) {
		words = append(words, "Candidate and baseline are compared by medians and their bounds, with 95 % confidence; a verdict is claimed only where the runs show it, for each direction that a criterion names.",
			"Would show: the least regression that such runs show to be more than is allowed, in 95 of 100 cases.")
	}
	return append(words, signWords(headlines(figures))...)
}

func shortened(text string) string {
	r := []rune(text)
	if len(r) <= gateWords {
		return text
	}
	return string(r[:gateWords-1]) + "…"
}

// moreWords say what was left out, and where it is.
func moreWords(n int, noun string) string {
	return fmt.Sprintf("and %s more: the formats json and junit have all", wording.Counted(n, noun))
}

// objectName is the name of an object in a command, without characters that no such name has. Between backticks
// nothing else is made harmless.
func objectName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return utf8.RuneError
	}, name)
}

// gatePlaces say where what was measured can be looked at.
func gatePlaces(g *report.Gate) []string {
	var lines []string
	for _, s := range g.Suites[:min(len(g.Suites), gateMissing)] {
		words := fmt.Sprintf("`kubectl linerate report suite/%s -n %s`", objectName(s.Name), objectName(s.Namespace))
		if !s.Finished.IsZero() {
			words += " (" + s.Started.UTC().Format("2006-01-02 15:04") + " to " +
				s.Finished.UTC().Format("2006-01-02 15:04 UTC") + ")"
		}
		lines = append(lines, words)
	}
	found := map[string]bool{}
	for _, r := range g.Rows {
		if r.BaselineName != "" && !found[r.BaselineName] && len(found) < gateMissing {
			found[r.BaselineName] = true
			lines = append(lines, "compared with "+markdownText(r.BaselineName))
		}
	}
	return lines
}
