package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/wording"
)

// gateMarkdown writes the gate for a pull request or a job's summary (GitHub's dialect): the verdict first, then a table, then what is said of what
// wasn't met. It is bounded: a comment takes no more.
func gateMarkdown(g *report.Gate, w io.Writer) error {
	m := new(markdown)
	m.line("### ", sign(g.Outcome), " ", markdownText("linerate: "+g.Headline()), "\n")
	rows := gateInOrder(g)
	shown := rows[:min(len(rows), gateRows)]
	if len(rows) > 0 {
		m.grid(gateGrid(g, shown, tableSign))
	}
	if more := len(rows) - len(shown); more > 0 {
		m.line(moreWords(more, "row"), "\n")
	}
	lines, more := gateSays(g)
	for _, l := range lines {
		m.line("- ", lineSign(l.outcome), "**", markdownText(l.title), "**: ", markdownText(l.text))
	}
	if more > 0 {
		m.line("- ", moreWords(more, "line"))
	}
	for _, n := range g.Notes {
		m.line("- ⚠️ ", markdownText(n))
	}
	m.line("")
	if len(rows) > 0 {
		m.line("<details><summary>What was measured, and what the figures are</summary>\n")
		m.line(markdownText(strings.Join(gateFootnotes(g), " ")), "\n")
		for _, words := range gatePlaces(g) {
			m.line("- ", words)
		}
		m.line("\n</details>")
	}
	return writeAll(w, "markdown", &m.out)
}

// lineSign goes before a line.
func lineSign(o report.Outcome) string {
	if o == "" {
		return "⚠️ "
	}
	return sign(o) + " "
}

// gatePlaces say where what was measured can be looked at.
func gatePlaces(g *report.Gate) []string {
	var out []string
	for _, s := range g.Suites[:min(len(g.Suites), gateMissing)] {
		words := fmt.Sprintf("`kubectl linerate report suite/%s -n %s`", s.Name, s.Namespace)
		if !s.Finished.IsZero() {
			words += " (" + s.Started.UTC().Format("2006-01-02 15:04") + " to " + s.Finished.UTC().Format("2006-01-02 15:04 UTC") + ")"
		}
		out = append(out, words)
	}
	seen := map[string]bool{}
	for _, r := range g.Rows {
		if r.BaselineName != "" && !seen[r.BaselineName] && len(seen) < gateMissing {
			seen[r.BaselineName] = true
			out = append(out, "compared with "+markdownText(r.BaselineName))
		}
	}
	return out
}

// gateJUnit has a testsuite for each cell, with a testcase "measured" and one for each criterion; and one testcase for the gate as a whole, so that no
// gate without a measurement looks like one without a fault.
func gateJUnit(g *report.Gate, w io.Writer) error {
	doc := newJUnit()
	whole := junitSuite{Name: "gate", Time: seconds(0), Cases: []junitCase{criterionCase("gate", report.CriterionResult{Name: "verdict", Outcome: g.Outcome, Message: g.Message})}}
	if len(g.Suites) > 0 {
		whole.Timestamp = g.Suites[0].Started.UTC().Format("2006-01-02T15:04:05")
	}
	whole.count()
	doc.add(whole, 0)
	for _, s := range g.Suites {
		named := *s
		named.Name = gateTestOf(g, s.Name) // the same for each commit: so systems know a case again
		for i := range s.Cells {
			cell, took := junitCellOf(&named, &s.Cells[i])
			doc.add(cell, took)
		}
	}
	return doc.write(w)
}

// gateTestOf is what the file calls a suite.
func gateTestOf(g *report.Gate, suite string) string {
	for _, r := range g.Rows {
		if r.Suite == suite && r.Test != "" {
			return r.Test
		}
	}
	return suite
}

// gateHTML writes the gate as one page that needs nothing else.
func gateHTML(g *report.Gate, w io.Writer) error {
	c := &report.Comparison{Title: "linerate: " + g.Headline(), Sides: []string{"baseline", "candidate"}, Notes: g.Notes}
	var everything report.Table
	for _, r := range gateInOrder(g) {
		baseline := report.Compared{}
		if r.Baseline != nil {
			baseline = *r.Baseline
		}
		candidate := r.Candidate
		candidate.Verdict, candidate.Message = r.Outcome, r.Words()
		c.Rows = append(c.Rows, report.ComparisonRow{Product: r.Product, Loadtest: r.Loadtest, Sides: []report.Compared{baseline, candidate}})
		everything.Cells = append(everything.Cells, report.Cell{Product: r.Product, Loadtest: r.Loadtest, Figures: r.Candidate.Figures, Verdict: r.Outcome, Message: r.Words(), Missing: r.Candidate.Missing, Repeated: r.Candidate.Repeated})
	}
	if gateCompares(g) {
		return writeComparisonPage(c, w, true)
	}
	everything.Title, everything.Notes = c.Title, g.Notes
	return tableHTML(&everything, w)
}

