package render

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/answer"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func TestWhatPortsDoNotTellIsToldOnce(t *testing.T) {
	const (
		drops  = "receive drops are invisible: the generators' ports on "
		pauses = "pause frames are invisible: the generators' ports on "
	)
	ports := func(r *report.Report, change func(*report.GeneratorPort)) {
		r.Generators = append(r.Generators, r.Generators[0]) // a second replica with the same ports
		for g := range r.Generators {
			r.Generators[g].Ports = append([]report.GeneratorPort{}, r.Generators[g].Ports...)
			for i := range r.Generators[g].Ports {
				p := &r.Generators[g].Ports[i]
				p.Driver, p.FlowControl, p.ReceiveDrops, p.PauseFrames = "net_virtio", "unknown", "counted", "counted"
				change(p)
			}
		}
	}
	for name, tt := range map[string]struct {
		change func(*report.GeneratorPort)
		want   []string
	}{
		"all is counted":                 {func(*report.GeneratorPort) {}, nil},
		"an end of sessions":             {func(p *report.GeneratorPort) { p.ReceiveDrops, p.PauseFrames = "", "" }, nil},
		"a driver that counts no drops":  {func(p *report.GeneratorPort) { p.ReceiveDrops = "hidden" }, []string{drops + "west, east (net_virtio) do not tell how many frames they had no room for"}},
		"a driver that nobody looked at": {func(p *report.GeneratorPort) { p.ReceiveDrops = "unknown" }, []string{drops + "west, east (net_virtio) may not tell"}},
		"pauses":                         {func(p *report.GeneratorPort) { p.PauseFrames = "unknown" }, []string{pauses + "west, east (net_virtio) may not tell of any"}},
		"pauses that the port ignores":   {func(p *report.GeneratorPort) { p.PauseFrames, p.FlowControl = "unknown", "off" }, nil},
		"there can be no pause frames":   {func(p *report.GeneratorPort) { p.PauseFrames = "none" }, nil},
		"both, on one link": {func(p *report.GeneratorPort) {
			if p.Link == "east" {
				p.ReceiveDrops, p.PauseFrames = "hidden", "hidden"
			}
		}, []string{drops + "east (", pauses + "east ("}},
	} {
		t.Run(name, func(t *testing.T) {
			r := reporttest.Measured()
			r.Plan.Directions = []plan.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}}
			ports(r, tt.change)
			got := visibilityWarnings(r)
			if len(got) != len(tt.want) {
				t.Fatalf("%q, want %q", got, tt.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tt.want[i]) {
					t.Errorf("%q, want %q…", got[i], tt.want[i])
				}
			}
		})
	}
}

func TestALimitBehindHiddenDropsIsNotTheDevicesAlone(t *testing.T) {
	r := reporttest.Measured()
	r.Answer.Saturated, r.Answer.Reason = true, report.LossAboveLimit
	for i := range r.Generators[0].Ports {
		r.Generators[0].Ports[i].ReceiveDrops = "hidden"
	}
	if got := answer.Sentence(r); !strings.Contains(got, "by the device or by ports of the generator that don't count what they drop") {
		t.Error(got)
	}
	if p := generatorPort(r, "east"); p.ReceiveDrops != "hidden" {
		t.Errorf("the environment says %q", p.ReceiveDrops)
	}
}

func generatorPort(r *report.Report, link string) (found report.PortEnvironment) {
	for _, p := range report.EnvironmentOf(r).Generators[0].Ports {
		if p.Link == link {
			found = p
		}
	}
	return found
}

func TestDamagedFramesAndThoseThatNeverLeftAreTold(t *testing.T) {
	r := reporttest.Measured()
	r.Totals = []report.Total{{From: "west", To: "east", SendDrops: 1200, DamagedFrames: 37, Drained: true}}
	got := strings.Join(totalWarnings(r), "\n")
	for _, want := range []string{"up to 1,200 of the frames that the generator's ports counted as sent from west→east never left them", "37 frames came damaged from west→east, and count as lost"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}
