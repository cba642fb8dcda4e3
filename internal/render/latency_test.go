package render

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// withLatency is a Report whose first direction has frames that were timed: half within so many nanoseconds, and
// all within twice that.
func withLatency(nanoseconds int64) *report.Report {
	r := reporttest.Measured()
	r.Answer.Directions[0].Latency = []report.Latency{{FrameSize: 64, Frames: 28_000, Duplicates: 3, Late: 1, Within: []report.Percentile{{Share: "p50", Nanoseconds: nanoseconds}, {Share: "all", Nanoseconds: 2 * nanoseconds}}},
		{Frames: 10, Within: []report.Percentile{{Share: "p50", Nanoseconds: 17_179_869_184, Open: true}}}}
	return r
}

func TestLatencyTable(t *testing.T) {
	r, loop := withLatency(3520), withLatency(850)
	loop.Plan.DUT.Type = "Loopback"
	name := r.Answer.Directions[0].Name()
	device := []string{name + ", 64 bytes", "28,000", "3.52 µs", "7.04 µs", "3", "1"}
	open := []string{name + ", any size", "10", "over 17.2 s", "", "", ""}
	table := latencyTable(r, []*report.Report{r})
	if got := table.rows; !reflect.DeepEqual(got, [][]string{device, open}) {
		t.Errorf("%q", got)
	}
	if got := table.grid(combined, nil).header; !reflect.DeepEqual(got, []string{"latency of", "frames", "p50", "longest", "twice", "late"}) {
		t.Errorf("columns %q", got)
	}
	got := latencyTable(r, []*report.Report{r, loop}).rows
	if len(got) != 4 || !strings.HasPrefix(got[1][0], "· a cable, at ") || got[1][2] != "850 ns" || !reflect.DeepEqual(got[0], device) {
		t.Errorf("beside a Loopback: %q", got)
	}
	if rows := latencyTable(loop, []*report.Report{r, loop}).rows; len(rows) != 2 {
		t.Errorf("a Loopback stands beside itself: %q", rows)
	}
	if got := latencyTable(reporttest.Measured(), nil); got != nil {
		t.Errorf("frames without stamps have a table: %q", got.rows)
	}
}

func TestLatencyWarnings(t *testing.T) {
	r := withLatency(1000)
	if got := latencyWarnings(r); len(got) != 0 {
		t.Errorf("%q", got)
	}
	d := &r.Answer.Directions[0]
	r.Untimed = []report.Untimed{{Generator: "g0", From: d.From, To: d.To, Reason: "it receives by AF_PACKET"}}
	d.Unstamped, d.Latency[0].Merged, d.Latency[0].Uncounted, d.Latency[0].Stale = 7, 5, 4, 2
	for i := range r.Generators[0].Ports {
		r.Generators[0].Ports[i].Name, r.Generators[0].Ports[i].ReceiveQueues = "eth"+strconv.Itoa(i), 4
	}
	got := strings.Join(latencyWarnings(r), "\n")
	for _, want := range []string{"latency of " + d.Name() + " was not measured: it receives by AF_PACKET", "7 frames came back from " + d.Name() + " without a stamp", "5 of 28,005 frames of " + d.Name() + ", 64 bytes, have no latency",
		"4 of 28,005 frames", "2 frames of " + d.Name() + ", 64 bytes, came more than 960", "receives by 4 queues"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q says nothing of %q", got, want)
		}
	}
	if rows := latencyTable(r, nil).rows; rows[0][1] != "27,996 of 28,005" {
		t.Errorf("%q", rows)
	}
	d.Latency[0].Late, d.Latency[0].Stale = 0, 0
	if got := strings.Join(latencyWarnings(r), "\n"); strings.Contains(got, "queues") {
		t.Errorf("nothing came late, and %q", got)
	}
}
