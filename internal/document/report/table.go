package report

import (
	"fmt"
	"io"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// TableVersion is the kind and version of a Table as JSON.
const TableVersion = "linerate.dev/table.v1alpha1"

// Table sets tests side by side. It has what was tested (product) with what (loadtest), each with the figures of
// one or several runs. It is neutral. The published tables, a suite, and a directory of Reports all become one.
type Table struct {
	Version string `json:"version"`
	Title   string `json:"title,omitempty"`
	// Answer is the first two lines. It is empty before the document is written in a format.
	Answer Lines `json:"answer,omitzero"`
	// Cells are shown by loadtest and then by product, each in the order in which it first appears.
	Cells []Cell `json:"cells"`
	// Notes are shown below the table.
	Notes []string `json:"notes,omitempty"`
}

// Lines are what a document of several tests begins with in every format (internal/result/answer).
type Lines struct {
	// Summary is the first line, with how many tests became what.
	Summary string `json:"summary"`
	// Message is the second line, about the test that matters most, with the way out.
	Message string `json:"message"`
}

// Cell is one product under one loadtest.
type Cell struct {
	Product  string `json:"product"`
	Loadtest string `json:"loadtest"`
	// Figures is what was measured. It is nil where nothing was, and Missing says why.
	Figures *Figures `json:"figures,omitempty"`
	// Price is the device's, as the test says it. It is empty where the test doesn't, or its runs differ.
	Price string `json:"price,omitempty"`
	// Verdict is the criteria's judgement. It is empty where there are no criteria. Message has its figures, or
	// further remarks on the cell.
	Verdict Outcome `json:"verdict,omitempty"`
	Message string  `json:"message,omitempty"`
	// Unjudged is why the row has no verdict while others have one. "with NDR" means that the row of goal NDR has
	// the verdict on all goals together.
	Unjudged string `json:"unjudged,omitempty"`
	// Missing are the runs without a figure that were not repeated. Repeated are those that were, and their figure,
	// if any, doesn't count.
	Missing  []Missing `json:"missing,omitempty"`
	Repeated []Missing `json:"repeated,omitempty"`
	// Images are what the device's pod ran in all runs of the figures. They are empty where they aren't known, or
	// not the same.
	Images []plan.Container `json:"images,omitempty"`
}

// Figures are those of one run, or the medians of several runs of the same test. Rates are what was received,
// summed over the directions of one window.
type Figures struct {
	Runs                int   `json:"runs"`
	PacketsPerSecond    int64 `json:"packetsPerSecond"`
	Layer1BitsPerSecond int64 `json:"layer1BitsPerSecond"`
	// LineRatePercent is the share of what all directions can carry together. LineRatePercentSum adds the
	// directions' shares instead, so that full duplex between two ports is 200, as the published tables have it.
	LineRatePercent    units.Percent `json:"lineRatePercent"`
	LineRatePercentSum units.Percent `json:"lineRatePercentSum"`
	// GoodputBitsPerSecond is the rate of sessions, for which the rates above mean nothing. It is nil where traffic
	// was frames. 0 is a figure, where nothing came through.
	GoodputBitsPerSecond *int64 `json:"goodputBitsPerSecond,omitempty"`
	// PicosecondsPerFrame is the time per frame of trains, for which the rates above mean nothing. It is nil where no
	// trains were sent.
	PicosecondsPerFrame *int64 `json:"picosecondsPerFrame,omitempty"`
	// LowerBound says that the device's limit lies at the figures or above, or its time per frame at them or below.
	LowerBound bool `json:"lowerBound,omitempty"`
	// Unconfirmed is how many of the runs have a figure that a longer window was to confirm, but didn't.
	Unconfirmed int `json:"unconfirmed,omitempty"`
	// Spread is how far runs differ. It is nil where there is one run only.
	Spread *Spread `json:"spread,omitempty"`
}

// Spread is how far the packet rates of several runs of the same test differ.
type Spread struct {
	// Percent is shown after ±, as a percentage of the median.
	Percent units.Percent `json:"percent"`
	// The true median lies in this interval with the confidence given, in packets per second. That of sessions is
	// in bits of goodput per second, and nil for frames.
	LowPacketsPerSecond      int64         `json:"lowPacketsPerSecond"`
	HighPacketsPerSecond     int64         `json:"highPacketsPerSecond"`
	LowGoodputBitsPerSecond  *int64        `json:"lowGoodputBitsPerSecond,omitempty"`
	HighGoodputBitsPerSecond *int64        `json:"highGoodputBitsPerSecond,omitempty"`
	LowPicosecondsPerFrame   *int64        `json:"lowPicosecondsPerFrame,omitempty"`
	HighPicosecondsPerFrame  *int64        `json:"highPicosecondsPerFrame,omitempty"`
	Confidence               units.Percent `json:"confidencePercent,omitempty"`
}

// Missing is a run without a figure that counts.
type Missing struct {
	Test   string `json:"test"`
	Reason string `json:"reason"` // the Report's ending, or why the result is what it is
	// Message is why, as a sentence.
	Message string `json:"message,omitempty"`
	// LowerBound is what the run measured although it was repeated, in packets per second, or 0 for nothing.
	LowerBound int64 `json:"lowerBound,omitempty"`
	// GoodputLowerBound is the same of sessions, in bits per second, and LowerBound is 0 then. It is nil where
	// traffic was frames, or nothing was measured.
	GoodputLowerBound *int64 `json:"goodputLowerBound,omitempty"`
}

// Measured says that the run has a figure, although it doesn't count.
func (m Missing) Measured() bool { return m.LowerBound > 0 || m.GoodputLowerBound != nil }

// Headline is these figures with what decides their sign.
func (f *Figures) Headline() Headline {
	h := Headline{Measured: true, Bound: f.LowerBound, Unconfirmed: f.Unconfirmed > 0,
		PacketsPerSecond: f.PacketsPerSecond, Layer1BitsPerSecond: f.Layer1BitsPerSecond,
		Percent: f.LineRatePercent, PercentSum: f.LineRatePercentSum, OfSessions: f.OfSessions()}
	if h.OfSessions {
		h.GoodputBitsPerSecond = *f.GoodputBitsPerSecond
	}
	if h.OfTrains = f.OfTrains(); h.OfTrains {
		h.PicosecondsPerFrame = *f.PicosecondsPerFrame
	}
	return h
}

// OfSessions says that traffic was sessions, whose only rate is the goodput.
func (f *Figures) OfSessions() bool { return f.GoodputBitsPerSecond != nil }

// OfTrains says that trains were sent, whose only figure is the time per frame.
func (f *Figures) OfTrains() bool { return f.PicosecondsPerFrame != nil }

// Throughput is the rate by which runs of one test are compared. It is packets per second of frames, and bits per
// second of sessions' goodput. Of trains it is the time per frame, of which less is better.
func (f *Figures) Throughput() int64 {
	if f.OfTrains() {
		return *f.PicosecondsPerFrame
	}
	if f.OfSessions() {
		return *f.GoodputBitsPerSecond
	}
	return f.PacketsPerSecond
}

// UnconfirmedWords say how many runs have figures that are not confirmed. They are empty where all are.
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

// ProductAndLoadtest are a Report's place in a table by its Plan's product and loadtest, as all renderers show
// them.
func ProductAndLoadtest(r *Report) (product, loadtest string) {
	h := NamedHeadline(r)
	return h.Product, h.Loadtest
}

// JSON writes the table as a document, indented.
func (t *Table) JSON(w io.Writer) error {
	copied := *t
	copied.Version = TableVersion
	return writeDocument(w, &copied)
}
