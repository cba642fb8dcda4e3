package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// view is what one document says to people, in any format. It is made once for each kind of document, and each
// format writes it in its own way.
//
//	Failed: 1 of 3 tests doesn't …       judgement, or else a title
//	product  loadtest  throughput …      table
//	Throughput is what was received …    legend
//	VPP imix: saturated …                sections: the evidence of a test, a series over time
//	! vpp 64b: no-slower: …              remarks
//	! 1 test was repeated …              notes
type view struct {
	// source is the document itself, for what a single format shows of it, such as a drawing or a testcase.
	source    any
	title     string
	judgement *judgement
	// answer is the first two lines of a document of several tests. It is nil for others.
	answer   *report.Lines
	table    *table // nil for none, and then the legend is that of the sections
	legend   legend
	sections []section
	remarks  []remark
	leftOut  int // how many remarks more there are
	notes    []string
	heat     *report.Heatmap // drawn below the table where there is a page, or nil where there is nothing to see in it
	// comment says that it has to fit into a comment on a pull request where it is written for one. places are
	// where all of it is found.
	comment bool
	places  []string
}

// judgement is what is thought of the whole.
type judgement struct {
	outcome report.Outcome
	message string
}

// tone is how something is meant, which people see as a colour or a sign. It is the name of a class in the style sheet.
type tone string

// The tones.
const (
	toneNone      tone = "none"
	tonePassed    tone = "passed"
	toneFailed    tone = "failed"
	toneUndecided tone = "undecided"
	toneWarning   tone = "warning"
)

// toneOf is an outcome's tone. An unknown outcome has that of doubt.
func toneOf(o report.Outcome) tone {
	switch o {
	case report.Passed:
		return tonePassed
	case report.DidFail:
		return toneFailed
	case report.Undecided:
	}
	return toneUndecided
}

// toneOrNone is an outcome's, where there may be none.
func toneOrNone(o report.Outcome) tone {
	if o == "" {
		return toneNone
	}
	return toneOf(o)
}

// legend says what the figures are. They are those of a table in which the directions' shares of the line rate are
// summed, or are one of what all carry together.
type legend struct{ summed, combined []string }

// always is the legend of a document that has no such shares.
func always(words ...string) legend { return legend{words, words} }

// section is the evidence of a test, or a series.
type section struct {
	title, name string // name is the test's own, or empty where it isn't one test's
	summary     string // the figure, or what a series shows
	standing    string // what kind of answer there is, in a word or two, or empty for no single one
	tone        tone   // of the standing
	answer      string // what set the figure, and what to do, in one sentence that begins with the standing
	tables      []*table
	caveats     []string // what is odd about a figure in the tables
	facts       []fact
	verdict     *report.Verdict
	remarks     []remark
	findings    []remark // why the figure is what it is, below the answer
	evidence    evidence
	background  bool // it is evidence as a whole
	unfolded    bool // where sections are folded away, this one isn't
}

// evidence is what is behind a section. It is folded on a page, and on a terminal it is shown where that is asked for.
type evidence struct {
	rows    []report.EvidenceRow
	tables  []*table
	caveats []string // what the tables' columns are
	facts   []fact
	doubts  []string
}

func (e evidence) isEmpty() bool {
	return len(e.rows) == 0 && len(e.tables) == 0 && len(e.facts) == 0 && len(e.doubts) == 0
}

// table has a line for each observation.
func (e evidence) table() *table {
	if len(e.rows) == 0 {
		return nil
	}
	t := newTable(3, "evidence", "window", "what was seen")
	for _, row := range e.rows {
		window := "-"
		if row.Window > 0 {
			window = strconv.Itoa(row.Window)
		}
		t.add(row.Subject, window, row.Text)
	}
	return t
}

// ended is the section's figure as a line, which a test's ends with a full stop.
func (s *section) ended() string {
	if s.standing == "" || strings.HasSuffix(s.summary, ".") {
		return s.summary
	}
	return s.summary + "."
}

// fact is a term and what it says. Exact says it where there is room.
type fact struct{ Term, Text, Exact string }

// remark is what is said of a row, or of a section's figures.
type remark struct {
	Tone   tone
	Name   string // whom it is about, or empty for the section that it stands in
	Text   string
	marked bool // nobody may read over it
	// background says that it is evidence, which nobody has to act on.
	background bool
}

