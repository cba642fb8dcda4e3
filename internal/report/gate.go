package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// GateVersion is the kind and version of a Gate as JSON; its fields stay.
const GateVersion = "linerate.dev/gate.v1alpha1"

// Gate is the judgement on a release: what was measured of it, what it was compared with, and whether it may go on.
//
//	Passed      every criterion is met, and the runs show it
//	Failed      one isn't, and the runs show it
//	Undecided   they show neither, or something was not measured: no gate opens for that
type Gate struct {
	Version  string  `json:"version"`
	Producer string  `json:"producer"` // linerate's own version
	Outcome  Outcome `json:"outcome"`
	// ExitCode is the process's: 0 Passed, 1 Failed, 3 Undecided, 130 interrupted.
	ExitCode int `json:"exitCode"`
	// Message is the judgement in one sentence.
	Message   string    `json:"message"`
	Namespace string    `json:"namespace,omitempty"`
	Rows      []GateRow `json:"rows"`
	// Notes are what else is to be said of all.
	Notes []string `json:"notes,omitempty"`
	// Suites are what was measured, each with its cells, runs and verdicts.
	Suites []*Suite `json:"suites"`
}

// GateRow is one cell that was judged.
type GateRow struct {
	// Test is what its file calls the LoadTest or the suite; Suite is what was made of it, and has a name for each content.
	Test     string  `json:"test"`
	Suite    string  `json:"suite"`
	Cell     string  `json:"cell"`
	Product  string  `json:"product"`
	Loadtest string  `json:"loadtest"`
	Outcome  Outcome `json:"outcome"`
	// Criteria are the criteria's results; Message says why there are none.
	Criteria []CriterionResult `json:"criteria,omitempty"`
	Message  string            `json:"message,omitempty"`
	// Candidate is what was measured, and by how much it differs; Baseline what it is compared with, nil where nothing was asked for.
	Candidate Compared  `json:"candidate"`
	Baseline  *Compared `json:"baseline,omitempty"`
	// BaselineName says what the baseline is: a cell's name, a file's, a suite's.
	BaselineName string `json:"baselineName,omitempty"`
}

// Bounds of what is written for people: a comment on a pull request takes 65 536 characters.
const (
	gateRows    = 60
	gateLines   = 40
	gateWords   = 480
	gateMissing = 10
)

// Conclude makes outcome, exit code and message of the rows: one that failed fails all, else one that is undecided leaves all undecided.
func (g *Gate) Conclude() {
	count := map[Outcome]int{}
	for _, r := range g.Rows {
		count[r.Outcome]++
	}
	failed, undecided, n := count[DidFail], len(g.Rows)-count[Passed]-count[DidFail], len(g.Rows)
	switch {
	case failed > 0:
		g.Outcome, g.ExitCode, g.Message = DidFail, ExitFailed, fmt.Sprintf("%s %s the criteria", shareOfAll(failed, n), verb(failed, "doesn't meet", "don't meet"))
		if undecided > 0 {
			g.Message += fmt.Sprintf(", and %d %s undecided", undecided, verb(undecided, "is", "are"))
		}
	case undecided > 0 || n == 0:
		g.Outcome, g.ExitCode, g.Message = Undecided, ExitNotMeasured, fmt.Sprintf("%s %s undecided: the runs show neither that the criteria are met nor that they aren't", shareOfAll(undecided, n), verb(undecided, "is", "are"))
		if n == 0 {
			g.Message = "nothing was measured"
		}
	default:
		g.Outcome, g.ExitCode, g.Message = Passed, ExitOK, fmt.Sprintf("all criteria are met, in %s", counted(n, "test"))
	}
}

// Doubt adds what went wrong beside the measurement: what would have passed is undecided then. What was shown to fail has failed.
func (g *Gate) Doubt(why string) {
	g.Notes = append(g.Notes, why)
	if g.Outcome == Passed {
		g.Outcome, g.ExitCode, g.Message = Undecided, ExitNotMeasured, "not everything was seen to its end: "+why
	}
}

func shareOfAll(some, all int) string {
	if all == 1 {
		return "the test"
	}
	return shareOf(some, all) + " tests"
}

func verb(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// GateFormats are the formats that a Gate can be written in.
func GateFormats() []string { return []string{"text", "markdown", "junit", "json", "html"} }

// Write writes the gate in one of GateFormats.
func (g *Gate) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		out := *g
		out.Version = GateVersion
		return writeDocument(w, &out)
	case "junit":
		return g.junit(w)
	case "markdown":
		return g.Markdown(w)
	case "html":
		return g.HTML(w)
	case "text":
		return g.Text(w, TextOptions{})
	}
	return fmt.Errorf("there is no format %s; use one of %s", format, strings.Join(GateFormats(), ", "))
}

