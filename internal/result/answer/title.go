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
	if r.Result.Reason == report.NotHeld || r.Result.Reason == report.DeviceLost {
		return capital(notHeld)
	}
	if text := figures.Summary(r); text != wording.NotMeasured {
		return text
	}
	return capital(notMeasured)
}
