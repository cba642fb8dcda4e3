package qualify

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// WriteText writes a document for people: the verdict, what the ports are, what was measured, and what is weak.
func WriteText(w io.Writer, d *Document) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n%s\n\n", d.Summary, d.Message)
	writeFacts(&text, d)
	writeFigures(&text, d)
	if len(d.Findings) > 0 {
		fmt.Fprintf(&text, "\nWhat is weak, and what mends it\n")
	}
	for _, f := range d.Findings {
		fmt.Fprintf(&text, "%-8s%s: %s\n", f.Level, f.Check, f.Message)
		if f.Fix != "" {
			fmt.Fprintf(&text, "        → %s\n", f.Fix)
		}
	}
	_, err := io.WriteString(w, wording.Printable(text.String(), '\n'))
	return err
}

// writeFacts has a column for each port.
func writeFacts(text *strings.Builder, d *Document) {
	table := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	row := func(title string, cell func(Port) string) {
		cells := []string{title}
		empty := true
		for _, p := range d.Ports {
			value := cell(p)
			empty = empty && value == ""
			if value == "" {
				value = "-"
			}
			cells = append(cells, value)
		}
		if len(cells) == 3 && cells[1] == cells[2] { // of both ports
			cells = cells[:2]
		}
		if !empty {
			fmt.Fprintln(table, strings.Join(cells, "\t"))
		}
	}
	row("port", func(p Port) string { return p.Name })
	row("driver", func(p Port) string { return wording.JoinNonEmpty(", ", p.Driver, p.Card, p.Firmware) })
	row("link", linkInWords)
	row("module", moduleInWords)
	row("diagnostics", diagnosticsInWords)
	row("queues", func(p Port) string { return fmt.Sprintf("%d receive, %d send", p.ReceiveQueues, p.SendQueues) })
	row("rings", func(p Port) string {
		if p.ReceiveRing == 0 {
			return ""
		}
		return fmt.Sprintf("%d of %d receive, %d send", p.ReceiveRing, p.MostReceiveRing, p.SendRing)
	})
	row("coalescing", func(p Port) string { return p.Coalescing })
	row("offloads", func(p Port) string { return strings.Join(p.Offloads, " ") })
	row("MTU", func(p Port) string { return fmt.Sprint(p.MTU) })
	row("card's clock", func(p Port) string {
		if p.Stamps == "" {
			return ""
		}
		return "stamps " + p.Stamps
	})
	_ = table.Flush() // into memory
	fmt.Fprintf(text, "\n%s, Linux %s, %s; clock %s, read in %d ns\n", wording.JoinNonEmpty(", ", d.Machine.CPUModel,
		wording.Counted(d.Machine.Processors, "processor")), d.Machine.Kernel, governorsInWords(d.Machine.Governors),
		d.Machine.Clock.Source, d.Machine.Clock.ReadNanoseconds)
}

func governorsInWords(names []string) string {
	if len(names) == 0 {
		return "no frequency governor"
	}
	return "governor " + strings.Join(names, " and ")
}

func linkInWords(p Port) string {
	if p.SpeedMbps == 0 {
		return "no speed reported"
	}
	duplex := "full duplex"
	if p.HalfDuplex {
		duplex = "half duplex"
	}
	correction := ""
	if p.ErrorCorrection != "" {
		correction = "FEC " + p.ErrorCorrection
	}
	return wording.JoinNonEmpty(", ", (units.BitRate(p.SpeedMbps) * units.Mbps).FormatSI(), duplex, p.Medium,
		correction)
}

func moduleInWords(p Port) string {
	if p.Module == nil {
		return ""
	}
	return wording.JoinNonEmpty(" ", p.Module.Kind, p.Module.Vendor, p.Module.Part, p.Module.Revision)
}

func diagnosticsInWords(p Port) string {
	if p.Module == nil || p.Module.Diagnostics == nil {
		return ""
	}
	d := p.Module.Diagnostics
	words := []string{fmt.Sprintf("%.1f °C, %.2f V", d.Celsius, d.Volts)}
	for _, lane := range d.Lanes {
		words = append(words, fmt.Sprintf("sends %.4f mW, receives %.4f mW", lane.SentMilliwatts,
			lane.ReceivedMilliwatts))
	}
	return strings.Join(words, "; ")
}

// writeFigures has what was measured in each direction.
func writeFigures(text *strings.Builder, d *Document) {
	for _, way := range d.Directions {
		fmt.Fprintf(text, "\n%s, 64-byte frames, one thread\n", wording.Direction(way.From, way.To))
		table := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
		for _, p := range way.Paths {
			if p.Refused != "" {
				fmt.Fprintf(table, "  %s\tnot here\n", pathTitles[p.Name])
				continue
			}
			fmt.Fprintf(table, "  %s\tsent %s\treceived %s\n", pathTitles[p.Name],
				wording.PacketRate(p.SentPacketsPerSecond),
				wording.PacketRate(p.ReceivedPacketsPerSecond))
		}
		if c := way.Clean; c != nil {
			fmt.Fprintf(table, "  without loss\t%s\t%s frames by %s\n", wording.PacketRate(c.PacketsPerSecond),
				wording.Count(c.Frames),
				pathTitles[c.Path])
		}
		if o := way.Overload; o != nil {
			fmt.Fprintf(table, "  overload\tlost %s of %s\t%s counted by the receiver, %s by the sender, %s hidden\n",
				wording.Count(o.Lost), wording.Count(o.Sent), wording.Count(o.CountedByReceiver),
				wording.Count(o.CountedBySender),
				wording.Count(o.Hidden))
		}
		if a := way.Answer; a != nil {
			fmt.Fprintf(table, "  known answer\tlimit %s\tread as %s, %+.2f %%\n",
				wording.PacketRate(a.LimitPacketsPerSecond),
				wording.PacketRate(a.ReadPacketsPerSecond), a.ErrorPercent)
		}
		_ = table.Flush() // into memory
	}
}