// remarksAndEvidence are the remarks that everybody reads, and those that are behind an answer.
func (v *view) remarksAndEvidence() (shown, evidence []remark) {
	for _, r := range v.remarks {
		if r.background {
			evidence = append(evidence, r)
		} else {
			shown = append(shown, r)
		}
	}
	return shown, evidence
}

// warning is a remark that must not be overlooked.
func warning(name, text string) remark {
	return remark{Tone: toneWarning, Name: name, Text: text, marked: true}
}

// warningsOf are remarks of the same.
func warningsOf(name string, texts []string) (remarks []remark) {
	for _, text := range texts {
		remarks = append(remarks, warning(name, text))
	}
	return remarks
}

// table is columns and rows for people. In a column of verdicts the cells are outcomes, or why a row has none of
// its own, or empty where there are no criteria.
type table struct {
	columns []column
	rows    [][]string
}

type column struct {
	head    string // with its unit, where the cells have none
	left    bool   // text is set to the left, figures are set to the right
	verdict bool
	shownIn variant
}

// variant says in which writings of a table a column stands.
type variant uint8

const (
	inAll      variant = 0
	summed     variant = 1 << iota // the share of the line rate is summed over directions, as in the published tables
	combined                       // it is the share of what all directions carry together
	tableAlone                     // the sections are folded away, so the table alone has each answer
)

// These are the heads of the column with the share of the line rate. Of what all directions carry together full
// lines are 100, and the directions' shares summed are 200 at full duplex between two ports. Two figures never
// stand under one head.
const (
	togetherHead = "% of line rate"
	sumHead      = "% line rate, sum"
)

// newTable has columns of which the first so many are text.
func newTable(left int, heads ...string) *table {
	t := new(table)
	for i, head := range heads {
		t.columns = append(t.columns, column{head: head, left: i < left})
	}
	return t
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// grid is the table with the columns of these variants, and with the verdicts as sign puts them.
func (t *table) grid(variants variant, sign func(report.Outcome) string) grid {
	var g grid
	var shown []int
	for i, c := range t.columns {
		if c.shownIn != inAll && c.shownIn&variants == 0 {
			continue
		}
		shown, g.header = append(shown, i), append(g.header, c.head)
		if c.left {
			g.left++
		}
	}
	for _, row := range t.rows {
		cells := make([]string, len(shown))
		for k, i := range shown {
			cells[k] = row[i]
			if t.columns[i].verdict {
				cells[k] = sign(report.Outcome(row[i]))
			}
		}
		g.rows = append(g.rows, cells)
	}
	return g
}

// grid is a table as it stands on a page, in a pull request or on a terminal. The columns that are text come first.
type grid struct {
	header []string
	left   int // how many columns, from the first, are text
	rows   [][]string
}

// Header is there for the page's template.
func (g grid) Header() []string { return g.header }

// Rows are there for the page's template.
func (g grid) Rows() [][]string { return g.rows }

// The lines that say what figures are.
const (
	sumWords = "Throughput is what was received, summed over all directions of one moment, and so is its % of line rate: 200 is full duplex between two ports. " +
		"b/s are layer 1, with preamble and inter-frame gap."
	togetherWords = "Throughput is what was received, summed over all directions of one moment; b/s are layer 1; 100 % is every direction at its line rate."
	medianWords   = "Of several runs, the median; ± is how far they are apart, in percent of it."
	boundWords    = "≥ is a lower bound: the device's limit lies there or above."
	looseWords    = "~ is not confirmed: the rate was not held as long as was asked for."
)

// signWords explain the signs that figures have.
func signWords(list []report.Headline) (words []string) {
	if slices.ContainsFunc(list, func(h report.Headline) bool { return h.Bound }) {
		words = append(words, boundWords)
	}
	if slices.ContainsFunc(list, func(h report.Headline) bool { return h.Sign() == "~" }) {
		words = append(words, looseWords)
	}
	return words
}

// headlines are those of figures, as far as there are any.
func headlines(list []*report.Figures) (lines []report.Headline) {
	for _, f := range list {
		if f != nil {
			lines = append(lines, f.Headline())
		}
	}
	return lines
}

// titleOf is product and loadtest in one.
func titleOf(product, loadtest string) string {
	return report.Headline{Product: product, Loadtest: loadtest}.Title()
}
