package report

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// TableVersion is the kind and version of a Table as JSON.
const TableVersion = "linerate.dev/table.v1alpha1"

// Table sets tests side by side: what was tested (product) with what (loadtest), each with the figures of one or several runs. It is
// neutral: the published tables, a suite, and a directory of Reports all become one.
type Table struct {
	Version string `json:"version"`
	Title   string `json:"title,omitempty"`
	// Cells are shown by loadtest and then by product, each in the order in which it first appears.
	Cells []Cell `json:"cells"`
	// Notes are said below the table.
	Notes []string `json:"notes,omitempty"`
}

// Cell is one product under one loadtest.
type Cell struct {
	Product  string `json:"product"`
	Loadtest string `json:"loadtest"`
	// Figures is what was measured; nil: nothing was, and Missing says why.
	Figures *Figures `json:"figures,omitempty"`
	// Verdict is the criteria's judgement; empty: there are none. Message has its figures, or what else is to be said of the cell.
	Verdict Outcome `json:"verdict,omitempty"`
	Message string  `json:"message,omitempty"`
	// Missing are the runs that gave no figure, but for those that were repeated; Repeated are those, and the ones whose figure doesn't count for it.
	Missing  []Missing `json:"missing,omitempty"`
	Repeated []Missing `json:"repeated,omitempty"`
	// Images are what the device's pod ran in all runs of the figures; empty: it isn't known, or not the same.
	Images []plan.Container `json:"images,omitempty"`
}

// Figures are those of one run, or the medians of several runs of the same test. Rates are what was received, summed over the directions
// of one moment.
type Figures struct {
	Runs                int   `json:"runs"`
	PacketsPerSecond    int64 `json:"packetsPerSecond"`
	Layer1BitsPerSecond int64 `json:"layer1BitsPerSecond"`
	// LineRatePercent is the share of what all directions can carry together, at most 100; LineRatePercentSum adds the directions' shares
	// instead, so that full duplex between two ports is 200, as the published tables have it.
	LineRatePercent    units.Percent `json:"lineRatePercent"`
	LineRatePercentSum units.Percent `json:"lineRatePercentSum"`
	// LowerBound: the device's limit lies at the figures or above.
	LowerBound bool `json:"lowerBound,omitempty"`
	// Unconfirmed is of how many of the runs the figures were to be confirmed by a longer window, and weren't.
	Unconfirmed int `json:"unconfirmed,omitempty"`
	// Spread is how far runs differ; nil: one run can't tell.
	Spread *Spread `json:"spread,omitempty"`
}

// Spread is how far the packet rates of several runs of the same test differ.
type Spread struct {
	// Percent is what stands behind ±, of the median.
	Percent units.Percent `json:"percent"`
	// The interval in which the true median lies with the confidence given, in packets per second.
	LowPacketsPerSecond  int64         `json:"lowPacketsPerSecond"`
	HighPacketsPerSecond int64         `json:"highPacketsPerSecond"`
	Confidence           units.Percent `json:"confidencePercent,omitempty"`
}

// Missing is a run without a figure that counts.
type Missing struct {
	Test   string `json:"test"`
	Reason string `json:"reason"` // the Report's ending, or why the result is what it is
	// Message is why, as a sentence.
	Message string `json:"message,omitempty"`
	// LowerBound is what a run measured that was repeated all the same, in packets per second; 0: nothing.
	LowerBound int64 `json:"lowerBound,omitempty"`
}

// FiguresOf are a Report's; nil where it has none.
func FiguresOf(r *Report) *Figures {
	h := headlineOf(r)
	if !h.Measured {
		return nil
	}
	f := &Figures{Runs: 1, PacketsPerSecond: h.PacketsPerSecond, Layer1BitsPerSecond: h.Layer1BitsPerSecond,
		LineRatePercent: h.Percent, LineRatePercentSum: h.PercentSum, LowerBound: h.Bound}
	if h.Loose {
		f.Unconfirmed = 1
	}
	return f
}

// headline has the signs that go before these figures.
func (f *Figures) headline() headline {
	return headline{Measured: true, Bound: f.LowerBound, Loose: f.Unconfirmed > 0}
}

// UnconfirmedWords say of how many runs the figures aren't confirmed; empty: of all they are.
func (f *Figures) UnconfirmedWords() string {
	switch {
	case f == nil || f.Unconfirmed == 0:
		return ""
	case f.Runs == 1:
		return "the figure is not confirmed"
	case f.Unconfirmed == 1:
		return fmt.Sprintf("1 of %d figures is not confirmed", f.Runs)
	}
	return fmt.Sprintf("%d of %d figures are not confirmed", f.Unconfirmed, f.Runs)
}