// Bounds of what is written for people: a comment on a pull request takes 65 536 characters.
const (
	gateRows    = 60
	gateLines   = 40
	gateWords   = 480
	gateMissing = 10
)

// gateInOrder are the rows as people want them: what failed first, then what is undecided.
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

func rowTitle(r report.GateRow) string {
	return report.Headline{Product: r.Product, Loadtest: r.Loadtest}.Title()
}

// gateGrid is the table of the first rows, with the verdict as sign puts it.
func gateGrid(g *report.Gate, rows []report.GateRow, sign func(report.Outcome) string) grid {
	out := grid{header: []string{"product", "loadtest", "verdict", "measured"}, left: 3}
	compares := gateCompares(g)
	if compares {
		out.header = []string{"product", "loadtest", "verdict", "baseline", "candidate", "change", "95 % interval"}
	}
	for _, r := range rows {
		cells := []string{r.Product, r.Loadtest, sign(r.Outcome)}
		if compares {
			cells = append(cells, baselineText(r.Baseline))
		}
		cells = append(cells, sideText(r.Candidate))
		if compares {
			cells = append(cells, sideChange(r.Candidate), cmp.Or(intervalText(r.Candidate.Change), "-"))
		}
		out.rows = append(out.rows, cells)
	}
	return out
}

func baselineText(b *report.Compared) string {
	if b == nil {
		return "-"
	}
	return sideText(*b)
}

// gateFootnotes say what the figures are.
func gateFootnotes(g *report.Gate) []string {
	words := []string{"Packets per second that were received, summed over all directions of one moment: the median, ± how far runs are apart, (how many runs)."}
	if gateCompares(g) {
		words = append(words, "Candidate and baseline are compared by ranks alone, with 95 % confidence at least; a verdict is claimed only where the runs show it, for each direction that a criterion names.")
	}
	var figures []*report.Figures
	for _, r := range g.Rows {
		figures = append(figures, r.Candidate.Figures)
		if r.Baseline != nil {
			figures = append(figures, r.Baseline.Figures)
		}
	}
	return append(words, signWords(headlines(figures))...)
}

// gateSays are what the rows have to say, failures first, bounded.
func gateSays(g *report.Gate) (lines []gateLine, more int) {
	for _, r := range gateInOrder(g) {
		for _, c := range r.Criteria {
			lines = append(lines, gateLine{c.Outcome, rowTitle(r), shortened(c.Name + ": " + c.Message)})
		}
		if r.Message != "" {
			lines = append(lines, gateLine{r.Outcome, rowTitle(r), shortened(r.Message)})
		}
		missing, repeated := r.Candidate.Missing, r.Candidate.Repeated
		for _, words := range gaps(missing[:min(len(missing), gateMissing)], nil) {
			lines = append(lines, gateLine{report.Undecided, rowTitle(r), shortened(words)})
		}
		if more := len(missing) - gateMissing; more > 0 {
			lines = append(lines, gateLine{report.Undecided, rowTitle(r), fmt.Sprintf("and %d runs more were not measured", more)})
		}
		for _, words := range gaps(nil, repeated[:min(len(repeated), gateMissing)]) {
			lines = append(lines, gateLine{"", rowTitle(r), shortened(words)})
		}
		if words := setAsideWords(r.Candidate); words != "" {
			lines = append(lines, gateLine{"", rowTitle(r), shortened(words)})
		}
		for _, o := range r.Candidate.Outliers {
			lines = append(lines, gateLine{"", rowTitle(r), o + " lies far from the others, and counts all the same"})
		}
	}
	n := min(len(lines), gateLines)
	return lines[:n], len(lines) - n
}

type gateLine struct {
	outcome     report.Outcome
	title, text string
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

// gateText writes the verdict, the table, and what is said of each row.
func gateText(g *report.Gate, w io.Writer, o TextOptions) error {
	p := newPrinter(o)
	p.painted(string(g.Outcome), outcomeColor(g.Outcome), ": "+g.Message)
	if len(g.Rows) > 0 {
		p.line("")
		p.grid("", gateGrid(g, gateInOrder(g), func(o report.Outcome) string { return string(o) }), true)
		p.line("")
		for _, words := range gateFootnotes(g) {
			p.paragraph("", 0, words)
		}
	}
	lines, more := gateSays(g)
	if len(lines)+len(g.Notes) > 0 {
		p.line("")
	}
	for _, l := range lines {
		mark := "  "
		if l.outcome != report.Passed {
			mark = "  ! "
		}
		p.paragraph(mark, len(mark), l.title+": "+l.text)
	}
	if more > 0 {
		p.paragraph("  ", 2, moreWords(more, "line"))
	}
	for _, n := range g.Notes {
		p.paragraph("  ! ", 4, n)
	}
	return writeAll(w, "text", &p.out)
}
