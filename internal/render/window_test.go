package render

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/report"
)

// A window above the limit in one direction can't at once be the proof of the limit and say nothing of the device.
func TestOnlyWindowsThatDecideNothingSayNothing(t *testing.T) {
	half := report.Window{Number: 9, Quality: report.Invalid, Directions: []report.Measured{{Quality: report.Invalid}, {Quality: report.Lossy}}}
	none := report.Window{Number: 11, Quality: report.Invalid, Reason: "pause frames on east", Directions: []report.Measured{{Quality: report.Invalid}, {Quality: report.Invalid}}}
	for name, c := range map[string]struct {
		windows []report.Window
		want    string
	}{
		"lossy the one way":          {[]report.Window{half}, ""},
		"nothing in either way":      {[]report.Window{half, none}, "1 of 2 windows says nothing of the device; the first is window 11: pause frames on east"},
		"good the one way, and both": {[]report.Window{{Number: 1, Quality: report.Invalid, Directions: []report.Measured{{Quality: report.Good}, {Quality: report.Invalid}}}, none, half}, "2 of 3 windows say nothing of the device; the first is window 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(windowWarnings(&report.Report{Windows: c.windows}), "\n"); !strings.HasPrefix(got, c.want) || got != "" && c.want == "" {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
