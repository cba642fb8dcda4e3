package report

// Section is a part of an answer that the procedure lays out itself, which is a table or a plot. Every format shows
// all sections alike, and knows no procedure. Exactly one of Table and Plot is set.
type Section struct {
	Title string `json:"title"`
	// Legend says what the columns or the signs are, a sentence or several each.
	Legend []string `json:"legend,omitempty"`
	// Evidence says that the section is for whoever asks how the answer came about. Pages fold it away, and other
	// formats for people leave it out.
	Evidence bool `json:"evidence,omitempty"`
	// Warnings are reasons to doubt what the section shows, a sentence each.
	Warnings []string `json:"warnings,omitempty"`

	Table *SectionTable `json:"table,omitempty"`
	Plot  *Plot         `json:"plot,omitempty"`
}

// SectionTable is a table of a section. The first column names the rows.
type SectionTable struct {
	Columns []string        `json:"columns"`
	Rows    [][]SectionCell `json:"rows"`
}

// SectionCell is a cell of a table. Text is for people. Number is the same for programs, exact and in Unit, where the
// cell is a number.
type SectionCell struct {
	Text   string `json:"text"`
	Number Number `json:"number,omitempty"`
	Unit   string `json:"unit,omitempty"`
	// NearGenerators is the text where the result is near the generators' own limit, so that they may have lost the
	// frames that the cell rests on. Number is no claim about the device then. It is empty where the cell rests on no
	// lost frame.
	NearGenerators string `json:"nearGenerators,omitempty"`
}

// CellText is the text of a section's cell, as far as the result may claim it.
func (r Answer) CellText(c SectionCell) string {
	if len(r.NearGenerators) > 0 && c.NearGenerators != "" {
		return c.NearGenerators
	}
	return c.Text
}

// Plot draws which share of its frames each trial lost, over the load, with curves beside them. A plot of Curves alone,
// whose Y axis isn't of shares, draws these over axes from 0.
//
//	100 % ┤          ◆ ─
//	  1 % ┤       ▒◆/        Points, a Curve
//	ratio ┤╌╌╌╌╌╌╌▒/╌╌╌╌     a Limit
//	  0 % ┤ ●  ●  ▒          an Interval
//	      └────────────── load
type Plot struct {
	X      PlotAxis    `json:"x"`
	Y      PlotAxis    `json:"y"`
	Points []PlotPoint `json:"points,omitempty"`
	Curves []PlotCurve `json:"curves,omitempty"`
	// Ordered puts the points side by side by X, not to scale, where most are close to each other. Each Interval has a
	// line of its own then, and a path leads from window to window.
	Ordered   bool           `json:"ordered,omitempty"`
	Intervals []PlotInterval `json:"intervals,omitempty"`
	Limits    []PlotLimit    `json:"limits,omitempty"`
}

// PlotLimit is a share that is marked across the plot, unless it is 0.
type PlotLimit struct {
	Title string `json:"title"`
	Y     Number `json:"y"`
}

// PlotAxis is an axis. Low and High are the part of it that is drawn, and empty for all that there is. An axis of
// shares, whose Unit is "ratio", is drawn by the shares' logarithms.
type PlotAxis struct {
	Title string `json:"title"`
	Unit  string `json:"unit"`
	Low   Number `json:"low,omitempty"`
	High  Number `json:"high,omitempty"`
}

// PlotSign is how a trial is marked: as its window's Quality, or as the procedure sees it.
type PlotSign string

// SignMixed marks a trial that is good for one of the procedure's goals and not for another.
const SignMixed PlotSign = "Mixed"

// PlotPoint is a trial, by the number of its window.
type PlotPoint struct {
	Window int      `json:"window"`
	X      Number   `json:"x"`
	Y      Number   `json:"y"`
	Sign   PlotSign `json:"sign"`
	Text   string   `json:"text"`
}

// PlotCurve is a line through points that are computed.
type PlotCurve struct {
	Name   string       `json:"name"`
	Points []CurveValue `json:"points"`
}

// CurveValue is a point of a PlotCurve.
type CurveValue struct {
	X Number `json:"x"`
	Y Number `json:"y"`
}

// PlotInterval is a part of the x axis. It is open where Low or High is empty. A High is known by lost frames, and is
// no claim near the generators' own limit.
type PlotInterval struct {
	Title string `json:"title"`
	Low   Number `json:"low,omitempty"`
	High  Number `json:"high,omitempty"`
}
