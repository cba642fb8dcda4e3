package figures

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// HeatmapTest is what has one place in a heat map, which is a suite's cell, or the Reports of one test.
type HeatmapTest struct {
	Product, Loadtest string
	Figures           *report.Figures // nil for none, and then Missing says why
	Curve             []report.CurvePoint
	Missing           report.Missing
}

// HeatmapOfSuite has the maps of a suite. Curves of frame loss make maps of the loss over load and traffic, one map
// per product, and all other cells make a map of throughput over product and traffic. rows names the axis that
// makes the rows of throughputs, and is empty for the first.
func HeatmapOfSuite(s *report.Suite, rows string) *report.Heatmap {
	axis := slices.IndexFunc(s.Axes, func(a report.Axis) bool { return a.Name == rows })
	switch {
	case len(s.Axes) == 1: // a row of what it was varied to, rather than a column
		return Heatmap(s.Name, "suite", axisName(s, 0), heatedCells(s, func(_ *report.SuiteCell, c report.Cell) (string,
			string) {
			return s.Name, c.Product + c.Loadtest
		}))
	case axis > 0:
		return Heatmap(s.Name, rows, axesBut(s, axis),
			heatedCells(s, func(c *report.SuiteCell, row report.Cell) (string,
				string) {
				return alongAxis(s, axis, c, row)
			}))
	}
	return Heatmap(s.Name, axisName(s, 0), axisName(s, 1),
		heatedCells(s, func(_ *report.SuiteCell, c report.Cell) (string,
			string) {
			return c.Product, cmp.Or(c.Loadtest, "-")
		}))
}

// axesBut are the names of a suite's axes without one.
func axesBut(s *report.Suite, excluded int) string {
	var names []string
	for i, a := range s.Axes {
		if i != excluded {
			names = append(names, a.Name)
		}
	}
	return strings.Join(names, ", ")
}

// alongAxis is a cell's place where an axis makes the rows, by its value on that axis, and its other values. A cell
// without a value there, a calibration, keeps its own row.
func alongAxis(s *report.Suite, axis int, c *report.SuiteCell, row report.Cell) (place, rest string) {
	place = row.Product
	var parts []string
	for i, a := range s.Axes {
		position := slices.IndexFunc(c.Values, func(v report.AxisValue) bool { return v.Axis == a.Name })
		switch {
		case position < 0:
		case i == axis:
			place = c.Values[position].Value
		default:
			parts = append(parts, c.Values[position].Value)
		}
	}
	return place, strings.Join(parts, "-") + strings.TrimPrefix(row.Loadtest, c.Loadtest)
}

// axisName is the name of a suite's axis, and from the second on the names of all the rest.
func axisName(s *report.Suite, start int) (name string) {
	for i, a := range s.Axes {
		switch {
		case i < start, start == 0 && i > 0:
		case name == "":
			name = a.Name
		default:
			name += ", " + a.Name
		}
	}
	return cmp.Or(name, "test")
}

func heatedCells(s *report.Suite, place func(*report.SuiteCell, report.Cell) (product,
	loadtest string)) (tests []HeatmapTest) {
	for i := range s.Cells {
		c := &s.Cells[i]
		for _, row := range c.Rows() {
			t := HeatmapTest{Figures: row.Figures, Curve: c.Curve, Missing: report.Missing{Test: c.Name,
				Reason: string(report.NotMeasured), Message: row.Message}}
			t.Product, t.Loadtest = place(c, row)
			if len(row.Missing) > 0 {
				t.Missing.Reason, t.Missing.Message = row.Missing[0].Reason, row.Missing[0].Message
			}
			tests = append(tests, t)
		}
	}
	return tests
}

