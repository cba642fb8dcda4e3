package trains

import (
	"fmt"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/trains"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

var tableLegend = []string{
	"Time per frame: the spacing of frames that the device works off at its own speed; the tenth percentile of a set-up's " +
		"trains, the median of the set-ups, and an interval of 95 % from six set-ups on. ≤: the sender may have set the pace.",
	"The interval is this run's: the next run, with memory placed anew, may lie some percent apart, so compare several.",
	"It is not the rate that the device carries for hours: cooling, caches that other work fills and queues that " +
		"several processors share are not in it. Beside a limit it tells whether the work for a frame changed, or what " +
		"surrounds it.",
}

const plotLegend = "A typical train: when each of its frames came. Frames that come together were passed on by one poll " +
	"of the device, of 64 frames at most."

// sections are the times of each direction, and how the frames of a typical train came.
func sections(shown []direction) []report.Section {
	table := &report.SectionTable{Columns: []string{"trains", "time per frame", "least set-up", "most", "set-ups",
		"trains", "frames each", "sent a frame each", "lost frames", "in another order"}}
	plot := &report.Plot{X: report.PlotAxis{Title: "frame", Unit: "frames"},
		Y: report.PlotAxis{Title: "arrival", Unit: "µs"}}
	for _, d := range shown {
		if d.N == 0 {
			continue
		}
		table.Rows = append(table.Rows, d.cells())
		curve := report.PlotCurve{Name: d.name}
		for n, arrival := range d.typical {
			curve.Points = append(curve.Points, report.CurveValue{X: report.Number(strconv.Itoa(n)),
				Y: report.Number(strconv.FormatFloat(float64(arrival)/1000, 'f', -1, 64))})
		}
		if len(curve.Points) > 0 {
			plot.Curves = append(plot.Curves, curve)
		}
	}
	list := []report.Section{{Title: "Time per frame", Legend: tableLegend, Table: table}}
	if len(plot.Curves) > 0 {
		list = append(list, report.Section{Title: "Arrival of a train's frames", Legend: []string{plotLegend}, Plot: plot})
	}
	return list
}

func (d direction) cells() []report.SectionCell {
	figure := report.SectionCell{Text: trains.Text(d.Median) + " ± " + trains.Share(d.reach()/d.Median),
		Number: number(d.Median), Unit: "ns"}
	if d.Bound {
		figure = report.SectionCell{Text: "≤ " + trains.Text(d.High), Number: number(d.High), Unit: "ns"}
	}
	sending := report.SectionCell{Text: "unknown"}
	if d.sending > 0 {
		sending = nanoseconds(d.sending)
	}
	return []report.SectionCell{{Text: d.name}, figure, nanoseconds(d.least), nanoseconds(d.most), count(d.N),
		count(d.trains.Count), count(d.trains.Frames), sending, count(int(d.trains.LostFrames)), count(d.trains.Broken)}
}

func nanoseconds(v float64) report.SectionCell {
	return report.SectionCell{Text: trains.Text(v), Number: number(v), Unit: "ns"}
}

func count(n int) report.SectionCell {
	return report.SectionCell{Text: wording.Count(int64(n)), Number: report.Number(fmt.Sprint(n))}
}
