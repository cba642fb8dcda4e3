package render

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func TestFiguresThatCanNotBeAreToldAsTheyAre(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*report.Report, *report.Direction)
		want   string
	}{
		"a full line":              {func(_ *report.Report, d *report.Direction) { d.LineRatePercent = units.Hundred + 9_000_000 }, ""},
		"more than a line":         {func(_ *report.Report, d *report.Direction) { d.LineRatePercent = units.Hundred * 1042 / 1000 }, "more than a line can carry: 104.20% of line rate came back from west→east; the line rate of east, "},
		"ports that leave out FCS": {func(_ *report.Report, d *report.Direction) { d.Sent.Packets, d.MiscountedBytes = 1000, -4000 }, "the ports that send west→east count 4.0 bytes less a frame than the profile's frames have"},
		"longer frames":            {func(_ *report.Report, d *report.Direction) { d.Returned.Packets, d.ResizedBytes = 1000, 4000 }, "frames came back 4.0 bytes longer from west→east than they were sent, on average: a VLAN tag was added"},
		"of a tunnel": {func(r *report.Report, d *report.Direction) {
			d.Returned.Packets, d.ResizedBytes, r.Plan.DUT.Forwarding = 1000, 50_000, plan.AsConfigured
		}, "frames came back 50.0 bytes longer from west→east than they were sent, on average: the device wraps"},
	} {
		t.Run(name, func(t *testing.T) {
			r := reporttest.Measured()
			tt.change(r, &r.Answer.Directions[0])
			got := implausibleWarnings(r)
			if tt.want == "" && len(got) > 0 || tt.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tt.want)) {
				t.Errorf("%q, want %q…", got, tt.want)
			}
		})
	}
}

func TestFramesThatCameTwiceAreTold(t *testing.T) {
	r := reporttest.Measured()
	if got := numberedWarnings(r); len(got) > 0 {
		t.Errorf("without numbers: %q", got)
	}
	r.Numbered = []report.Numbered{{Generator: "g0", FlowID: 7, Sent: 1000, Received: 1000, Twice: 10, Missing: 10}, {Generator: "g1", FlowID: 8, Sent: 2000, Received: 2000, OutOfOrder: 5}}
	got := strings.Join(numberedWarnings(r), "\n")
	for _, want := range []string{"frames came twice: 10 of 3,000 that carry sequence numbers; as large a share of loss may be hidden", "out of order: 5 of 3,000"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}
