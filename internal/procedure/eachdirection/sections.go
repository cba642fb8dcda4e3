package eachdirection

import (
	"fmt"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// atOnceSection is a table with what came back of each direction's answer when all were held at once.
func atOnceSection(verdict report.Quality, w report.Window) report.Section {
	legend := fmt.Sprintf("The load that was found of each direction by itself, sent in all directions at once "+
		"(window %d).", w.Number)
	if verdict == report.Invalid {
		legend += " The window could not be judged, so the figures are no claim about the device."
	}
	table := &report.SectionTable{Columns: []string{"direction", "offered", "received", "lost"}}
	for _, d := range w.Directions {
		received := rateCell(d.Received.PacketsPerSecond)
		received.NearGenerators = "≥" + received.Text
		loss := d.LossRatio.String()
		table.Rows = append(table.Rows, []report.SectionCell{{Text: wording.Direction(d.From, d.To)},
			rateCell(d.Offered.PacketsPerSecond), received,
			{Text: wording.Loss(d.LossRatio), Number: report.Number(loss), Unit: report.UnitRatio,
				NearGenerators: "–"}})
	}
	return report.Section{Title: "All directions at once", Legend: []string{legend}, Table: table}
}

// rateCell is a cell with a rate of packets.
func rateCell(packetsPerSecond int64) report.SectionCell {
	return report.SectionCell{Text: wording.PacketRate(packetsPerSecond),
		Number: report.Number(strconv.FormatInt(packetsPerSecond, 10)), Unit: "packets/s"}
}
