package suite

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// A device that failed in the middle of its runs has figures, and no cell counts them.
func TestACellCountsNoRunThatWasNotHeld(t *testing.T) {
	const three = "template: {spec: {}}\nrepetitions: 3\ncriteria: [{name: fast, metric: PacketsPerSecond, min: " +
		"\"1000\"}]\n"
	for name, c := range map[string]struct {
		away func(string) bool
		want string
	}{
		"none was held": {func(string) bool { return true }, string(report.Undecided)},
		"all were held": {func(string) bool { return false }, string(report.Passed)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, three)
			w.away = c.away
			w.live(newRandom(4))
			rows := w.suite.Status.Table
			if len(rows) != 1 || string(rows[0].Verdict) != c.want || c.want == string(report.Undecided) &&
				!strings.Contains(rows[0].Message, "Not held: ") {
				t.Errorf("%+v, want %s", rows, c.want)
			}
		})
	}
}
