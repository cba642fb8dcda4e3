package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/wording"
)

// latencyWords say what the table of latency is.
const latencyWords = "Latency is from the stamp in each frame, right before it is sent, to the receiving port; each time is at most 1 % too long. The generator's own part is in it and is never subtracted: " +
	"give the Report of the same test with a Loopback beside this one, and it stands below each row."

// shares are those of the table of latency.
var shares = []string{"p50", "p99", "p99.9", "p99.99", "p99.999", "all"}

// latencyTable has how long frames were under way, by direction and frame size, and how many came twice or late; below each row is what a Loopback in the same document had for such frames. What no row has to tell has
// no column. nil: nobody knows it.
func latencyTable(r *report.Report, all []*report.Report) *table {
	heads := []string{"latency of", "frames"}
	for _, s := range shares {
		heads = append(heads, cmp.Or(map[string]string{"all": "longest"}[s], s))
	}
	t := newTable(1, append(heads, "twice", "late")...)
	for _, d := range r.Result.Directions {
		for _, l := range d.Latency {
			t.rows = append(t.rows, latencyRow(wording.Direction(d.From, d.To)+", "+sizeText(l), l))
			for _, loop := range loopbacksOf(r, all) {
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
	var out table
	out.rows = make([][]string, len(t.rows))
	for i, c := range t.columns {
		if !slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != "" }) {
			continue
		}
		out.columns = append(out.columns, c)
		for k, row := range t.rows {
			out.rows[k] = append(out.rows[k], row[i])
		}
	}
	return &out
}

func sizeText(l report.Latency) string {
	if l.FrameSize == 0 {
		return "any size"
	}
	return strconv.FormatInt(l.FrameSize, 10) + " bytes"
}

// loopbacksOf are the Reports beside a device's in which the generator measured itself.
func loopbacksOf(r *report.Report, all []*report.Report) (out []*report.Report) {
	if report.PlanOf(r).DUT.Loopback() {
		return nil
	}
	for _, other := range all {
		if other != r && report.PlanOf(other).DUT.Loopback() {
			out = append(out, other)
		}
	}
	return out
}

func ofLoopback(loop *report.Report, like report.Measured, size int64) (rows [][]string) {
	for _, d := range loop.Result.Directions {
		for _, l := range d.Latency {
			if d.From == like.From && d.To == like.To && l.FrameSize == size {
				rows = append(rows, latencyRow("· a cable, at "+wording.PacketRate(d.Offered.PacketsPerSecond), l))
			}
		}
	}
	return rows
}

func latencyRow(name string, l report.Latency) []string {
	row := []string{name, wording.Count(l.Frames)}
	for _, s := range shares {
		p, told := l.Of(s)
		switch {
		case !told:
			row = append(row, "")
		case p.Open:
			row = append(row, "over "+wording.Nanoseconds(p.Nanoseconds))
		default:
			row = append(row, wording.Nanoseconds(p.Nanoseconds))
		}
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

// latencyWarnings tell what isn't known of frames that were to be timed, and what came back that bears no stamp.
func latencyWarnings(r *report.Report) []string {
	var out []string
	for _, u := range r.Untimed {
		out = append(out, fmt.Sprintf("latency is not known of %s: %s", wording.Direction(u.From, u.To), u.Reason))
	}
	for _, d := range r.Result.Directions {
		if d.Unstamped > 0 {
			out = append(out, fmt.Sprintf("%s frames came back from %s without a stamp of ours: they are other people's, or the device has changed the end of the frame, and they count as received", wording.Count(d.Unstamped), wording.Direction(d.From, d.To)))
		}
		merged := func(l report.Latency) bool { return l.Merged > 0 }
		if i := slices.IndexFunc(d.Latency, merged); i >= 0 {
			out = append(out, fmt.Sprintf("not every frame of %s is timed: the kernel had merged %s of %d bytes with others before anybody saw their stamps; turn GRO off at the generator's port (ethtool -K PORT gro off)",
				wording.Direction(d.From, d.To), wording.Count(d.Latency[i].Merged), d.Latency[i].FrameSize))
		}
		for _, l := range d.Latency {
			if l.Stale > 0 {
				out = append(out, fmt.Sprintf("%s frames of %s came so late, more than 960 behind, that nobody knows whether they had come before", wording.Count(l.Stale), wording.Direction(d.From, d.To)))
			}
		}
	}
	return out
}
