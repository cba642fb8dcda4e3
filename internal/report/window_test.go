package report

import (
	"strings"
	"testing"
)

// A window above the limit in one direction can't at once be the proof of the limit and say nothing of the device.
func TestOnlyWindowsThatDecideNothingSayNothing(t *testing.T) {
	half := Window{Number: 9, Quality: Invalid, Directions: []Measured{{Quality: Invalid}, {Quality: Lossy}}}
	none := Window{Number: 11, Quality: Invalid, Reason: "pause frames on east", Directions: []Measured{{Quality: Invalid}, {Quality: Invalid}}}
	for name, c := range map[string]struct {
		windows []Window
		want    string
	}{
		"lossy the one way":          {[]Window{half}, ""},
		"nothing in either way":      {[]Window{half, none}, "1 of 2 windows says nothing of the device; the first is window 11: pause frames on east"},
		"good the one way, and both": {[]Window{{Number: 1, Quality: Invalid, Directions: []Measured{{Quality: Good}, {Quality: Invalid}}}, none, half}, "2 of 3 windows say nothing of the device; the first is window 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(windowWarnings(&Report{Windows: c.windows}), "\n"); !strings.HasPrefix(got, c.want) || got != "" && c.want == "" {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
