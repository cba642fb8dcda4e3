package render

import (
	"bytes"
	"io"
	"strings"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/wording"
)

// testsMarkdown writes the reports for a pull request or a wiki (GitHub's dialect): a table of all, then each test's evidence folded away.
// Percentages are shares of what all directions can carry, at most 100.
func testsMarkdown(w io.Writer, reports []*report.Report) error {
	m := new(markdown)
	m.table(reports)
	for _, r := range reports {
		m.test(r)
	}
	return writeAll(w, "markdown", &m.out)
}

type markdown struct{ out bytes.Buffer }

func (m *markdown) line(parts ...string) { m.out.WriteString(strings.Join(parts, "") + "\n") }

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

func (m *markdown) table(reports []*report.Report) {
	g := grid{header: []string{"product", "loadtest", "answer", "verdict", "throughput pps", "throughput bps", togetherHead}, left: 4}
	loose := ""
	for _, r := range reports {
		h := report.HeadlineOf(r)
		if h.Loose {
			loose = " " + looseWords
		}
		g.rows = append(g.rows, []string{h.Product, h.Loadtest, standing(r), outcomeSign(r.Verdict),
			h.Signed(wording.Bare(wording.PacketRate(h.PacketsPerSecond), "pps")), h.Signed(wording.Bare(wording.BitRate(h.Layer1BitsPerSecond), "bps")), h.Signed(h.Percent.FormatFixed())})
	}
	m.grid(g)
	m.line("<sub>Throughput is what was received, summed over all directions of one moment; bps are layer 1; 100 % is every direction at its line rate; ≥ is a lower bound, not a limit." + loose + "</sub>")
	m.line("")
}

func (m *markdown) test(r *report.Report) {
	h := report.HeadlineOf(r)
	m.line("<details><summary><b>", markdownText(h.Title()), "</b>: ", markdownText(report.Summary(r)), "</summary>\n")
	m.line(markdownText(answer(r)), "\n")
	if report.HasFigure(r) {
		m.grid(directionGrid(r))
		if len(r.Result.Generators) > 1 {
			m.grid(generatorGrid(r))
		}
		if s := resolutionText(r); s != "" {
			m.line("Resolution: ", markdownText(s), ".\n")
		}
		if most := r.Result.MaxReceived; most != nil {
			m.line("Max received, apart from the result: ", markdownText(mostReceived(most)), ".\n")
		}
	}
	for _, s := range deviceTexts(r) {
		m.line("Device: ", markdownText(s), ".\n")
	}
	m.line("Verdict: **", markdownText(verdictText(r.Verdict)), "**\n")
	for _, c := range r.Verdict.Criteria {
		m.line("- ", sign(c.Outcome), " **", markdownText(c.Name), "**: ", markdownText(c.Message))
	}
	for _, w := range warnings(r) {
		m.line("- ⚠️ ", markdownText(w))
	}
	m.line("\n</details>\n")
}

// outcomeSign is the verdict in a table's cell.
func outcomeSign(v report.Verdict) string {
	if len(v.Criteria) == 0 {
		return "no criteria"
	}
	return sign(v.Outcome) + " " + string(v.Outcome)
}

func sign(o report.Outcome) string {
	switch o {
	case report.Passed:
		return "✅"
	case report.DidFail:
		return "❌"
	case report.Undecided:
	}
	return "❔"
}

// markdownText makes text of what could be markup: a table's cell or a line must not end early, and no name is a tag, a link or a
// mention.
func markdownText(s string) string {
	return strings.NewReplacer("\\", `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`,
		"@", "&#64;", "\r", " ", "\n", " ").Replace(s)
}
