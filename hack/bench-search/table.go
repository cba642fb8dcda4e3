package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A cell is all searches of one device for one set of goals.
type cell struct {
	set       set
	device    device
	truth     []float64 // for each goal: the load that holds, as a share of the device's capacity; 0: none does
	summaries []seen    // in the order of searchers
	// played is how many searches the library itself played, and same in how many of them it took as long, and
	// found the same, as our RFC9971 without early stops.
	played, same int
}

// seen is what one searcher took and found.
type seen struct {
	name   string
	took   []float64 // seconds
	trials int
	goals  []figures
}

// figures are of one goal: how far lower bounds lie from the truth, and in how many searches a bound lay on its
// wrong side.
type figures struct {
	deviations []float64
	wrong      int
}

// samples is how many trials at each load determine the truth.
const samples = 2000

// truths are the results that were computed already.
type truths map[truthOf]float64

type truthOf struct {
	device         string
	duration, loss float64
}

func newCell(set set, device device, truth truths) cell {
	c := cell{set: set, device: device}
	for _, g := range set.goals {
		key := truthOf{device.name, g.FinalTrial.Seconds(), g.LossRatio}
		if _, ok := truth[key]; !ok {
			// Without an exceed ratio there is no such load, or only the one that the rarest moment allows: half of the
			// trials is taken all the same.
			truth[key] = holds(device, key.duration, key.loss, 0.5, samples)
		}
		c.truth = append(c.truth, truth[key])
	}
	for _, s := range searchers {
		c.summaries = append(c.summaries, seen{name: s.name, goals: make([]figures, len(set.goals))})
	}
	return c
}

func (c *cell) add(result contest) {
	for i, s := range result.searches {
		c.summaries[i].add(s, c.truth, result.capacity)
	}
	if result.library != nil {
		c.played++
		if result.library.agreesWith(result.searches[0]) {
			c.same++
		}
	}
}

func (s *seen) add(result search, truths []float64, capacity float64) {
	s.took = append(s.took, result.took)
	s.trials += result.trials
	for i, b := range result.found {
		f, truth := &s.goals[i], truths[i]*capacity
		if truth > 0 && b.lower > 0 {
			f.deviations = append(f.deviations, 100*(b.lower/truth-1))
		}
		// What the truth is known to, by bisection.
		const blur = 1e-4
		if b.lower > truth*(1+blur) || b.upper > 0 && b.upper < truth*(1-blur) {
			f.wrong++
		}
	}
}

// agreesWith says whether two searches had the same number of trials, the same time and the same bounds.
func (s search) agreesWith(peer search) bool {
	close := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(a, b) }
	return s.trials == peer.trials && close(s.took, peer.took) && slices.EqualFunc(s.found, peer.found,
		func(a, b bracket) bool {
			return close(a.lower, b.lower) && close(a.upper, b.upper)
		})
}

func (s seen) ratio(baseline seen) float64 { return mean(s.took) / mean(baseline.took) }

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func spread(values []float64) float64 {
	m, sum := mean(values), 0.0
	for _, v := range values {
		sum += (v - m) * (v - m)
	}
	return math.Sqrt(sum / float64(len(values)))
}

func quantile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(share*float64(len(sorted)-1))]
}

// row is the figures of one searcher, in the order of the tables' columns.
func (c cell) row(s seen) []string {
	row := []string{fmt.Sprintf("%.1f", float64(s.trials)/float64(len(s.took))), fmt.Sprintf("%.1f", mean(s.took)),
		fmt.Sprintf("%.1f", quantile(s.took, 0.95)), fmt.Sprintf("%.1f", quantile(s.took, 1)),
		fmt.Sprintf("%.2f", s.ratio(c.summaries[0]))}
	for i, f := range s.goals {
		bias := "–"
		if len(f.deviations) > 0 {
			bias = fmt.Sprintf("%+.2f ± %.2f", mean(f.deviations), spread(f.deviations))
		}
		wrong := "–"
		if c.set.goals[i].ExceedRatio > 0 {
			wrong = fmt.Sprintf("%.2f", 100*float64(f.wrong)/float64(len(s.took)))
		}
		row = append(row, bias, wrong)
	}
	return row
}

