package analysis

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// heldOneAfterAnother are windows of two seconds of one direction, without a pause, that were offered and carried
// so many packets per second.
func heldOneAfterAnother(loads ...[2]int64) *report.Report {
	r := &report.Report{Plan: &plan.Plan{Directions: []plan.Direction{{From: "west", To: "east"}}, Procedure: plan.Procedure{MaxLossRatio: units.One / 1000}}}
	const lasts = 2 * time.Second
	var sent, came int64
	sample := func(at time.Duration) {
		flow := func(n int64) units.Traffic { return units.Traffic{Packets: n, Bytes: 100 * n} }
		r.Samples = append(r.Samples, report.Sample{Time: plan.Duration(at), Directions: []report.SampleDirection{{Sent: flow(sent), Returned: flow(came)}}})
	}
	sample(0)
	for n, l := range loads {
		d := report.Direction{From: "west", To: "east", Quality: report.Good, Offered: report.Flow{PacketsPerSecond: l[0]}, Received: report.Flow{PacketsPerSecond: l[1]}, LossRatio: units.RatioOf(l[0]-l[1], l[0])}
		if l[1] < l[0] {
			d.Quality = report.Lossy
		}
		r.Windows = append(r.Windows, report.Window{Number: n + 1, Phase: report.Refine, Quality: d.Quality, Start: plan.Duration(time.Duration(n) * lasts), Duration: plan.Duration(lasts), Directions: []report.Direction{d}})
		sent, came = sent+2*l[0], came+2*l[1]
		sample(time.Duration(n+1) * lasts)
	}
	return r
}

func TestWhatWindowsOfOneLoadSayOfEachOther(t *testing.T) {
	for name, c := range map[string]struct {
		loads  [][2]int64
		kind   report.ContradictionKind
		frames int64 // of a bucket
		says   string
	}{
		"loss after overloads alone":      {[][2]int64{{12_000, 12_000}, {20_000, 10_000}, {12_000, 10_000}, {5_000, 5_000}, {12_000, 12_000}, {20_000, 10_000}, {12_000, 10_000}}, report.LoadBefore, 4006, "as a policer does whose bucket holds 4,006 frames"},
		"loss now and then":               {[][2]int64{{12_000, 12_000}, {12_000, 10_000}, {12_000, 12_000}, {12_000, 10_000}, {12_000, 10_000}, {12_000, 12_000}}, report.NowAndThen, 0, "in 3 stretches"},
		"all loss comes last":             {[][2]int64{{12_000, 12_000}, {9_000, 9_000}, {12_000, 10_000}, {12_000, 10_000}}, report.Slower, 0, "or became slower"},
		"all loss comes first":            {[][2]int64{{12_000, 10_000}, {12_000, 10_000}, {9_000, 9_000}, {12_000, 12_000}}, report.Faster, 0, "the device carried more later"},
		"a limit":                         {[][2]int64{{12_000, 12_000}, {13_000, 12_500}, {12_600, 12_500}, {13_000, 12_500}, {12_400, 12_400}}, "", 0, ""},
		"a single loss":                   {[][2]int64{{12_000, 12_000}, {12_000, 10_000}, {12_000, 12_000}}, "", 0, ""},
		"less than one in a hundred":      {[][2]int64{{12_000, 12_000}, {12_000, 11_900}, {12_000, 11_900}}, "", 0, ""},
		"loss of less, and of that alone": {[][2]int64{{12_000, 12_000}, {8_000, 7_000}, {12_000, 12_000}, {8_000, 7_000}}, "", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := heldOneAfterAnother(c.loads...)
			r.Contradictions = Contradictions(r)
			if c.kind == "" {
				if len(r.Contradictions) > 0 {
					t.Errorf("%+v", r.Contradictions)
				}
				return
			}
			if len(r.Contradictions) != 1 || r.Contradictions[0].Kind != c.kind || r.Contradictions[0].Burst.Packets != c.frames {
				t.Fatalf("%+v", r.Contradictions)
			}
			if said := (report.Answer{Evidence: contradictionEvidence(r)}).EvidenceText(); !strings.Contains(said, c.says) {
				t.Error(said)
			}
		})
	}
}
