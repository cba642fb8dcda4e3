package render

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/sanitize"
)

// markdownFormat is for pull requests, jobs' summaries and wikis (GitHub's dialect). Evidence is folded away.
// Percentages are shares of what all directions can carry.
func markdownFormat() format {
	return format{name: "markdown", forPeople: true, write: func(w io.Writer, d Document, _ TextOptions) error {
		m := new(markdown)
		for i := range d.views {
			if i > 0 {
				m.line("")
			}
			m.view(&d.views[i])
		}
		return writeAll(w, "markdown", &m.b)
	}}
}

// commentRows is how many rows a table has in a comment on a pull request, which takes 65 536 characters.
const commentRows = 60

type markdown struct{ b bytes.Buffer }

func (m *markdown) line(parts ...string) { m.b.WriteString(strings.Join(parts, "") + "\n") }

// row writes cells that may hold anything.
func (m *markdown) row(cells ...string) {
	for i, c := range cells {
		cells[i] = markdownText(c)
	}
	m.line("| ", strings.Join(cells, " | "), " |")
}

// grid writes a table whose first left columns are text and the rest figures.
func (m *markdown) grid(g grid) {
	m.row(g.header...)
	rule := make([]string, len(g.header))
	for i := range rule {
		rule[i] = "---:"
		if i < g.left {
			rule[i] = ":---"
		}
	}
	m.line("| ", strings.Join(rule, " | "), " |")
	for _, row := range g.rows {
		m.row(row...)
	}
	m.line("")
}

func (m *markdown) view(v *view) {
	switch {
	case v.judgement != nil:
		m.line("### ", sign(toneOf(v.judgement.outcome)), markdownText("linerate: "+string(v.judgement.outcome)+": "+
			v.judgement.message), "\n")
	case v.title != "":
		m.line("### ", markdownText(v.title), "\n")
	}
	if v.answer != nil && v.judgement == nil {
		m.line(markdownText(v.answer.Summary), "  ")
	}
	if v.answer != nil {
		m.line(markdownText(v.answer.Message), "\n")
	}
	if v.table != nil {
		m.table(v.table, v.comment)
	}
	if v.table != nil && !v.comment {
		m.legend(v)
	}
	for i := range v.sections {
		m.section(&v.sections[i])
	}
	if v.table == nil && !v.comment {
		m.legend(v)
	}
	shown, evidence := v.remarksAndEvidence()
	m.remarks(shown)
	if v.leftOut > 0 {
		m.line("- ", moreWords(v.leftOut, "line"))
	}
	for _, n := range v.notes {
		m.line("- ", sign(toneWarning), markdownText(n))
	}
	if len(evidence) > 0 {
		m.line("\n<details><summary>Evidence</summary>\n")
		m.remarks(evidence)
		m.line("\n</details>")
	}
	if v.comment {
		m.folded(v)
	}
}

func (m *markdown) legend(v *view) {
	m.line("<sub>", markdownText(strings.Join(v.legend.combined, " ")), "</sub>\n")
}

// folded is the legend behind a comment's last line, and where everything is that a comment has no room for.
func (m *markdown) folded(v *view) {
	m.line("")
	if len(v.legend.combined) == 0 {
		return
	}
	m.line("<details><summary>What was measured, and what the figures are</summary>\n")
	m.line(markdownText(strings.Join(v.legend.combined, " ")), "\n")
	for _, words := range v.places {
		m.line("- ", words)
	}
	m.line("\n</details>")
}

// table writes a table. In a comment it ends where the comment is full.
func (m *markdown) table(t *table, comment bool) {
	g := t.grid(combined|tableAlone, func(o report.Outcome) string {
		switch o {
		case "":
			return "no criteria"
		case report.Passed, report.DidFail, report.Undecided:
			return sign(toneOf(o)) + string(o)
		}
		return string(o) // why it has none
	})
	omitted := 0
	if comment && len(g.rows) > commentRows {
		omitted, g.rows = len(g.rows)-commentRows, g.rows[:commentRows]
	}
	m.grid(g)
	if omitted > 0 {
		m.line(moreWords(omitted, "row"), "\n")
	}
}

func (m *markdown) section(s *section) {
	if s.standing == "" {
		m.fold(s, "<b>"+markdownText(s.title)+"</b>: "+markdownText(s.summary))
		return
	}
	m.line("**", markdownText(s.title), "**: ", markdownText(s.ended()), "  ")
	m.line(markdownText(s.answer), "\n")
	m.remarks(s.findings)
	if len(s.findings) > 0 {
		m.line("")
	}
	m.fold(s, "Figures and evidence of "+markdownText(s.name))
}

// fold writes all of a section below its first lines.
func (m *markdown) fold(s *section, summary string) {
	details := "<details>"
	if s.unfolded {
		details = "<details open>"
	}
	m.line(details, "<summary>", summary, "</summary>\n")
	for _, t := range s.tables {
		m.table(t, false)
	}
	for _, words := range s.caveats {
		m.line(markdownText(words), "\n")
	}
	m.facts(s.facts)
	if v := s.verdict; v != nil {
		m.line("Verdict: **", markdownText(verdictText(*v)), "**\n")
		for _, c := range v.Criteria {
			m.line("- ", sign(toneOf(c.Outcome)), "**", markdownText(c.Name), "**: ", markdownText(c.Message))
		}
	}
	m.remarks(s.remarks)
	m.behind(s.evidence)
	m.line("\n</details>\n")
}

func (m *markdown) facts(facts []fact) {
	for _, f := range facts {
		m.line(markdownText(capital(f.Term)), ": ", markdownText(cmp.Or(f.Exact, f.Text)), ".\n")
	}
}

// behind writes what is behind an answer.
func (m *markdown) behind(e evidence) {
	if e.isEmpty() {
		return
	}
	m.line("")
	if t := e.table(); t != nil {
		m.table(t, false)
	}
	for _, t := range e.tables {
		m.table(t, false)
	}
	for _, words := range slices.Concat(e.caveats, e.doubts) {
		m.line(markdownText(words), "\n")
	}
	m.facts(e.facts)
}

func (m *markdown) remarks(remarks []remark) {
	for _, r := range remarks {
		subject := ""
		if r.Name != "" {
			subject = "**" + markdownText(r.Name) + "**: "
		}
		m.line("- ", sign(r.Tone), subject, markdownText(r.Text))
	}
}

// sign is a tone's, with a space behind it.
func sign(t tone) string {
	switch t {
	case tonePassed:
		return "✅ "
	case toneFailed:
		return "❌ "
	case toneUndecided:
		return "❔ "
	case toneWarning:
		return "⚠️ "
	case toneNone:
	}
	return ""
}

// markdownText is words that may hold anything.
func markdownText(s string) string { return sanitize.Markdown(s) }