func (c cell) text() string {
	var b strings.Builder
	for _, s := range c.summaries {
		fmt.Fprintf(&b, "%-8s %-15s %-11s %s\n", c.set.name, c.device.name, s.name, strings.Join(c.row(s), "  "))
	}
	fmt.Fprintf(&b, "  the library played %d, %d of them the same\n", c.played, c.same)
	return b.String()
}

// summary compares each searcher with the first one over all devices, for each set of goals. It has the mean and
// the worst ratio of their times, and by how much a searcher is wrong more often and further off.
func summary(cells []cell) string {
	var b strings.Builder
	b.WriteString("| goals | who | mean ratio | worst ratio | wrong more often by, points | mean further off by, % |\n|---|---|---|---|---|---|\n")
	for _, set := range sets {
		inSet := slices.DeleteFunc(slices.Clone(cells), func(c cell) bool { return c.set.name != set.name })
		for searcher := 1; searcher < len(searchers) && len(inSet) > 0; searcher++ {
			sum, slow, wrong, deviation := 0.0, worst{}, worst{}, worst{}
			for _, c := range inSet {
				ratio := c.summaries[searcher].ratio(c.summaries[0])
				sum += ratio
				slow.take(ratio, c.device.name)
				for i, g := range c.set.goals {
					ours, theirs := c.summaries[searcher].goals[i], c.summaries[0].goals[i]
					if name := c.device.name + ", " + g.Name; c.truth[i] > 0 && len(ours.deviations) > 0 &&
						len(theirs.deviations) > 0 {
						deviation.take(math.Abs(mean(ours.deviations))-math.Abs(mean(theirs.deviations)), name)
						if g.ExceedRatio > 0 {
							wrong.take(100*float64(ours.wrong-theirs.wrong)/float64(len(c.summaries[searcher].took)),
								name)
						}
					}
				}
			}
			fmt.Fprintf(&b, "| %s | %s | %.2f | %s | %s | %s |\n", set.name, searchers[searcher].name,
				sum/float64(len(inSet)), slow, wrong, deviation)
		}
	}
	return b.String()
}

// worst is the largest of some values, and where it was.
type worst struct {
	value float64
	place string
}

func (w *worst) take(value float64, place string) {
	if w.place == "" || value > w.value {
		*w = worst{value, place}
	}
}

func (w worst) String() string {
	if w.place == "" {
		return "–"
	}
	return fmt.Sprintf("%.2f (%s)", w.value, w.place)
}

func markdown(cells []cell, o options) string {
	played, same := 0, 0
	for _, c := range cells {
		played, same = played+c.played, same+c.same
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d searches a row. In the first %d of each the library itself searched, too: of these %d searches %d had as many trials as our RFC9971 without early stops, took as long and found the same bounds.\n\n%s",
		o.seeds, min(o.seeds, o.library), played, same, summary(cells))
	for _, set := range sets {
		inSet := slices.DeleteFunc(slices.Clone(cells), func(c cell) bool { return c.set.name != set.name })
		if len(inSet) > 0 {
			heading(&b, set)
		}
		for _, c := range inSet {
			for _, s := range c.summaries {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", c.device.name, s.name, strings.Join(c.row(s), " | "))
			}
		}
	}
	return b.String()
}

func heading(b *strings.Builder, set set) {
	first := set.goals[0]
	fmt.Fprintf(b, "\n### %s: trials of %s, sum %s, exceed ratio %g\n\n| device | who | trials | mean, s | 95 %%, s | worst, s | ratio |", set.name, first.FinalTrial, first.DurationSum, first.ExceedRatio)
	columns := 7
	for _, g := range set.goals {
		fmt.Fprintf(b, " %s bias ± spread, %% | %s wrong, %% |", g.Name, g.Name)
		columns += 2
	}
	b.WriteString("\n|" + strings.Repeat("---|", columns) + "\n")
}