// Named is a Report's place in a table: its Plan's product and loadtest, as all renderers show them.
func Named(r *Report) (product, loadtest string) {
	h := headlineOf(r)
	return h.Product, h.Loadtest
}

// bound writes a figure of the cell, as headline does.
func (c Cell) bound(figure func(*Figures) string) string {
	if c.Figures == nil {
		return notMeasured
	}
	return c.Figures.headline().bound(figure(c.Figures))
}

// arranged are the cells as they are shown.
func (t *Table) arranged() []Cell {
	var products, loadtests []string
	for _, c := range t.Cells {
		if !slices.Contains(products, c.Product) {
			products = append(products, c.Product)
		}
		if !slices.Contains(loadtests, c.Loadtest) {
			loadtests = append(loadtests, c.Loadtest)
		}
	}
	place := func(c Cell) int {
		return slices.Index(loadtests, c.Loadtest)*len(products) + slices.Index(products, c.Product)
	}
	cells := slices.Clone(t.Cells)
	slices.SortStableFunc(cells, func(a, b Cell) int { return place(a) - place(b) })
	return cells
}

// tableTraits says what of a table needs a column or a line.
type tableTraits struct{ repeated, judged, missing bool }

func (t *Table) traits() tableTraits {
	var out tableTraits
	for _, c := range t.Cells {
		out.judged = out.judged || c.Verdict != ""
		out.missing = out.missing || len(c.Missing)+len(c.Repeated) > 0
		if f := c.Figures; f != nil {
			out.repeated = out.repeated || f.Runs > 1
		}
	}
	return out
}

// spreadText is what stands behind ±.
func spreadText(f *Figures) string {
	if f == nil || f.Spread == nil {
		return "-"
	}
	return f.Spread.Percent.FormatFixed() + "%"
}

// The heads of the column with the share of the line rate: a share of what all directions carry together is at most 100, and the directions' shares summed
// are 200 at full duplex between two ports. Two figures never stand under one head.
const (
	togetherHead = "% of line rate"
	sumHead      = "% line rate, sum"
)

// grid is the table for people. The verdict stands where sign puts it; percent picks how the share of the line rate is summed, which head says.
func (t *Table) grid(traits tableTraits, head string, percent func(*Figures) units.Percent, sign func(Outcome) string) grid {
	g := grid{header: []string{"product", "loadtest"}, left: 2}
	if traits.judged {
		g.header, g.left = append(g.header, "verdict"), 3
	}
	g.header = append(g.header, "throughput pps", "throughput bps", head)
	if traits.repeated {
		g.header = append(g.header, "±", "runs")
	}
	for _, c := range t.arranged() {
		row := []string{c.Product, c.Loadtest}
		if traits.judged {
			row = append(row, sign(c.Verdict))
		}
		row = append(row,
			c.bound(func(f *Figures) string { return bare(pps(f.PacketsPerSecond), "pps") }),
			c.bound(func(f *Figures) string { return bare(bps(f.Layer1BitsPerSecond), "bps") }),
			c.bound(func(f *Figures) string { return percent(f).FormatFixed() }))
		if traits.repeated {
			row = append(row, spreadText(c.Figures), runsText(c))
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// runsText is how many runs the figures are of, and of how many.
func runsText(c Cell) string {
	measured := 0
	if c.Figures != nil {
		measured = c.Figures.Runs
	}
	if all := measured + len(c.Missing); all != measured {
		return shareOf(measured, all)
	}
	return shortCount(measured)
}

// share of what all directions carry together, as the status has it.
func together(f *Figures) units.Percent { return min(f.LineRatePercent, units.Hundred) }

// summed over the directions, as the published tables have it.
func summed(f *Figures) units.Percent { return f.LineRatePercentSum }

// said are a cell's words with its name before them; empty: there is nothing to say.
func (c Cell) said() string {
	if c.Message == "" {
		return ""
	}
	return c.title() + ": " + c.Message
}

func (c Cell) title() string { return headline{Product: c.Product, Loadtest: c.Loadtest}.title() }

// gaps says which runs gave no figure, and which were repeated.
func gaps(missing, repeated []Missing) []string {
	var lines []string
	for _, m := range missing {
		lines = append(lines, m.Test+" was not measured: "+m.words())
	}
	for _, m := range repeated {
		lines = append(lines, m.Test+" was "+m.again()+": "+m.words())
	}
	return lines
}

// again says in what way a run was repeated.
func (m Missing) again() string {
	if m.LowerBound > 0 {
		return "repeated"
	}
	return "repeated, as it gave no figure"
}

// words of a run that gave no figure that counts.
func (m Missing) words() string {
	if m.Message == "" {
		return m.Reason
	}
	return m.Reason + ": " + m.Message
}