// Heatmap makes a map of loss for each product that has curves, and one of throughput for the rest. name is the
// subject of all maps, and rows and columns say what products and loadtests are.
func Heatmap(name, rows, columns string, tests []HeatmapTest) *report.Heatmap {
	heatmap, axes := new(report.Heatmap), heated{name, rows, columns}
	var curved, uncurved []HeatmapTest
	for _, t := range tests {
		switch {
		case t.Figures == nil:
			heatmap.Missing = append(heatmap.Missing, t.Missing)
		case len(t.Curve) > 0:
			curved = append(curved, t)
		default:
			uncurved = append(uncurved, t)
		}
	}
	for _, product := range distinctNames(curved, func(t HeatmapTest) string { return t.Product }) {
		heatmap.Maps = append(heatmap.Maps, lossMap(axes, product, curved))
	}
	for _, sessions := range []bool{false, true} { // whose rates are of different units
		matching := slices.DeleteFunc(slices.Clone(uncurved),
			func(t HeatmapTest) bool { return t.Figures.OfSessions() != sessions })
		if len(matching) > 0 {
			heatmap.Maps = append(heatmap.Maps, throughputMap(axes, matching, sessions))
		}
	}
	return heatmap
}

// heated is what the maps of one Heatmap have in common.
type heated struct{ name, rows, columns string }

// distinctNames are the different names of tests, in the order in which they first appear.
func distinctNames(tests []HeatmapTest, name func(HeatmapTest) string) (names []string) {
	for _, t := range tests {
		if n := name(t); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// lossMap is a product's loss over load and traffic, the highest load on top.
func lossMap(axes heated, product string, tests []HeatmapTest) report.HeatGrid {
	tests = slices.DeleteFunc(slices.Clone(tests), func(t HeatmapTest) bool { return t.Product != product })
	g := report.HeatGrid{Subject: product, Metric: LossRatio, Unit: report.UnitRatio, RowTitle: "load",
		ColumnTitle: axes.columns,
		Columns:     distinctNames(tests, func(t HeatmapTest) string { return t.Loadtest })}
	if axes.name != "" && axes.name != product {
		g.Subject = axes.name + ": " + product
	}
	var loads []units.Rate
	for _, t := range tests {
		for _, p := range t.Curve {
			if !slices.Contains(loads, p.Load) {
				loads = append(loads, p.Load)
			}
		}
	}
	slices.SortFunc(loads, higherFirst)
	for _, load := range loads {
		g.Rows = append(g.Rows, load.String())
	}
	for _, t := range tests {
		for _, p := range t.Curve {
			g.Spots = append(g.Spots, report.Spot{Row: slices.Index(loads, p.Load), Column: slices.Index(g.Columns,
				t.Loadtest), Value: p.LossRatio, Least: p.LossRatioMin})
		}
	}
	g.Sort()
	return g
}

func spreadOf(f *report.Figures) *units.Percent {
	if f.Spread == nil {
		return nil
	}
	return &f.Spread.Percent
}

// throughputMap is throughput over product and traffic.
func throughputMap(axes heated, tests []HeatmapTest, sessions bool) report.HeatGrid {
	g := report.HeatGrid{Subject: cmp.Or(axes.name, "tests"), Metric: PacketsPerSecond, Unit: "packets/s",
		RowTitle: axes.rows, ColumnTitle: axes.columns,
		Rows: distinctNames(tests, func(t HeatmapTest) string { return t.Product }), Columns: distinctNames(tests,
			func(t HeatmapTest) string { return t.Loadtest })}
	if sessions {
		g.Metric, g.Unit = GoodputBitsPerSecond, "bit/s"
	}
	for _, t := range tests {
		g.Spots = append(g.Spots, report.Spot{Row: slices.Index(g.Rows, t.Product), Column: slices.Index(g.Columns,
			t.Loadtest), Value: report.NumberOf(big.NewRat(t.Figures.Throughput(), 1)),
			LowerBound: t.Figures.LowerBound, Unconfirmed: t.Figures.Unconfirmed > 0, Spread: spreadOf(t.Figures)})
	}
	g.Sort()
	return g
}
