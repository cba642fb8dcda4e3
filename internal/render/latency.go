package render

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// latencyWords say what the table of latency is.
const latencyWords = "Latency is from the stamp in each frame, right before it is sent, to the receiving port; each time is at most 1 % too long. The generator's own part is in it and is never subtracted: " +
	"give the Report of the same test with a Loopback beside this one, and it stands below each row."

// shares are those of the table of latency.
var shares = []string{"p50", "p99", "p99.9", "p99.99", "p99.999", "all"}

// latencyTable has how long frames were under way, by direction and frame size, and how many came twice or late.
// Below each row is what a Loopback in the same document had for such frames. A column that is empty in all rows is
// left out. The table is nil where nobody knows the latency.
func latencyTable(r *report.Report, reports []*report.Report) *table {
	heads := []string{"latency of", "frames"}
	for _, s := range shares {
		heads = append(heads, headOf(s))
	}
	t := newTable(1, append(heads, "twice", "late")...)
	for _, d := range r.Answer.Directions {
		for _, l := range d.Latency {
			t.rows = append(t.rows, latencyRow(wording.Direction(d.From, d.To)+", "+sizeText(l), l))
			for _, loop := range loopbacksOf(r, reports) {
				t.rows = append(t.rows, ofLoopback(loop, d, l.FrameSize)...)
			}
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return t.withoutEmptyColumns()
}

// withoutEmptyColumns is the table without the columns in which no row has anything.
func (t *table) withoutEmptyColumns() *table {
	var result table
	result.rows = make([][]string, len(t.rows))
	for i, c := range t.columns {
		if !slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != "" }) {
			continue
		}
		result.columns = append(result.columns, c)
		for k, row := range t.rows {
			result.rows[k] = append(result.rows[k], row[i])
		}
	}
	return &result
}

func sizeText(l report.Latency) string {
	if l.FrameSize == 0 {
		return "any size"
	}
	return strconv.FormatInt(l.FrameSize, 10) + " bytes"
}

// loopbacksOf are the Reports beside a device's in which the generator measured itself.
func loopbacksOf(r *report.Report, reports []*report.Report) (loopbacks []*report.Report) {
	if report.PlanOf(r).DUT.Loopback() {
		return nil
	}
	for _, candidate := range reports {
		if candidate != r && report.PlanOf(candidate).DUT.Loopback() {
			loopbacks = append(loopbacks, candidate)
		}
	}
	return loopbacks
}

func ofLoopback(loop *report.Report, template report.Direction, size int64) (rows [][]string) {
	for _, d := range loop.Answer.Directions {
		for _, l := range d.Latency {
			if d.From == template.From && d.To == template.To && l.FrameSize == size {
				rows = append(rows, latencyRow("· a cable, at "+wording.PacketRate(d.Offered.PacketsPerSecond), l))
			}
		}
	}
	return rows
}

func latencyRow(name string, l report.Latency) []string {
	row := []string{name, timedOf(l)}
	for _, s := range shares {
		row = append(row, percentileText(l, s))
	}
	for _, n := range []int64{l.Duplicates, l.Late} {
		if n == 0 {
			row = append(row, "")
		} else {
			row = append(row, wording.Count(n))
		}
	}
	return row
}

// timedOf is how many frames were timed, and of how many where that isn't all.
func timedOf(l report.Latency) string {
	if l.Timed() == l.Came() {
		return wording.Count(l.Came())
	}
	return wording.Count(l.Timed()) + " of " + wording.Count(l.Came())
}

// latencyWarnings tell what isn't known of frames that were to be timed, and what came back that bears no stamp.
func latencyWarnings(r *report.Report) []string {
	var warnings []string
	for _, u := range r.Untimed {
		warnings = append(warnings, fmt.Sprintf("latency of %s was not measured: %s", wording.Direction(u.From, u.To),
			u.Reason))
	}
	for _, d := range r.Answer.Directions {
		direction := wording.Direction(d.From, d.To)
		if d.Unstamped > 0 {
			warnings = append(warnings, fmt.Sprintf("%s frames came back from %s without a stamp: somebody else sent them, or the device changed their last bytes; they count as received, and their latency is unknown", wording.Count(d.Unstamped), direction))
		}
		for _, l := range d.Latency {
			warnings = append(warnings, untimedOf(direction, l)...)
			if l.Stale > 0 {
				warnings = append(warnings, fmt.Sprintf("%s frames of %s, %s, came more than 960 frames late: they may be duplicates or late, and are counted as neither", wording.Count(l.Stale), direction, sizeText(l)))
			}
		}
		if port, queues := receivedBy(r, d.To); queues > 1 &&
			slices.ContainsFunc(d.Latency, func(l report.Latency) bool { return l.Late+l.Stale > 0 }) {
			warnings = append(warnings, fmt.Sprintf("that frames of %s came late may be the generator's doing: its port %s receives by %d queues, and frames of different queues change places; for the device's own order let it receive by one (ethtool -L %s combined 1)",
				direction, port, queues, port))
		}
	}
	return warnings
}

// untimedOf says which frames of a size have no time, why, and the way out.
func untimedOf(direction string, l report.Latency) (sentences []string) {
	say := func(frames int64, reason string) {
		if frames > 0 {
			sentences = append(sentences, fmt.Sprintf("%s of %s frames of %s, %s, have no latency, and percentiles that they could change are left out: %s", wording.Count(frames), wording.Count(l.Came()), direction, sizeText(l), reason))
		}
	}
	say(l.Merged, "the kernel merged them with others before their stamps were read; turn GRO off at the generator's port (ethtool -K PORT gro off)")
	say(l.Uncounted, "they came faster than the generator could note their times; have it start at a lower rate, or with fewer streams")
	return sentences
}

// receivedBy is the generator's port on a link, and by how many queues it receives, the most of several generators'
// ports.
func receivedBy(r *report.Report, link string) (port string, queues int) {
	for _, g := range r.Generators {
		for _, p := range g.Ports {
			if p.Link == link && p.ReceiveQueues > queues {
				port, queues = p.Name, p.ReceiveQueues
			}
		}
	}
	return port, queues
}
