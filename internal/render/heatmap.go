package render

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// The words that say what a map's figures are.
const (
	lossMapWords       = "Loss is the share of frames that didn't come back, of all directions together, at most; none is none at all. Loads are each direction's."
	throughputMapWords = "Throughput is what was received, summed over all directions of one moment."
)

// heatOfSuite are those maps of a suite in which several rows and columns stand beside each other. They are nil
// where a table shows as much.
func heatOfSuite(s *report.Suite) *report.Heatmap {
	h := figures.HeatmapOfSuite(s, "")
	h.Maps = slices.DeleteFunc(h.Maps, func(g report.HeatGrid) bool {
		return len(g.Rows) < 2 || len(g.Columns) < 2 ||
			!drawable(&g)
	})
	if len(h.Maps) == 0 {
		return nil
	}
	return h
}

// viewOfHeatmap has a section for each map.
func viewOfHeatmap(h *report.Heatmap) view {
	v := view{source: h, title: "linerate: " + wording.Counted(len(h.Maps), "heat map")}
	var words []string
	var signs []report.Headline
	for i := range h.Maps {
		g := &h.Maps[i]
		caption := throughputMapWords
		if g.Metric == figures.LossRatio {
			caption = lossMapWords
		}
		if !slices.Contains(words, caption) {
			words = append(words, caption)
		}
		for _, s := range g.Spots {
			signs = append(signs, s.Headline())
		}
		v.sections = append(v.sections, section{title: g.Subject, summary: heatSummary(g), unfolded: true,
			tables: []*table{heatTable(g)}})
	}
	if slices.ContainsFunc(h.Maps, func(g report.HeatGrid) bool {
		return slices.ContainsFunc(g.Spots, func(s report.Spot) bool { return s.Spread != nil })
	}) {
		words = append(words, medianWords)
	}
	v.legend = always(append(words, signWords(signs)...)...)
	for _, m := range h.Missing {
		v.remarks = append(v.remarks, warning(m.Test, "has no place here: "+missingWords(m)))
	}
	return v
}

func heatSummary(g *report.HeatGrid) string {
	return fmt.Sprintf("%s over %s and %s", heatMetric(g), g.RowTitle, g.ColumnTitle)
}

func heatMetric(g *report.HeatGrid) string {
	switch g.Metric {
	case figures.LossRatio:
		return "frame loss"
	case figures.GoodputBitsPerSecond:
		return "goodput"
	}
	return "throughput"
}

// heatTable is the map as a table, with a row for each row of the map, and its name in the first column.
func heatTable(g *report.HeatGrid) *table {
	t := newTable(1, append([]string{g.RowTitle + " ╲ " + g.ColumnTitle}, g.Columns...)...)
	for r, name := range g.Rows {
		row := []string{name}
		for c := range g.Columns {
			text := spotText(g, g.At(r, c))
			if s := g.At(r, c); s != nil && s.Spread != nil {
				text += " ±" + wording.Percent(*s.Spread)
			}
			row = append(row, text)
		}
		t.add(row...)
	}
	return t
}

// spotText is a spot's figure with its sign, or "-" where nothing was measured.
func spotText(g *report.HeatGrid, s *report.Spot) string {
	if s == nil || s.Value == "" {
		return "-"
	}
	v := s.Value.Float()
	switch g.Metric {
	case figures.LossRatio:
		if v == 0 {
			return "none"
		}
		return wording.Loss(units.RatioOfShare(bounded(v, 0, 1)))
	case figures.GoodputBitsPerSecond:
		return s.Headline().Sign() + wording.BitRate(int64(bounded(v, 0, math.MaxInt64/2)))
	}
	return s.Headline().Sign() + wording.PacketRate(int64(bounded(v, 0, math.MaxInt64/2)))
}

func bounded(v, low, high float64) float64 { return min(max(v, low), high) }

// heatPage are a Heatmap's maps as the page's template writes them.
type heatPage struct{ Maps []heatView }

type heatView struct {
	Title, Summary string
	Drawings       []drawing
	Table          grid
	Scale          []heatKey
}

// heatKey is a colour and what it stands for.
type heatKey struct{ Class, Text string }

func newHeatPage(v *view, h *report.Heatmap) *heatPage {
	p := new(heatPage)
	for i := range h.Maps {
		g := &h.Maps[i]
		shown := heatView{Title: v.sections[i].title, Summary: v.sections[i].summary,
			Table: v.sections[i].tables[0].grid(combined, nil), Scale: heatScale(g)}
		for _, narrow := range []bool{false, true} {
			if !drawable(g) {
				break
			}
			shown.Drawings = append(shown.Drawings, heatDrawing(g, "h"+strconv.Itoa(i+1), narrow))
		}
		p.Maps = append(p.Maps, shown)
	}
	return p
}

