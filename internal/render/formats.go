// Package render writes what linerate measured for people and for programs: each kind of document in each format that suits it. It decides
// nothing and changes nothing; what a figure is worth stands in the document.
package render

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/report"
)

// Kind is a kind of document.
type Kind string

// The kinds.
const (
	Tests      Kind = "tests" // Reports of tests, and suites
	Table      Kind = "table"
	Comparison Kind = "comparison"
	Trend      Kind = "trend"
	Gate       Kind = "gate"
)

// Document is what can be written in the formats of its kind.
type Document struct {
	kind   Kind
	source any // of the kind's type in package report
}

// OfTests are the Reports of tests and suites: one document where the format has such a thing, else one after the other, tests first.
func OfTests(d report.Documents) Document { return Document{Tests, d} }

// OfReports are the Reports of tests.
func OfReports(reports ...*report.Report) Document {
	return OfTests(report.Documents{Reports: reports})
}

// OfTable is a table.
func OfTable(t *report.Table) Document { return Document{Table, t} }

// OfComparison is a comparison.
func OfComparison(c *report.Comparison) Document { return Document{Comparison, c} }

// OfTrend is a trend.
func OfTrend(t *report.Trend) Document { return Document{Trend, t} }

// OfGate is a gate's judgement.
func OfGate(g *report.Gate) Document { return Document{Gate, g} }

// format is one way to write documents.
type format struct {
	name  string
	kinds []Kind // which it can write
	write func(io.Writer, Document, TextOptions) error
}

func formats() []format {
	return []format{
		{"text", []Kind{Tests, Table, Comparison, Trend, Gate}, writeText},
		{"json", []Kind{Tests, Table, Comparison, Trend, Gate}, writeJSON},
		{"markdown", []Kind{Tests, Table, Comparison, Gate}, writeMarkdown},
		{"junit", []Kind{Tests, Gate}, writeJUnit},
		{"html", []Kind{Tests, Table, Comparison, Trend, Gate}, writeHTML},
		{"viz", []Kind{Tests}, writeViz},
	}
}

// Formats are the names of the formats that a kind of document can be written in, in the order to show them.
func Formats(of Kind) []string {
	var names []string
	for _, f := range formats() {
		if slices.Contains(f.kinds, of) {
			names = append(names, f.name)
		}
	}
	return names
}

// Fits says whether so many tests and suites can be written in the named format: who asks early measures nothing in vain.
func Fits(name string, tests, suites int) error {
	switch {
	case !slices.Contains(Formats(Tests), name):
		return unknown(name, Tests)
	case name == "viz" && suites > 0:
		return errors.New("format viz holds one test, and a suite has several: write text, json, markdown, junit or html, or a test of the suite's by its name")
	case name == "viz" && tests > 1:
		return fmt.Errorf("format viz holds one test, and there are %d: write them one at a time", tests)
	case name == "html" && (suites > 1 || suites > 0 && tests > 0):
		return errors.New("format html holds one suite, or tests alone: write them one at a time")
	}
	return nil
}

// Write writes a document in the named format, one of Formats of its kind. Only text heeds the options.
func Write(w io.Writer, name string, d Document, o TextOptions) error {
	all := formats()
	i := slices.IndexFunc(all, func(f format) bool { return f.name == name && slices.Contains(f.kinds, d.kind) })
	if i < 0 {
		return unknown(name, d.kind)
	}
	if tests, ok := d.source.(report.Documents); ok {
		if err := Fits(name, len(tests.Reports), len(tests.Suites)); err != nil {
			return err
		}
	}
	return all[i].write(w, d, o)
}

func unknown(name string, of Kind) error {
	return fmt.Errorf("there is no such format as %s; use one of %s", cmp.Or(name, `""`), strings.Join(Formats(of), ", "))
}

// Text writes Reports as text for files and pipes.
func Text(w io.Writer, reports ...*report.Report) error {
	return Write(w, "text", OfReports(reports...), TextOptions{})
}

// HTML writes Reports as one page that needs nothing else: no network, no other file.
func HTML(w io.Writer, reports ...*report.Report) error {
	return Write(w, "html", OfReports(reports...), TextOptions{})
}

// Viz writes the Report of a ramp for trex-loadtest-viz.
func Viz(w io.Writer, r *report.Report) error { return Write(w, "viz", OfReports(r), TextOptions{}) }

func writeText(w io.Writer, d Document, o TextOptions) error {
	switch s := d.source.(type) {
	case *report.Table:
		return tableText(s, w, o)
	case *report.Comparison:
		return comparisonText(s, w, o)
	case *report.Trend:
		return trendText(s, w, o)
	case *report.Gate:
		return gateText(s, w, o)
	case report.Documents:
		return eachInTurn(w, s, func(reports []*report.Report) error { return testsText(w, o, reports) }, func(t *report.Table) error { return tableText(t, w, o) })
	}
	return nil
}

func writeMarkdown(w io.Writer, d Document, _ TextOptions) error {
	switch s := d.source.(type) {
	case *report.Table:
		return tableMarkdown(s, w)
	case *report.Comparison:
		return comparisonMarkdown(s, w)
	case *report.Gate:
		return gateMarkdown(s, w)
	case report.Documents:
		return eachInTurn(w, s, func(reports []*report.Report) error { return testsMarkdown(w, reports) }, func(t *report.Table) error { return tableMarkdown(t, w) })
	}
	return nil
}

func writeHTML(w io.Writer, d Document, _ TextOptions) error {
	switch s := d.source.(type) {
	case *report.Table:
		return tableHTML(s, w)
	case *report.Comparison:
		return comparisonHTML(s, w)
	case *report.Trend:
		return trendHTML(s, w)
	case *report.Gate:
		return gateHTML(s, w)
	case report.Documents:
		return eachInTurn(w, s, func(reports []*report.Report) error { return testsHTML(w, reports) }, func(t *report.Table) error { return tableHTML(t, w) })
	}
	return nil
}

func writeJSON(w io.Writer, d Document, _ TextOptions) error {
	switch s := d.source.(type) {
	case interface{ JSON(io.Writer) error }:
		return s.JSON(w)
	case report.Documents:
		err := report.JSON(w, s.Reports...)
		for _, suite := range s.Suites {
			err = errors.Join(err, suite.JSON(w))
		}
		return err
	}
	return nil
}

func writeJUnit(w io.Writer, d Document, _ TextOptions) error {
	switch s := d.source.(type) {
	case *report.Gate:
		return gateJUnit(s, w)
	case report.Documents:
		return testsJUnit(s, w)
	}
	return nil
}

func writeViz(w io.Writer, d Document, _ TextOptions) error {
	if s, ok := d.source.(report.Documents); ok && len(s.Reports) == 1 {
		return viz(w, s.Reports[0])
	}
	return errors.New("format viz holds one test, and there is none")
}

// eachInTurn writes the tests together and then each suite's table, with an empty line between.
func eachInTurn(w io.Writer, d report.Documents, tests func([]*report.Report) error, suite func(*report.Table) error) error {
	if len(d.Reports) > 0 {
		if err := tests(d.Reports); err != nil {
			return err
		}
	}
	for i, s := range d.Suites {
		if len(d.Reports)+i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := suite(s.Table()); err != nil {
			return err
		}
	}
	return nil
}
