package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/linerate-dev/linerate/test/packets/burstiness"
)

// results are all that a run found out.
type results struct {
	scenes   []scene
	outcomes [][]outcome // of each scene
	pace     []pace
	bursts   []evenness
}

// failures are the failed outcomes of linerate's own rows; other tools may fail.
func (r results) failures() (messages []string) {
	for i, outcomes := range r.outcomes {
		for _, o := range outcomes {
			if o.failed && o.options != nil {
				messages = append(messages, fmt.Sprintf("%s, %s: %s", o, r.scenes[i].title, o.failure))
			}
		}
	}
	return messages
}

// muchTaken is a share of all processors' time that senders can't do without.
const muchTaken = 0.05

// disturbed is a line that says how much others had of the processors in most turns, if that was much: nothing
// else in the tables says that a calm machine has other figures.
func (r results) disturbed() string {
	var shares []float64
	for _, outcomes := range r.outcomes {
		for _, o := range outcomes {
			shares = append(shares, o.values(func(t turn) float64 { return t.neighbours + t.stolen })...)
		}
	}
	if median(shares) <= muchTaken {
		return ""
	}
	return fmt.Sprintf("\n**The machine wasn't calm**: others had %s of its processors in half of the turns, or more. On a calm one, senders are faster and more even.\n", percent(median(shares)))
}

// row is a line of a table; the first of a table is its head.
type row []string

// section is a table with its heading and what has to be known to read it.
type section struct {
	title, note string
	rows        []row
}

func (r results) sections() []section {
	var sections []section
	for i, s := range r.scenes {
		sections = append(sections, section{s.title, s.note, competition(s, r.outcomes[i])})
	}
	if len(r.pace) > 0 {
		sections = append(sections, section{"Pace of one sending thread",
			"By the program's own counter, read once a second. Stolen seconds are those in which the host of this virtual machine took a hundredth of a second of a processor, or more; what it took is of all processors together. What was not sent is told in frames, and in seconds at the intended rate. *Leave together* is how many frames a program in the kernel hands to the cable in one go, on average, counted for a second after the others, and in a flood.", pacing(r.pace)})
	}
	if len(r.bursts) > 0 {
		sections = append(sections,
			section{"Bursts of one sending thread, at the cable's far end",
				"Waiting is the smallest queue, in frames, that loses none when it is emptied at 1.01 times the rate: in half of all stretches of 10 ms, in 99.9 % of them, and in all. Stretches in which the host took a processor aren't judged.", waiting(r.bursts)},
			section{"Gaps between two frames, as multiples of the load's own", "Shares of all gaps.", gaps(r.bursts)})
	}
	return sections
}

// competition is a scene's table. A contender that can't take part is in it with the reason, in one row for all
// numbers of threads.
func competition(s scene, outcomes []outcome) []row {
	rows := []row{{"sender", "threads", "returned kpps", "least–most", "× " + yardstickWords(s), "lost",
		"kframes per processor-second", "host took", "others took", "remark"}}
	var absent []row
	for i, o := range outcomes {
		if len(o.turns) == 0 {
			r := row{o.String(), fmt.Sprint(o.load.threads), "–", "–", "–", "–", "–", "–", "–", o.failure}
			if duplicate := slices.IndexFunc(absent,
				func(a row) bool { return a[0] == r[0] && a[9] == r[9] }); duplicate >= 0 {
				absent[duplicate][1] += ", " + r[1]
			} else {
				absent = append(absent, r)
			}
			continue
		}
		rates := o.values(returned)
		ratio := "–"
		if baseline := s.against(i); baseline >= 0 && len(outcomes[baseline].turns) > 0 {
			ratio = fmt.Sprintf("%.2f", o.median(returned)/outcomes[baseline].median(returned))
		}
		rows = append(rows, row{o.String(), fmt.Sprint(o.load.threads), kilo(o.median(returned)),
			kilo(slices.Min(rates)) + "–" + kilo(slices.Max(rates)), ratio,
			percent(o.median(func(t turn) float64 { return max(0, 1-t.returned/t.offered) })),
			kilo(o.median(func(t turn) float64 { return t.returned / t.busy })),
			percent(o.median(func(t turn) float64 { return t.stolen })),
			percent(o.median(func(t turn) float64 { return t.neighbours })), ""})
	}
	return append(rows, absent...)
}

