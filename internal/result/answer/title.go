package answer

import (
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Title is the first line, with product, load, figure, and what the figure is of.
func Title(r *report.Report) string {
	return figures.HeadlineOf(r).Title() + ": " + Figure(r) + "."
}

// Figure is the first line without the test's names. A load that was not held has no figure.
func Figure(r *report.Report) string {
	switch reason := r.Answer.Reason; {
	case reason == report.NotHeld, reason == report.DeviceLost:
		return "No result"
	case reason == report.NoCleanLoad && len(r.Answer.Goals) == 0 && r.Answer.Cause.Detail != report.NothingJudged:
		return "No clean load"
	}
	if text := figures.Summary(r); text != wording.NotMeasured {
		return text
	}
	return capital(notMeasured)
}
