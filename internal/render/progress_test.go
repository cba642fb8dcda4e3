package render_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
)

func TestASentenceSaysWhichDirectionVaries(t *testing.T) {
	for want, p := range map[string]runner.Progress{
		"ramping west→east 3/20: asked 3.00 kpps, about 40s left": {Phase: report.Ramping, Step: 3, Steps: 20, Varied: "west→east", IntendedPacketsPerSecond: 3000, Remaining: 40 * time.Second},
		"ramping 3/20: asked 6.00 kpps, about 40s left":           {Phase: report.Ramping, Step: 3, Steps: 20, IntendedPacketsPerSecond: 6000, Remaining: 40 * time.Second},
		"holding all at once: asked 14.00 kpps":                   {Phase: report.AllAtOnce, IntendedPacketsPerSecond: 14_000},
		"holding: asked 4.00 kpps, sent 3.00 kpps, received 2.00 kpps, lost 33.33 %": {Phase: report.Hold, IntendedPacketsPerSecond: 4000, OfferedPacketsPerSecond: 3000,
			ReceivedPacketsPerSecond: 2000, LossRatio: units.One / 3},
		"draining": {Phase: runner.Draining, Varied: "west→east"},
	} {
		if got := render.ProgressSentence(p); got != want {
			t.Errorf("%+v reads %q, want %q", p, got, want)
		}
	}
}
