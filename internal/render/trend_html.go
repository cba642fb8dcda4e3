package render

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/wording"
)

// trendPage is a trend as the page's template writes it.
type trendPage struct{ Series []seriesView }

type seriesView struct {
	Title, Now string
	Drawings   []drawing
	Table      grid
	Changes    []sideLine
}

// trendHTML writes the trend as one page that needs nothing else, in the reader's light or dark scheme: a graph of each series, and its figures.
func trendHTML(t *report.Trend, w io.Writer) error {
	p := &sidePage{Title: cmp.Or(t.Title, "linerate: "+wording.Counted(len(t.Series), "series")), Footnotes: []string{trendWords}, Notes: t.Notes, Trend: &trendPage{}}
	if len(t.Series) > 1 && t.Title == "" {
		p.Title = "linerate: " + strconv.Itoa(len(t.Series)) + " series"
	}
	p.Description = p.Title
	for i := range t.Series {
		p.Trend.Series = append(p.Trend.Series, newSeriesView(&t.Series[i], "s"+strconv.Itoa(i+1)))
	}
	return p.write(w)
}

func newSeriesView(s *report.Series, id string) seriesView {
	v := seriesView{Title: seriesTitle(s), Now: seriesNow(s), Table: seriesGrid(s)}
	slices.Reverse(v.Table.rows) // the newest first: what people look for
	for _, narrow := range []bool{false, true} {
		if d, ok := newTrendDrawing(s, id, narrow); ok {
			v.Drawings = append(v.Drawings, d)
		}
	}
	for i := range s.Points {
		for _, words := range pointChanges(&s.Points[i]) {
			v.Changes = append(v.Changes, sideLine{"warning", pointWhen(&s.Points[i]), words})
		}
	}
	return v
}