// inOrder are the rows as people want them: what failed first, then what is undecided.
func (g *Gate) inOrder() []GateRow {
	rank := map[Outcome]int{DidFail: 0, Undecided: 1, Passed: 2}
	rows := slices.Clone(g.Rows)
	slices.SortStableFunc(rows, func(a, b GateRow) int { return cmp.Compare(rank[a.Outcome], rank[b.Outcome]) })
	return rows
}

// compares says whether any row is compared with a baseline.
func (g *Gate) compares() bool {
	return slices.ContainsFunc(g.Rows, func(r GateRow) bool { return r.Baseline != nil })
}

func (r GateRow) title() string { return headline{Product: r.Product, Loadtest: r.Loadtest}.title() }

// grid is the table of the first rows, with the verdict as sign puts it.
func (g *Gate) grid(rows []GateRow, sign func(Outcome) string) grid {
	out := grid{header: []string{"product", "loadtest", "verdict", "measured"}, left: 3}
	compares := g.compares()
	if compares {
		out.header = []string{"product", "loadtest", "verdict", "baseline", "candidate", "change", "95 % interval"}
	}
	for _, r := range rows {
		cells := []string{r.Product, r.Loadtest, sign(r.Outcome)}
		if compares {
			cells = append(cells, baselineText(r.Baseline))
		}
		cells = append(cells, r.Candidate.sideText())
		if compares {
			cells = append(cells, r.Candidate.changeText(), cmp.Or(r.Candidate.Change.interval(), "-"))
		}
		out.rows = append(out.rows, cells)
	}
	return out
}

func baselineText(b *Compared) string {
	if b == nil {
		return "-"
	}
	return b.sideText()
}

// footnotes say what the figures are.
func (g *Gate) footnotes() []string {
	words := []string{"Packets per second that were received, summed over all directions of one moment: the median, ± how far runs are apart, (how many runs)."}
	if g.compares() {
		words = append(words, "Candidate and baseline are compared by ranks alone, with 95 % confidence at least; a verdict is claimed only where the runs show it, for each direction that a criterion names.")
	}
	var figures []*Figures
	for _, r := range g.Rows {
		figures = append(figures, r.Candidate.Figures)
		if r.Baseline != nil {
			figures = append(figures, r.Baseline.Figures)
		}
	}
	return append(words, signWords(headlines(figures))...)
}

// lines are what the rows have to say, failures first, bounded.
func (g *Gate) lines() (lines []gateLine, more int) {
	for _, r := range g.inOrder() {
		for _, c := range r.Criteria {
			lines = append(lines, gateLine{c.Outcome, r.title(), shortened(c.Name + ": " + c.Message)})
		}
		if r.Message != "" {
			lines = append(lines, gateLine{r.Outcome, r.title(), shortened(r.Message)})
		}
		missing, repeated := r.Candidate.Missing, r.Candidate.Repeated
		for _, words := range gaps(missing[:min(len(missing), gateMissing)], nil) {
			lines = append(lines, gateLine{Undecided, r.title(), shortened(words)})
		}
		if more := len(missing) - gateMissing; more > 0 {
			lines = append(lines, gateLine{Undecided, r.title(), fmt.Sprintf("and %d runs more were not measured", more)})
		}
		for _, words := range gaps(nil, repeated[:min(len(repeated), gateMissing)]) {
			lines = append(lines, gateLine{"", r.title(), shortened(words)})
		}
		if words := r.Candidate.setAsideWords(); words != "" {
			lines = append(lines, gateLine{"", r.title(), shortened(words)})
		}
		for _, o := range r.Candidate.Outliers {
			lines = append(lines, gateLine{"", r.title(), o + " lies far from the others, and counts all the same"})
		}
	}
	n := min(len(lines), gateLines)
	return lines[:n], len(lines) - n
}

type gateLine struct {
	outcome     Outcome
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
	return fmt.Sprintf("and %s more: the formats json and junit have all", counted(n, noun))
}

// Headline is the verdict in a line.
func (g *Gate) Headline() string { return string(g.Outcome) + ": " + g.Message }

// Text writes the verdict, the table, and what is said of each row.
func (g *Gate) Text(w io.Writer, o TextOptions) error {
	p := newPrinter(o)
	p.painted(string(g.Outcome), outcomeColor(g.Outcome), ": "+g.Message)
	if len(g.Rows) > 0 {
		p.line("")
		p.grid("", g.grid(g.inOrder(), func(o Outcome) string { return string(o) }), true)
		p.line("")
		for _, words := range g.footnotes() {
			p.paragraph("", 0, words)
		}
	}
	lines, more := g.lines()
	if len(lines)+len(g.Notes) > 0 {
		p.line("")
	}
	for _, l := range lines {
		mark := "  "
		if l.outcome != Passed {
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
