package main

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
)

// sweepMayLose is the loss limit of modes-sweep, the suite whose curves are shown.
const sweepMayLose = units.One / 200

// clean is the highest load of a cell's curve of which at most sweepMayLose was lost, and what its runs say by
// themselves: the least and the most, where they differ.
func clean(c *report.SuiteCell) string {
	if len(c.Curve) == 0 {
		return "no load could be judged"
	}
	var runs []units.Rate
	for _, r := range evidence(c) {
		runs = append(runs, highestClean(figures.CurveOf(r)))
	}
	text := loadOrNone(highestClean(c.Curve))
	slices.SortFunc(runs, func(a, b units.Rate) int { return int(a.Micros - b.Micros) })
	if n := len(runs); n > 1 && runs[0] != runs[n-1] {
		text += fmt.Sprintf(" (%s to %s)", loadOrNone(runs[0]), loadOrNone(runs[n-1]))
	}
	return text
}

// highestClean is the highest load of a curve of which at most sweepMayLose was lost; zero: of each more was lost.
func highestClean(curve []report.CurvePoint) units.Rate {
	for _, p := range curve { // the highest is first
		if lost := p.LossRatio.Rat(); lost != nil && lost.Cmp(big.NewRat(int64(sweepMayLose), int64(units.One))) <= 0 {
			return p.Load
		}
	}
	return units.Rate{}
}

func loadOrNone(r units.Rate) string {
	if r.IsZero() {
		return "none of them"
	}
	return r.String()
}
