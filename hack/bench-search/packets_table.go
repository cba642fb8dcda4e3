package main

import (
	"fmt"
	"strings"
)

// truths are the rates above which a trial of 1 s is bad, of NDR and PDR: what a limit saved up before the trial passes, too.
func (r packetRow) truths() []float64 {
	var all []float64
	for _, g := range sets[0].goals {
		passes := float64(r.limit) * (1 + saves.Seconds()/g.FinalTrial.Seconds())
		all = append(all, passes/(1-g.LossRatio))
	}
	return all
}

// off is how far a goal's lower bound lies from the truth, in percent.
func (r packetRow) off(goal int) float64 { return 100 * (r.found[goal].lower/r.truths()[goal] - 1) }

// encloses says whether the truth is between a goal's bounds, to within two frames of a trial.
func (r packetRow) encloses(goal int) bool {
	truth, b := r.truths()[goal], r.found[goal]
	return b.lower <= truth+2 && (b.upper == 0 || b.upper >= truth-2)
}

func (r packetRow) cells() []string {
	cells := []string{fmt.Sprint(r.limit), r.who, fmt.Sprintf("%.1f", r.took.Seconds()), fmt.Sprint(r.trials), fmt.Sprint(r.again)}
	for i, b := range r.found {
		bounds := fmt.Sprintf("%.0f to %.0f", b.lower, b.upper)
		if b.lower == 0 || b.upper == 0 {
			bounds += " (a bound is missing)"
		} else if !r.encloses(i) {
			bounds += " (wrong)"
		}
		cells = append(cells, bounds, fmt.Sprintf("%+.2f", r.off(i)))
	}
	return append(cells, r.calm.Row())
}

// packetTables are a row for each search, and one for each who searched.
func packetTables(rows []packetRow) string {
	var b strings.Builder
	b.WriteString("| who | searches | mean, s | ratio | trials, mean | repeated, mean | NDR bias, % | PDR bias, % | truth outside of the bounds |\n" + "|---|---|---|---|---|---|---|---|---|\n")
	first := 0.0
	for _, who := range searchersOf(rows) {
		var took, trials, again []float64
		var off [2][]float64
		outside := 0
		for _, r := range rows {
			if r.who != who {
				continue
			}
			took, trials, again = append(took, r.took.Seconds()), append(trials, float64(r.trials)), append(again, float64(r.again))
			for i := range off {
				off[i] = append(off[i], r.off(i))
				if !r.encloses(i) {
					outside++
				}
			}
		}
		if first == 0 {
			first = mean(took)
		}
		fmt.Fprintf(&b, "| %s | %d | %.1f | %.2f | %.1f | %.1f | %+.2f | %+.2f | %d of %d |\n", who, len(took), mean(took), mean(took)/first, mean(trials), mean(again), mean(off[0]), mean(off[1]), outside, 2*len(took))
	}
	b.WriteString("\n| limit, frames/s | who | took, s | trials | repeated | NDR's bounds | off, % | PDR's bounds | off, % | machine |\n" + "|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r.cells(), " | "))
	}
	return b.String()
}

// searchersOf are those who searched, in their order.
func searchersOf(rows []packetRow) (all []string) {
	seen := map[string]bool{}
	for _, r := range rows {
		if !seen[r.who] {
			seen[r.who], all = true, append(all, r.who)
		}
	}
	return all
}
