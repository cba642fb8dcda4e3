package render

import (
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// goalsTable has the answer of each goal, where the procedure has several. Below it are those of each direction, where
// directions were measured one after another.
func goalsTable(r *report.Report) *table {
	if len(r.Answer.Goals) < 2 {
		return nil
	}
	t := newTable(1, "goal", "received", "line rate", "answer")
	for _, g := range r.Answer.Goals {
		goalReport, _ := r.ForGoal(g.Name)
		row := []string{g.Name, "-", "-", answer.Standing(goalReport)}
		h := figures.HeadlineOf(goalReport)
		if h.Measured {
			row[1], row[2] = h.Signed(wording.PacketRate(h.PacketsPerSecond)), h.Signed(wording.Percent(h.Percent))
		}
		t.add(row...)
		if !g.Answer.FoundApart() {
			continue
		}
		for i, d := range g.Answer.Directions {
			headline := figures.HeadlineIn(h, goalReport, d)
			t.add(g.Name+", "+wording.Direction(d.From, d.To),
				headline.Signed(wording.PacketRate(d.Received.PacketsPerSecond)),
				headline.Signed(wording.Percent(d.LineRatePercent)), track{index: i}.standing(goalReport))
		}
	}
	return t
}
