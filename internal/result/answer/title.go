package answer

import (
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
)

// Title is the first line, with product, load, figure, and what the figure is of.
func Title(r *report.Report) string {
	return figures.HeadlineOf(r).Title() + ": " + strings.TrimSuffix(capital(Figure(r)), ".") + "."
}

// Figure is the first line without the test's names. A load that was not held has no figure.
func Figure(r *report.Report) string {
	if r.Result.Reason == report.NotHeld || r.Result.Reason == report.DeviceLost {
		return notHeld
	}
	return figures.Summary(r)
}
