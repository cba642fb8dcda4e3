package figures_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
)

// equalTotals is a run of 126 702 frames of two sizes, of which all came back. Its window's edges leave 8 of them open.
func equalTotals() *report.Report {
	all, half := units.Traffic{Packets: 126_702, Bytes: 63_351 * (64 + 570)}, units.Traffic{Packets: 60_000, Bytes: 30_000 * (64 + 570)}
	w := report.Window{Evidence: &report.Evidence{Directions: []report.DirectionEvidence{{}}}, Directions: []report.Direction{{From: "west", To: "east", Sent: half, Returned: half, EdgeFrames: 8, LossRatioMax: units.RatioOf(8, 60_000)}}}
	r := &report.Report{
		Plan: &plan.Plan{Generators: []plan.Generator{{Ports: []plan.GeneratorPort{{Link: "west", Streams: []stream.Stream{
			{Enabled: true, Packet: stream.Packet{Binary: make([]byte, 60)}}, {Enabled: true, Packet: stream.Packet{Binary: make([]byte, 566)}}}}}}}},
		Totals:  []report.Total{{From: "west", To: "east", Sent: all, Returned: all, Drained: true}},
		Silence: []report.Silence{{Link: "west", Received: units.Traffic{Packets: 9}}, {Link: "east"}},
		Path:    []report.PathCheck{{Repeats: &report.Repeats{Sent: 600, Received: 600}}},
		Windows: []report.Window{w},
		Answer:  report.Answer{Measured: true, Directions: w.Directions, Total: &report.Sum{LossRatioMax: units.RatioOf(8, 60_000)}},
	}
	return r
}

// returned changes what came back in all.
func returned(packets, bytes int64) func(*report.Report) {
	return func(r *report.Report) {
		t := &r.Totals[0].Returned
		*t = t.Add(units.Traffic{Packets: packets, Bytes: bytes})
	}
}

func TestTotalsOfTheWholeRunBoundTheLossOfEachDirection(t *testing.T) {
	const unknown = -1
	for name, c := range map[string]struct {
		change func(*report.Report)
		want   int64
	}{
		"all came back":                    {func(*report.Report) {}, 0},
		"three are missing":                {returned(-3, -64-64-570), 3},
		"all came back longer":             {returned(0, 4*126_702), 0},
		"the counters did not stand still": {func(r *report.Report) { r.Totals[0].Drained = false }, unknown},
		"more came back":                   {returned(1, 64), unknown},
		"another's stands for a lost one":  {returned(0, 64-570), unknown},
		"others' stand for some lost ones": {returned(-3, -64), unknown},
		"others were heard before":         {func(r *report.Report) { r.Silence[1].Received.Packets = 1 }, unknown},
		"nobody listened":                  {func(r *report.Report) { r.Silence = nil }, unknown},
		"a frame with a number came twice": {func(r *report.Report) { r.Numbered = []report.Numbered{{Sent: 5, Received: 5, Twice: 1, Missing: 1}} }, unknown},
		"a frame of the path came twice":   {func(r *report.Report) { r.Path[0].Repeats.Twice = 1 }, unknown},
		"a window got more back":           {func(r *report.Report) { r.Windows[0].Directions[0].Returned.Packets += 9 }, unknown},
		"a window counted more than the run": {func(r *report.Report) {
			r.Totals[0].Sent, r.Totals[0].Returned = units.Traffic{Packets: 100, Bytes: 6400}, units.Traffic{Packets: 100, Bytes: 6400}
		}, unknown},
		"there are no totals": {func(r *report.Report) { r.Totals = nil }, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			r := equalTotals()
			c.change(r)
			lost, known := figures.LostInRun(r, "west→east")
			if !known {
				lost = unknown
			}
			if lost != c.want {
				t.Errorf("at most %d were lost, want %d", lost, c.want)
			}
			d := r.Answer.Directions[0]
			want := d.MostLost()
			if c.want >= 0 {
				want = min(want, units.RatioOf(c.want, d.Sent.Packets))
			}
			if got, together := figures.MostLost(r, d), figures.MostLostTogether(r); got != want || together != want {
				t.Errorf("at most %s, together %s, want %s", got, together, want)
			}
		})
	}
}

// The counters of a window that surely lost frames are believed, and not totals that contradict them.
func TestTotalsHideNoLossThatAWindowShows(t *testing.T) {
	r := equalTotals()
	d := &r.Windows[0].Directions[0]
	d.Returned, d.EdgeFrames, d.LossRatio, d.LossRatioMin, d.LossRatioMax = d.Returned.Sub(units.Traffic{Packets: 50, Bytes: 3200}), 8, units.RatioOf(50, 60_000), units.RatioOf(42, 60_000), units.RatioOf(58, 60_000)
	if got := figures.MostLost(r, *d); got != d.MostLost() {
		t.Errorf("at most %s were lost, want %s", got, d.MostLost())
	}
}
