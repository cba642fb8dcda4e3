package render

import (
	"cmp"
	"html/template"
	"io"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/wording"
)

// sidePage is a page of figures side by side: a table, a comparison, or a history.
type sidePage struct {
	Title, Description string
	Producer           string
	Style              template.CSS
	Footnotes          []string
	Notes              []string
	Traits             sideTraits
	Says               []sideLine
	Groups             []cellGroup
	Comparison         *comparePage
	Trend              *trendPage
}

// sideTraits says which columns there are.
type sideTraits struct{ Repeated, Judged bool }

// sideLine is what is said of a row below the table.
type sideLine struct{ Class, Name, Text string }

// cellGroup are a loadtest's cells.
type cellGroup struct {
	Loadtest string
	Cells    []cellView
}

// cellView is a cell as its row shows it.
type cellView struct {
	report.Cell
	Packets, Bits, Percent figure
	Spread, Runs           string
	Bar                    string // the bar's width, a CSS length
	Whisker                *whisker
	Class, Sign            string
}

// whisker is the interval of the median on the bar's scale: CSS lengths.
type whisker struct{ Left, Width string }

// tableHTML writes the table as one page that needs nothing else, in the reader's light or dark scheme. The bars are shares of the line rate.
func tableHTML(t *report.Table, w io.Writer) error {
	traits := traitsOf(t)
	p := &sidePage{Title: cmp.Or(t.Title, "linerate: "+wording.Counted(len(t.Cells), "load test")), Notes: t.Notes,
		Footnotes: tableFootnotes(t, traits, togetherWords), Traits: sideTraits{traits.repeated, traits.judged}}
	p.Description = p.Title
	for _, c := range arranged(t) {
		if n := len(p.Groups); n == 0 || p.Groups[n-1].Loadtest != c.Loadtest {
			p.Groups = append(p.Groups, cellGroup{Loadtest: c.Loadtest})
		}
		g := &p.Groups[len(p.Groups)-1]
		v := newCellView(c)
		g.Cells = append(g.Cells, v)
		if c.Message != "" {
			p.Says = append(p.Says, sideLine{v.Class, cellTitle(c), c.Message})
		}
		for _, words := range gaps(c.Missing, c.Repeated) {
			p.Says = append(p.Says, sideLine{"warning", cellTitle(c), words})
		}
	}
	return p.write(w)
}

func (p *sidePage) write(w io.Writer) (err error) {
	if p.Style, err = pageStyle("page/page.css", "page/side.css"); err != nil {
		return err
	}
	return writePage(w, "side.tmpl", p)
}

func newCellView(c report.Cell) cellView {
	v := cellView{Cell: c, Class: "none", Sign: "no criteria", Spread: spreadText(c.Figures), Runs: runsText(c)}
	if c.Verdict != "" {
		v.Class, v.Sign = outcomeClass(c.Verdict), string(c.Verdict)
	}
	f := c.Figures
	if f == nil {
		return v
	}
	h := f.Headline()
	v.Packets = split(h, wording.PacketRate(f.PacketsPerSecond), exact(f.PacketsPerSecond, "packets per second"))
	v.Bits = split(h, wording.BitRate(f.Layer1BitsPerSecond), exact(f.Layer1BitsPerSecond, "bits per second"))
	v.Percent, v.Bar = percentFigure(h, f.LineRatePercent), wording.Percent(f.LineRatePercent)
	v.Whisker = whiskerOf(f)
	return v
}

// whiskerOf puts the interval where the bar ends; nil: there is none that could be drawn.
func whiskerOf(f *report.Figures) *whisker {
	if f.Spread == nil || f.PacketsPerSecond <= 0 || f.Spread.HighPacketsPerSecond <= f.Spread.LowPacketsPerSecond {
		return nil
	}
	scale := func(packetsPerSecond int64) units.Percent {
		share := float64(f.LineRatePercent) * float64(packetsPerSecond) / float64(f.PacketsPerSecond)
		return units.Percent(min(max(share, 0), float64(units.Hundred)))
	}
	low, high := scale(f.Spread.LowPacketsPerSecond), scale(f.Spread.HighPacketsPerSecond)
	return &whisker{Left: wording.Percent(low), Width: wording.Percent(max(high-low, 0))}
}
