package report

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the gate for a pull request or a job's summary (GitHub's dialect): the verdict first, then a table, then what is said of what
// wasn't met. It is bounded: a comment takes no more.
func (g *Gate) Markdown(w io.Writer) error {
	m := new(markdown)
	m.line("### ", sign(g.Outcome), " ", markdownText("linerate: "+g.Headline()), "\n")
	rows := g.inOrder()
	shown := rows[:min(len(rows), gateRows)]
	if len(rows) > 0 {
		m.grid(g.grid(shown, tableSign))
	}
	if more := len(rows) - len(shown); more > 0 {
		m.line(moreWords(more, "row"), "\n")
	}
	lines, more := g.lines()
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
		m.line(markdownText(strings.Join(g.footnotes(), " ")), "\n")
		for _, words := range g.places() {
			m.line("- ", words)
		}
		m.line("\n</details>")
	}
	return writeAll(w, "markdown", &m.out)
}

// lineSign goes before a line.
func lineSign(o Outcome) string {
	if o == "" {
		return "⚠️ "
	}
	return sign(o) + " "
}

// places say where what was measured can be looked at.
func (g *Gate) places() []string {
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

// junit has a testsuite for each cell, with a testcase "measured" and one for each criterion; and one testcase for the gate as a whole, so that no
// gate without a measurement looks like one without a fault.
func (g *Gate) junit(w io.Writer) error {
	doc := newJUnit()
	whole := junitSuite{Name: "gate", Time: seconds(0), Cases: []junitCase{criterionCase("gate", CriterionResult{Name: "verdict", Outcome: g.Outcome, Message: g.Message})}}
	if len(g.Suites) > 0 {
		whole.Timestamp = g.Suites[0].Started.UTC().Format("2006-01-02T15:04:05")
	}
	whole.count()
	doc.add(whole, 0)
	for _, s := range g.Suites {
		named := *s
		named.Name = g.testOf(s.Name) // the same for each commit: so systems know a case again
		for i := range s.Cells {
			cell, took := named.junitCell(&s.Cells[i])
			doc.add(cell, took)
		}
	}
	return doc.write(w)
}

// testOf is what the file calls a suite.
func (g *Gate) testOf(suite string) string {
	for _, r := range g.Rows {
		if r.Suite == suite && r.Test != "" {
			return r.Test
		}
	}
	return suite
}

// HTML writes the gate as one page that needs nothing else.
func (g *Gate) HTML(w io.Writer) error {
	c := &Comparison{Title: "linerate: " + g.Headline(), Sides: []string{"baseline", "candidate"}, Notes: g.Notes}
	var everything Table
	for _, r := range g.inOrder() {
		baseline := Compared{}
		if r.Baseline != nil {
			baseline = *r.Baseline
		}
		candidate := r.Candidate
		candidate.Verdict, candidate.Message = r.Outcome, r.said()
		c.Rows = append(c.Rows, ComparisonRow{Product: r.Product, Loadtest: r.Loadtest, Sides: []Compared{baseline, candidate}})
		everything.Cells = append(everything.Cells, Cell{Product: r.Product, Loadtest: r.Loadtest, Figures: r.Candidate.Figures, Verdict: r.Outcome, Message: r.said(), Missing: r.Candidate.Missing, Repeated: r.Candidate.Repeated})
	}
	if g.compares() {
		c.judged = true
		return c.HTML(w)
	}
	everything.Title, everything.Notes = c.Title, g.Notes
	return everything.HTML(w)
}

// said is all that is said of a row.
func (r GateRow) said() string {
	return joinedWords(Verdict{Criteria: r.Criteria}.words(), r.Message)
}