// lossSteps are the losses from which on a spot is darker. Each decade has a colour, as devices differ by decades.
// The first is for no loss at all.
func lossSteps() []float64 { return []float64{0, 0.0001, 0.001, 0.01, 0.1, 0.5} }

// heatLevel is how dark a spot is. Of loss it is from 0 for none to 6 for more than a half. Of throughput it is 1
// to 6 for the sixths of the most that any spot has.
func heatLevel(g *report.HeatGrid, value, highest float64) int {
	if g.Metric != figures.LossRatio {
		if highest <= 0 {
			return 1
		}
		return int(bounded(math.Ceil(6*value/highest), 1, 6))
	}
	level := 0
	for _, step := range lossSteps() {
		if value > step {
			level++
		}
	}
	return level
}

func heatClass(g *report.HeatGrid, level int) string {
	if g.Metric == figures.LossRatio {
		return "heat lossheat" + strconv.Itoa(level)
	}
	return "heat rateheat" + strconv.Itoa(level)
}

// heatScale says what the colours stand for.
func heatScale(g *report.HeatGrid) (keys []heatKey) {
	if g.Metric != figures.LossRatio {
		return []heatKey{{heatClass(g, 1), "least"}, {heatClass(g, 6), "most: " +
			spotText(g, &report.Spot{Value: report.Number(strconv.FormatFloat(mostOf(g), 'f', -1, 64))})}}
	}
	steps := lossSteps()
	for level := range len(steps) + 1 {
		text := "none"
		switch {
		case level == len(steps):
			text = "above " + lossStepText(steps[level-1])
		case level > 0:
			text = "to " + lossStepText(steps[level])
		}
		keys = append(keys, heatKey{heatClass(g, level), text})
	}
	return keys
}

func lossStepText(share float64) string { return strconv.FormatFloat(100*share, 'f', -1, 64) + " %" }

// mostOf is the largest value of all spots.
func mostOf(g *report.HeatGrid) (highest float64) {
	for _, s := range g.Spots {
		highest = max(highest, s.Value.Float())
	}
	return highest
}

// drawable says that squares are large enough to be seen.
func drawable(g *report.HeatGrid) bool { return len(g.Columns) <= 64 && len(g.Rows) <= 256 }

// heatDrawing is a map of squares. Each square shows its figure, where there is room, and a pointer over the square
// shows the figure in any case.
func heatDrawing(g *report.HeatGrid, id string, narrow bool) drawing {
	d := drawing{Class: "wide", Width: 1040, Title: g.Subject + ": " + heatSummary(g),
		Desc: fmt.Sprintf("A square for each %s and %s; the table below has the figures.", g.RowTitle, g.ColumnTitle)}
	left, letter := 120.0, 7.4
	if narrow {
		d.Class, d.Width, left = "narrow", 430, 76
	}
	d.ID = id + "-" + d.Class
	const top, high = 44.0, 30.0
	columns, rows := max(len(g.Columns), 1), max(len(g.Rows), 1)
	wide := min((d.Width-left-8)/float64(columns), 150)
	d.Height = top + high*float64(rows) + 10
	d.label("head", 2, 16, g.RowTitle+" ↓   "+g.ColumnTitle+" →")
	for c, name := range g.Columns {
		d.label("mid", left+(float64(c)+0.5)*wide, top-8, cut(name, int(wide/letter)))
	}
	highest := mostOf(g)
	for r, name := range g.Rows {
		y := top + float64(r)*high
		d.label("end", left-8, y+high/2+5, cut(name, int((left-12)/letter)))
		for c, column := range g.Columns {
			x := left + float64(c)*wide
			s := g.At(r, c)
			text := spotText(g, s)
			class := "heat unmeasured"
			if s != nil && s.Value != "" {
				class = heatClass(g, heatLevel(g, s.Value.Float(), highest))
			}
			d.band(class, x+1, y+1, wide-2, high-2, name+", "+column+": "+text)
			if float64(len([]rune(text)))*letter <= wide-6 {
				d.label("mid spot", x+wide/2, y+high/2+5, text)
			}
		}
	}
	return d
}

// cut shortens a name to so many letters.
func cut(name string, letters int) string {
	if runes := []rune(name); len(runes) > max(letters, 2) {
		return string(runes[:max(letters, 2)-1]) + "…"
	}
	return name
}

func nameAt(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return ""
	}
	return names[i]
}
