package render

import (
	"cmp"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// sidePage is a page of figures side by side, which are a table, a comparison, or a history. Words, footnotes and
// remarks are the view's. Bars, exact figures and graphs are made here, of the document itself, as no other format
// has them.
type sidePage struct {
	Title, Description string
	Producer           string
	Style              template.CSS
	Footnotes          []string
	Notes              []string
	Answer             []string // the first two lines, below the title
	Remarks            []remark
	Evidence           []remark // folded away
	Traits             sideTraits
	Groups             []cellGroup
	Comparison         *comparePage
	Latency            []latencyView
	Trend              *trendPage
	Runs               []runsView
	Benchmark          *benchmarkPage
	Heat               *heatPage
}

// runsView are the runs of a gate's row, drawn.
type runsView struct {
	Title, Words string
	Drawings     []drawing
}

// latencyView is the latency of a comparison's row.
type latencyView struct {
	Title string
	Table grid
}

// sideTraits says which columns there are.
type sideTraits struct {
	Repeated, Judged bool
	Sessions         bool // there are figures of sessions alone
}

// newSidePage is the page of a view. Its bars are shares of the line rate.
func newSidePage(v *view) *sidePage {
	p := &sidePage{Title: v.title, Footnotes: v.legend.combined, Notes: v.notes}
	p.Remarks, p.Evidence = v.remarksAndEvidence()
	if v.answer != nil {
		p.Answer = []string{v.answer.Summary, v.answer.Message}
	}
	switch s := v.source.(type) {
	case *report.Table:
		p.Title = cmp.Or(p.Title, "linerate: "+wording.Counted(len(s.Cells), "load test"))
		p.Traits = sideTraits{repeats(s), slices.ContainsFunc(s.Cells,
			func(c report.Cell) bool { return c.Verdict != "" }), trafficOf(headlines(tableFigures(s))) == ofSessions}
		p.Groups = cellGroups(s)
	case *report.Comparison:
		p.Title = cmp.Or(p.Title, "linerate: "+strings.Join(s.Sides, " · "))
		p.Comparison = newComparePage(s)
		for _, section := range v.sections {
			p.Latency = append(p.Latency, latencyView{section.title + ": " + section.summary,
				section.tables[0].grid(combined, nil)})
		}
	case *report.Trend:
		p.Title = cmp.Or(p.Title, "linerate: "+strconv.Itoa(len(s.Series))+" series")
		p.Trend = newTrendPage(v, s)
	case *report.Heatmap:
		p.Heat = newHeatPage(v, s)
	case *report.RFC2544:
		p.Benchmark = newBenchmarkPage(v, s)
	case *report.Gate:
		p = newGatePage(s)
	}
	if v.heat != nil {
		heat := viewOfHeatmap(v.heat)
		p.Heat = newHeatPage(&heat, v.heat)
	}
	p.Description = p.Title
	return p
}

func (p *sidePage) write(w io.Writer) (err error) {
	styles := []string{"page/page.css", "page/side.css"}
	if len(p.Runs) > 0 {
		styles = append(styles, "page/runs.css")
	}
	if p.Benchmark != nil {
		styles = append(styles, "page/benchmark.css")
	}
	if p.Heat != nil {
		styles = append(styles, "page/heat.css")
	}
	if p.Style, err = pageStyle(styles...); err != nil {
		return err
	}
	return writePage(w, "side.tmpl", p)
}

// newGatePage shows a gate as the comparison that it is, or as a table where nothing is compared. A page has room
// for all rows.
func newGatePage(g *report.Gate) *sidePage {
	title := "linerate: " + g.Headline()
	c := &report.Comparison{Title: title, Sides: []string{"baseline", "candidate"}, Notes: g.Notes}
	everything := &report.Table{Title: title, Notes: g.Notes}
	for _, r := range gateInOrder(g) {
		baseline := report.Compared{}
		if r.Baseline != nil {
			baseline = *r.Baseline
		}
		candidate := r.Candidate
		candidate.Verdict, candidate.Message = r.Outcome, r.Words()
		c.Rows = append(c.Rows, report.ComparisonRow{Product: r.Product, Loadtest: r.Loadtest,
			Sides: []report.Compared{baseline, candidate}})
		everything.Cells = append(everything.Cells, report.Cell{Product: r.Product, Loadtest: r.Loadtest,
			Figures: r.Candidate.Figures, Verdict: r.Outcome, Message: r.Words(), Missing: r.Candidate.Missing,
			Repeated: r.Candidate.Repeated})
	}
	v := viewOfTable(everything)
	if gateCompares(g) {
		v = viewOfComparison(c)
	}
	p := newSidePage(&v)
	p.Answer = []string{g.Answer.Message} // the title has the first line
	p.Runs = drawnRuns(g)
	if p.Comparison != nil {
		p.Comparison.Judged = true
	}
	return p
}

// drawnRuns are the rows of a gate that have runs, drawn one by one.
func drawnRuns(g *report.Gate) (views []runsView) {
	for i, r := range gateInOrder(g) {
		shown := runsView{Title: titleOf(r.Product, r.Loadtest) + ", run by run",
			Words: capital(smallestWords(r.Candidate))}
		for _, narrow := range []bool{false, true} {
			if d, ok := newStripDrawing(r, "r"+strconv.Itoa(i+1), narrow); ok {
				shown.Drawings = append(shown.Drawings, d)
			}
		}
		if len(shown.Drawings) > 0 {
			views = append(views, shown)
		}
	}
	return views
}

// cellGroup are a loadtest's cells.
type cellGroup struct {
	Loadtest string
	Cells    []cellView
}

// cellView is a cell as its row shows it.
type cellView struct {
	report.Cell
	Packets, Bits, Percent figure
	Spread, Runs           string
	Bar                    string // the bar's width, a CSS length
	Whisker                *whisker
	Class                  tone
	Sign                   string
}

// whisker is the interval of the median on the bar's scale, in CSS lengths.
type whisker struct{ Left, Width string }

func cellGroups(t *report.Table) (groups []cellGroup) {
	for _, c := range arranged(t) {
		if n := len(groups); n == 0 || groups[n-1].Loadtest != c.Loadtest {
			groups = append(groups, cellGroup{Loadtest: c.Loadtest})
		}
		g := &groups[len(groups)-1]
		g.Cells = append(g.Cells, newCellView(c))
	}
	return groups
}

func newCellView(c report.Cell) cellView {
	v := cellView{Cell: c, Class: toneOrNone(c.Verdict), Sign: "no criteria", Spread: spreadText(c.Figures),
		Runs: runsText(c)}
	v.Sign = cmp.Or(string(c.Verdict), c.Unjudged, v.Sign)
	f := c.Figures
	if f == nil {
		return v
	}
	h := f.Headline()
	v.Packets, v.Bits, v.Percent = mainFigures(h)
	v.Bar = barWidth(f.LineRatePercent)
	v.Whisker = whiskerOf(f)
	return v
}

// whiskerOf puts the interval where the bar ends. It is nil where there is none that could be drawn.
func whiskerOf(f *report.Figures) *whisker {
	if f.Spread == nil || f.PacketsPerSecond <= 0 || f.Spread.HighPacketsPerSecond <= f.Spread.LowPacketsPerSecond {
		return nil
	}
	scale := func(packetsPerSecond int64) units.Percent {
		share := float64(f.LineRatePercent) * float64(packetsPerSecond) / float64(f.PacketsPerSecond)
		return units.Percent(min(max(share, 0), float64(units.Hundred)))
	}
	low, high := scale(f.Spread.LowPacketsPerSecond), scale(f.Spread.HighPacketsPerSecond)
	return &whisker{Left: wording.Percent(low), Width: wording.Percent(max(high-low, 0))}
}

// comparePage is a comparison as the page's template writes it.
type comparePage struct {
	Sides  []string
	Judged bool
	Rows   []compareRowView
}

type compareRowView struct {
	Product, Loadtest string
	Sides             []comparedView
}

type comparedView struct {
	report.Compared
	First                bool
	Packets, Bits        figure
	Spread               string
	Change, Words, Class string
	VerdictClass         tone
	Interval             string
	NoFigure             string
}

func newComparePage(c *report.Comparison) *comparePage {
	p := &comparePage{Sides: c.Sides, Judged: c.MaxRegressionPercent != nil}
	for _, r := range c.Rows {
		row := compareRowView{Product: r.Product, Loadtest: r.Loadtest}
		for i, s := range r.Sides {
			row.Sides = append(row.Sides, newComparedView(s, i == 0))
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

func newComparedView(s report.Compared, first bool) comparedView {
	v := comparedView{Compared: s, First: first, Change: sideChange(s), Words: judgedWords(s),
		Class: judgementClass(s.Judgement), VerdictClass: toneOf(s.Verdict), Interval: intervalText(s.Change),
		NoFigure: nothingText(s)}
	if f := s.Figures; f != nil {
		h := f.Headline()
		v.Packets, v.Bits, _ = mainFigures(h)
		v.Spread = "(" + strconv.Itoa(f.Runs) + ")"
		if f.Spread != nil {
			v.Spread = "±" + spreadText(f) + " " + v.Spread
		}
	}
	return v
}

// judgementClass is the style sheet's name.
func judgementClass(j report.Judgement) string {
	switch j {
	case report.Less:
		return "worse"
	case report.More:
		return "better"
	case report.NotShown:
		return "same"
	case report.TooFew:
		return "unsure"
	case report.NotComparable:
	}
	return "apart"
}

// trendPage is a trend as the page's template writes it.
type trendPage struct{ Series []seriesView }

type seriesView struct {
	Title, Latest string
	Drawings      []drawing
	Table         grid
	Latency       *grid // nil for none
	Changes       []remark
}

// newTrendPage has a graph of each series, and its figures, the newest first, which people look for.
func newTrendPage(v *view, t *report.Trend) *trendPage {
	p := new(trendPage)
	for i, s := range v.sections {
		shown := seriesView{Title: s.title, Latest: s.summary, Table: s.tables[0].grid(combined, nil),
			Changes: s.remarks}
		slices.Reverse(shown.Table.rows)
		if len(s.tables) > 1 {
			shown.Latency = new(s.tables[1].grid(combined, nil))
		}
		for _, narrow := range []bool{false, true} {
			if d, ok := newTrendDrawing(&t.Series[i], "s"+strconv.Itoa(i+1), narrow); ok {
				shown.Drawings = append(shown.Drawings, d)
			}
		}
		p.Series = append(p.Series, shown)
	}
	return p
}
