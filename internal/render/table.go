package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// viewOfTable is the table as the published ones are, what its cells have to say, and what is missing.
func viewOfTable(t *report.Table) view {
	judged := slices.ContainsFunc(t.Cells, func(c report.Cell) bool { return c.Verdict != "" })
	repeated := repeats(t)
	v := view{source: t, title: t.Title, answer: &t.Answer, table: new(table), notes: t.Notes}
	v.table.columns = []column{{head: "product", left: true}, {head: "loadtest", left: true}}
	priced := slices.ContainsFunc(t.Cells, func(c report.Cell) bool { return c.Price != "" })
	if priced {
		v.table.columns = append(v.table.columns, column{head: "price", left: true})
	}
	if judged {
		v.table.columns = append(v.table.columns, column{head: "verdict", left: true, verdict: true})
	}
	kind := trafficOf(headlines(tableFigures(t)))
	v.table.columns = append(v.table.columns, throughputColumns(kind)...)
	if repeated {
		v.table.columns = append(v.table.columns, column{head: "±"}, column{head: "runs"})
	}
	for _, c := range arranged(t) {
		row := []string{c.Product, c.Loadtest}
		if priced {
			row = append(row, c.Price)
		}
		if judged {
			row = append(row, cmp.Or(string(c.Verdict), c.Unjudged))
		}
		var h report.Headline
		if c.Figures != nil {
			h = c.Figures.Headline()
		}
		row = append(row, throughputCells(kind, h)...)
		if repeated {
			row = append(row, spreadText(c.Figures), runsText(c))
		}
		v.table.add(row...)
		title := titleOf(c.Product, c.Loadtest)
		if c.Message != "" {
			v.remarks = append(v.remarks, remark{Tone: toneOrNone(c.Verdict), Name: title, Text: c.Message,
				background: c.Verdict == report.Passed})
		}
		v.remarks = append(v.remarks, warningsOf(title, gaps(c.Missing, c.Repeated))...)
	}
	words := tableWords(t, repeated)
	v.legend = throughputLegend(kind)
	v.legend.summed, v.legend.combined = slices.Concat(v.legend.summed, words), slices.Concat(v.legend.combined, words)
	return v
}

// tableFigures are those of the cells, as they are shown. They are nil where nothing was measured.
func tableFigures(t *report.Table) (list []*report.Figures) {
	for _, c := range arranged(t) {
		list = append(list, c.Figures)
	}
	return list
}

// repeats says whether some figures are of several runs.
func repeats(t *report.Table) bool {
	return slices.ContainsFunc(t.Cells, func(c report.Cell) bool { return c.Figures != nil && c.Figures.Runs > 1 })
}

// tableWords say what else the figures are, as far as this table has such figures.
func tableWords(t *report.Table, repeated bool) (words []string) {
	if repeated {
		words = append(words, medianWords)
	}
	var uses []imageUse
	for _, c := range arranged(t) {
		uses = append(uses, imageUse{titleOf(c.Product, c.Loadtest), c.Images})
	}
	words = append(words, signWords(headlines(tableFigures(t)))...)
	return append(words, imageWords(uses)...)
}

// arranged are the cells as they are shown.
func arranged(t *report.Table) []report.Cell {
	var products, loadtests []string
	for _, c := range t.Cells {
		if !slices.Contains(products, c.Product) {
			products = append(products, c.Product)
		}
		if !slices.Contains(loadtests, c.Loadtest) {
			loadtests = append(loadtests, c.Loadtest)
		}
	}
	place := func(c report.Cell) int {
		return slices.Index(loadtests, c.Loadtest)*len(products) + slices.Index(products, c.Product)
	}
	cells := slices.Clone(t.Cells)
	slices.SortStableFunc(cells, func(a, b report.Cell) int { return place(a) - place(b) })
	return cells
}

// spreadText is what stands behind ±.
func spreadText(f *report.Figures) string {
	if f == nil || f.Spread == nil {
		return "-"
	}
	return f.Spread.Percent.FormatFixed() + "%"
}

// runsText is how many runs the figures are of, and of how many.
func runsText(c report.Cell) string {
	measured := 0
	if c.Figures != nil {
		measured = c.Figures.Runs
	}
	if total := measured + len(c.Missing); total != measured {
		return wording.ShareOf(measured, total)
	}
	return strconv.Itoa(measured)
}

// gaps says which runs gave no figure, and which were repeated.
func gaps(missing, repeated []report.Missing) []string {
	var lines []string
	for _, m := range missing {
		lines = append(lines, m.Test+" was not measured: "+missingWords(m))
	}
	for _, m := range repeated {
		lines = append(lines, m.Test+" was "+againWords(m)+": "+missingWords(m))
	}
	return lines
}

// againWords says in what way a run was repeated.
func againWords(m report.Missing) string {
	if m.Measured() {
		return "repeated"
	}
	return "repeated, as it gave no figure"
}

// missingWords of a run that gave no figure that counts.
func missingWords(m report.Missing) string {
	if m.Message == "" {
		return m.Reason
	}
	return m.Reason + ": " + m.Message
}

// imageUse is what was measured somewhere.
type imageUse struct {
	place  string
	images []plan.Container
}

// mostUses is how many places are named that measured the same images.
const mostUses = 12

// imageWords say which images were measured, each once, and where, if not everywhere.
func imageWords(uses []imageUse) []string {
	placesOf, order := map[string][]string{}, []string(nil)
	for _, u := range uses {
		if len(u.images) == 0 {
			continue
		}
		var ran []string
		for _, c := range u.images {
			ran = append(ran, c.Name+" ran "+c.Short())
		}
		text := strings.Join(ran, ", ")
		if placesOf[text] == nil {
			order = append(order, text)
		}
		if !slices.Contains(placesOf[text], u.place) {
			placesOf[text] = append(placesOf[text], u.place)
		}
	}
	var names []string
	for _, text := range order {
		places := placesOf[text]
		switch hidden := len(places) - mostUses; {
		case len(order) == 1 && len(places) == len(uses):
			names = append(names, "Device under test: "+text+".")
			continue
		case hidden > 0:
			places = append(places[:mostUses:mostUses], fmt.Sprintf("and %d more", hidden))
		}
		names = append(names, "Device under test of "+strings.Join(places, ", ")+": "+text+".")
	}
	return names
}