func yardstickWords(s scene) string {
	if s.yardstick == "" {
		return "the first"
	}
	return s.yardstick
}

func kilo(perSecond float64) string { return fmt.Sprintf("%.0f", perSecond/1000) }

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func pacing(paces []pace) []row {
	rows := []row{{"sender", "frames go", "intended kpps", "of what it reached so", "within 0.1 %", "beyond 1 %",
		"worst second", "worst second not stolen", "stolen seconds", "host took", "others took", "not sent", "which is",
		"lost", "sender's CPU", "leave together", "in a flood"}}
	for _, p := range paces {
		worst, ours := p.worst()
		n := len(p.seconds)
		rows = append(rows, row{p.sender, string(p.path), kilo(p.intended), fmt.Sprintf("%.0f %%", 100*p.share),
			fmt.Sprintf("%d of %d s", p.countWithin(narrow), n), fmt.Sprint(n - p.countWithin(wide)),
			fmt.Sprintf("%.3f %%", 100*worst), fmt.Sprintf("%.3f %%", 100*ours), fmt.Sprint(p.stolen()),
			p.taken.Round(10 * time.Millisecond).String(), percent(p.others), fmt.Sprint(p.unsent),
			p.missed().Round(time.Millisecond).String(), fmt.Sprint(p.lost), fmt.Sprintf("%.0f %%", p.processorPercent),
			one(p.together), one(p.flooded)})
	}
	return rows
}

// one is a number of frames that leave together, with one decimal.
func one(frames float64) string {
	if frames == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", frames)
}

func waiting(samples []evenness) []row {
	rows := []row{{"sender", "kpps", "of what it reached", "frames", "waiting, half", "waiting, 99.9 %",
		"waiting, most", "stretches", "stolen", "gaps within an eighth"}}
	for _, e := range samples {
		rows = append(rows, row{e.sender, kilo(e.packetsPerSecond), e.part(), fmt.Sprint(e.Frames), fmt.Sprint(e.Half),
			fmt.Sprint(e.Typical), fmt.Sprint(e.Longest), fmt.Sprint(e.Stretches), fmt.Sprint(e.Stolen),
			percent(e.Share(7./8, 9./8))})
	}
	return rows
}

// part says which share of which rate it is.
func (e evenness) part() string {
	if e.share == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %% %s", 100*e.share, e.path)
}

func gaps(samples []evenness) []row {
	head := row{"sender", "kpps"}
	for _, g := range samples[0].Gaps {
		head = append(head, edges(g))
	}
	rows := []row{head}
	for _, e := range samples {
		cells := row{e.sender, kilo(e.packetsPerSecond)}
		for _, g := range e.Gaps {
			cells = append(cells, fmt.Sprintf("%.2f %%", 100*e.Share(g.Low, g.High)))
		}
		rows = append(rows, cells)
	}
	return rows
}

// edges are a column's of the histogram.
func edges(g burstiness.Gaps) string {
	switch {
	case g.Low == 0:
		return fmt.Sprintf("< %.4g", g.High)
	case g.High > 1e9:
		return fmt.Sprintf("≥ %.4g", g.Low)
	}
	return fmt.Sprintf("%.4g–%.4g", g.Low, g.High)
}

func (r results) text() string {
	var b strings.Builder
	for _, s := range r.sections() {
		fmt.Fprintf(&b, "\n%s\n", s.title)
		w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
		for _, cells := range s.rows {
			_, _ = fmt.Fprintf(w, "  %s\n", strings.Join(cells, "\t")) // into memory
		}
		_ = w.Flush()
		if s.note != "" {
			fmt.Fprintf(&b, "  %s\n", s.note)
		}
	}
	return b.String()
}

func (r results) markdown() string {
	var b strings.Builder
	for _, s := range r.sections() {
		fmt.Fprintf(&b, "### %s\n\n", s.title)
		for i, cells := range s.rows {
			escaped := make([]string, len(cells))
			for k, c := range cells {
				escaped[k] = strings.ReplaceAll(c, "|", "\\|")
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(escaped, " | "))
			if i == 0 {
				fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(cells)))
			}
		}
		b.WriteString("\n")
		if s.note != "" {
			fmt.Fprintf(&b, "%s\n\n", s.note)
		}
	}
	return b.String()
}
