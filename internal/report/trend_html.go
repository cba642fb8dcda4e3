package report

import (
	"cmp"
	"io"
	"slices"
	"strconv"
)

// trendPage is a trend as the page's template writes it.
type trendPage struct{ Series []seriesView }

type seriesView struct {
	Title, Now string
	Drawings   []drawing
	Table      grid
	Changes    []sideLine
}

// HTML writes the trend as one page that needs nothing else, in the reader's light or dark scheme: a graph of each series, and its figures.
func (t *Trend) HTML(w io.Writer) error {
	p := &sidePage{Title: cmp.Or(t.Title, "linerate: "+counted(len(t.Series), "series")), Footnotes: []string{trendWords}, Notes: t.Notes, Trend: &trendPage{}}
	if len(t.Series) > 1 && t.Title == "" {
		p.Title = "linerate: " + strconv.Itoa(len(t.Series)) + " series"
	}
	p.Description = p.Title
	for i := range t.Series {
		p.Trend.Series = append(p.Trend.Series, newSeriesView(&t.Series[i], "s"+strconv.Itoa(i+1)))
	}
	return p.write(w)
}

func newSeriesView(s *Series, id string) seriesView {
	v := seriesView{Title: s.title(), Now: s.now(), Table: s.grid()}
	slices.Reverse(v.Table.rows) // the newest first: what people look for
	for _, narrow := range []bool{false, true} {
		if d, ok := newTrendDrawing(s, id, narrow); ok {
			v.Drawings = append(v.Drawings, d)
		}
	}
	for i := range s.Points {
		for _, words := range s.Points[i].changes() {
			v.Changes = append(v.Changes, sideLine{"warning", s.Points[i].when(), words})
		}
	}
	return v
}
