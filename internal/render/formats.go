package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/internal/result/surprise"
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
	RFC2544    Kind = "rfc2544" // Reports in the forms of RFC 2544, section 26
	Heatmap    Kind = "heatmap" // figures over two things that were varied
)

// Document is what can be written in the formats of its kind.
type Document struct {
	kind   Kind
	source any    // of the kind's type in package report
	views  []view // what people see of it, one after the other
}

// OfTests are the Reports of tests, as one, and then each suite.
func OfTests(d report.Documents) Document {
	view := Document{kind: Tests}
	if len(d.Reports) > 0 {
		view.views = append(view.views, viewOfReports(d.Reports))
	}
	suites := make([]*report.Suite, len(d.Suites))
	for i, s := range d.Suites {
		t, answered := s.Table(), *s
		t.Answer = answer.OfTable(t)
		answered.Answer, suites[i] = t.Answer, &answered
		v := viewOfTable(t)
		v.heat = heatOfSuite(s)
		for _, found := range surprise.Find(s) {
			v.remarks = append(v.remarks, warning("surprise", found.Words))
		}
		view.views = append(view.views, v)
	}
	view.source = report.Documents{Reports: d.Reports, Suites: suites}
	return view
}

// OfReports are the Reports of tests.
func OfReports(reports ...*report.Report) Document {
	return OfTests(report.Documents{Reports: reports})
}

// OfTable is a table.
func OfTable(t *report.Table) Document {
	answered := *t
	answered.Answer = answer.OfTable(t)
	return Document{Table, &answered, []view{viewOfTable(&answered)}}
}

// OfComparison is a comparison.
func OfComparison(c *report.Comparison) Document {
	answered := *c
	answered.Answer = answer.OfComparison(c)
	return Document{Comparison, &answered, []view{viewOfComparison(&answered)}}
}

// OfTrend is a trend.
func OfTrend(t *report.Trend) Document {
	answered := *t
	answered.Answer = answer.OfTrend(t)
	return Document{Trend, &answered, []view{viewOfTrend(&answered)}}
}

// OfGate is a gate's judgement.
func OfGate(g *report.Gate) Document {
	answered := *g
	answered.Answer = answer.OfGate(g)
	return Document{Gate, &answered, []view{viewOfGate(&answered)}}
}

// OfRFC2544 are Reports in the forms of RFC 2544, section 26.
func OfRFC2544(b *report.RFC2544) Document { return Document{RFC2544, b, []view{viewOfRFC2544(b)}} }

// OfHeatmap are maps of figures.
func OfHeatmap(h *report.Heatmap) Document { return Document{Heatmap, h, []view{viewOfHeatmap(h)}} }

// format is one way to write documents, in a file of its own. It has what it writes of a view, and what of a
// document itself.
type format struct {
	name      string
	forPeople bool                          // it is read as it is printed
	kinds     []Kind                        // which it can write, or all where none is listed
	fits      func(tests, suites int) error // nil where it holds any number of them
	write     func(io.Writer, Document, TextOptions) error
}

// formats are all formats, in the order in which they are shown. Flags, errors and completions have their names
// from here.
func formats() []format {
	return []format{textFormat(), jsonFormat(), markdownFormat(), csvFormat(), junitFormat(), htmlFormat(), vizFormat()}
}

// formatOf is a kind's format of the name.
func formatOf(name string, kind Kind) (format, error) {
	supported := formats()
	if i := slices.IndexFunc(supported, func(f format) bool { return f.name == name && f.writes(kind) }); i >= 0 {
		return supported[i], nil
	}
	return format{}, fmt.Errorf("there is no such format as %s; use one of %s", cmp.Or(name, `""`),
		strings.Join(Formats(kind), ", "))
}

func (f format) writes(write Kind) bool { return len(f.kinds) == 0 || slices.Contains(f.kinds, write) }

// Formats are the names of the formats that a kind of document can be written in, in the order to show them.
func Formats(kind Kind) []string {
	var names []string
	for _, f := range formats() {
		if f.writes(kind) {
			names = append(names, f.name)
		}
	}
	return names
}

// ForPeople says whether a format is read as it is printed.
func ForPeople(name string) bool {
	return slices.ContainsFunc(formats(), func(f format) bool { return f.name == name && f.forPeople })
}

// Fits says whether so many tests and suites can be written in the named format, so that a caller who asks early
// measures nothing in vain.
func Fits(name string, tests, suites int) error {
	f, err := formatOf(name, Tests)
	if err != nil || f.fits == nil {
		return err
	}
	return f.fits(tests, suites)
}

// Write writes a document in the named format, one of Formats of its kind. Only text heeds the options.
func Write(w io.Writer, name string, d Document, o TextOptions) error {
	f, err := formatOf(name, d.kind)
	if err != nil {
		return err
	}
	if tests, ok := d.source.(report.Documents); ok && f.fits != nil {
		if err := f.fits(len(tests.Reports), len(tests.Suites)); err != nil {
			return err
		}
	}
	return f.write(w, d, o)
}

// Text writes Reports as text for files and pipes.
func Text(w io.Writer, reports ...*report.Report) error {
	return Write(w, "text", OfReports(reports...), TextOptions{})
}

// HTML writes Reports as one page that needs nothing else, no network and no other file.
func HTML(w io.Writer, reports ...*report.Report) error {
	return Write(w, "html", OfReports(reports...), TextOptions{})
}

// Viz writes the Report of a ramp for trex-loadtest-viz.
func Viz(w io.Writer, r *report.Report) error { return Write(w, "viz", OfReports(r), TextOptions{}) }
