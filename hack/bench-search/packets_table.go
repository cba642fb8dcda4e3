package main

import (
	"fmt"
	"strings"
)

// truths are the rates above which a trial of 1 s is bad, of NDR and PDR: what a limit saved up before the
// trial passes, too.
func (r packetRow) truths() []float64 {
	var values []float64
	for _, g := range sets[0].goals {
		passes := float64(r.limit) * (1 + saves.Seconds()/g.FinalTrial.Seconds())
		values = append(values, passes/(1-g.LossRatio))
	}
	return values
}

// deviation is how far a goal's lower bound lies from the truth, in percent.
func (r packetRow) deviation(goal int) float64 {
	return 100 * (r.found[goal].lower/r.truths()[goal] - 1)
}

// encloses says whether the truth is between a goal's bounds, to within two frames of a trial.
func (r packetRow) encloses(goal int) bool {
	truth, b := r.truths()[goal], r.found[goal]
	return b.lower <= truth+2 && (b.upper == 0 || b.upper >= truth-2)
}

func (r packetRow) cells() []string {
	cells := []string{fmt.Sprint(r.limit), r.searcher, fmt.Sprintf("%.1f", r.took.Seconds()), fmt.Sprint(r.trials),
		fmt.Sprint(r.repeated)}
	for i, b := range r.found {
		bounds := fmt.Sprintf("%.0f to %.0f", b.lower, b.upper)
		if b.lower == 0 || b.upper == 0 {
			bounds += " (a bound is missing)"
		} else if !r.encloses(i) {
			bounds += " (wrong)"
		}
		cells = append(cells, bounds, fmt.Sprintf("%+.2f", r.deviation(i)))
	}
	return append(cells, r.calm.Row())
}

// packetTables are a row for each search, and one for each who searched.
func packetTables(rows []packetRow) string {
	var b strings.Builder
	b.WriteString("| who | searches | mean, s | ratio | trials, mean | repeated, mean | NDR bias, % | PDR bias, % | truth outside of the bounds |\n" + "|---|---|---|---|---|---|---|---|---|\n")
	first := 0.0
	for _, searcher := range searchersOf(rows) {
		var took, trials, repeated []float64
		var deviations [2][]float64
		outside := 0
		for _, r := range rows {
			if r.searcher != searcher {
				continue
			}
			took, trials, repeated = append(took, r.took.Seconds()), append(trials, float64(r.trials)),
				append(repeated, float64(r.repeated))
			for i := range deviations {
				deviations[i] = append(deviations[i], r.deviation(i))
				if !r.encloses(i) {
					outside++
				}
			}
		}
		if first == 0 {
			first = mean(took)
		}
		fmt.Fprintf(&b, "| %s | %d | %.1f | %.2f | %.1f | %.1f | %+.2f | %+.2f | %d of %d |\n", searcher, len(took),
			mean(took), mean(took)/first, mean(trials), mean(repeated), mean(deviations[0]), mean(deviations[1]),
			outside, 2*len(took))
	}
	b.WriteString("\n| limit, frames/s | who | took, s | trials | repeated | NDR's bounds | off, % | PDR's bounds | off, % | machine |\n" + "|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r.cells(), " | "))
	}
	return b.String()
}

// searchersOf are those who searched, in their order.
func searchersOf(rows []packetRow) (names []string) {
	listed := map[string]bool{}
	for _, r := range rows {
		if !listed[r.searcher] {
			listed[r.searcher], names = true, append(names, r.searcher)
		}
	}
	return names
}
