package report

import (
	"fmt"
	"io"

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
	// Unjudged is why the row has no verdict of its own where others have one: "with NDR", whose row has that of all goals together.
	Unjudged string `json:"unjudged,omitempty"`
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
	// LineRatePercent is the share of what all directions can carry together; LineRatePercentSum adds the directions' shares
	// instead, so that full duplex between two ports is 200, as the published tables have it.
	LineRatePercent    units.Percent `json:"lineRatePercent"`
	LineRatePercentSum units.Percent `json:"lineRatePercentSum"`
	// GoodputBitsPerSecond is the one rate of sessions, of which nothing above says anything; nil: traffic was frames. Where nothing came through it is 0, which is a figure.
	GoodputBitsPerSecond *int64 `json:"goodputBitsPerSecond,omitempty"`
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
	// The interval in which the true median lies with the confidence given, in packets per second; of sessions in bits of goodput per second, nil: of frames.
	LowPacketsPerSecond      int64         `json:"lowPacketsPerSecond"`
	HighPacketsPerSecond     int64         `json:"highPacketsPerSecond"`
	LowGoodputBitsPerSecond  *int64        `json:"lowGoodputBitsPerSecond,omitempty"`
	HighGoodputBitsPerSecond *int64        `json:"highGoodputBitsPerSecond,omitempty"`
	Confidence               units.Percent `json:"confidencePercent,omitempty"`
}

// Missing is a run without a figure that counts.
type Missing struct {
	Test   string `json:"test"`
	Reason string `json:"reason"` // the Report's ending, or why the result is what it is
	// Message is why, as a sentence.
	Message string `json:"message,omitempty"`
	// LowerBound is what a run measured that was repeated all the same, in packets per second; 0: nothing.
	LowerBound int64 `json:"lowerBound,omitempty"`
	// GoodputLowerBound is the same of sessions, in bits per second; LowerBound is 0 then. Nil: traffic was frames, or nothing was measured.
	GoodputLowerBound *int64 `json:"goodputLowerBound,omitempty"`
}

// Measured says that the run has a figure, which doesn't count.
func (m Missing) Measured() bool { return m.LowerBound > 0 || m.GoodputLowerBound != nil }

// Headline has the signs that go before these figures.
func (f *Figures) Headline() Headline {
	h := Headline{Measured: true, Bound: f.LowerBound, Unconfirmed: f.Unconfirmed > 0, PacketsPerSecond: f.PacketsPerSecond, Layer1BitsPerSecond: f.Layer1BitsPerSecond,
		Percent: f.LineRatePercent, PercentSum: f.LineRatePercentSum, OfSessions: f.OfSessions()}
	if h.OfSessions {
		h.GoodputBitsPerSecond = *f.GoodputBitsPerSecond
	}
	return h
}

// OfSessions says that traffic was sessions, of which only the goodput says anything.
func (f *Figures) OfSessions() bool { return f.GoodputBitsPerSecond != nil }

// Throughput is the rate that runs of one test are set against each other by: packets per second of frames, bits per second of sessions' goodput.
func (f *Figures) Throughput() int64 {
	if f.OfSessions() {
		return *f.GoodputBitsPerSecond
	}
	return f.PacketsPerSecond
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

// ProductAndLoadtest are a Report's place in a table: its Plan's product and loadtest, as all renderers show them.
func ProductAndLoadtest(r *Report) (product, loadtest string) {
	h := NamedHeadline(r)
	return h.Product, h.Loadtest
}

// JSON writes the table as a document, indented.
func (t *Table) JSON(w io.Writer) error {
	out := *t
	out.Version = TableVersion
	return writeDocument(w, &out)
}
