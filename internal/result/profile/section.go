package profile

import (
	"fmt"
	"math"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// mostRows is how many functions are shown.
const mostRows = 10

// Section is the table of the functions that took the most of the device's time, and false where there is none.
func Section(r *report.Report) (report.Section, bool) {
	p := r.Profile
	if p == nil || p.Missing != "" {
		return report.Section{}, false
	}
	stacks := Parse(p.Stacks)
	all, perFrame := Device(stacks), NanosecondsPerFrame(r)
	if all == 0 {
		return report.Section{}, false
	}
	s := report.Section{Title: "Where the device's time went", Legend: []string{legend(p, all, perFrame)},
		Table: &report.SectionTable{Columns: []string{"function", "itself", "with what it calls", "for a frame"}}}
	share := func(count int64) report.SectionCell {
		ratio := units.RatioOf(count, all)
		return report.SectionCell{Text: fmt.Sprintf("%.1f %%", 100*float64(count)/float64(all)),
			Number: report.Number(ratio.String()), Unit: report.UnitRatio}
	}
	for _, f := range Functions(stacks) {
		if f.Self == 0 || len(s.Table.Rows) == mostRows {
			break
		}
		nanoseconds := int64(math.Round(perFrame * float64(f.Self) / float64(all)))
		row := []report.SectionCell{{Text: f.Name}, share(f.Self), share(f.Total), {Text: "-"}}
		if perFrame > 0 {
			row[3] = report.SectionCell{Text: wording.Nanoseconds(nanoseconds),
				Number: report.Number(fmt.Sprint(nanoseconds)), Unit: "ns"}
		}
		s.Table.Rows = append(s.Table.Rows, row)
	}
	return s, true
}

func legend(p *report.Profile, all int64, perFrame float64) string {
	text := fmt.Sprintf("Of a trial at the answer's load, after it: %s of %d processors, %d a second each, of which %s found "+
		"the device", wording.Count(p.Samples)+" samples", p.Processors, p.SamplesPerSecond, wording.Count(all))
	if perFrame > 0 {
		text += fmt.Sprintf(", %s of processor time for a frame", wording.Nanoseconds(int64(math.Round(perFrame))))
	}
	if p.Lost > 0 {
		text += fmt.Sprintf("; %s have no whole stack", wording.Count(p.Lost))
	}
	if left := other(p); left > 0 {
		text += fmt.Sprintf("; %.1f %% are in rare stacks, of which only the innermost function is kept",
			100*float64(left)/float64(all))
	}
	return text + "."
}

// other is how many samples are of stacks that were not kept whole.
func other(p *report.Profile) (sum int64) {
	for _, s := range Parse(p.Stacks) {
		if s.Frames[0] == "[other]" {
			sum += s.Count
		}
	}
	return sum
}

// mostNamed is how many functions a sentence names.
const mostNamed = 3

// ComparedText says which functions grew from some runs to others, by the profiles that they have. It is empty where
// one side has none.
func ComparedText(before, after []*report.Report) string {
	old, current := sideOf(before), sideOf(after)
	if len(old) == 0 || len(current) == 0 {
		return ""
	}
	c := Compare(old, current)
	times := fmt.Sprintf("the device's processor time for a frame is %s, and was %s (by samples)",
		nanosecondsText(current.NanosecondsPerFrame()), nanosecondsText(old.NanosecondsPerFrame()))
	if fewest := min(len(old), len(current)); fewest < FewestRuns {
		return fmt.Sprintf("%s; %d runs of each side with a profile tell which function grew, and one side has %d",
			times, FewestRuns, fewest)
	}
	if len(c.Growths) == 0 {
		return times + "; no function surely grew"
	}
	var named []string
	for _, g := range c.Growths[:min(mostNamed, len(c.Growths))] {
		named = append(named, fmt.Sprintf("%s by %s for a frame (%s, was %s)", g.Name, nanosecondsText(g.Nanoseconds()),
			nanosecondsText(g.AfterNanoseconds), nanosecondsText(g.BeforeNanoseconds)))
	}
	text := times + "; grown: " + strings.Join(named, ", ")
	if more := len(c.Growths) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if c.Explained > 0 && c.Explained <= 1.5 { // else the whole's own change is lost among its errors
		text += fmt.Sprintf(", %.0f %% of the change", 100*c.Explained)
	}
	return text
}

func nanosecondsText(v float64) string { return wording.Nanoseconds(int64(math.Round(v))) }

// sideOf is the runs that have a profile and a time for a frame.
func sideOf(runs []*report.Report) (side Side) {
	for _, r := range runs {
		if perFrame := NanosecondsPerFrame(r); perFrame > 0 {
			side = append(side, RunOf(Parse(r.Profile.Stacks), perFrame))
		}
	}
	return side
}
