package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A cell is all searches of one device for one set of goals.
type cell struct {
	set    set
	device device
	truth  []float64 // for each goal: the load that holds, as a share of the device's capacity; 0: none does
	who    []seen
}

// seen is what one searcher took and found.
type seen struct {
	name  string
	took  []float64 // seconds
	goals []figures
}

// figures are of one goal: how far lower bounds lie from the truth, and in how many searches a bound lay on its wrong side.
type figures struct {
	off   []float64
	wrong int
}

// samples is how many trials at each load tell the truth.
const samples = 2000

func newCell(set set, device device, searchers []searcher) cell {
	c := cell{set: set, device: device}
	for _, g := range set.goals {
		// Without an exceed ratio there is no such load, or only the one that the rarest moment allows: half of the trials is taken all the same.
		c.truth = append(c.truth, holds(device, g.FinalTrial.Seconds(), g.LossRatio, 0.5, samples))
	}
	for _, s := range searchers {
		c.who = append(c.who, seen{name: s.name, goals: make([]figures, len(set.goals))})
	}
	return c
}

func (c *cell) add(who int, took, capacity float64, found []bracket) {
	s := &c.who[who]
	s.took = append(s.took, took)
	for i, b := range found {
		f, truth := &s.goals[i], c.truth[i]*capacity
		if truth > 0 && b.lower > 0 {
			f.off = append(f.off, 100*(b.lower/truth-1))
		}
		// What the truth is known to, by bisection.
		const blur = 1e-4
		if b.lower > truth*(1+blur) || b.upper > 0 && b.upper < truth*(1-blur) {
			f.wrong++
		}
	}
}

func (s seen) ratio(to seen) float64 { return mean(s.took) / mean(to.took) }

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
	row := []string{fmt.Sprintf("%.1f", mean(s.took)), fmt.Sprintf("%.1f", quantile(s.took, 0.95)), fmt.Sprintf("%.1f", quantile(s.took, 1)), fmt.Sprintf("%.2f", s.ratio(c.who[0]))}
	for i, f := range s.goals {
		bias := "–"
		if len(f.off) > 0 {
			bias = fmt.Sprintf("%+.2f ± %.2f", mean(f.off), spread(f.off))
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
	for _, s := range c.who {
		fmt.Fprintf(&b, "%-8s %-15s %-11s %s\n", c.set.name, c.device.name, s.name, strings.Join(c.row(s), "  "))
	}
	return b.String()
}

// summary is the ratios to the first searcher, over all devices of a set.
func summary(cells []cell) string {
	var b strings.Builder
	for _, set := range sets {
		var ratios [][]float64
		for _, c := range cells {
			if c.set.name == set.name {
				ratios = append(ratios, c.ratios())
			}
		}
		if len(ratios) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s, mean of %d devices' ratios:", set.name, len(ratios))
		for i := range ratios[0] {
			sum := 0.0
			for _, r := range ratios {
				sum += r[i]
			}
			fmt.Fprintf(&b, " %.3f", sum/float64(len(ratios)))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (c cell) ratios() (ratios []float64) {
	for _, s := range c.who {
		ratios = append(ratios, s.ratio(c.who[0]))
	}
	return ratios
}

func markdown(cells []cell, seeds int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d searches a row.\n", seeds)
	for _, set := range sets {
		begun := false
		for _, c := range cells {
			if c.set.name != set.name {
				continue
			}
			if !begun {
				heading(&b, set)
				begun = true
			}
			for _, s := range c.who {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", c.device.name, s.name, strings.Join(c.row(s), " | "))
			}
		}
	}
	fmt.Fprintf(&b, "\n```\n%s```\n", summary(cells))
	return b.String()
}

func heading(b *strings.Builder, set set) {
	first := set.goals[0]
	fmt.Fprintf(b, "\n### %s: trials of %s, sum %s, exceed ratio %g\n\n| device | who | mean, s | 95 %%, s | worst, s | ratio |", set.name, first.FinalTrial, first.DurationSum, first.ExceedRatio)
	columns := 6
	for _, g := range set.goals {
		fmt.Fprintf(b, " %s bias ± spread, %% | %s wrong, %% |", g.Name, g.Name)
		columns += 2
	}
	b.WriteString("\n|" + strings.Repeat("---|", columns) + "\n")
}
