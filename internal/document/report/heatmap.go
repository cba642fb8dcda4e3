package report

import (
	"cmp"
	"io"
	"slices"

	"github.com/linerate-dev/linerate/internal/units"
)

// HeatmapVersion is the kind and version of a Heatmap as JSON.
const HeatmapVersion = "linerate.dev/heatmap.v1alpha1"

// Heatmap is figures over two things that were varied, for eyes that look for where it changes. It has frame loss
// over load and frame size, and throughput over device and traffic.
type Heatmap struct {
	Version string     `json:"version"`
	Maps    []HeatGrid `json:"maps"`
	// Missing are those that have no place in any map, with why.
	Missing []Missing `json:"missing,omitempty"`
}

// HeatGrid is one of a Heatmap's maps.
//
//	             64b     512b    1518b     Columns
//	100%       66.7 %   33.3 %    none
//	50%        33.3 %    none      ·       Spots, as far as there are any
//	Rows
type HeatGrid struct {
	// Subject is a suite or a product.
	Subject string `json:"subject"`
	Metric  Metric `json:"metric"`
	Unit    string `json:"unit"`
	// RowTitle and ColumnTitle say what was varied.
	RowTitle    string   `json:"rowTitle"`
	Rows        []string `json:"rows"`
	ColumnTitle string   `json:"columnTitle"`
	Columns     []string `json:"columns"`
	Spots       []Spot   `json:"spots"`
}

// Spot is a figure in its place, by numbers of row and column from 0.
type Spot struct {
	Row    int `json:"row"`
	Column int `json:"column"`
	// Value is what was measured. Of frame loss it is the most that may have been lost, and Least what surely was.
	Value Number `json:"value"`
	Least Number `json:"least,omitempty"`
	// LowerBound says that the device's limit lies there or above, and Unconfirmed that it wasn't held as long as
	// was asked for.
	LowerBound  bool `json:"lowerBound,omitempty"`
	Unconfirmed bool `json:"unconfirmed,omitempty"`
	// Spread is how far its runs are apart, in percent of their median, of throughputs. It is nil where one run
	// can't tell.
	Spread *units.Percent `json:"spreadPercent,omitempty"`
}

// Headline has the sign that goes before the spot's figure.
func (s *Spot) Headline() Headline {
	return Headline{Measured: true, Bound: s.LowerBound, Unconfirmed: s.Unconfirmed}
}

// At is the spot in a place, or nil where nothing was measured there.
func (g *HeatGrid) At(row, column int) *Spot {
	for i := range g.Spots {
		if s := &g.Spots[i]; s.Row == row && s.Column == column {
			return s
		}
	}
	return nil
}

// Sort puts the spots row by row.
func (g *HeatGrid) Sort() {
	slices.SortStableFunc(g.Spots, func(a, b Spot) int {
		return cmp.Or(cmp.Compare(a.Row, b.Row),
			cmp.Compare(a.Column, b.Column))
	})
}

// JSON writes it as one document.
func (h *Heatmap) JSON(w io.Writer) error {
	copied := *h
	copied.Version = HeatmapVersion
	return writeDocument(w, &copied)
}

// CurvePoint is what a load of a curve lost, of all directions together.
type CurvePoint struct {
	// Load is what was asked for in each direction.
	Load units.Rate `json:"load"`
	// LossRatio is the most that may have been lost, and LossRatioMin what surely was. Of several runs they are the
	// medians.
	LossRatio    Number `json:"lossRatio"`
	LossRatioMin Number `json:"lossRatioMin"`
}
