package main

import (
	"fmt"
	"runtime"
	"strings"
	"text/tabwriter"

	"golang.org/x/sys/unix"
)

// row is a line of a table; the first of a table is its head.
type row []string

// competition is the comparison on plain veths, each contender against trafgen with as many threads.
func (r *results) competition() []row {
	rows := []row{{"sender", "threads", "returned kpps", "× trafgen", "× forwarding alone"}}
	for _, t := range r.plain {
		rows = append(rows, row{t.name, fmt.Sprint(t.threads), fmt.Sprintf("%.0f", t.median()/1000),
			fmt.Sprintf("%.2f", t.median()/r.rate(r.plain, "trafgen", t.threads)),
			fmt.Sprintf("%.2f", t.median()/r.rate(r.plain, "forwarding alone", t.threads))})
	}
	return rows
}

// saturation is the forwarder with a processor of its own, flooded.
func (r *results) saturation() []row {
	rows := []row{{"sender", "threads", "offered kpps", "returned kpps", "× forwarding alone"}}
	for _, t := range r.device {
		rows = append(rows, row{t.name, fmt.Sprint(t.threads), fmt.Sprintf("%.0f", median(t.offered)/1000), fmt.Sprintf("%.0f", t.median()/1000),
			fmt.Sprintf("%.2f", t.median()/r.rate(r.device, "forwarding alone", 1))})
	}
	return rows
}

func (r *results) pacing() []row {
	rows := []row{{"forwarder", "intended kpps", "seconds within 0.1 %", "worst second", "not sent", "lost", "sender's CPU"}}
	for _, p := range r.pace {
		rows = append(rows, row{p.forwarder, fmt.Sprintf("%.0f", p.intended/1000), fmt.Sprintf("%d of %d", p.within, p.windows),
			fmt.Sprintf("%.3f %%", 100*p.worst), fmt.Sprint(p.unsent), fmt.Sprint(p.lost), fmt.Sprintf("%.0f %%", p.processorPercent)})
	}
	return rows
}

// section is a table with its heading and what has to be known to read it.
type section struct {
	title, note string
	rows        []row
}

func (r *results) sections() []section {
	return []section{
		{"64-byte frames through the Linux forwarder", "On plain veths the sender's processor does the forwarding too. The engine also receives, checks and counts every frame; " +
			"what trafgen and hping3 get back goes to the kernel's stack, or, in the rows that say so, to the engine's counter.", r.competition()},
		{"The same forwarder with a processor and a queue of its own", "Flooded beyond saturation: what is returned is the forwarder's rate. " +
			"trafgen isn't here: it ends with an error as soon as the forwarder's queue is full.", r.saturation()},
		{"Pace of one sending thread at 80 % of what came back", "", r.pacing()},
	}
}

// conditions say what the figures hold for.
func (r *results) conditions() string {
	var u unix.Utsname
	_ = unix.Uname(&u) // for people only
	return fmt.Sprintf("Linux %s, %d processors, %s; engine %s; peak memory of the engine and this program %d MB. Medians of turns.",
		unix.ByteSliceToString(u.Release[:]), runtime.NumCPU(), runtime.Version(), r.path, r.peakMemory>>20)
}

func (r *results) text() string {
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
	return b.String() + "\n" + r.conditions() + "\n"
}

func (r *results) markdown() string {
	var b strings.Builder
	for _, s := range r.sections() {
		fmt.Fprintf(&b, "### %s\n\n", s.title)
		for i, cells := range s.rows {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
			if i == 0 {
				fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(cells)))
			}
		}
		fmt.Fprintf(&b, "\n%s\n\n", s.note)
	}
	return b.String() + r.conditions() + "\n"
}
