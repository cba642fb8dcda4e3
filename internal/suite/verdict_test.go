package suite

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// releases are two of them and the one that they are compared with, by two kinds of traffic.
const releases = `
template: {spec: {links: [{name: west}, {name: east}], dut: {type: Reference}}}
axes:
- {name: image, values: [{name: main}, {name: same}, {name: slow}]}
- {name: frames, values: [{name: imix}, {name: 64b}]}
baseline: {axis: image, value: main}
criteria: [{name: no-slower, metric: PacketsPerSecond, maxRegression: 2%}]
`

func TestCellsAreComparedWithThoseOfTheBaseline(t *testing.T) {
	for name, c := range map[string]struct {
		spec string
		want map[string]string // of cells: verdict and part of the message
	}{
		"five runs tell": {releases + "repetitions: 5\n", map[string]string{
			"main-imix": "Passed it is the baseline itself", "same-imix": "Passed the baseline is Cell main-imix", "slow-imix": "Failed 5.00 % less",
			"main-64b": "Passed", "same-64b": "Passed the baseline is Cell main-64b", "slow-64b": "Failed the baseline is Cell main-64b",
		}},
		"one run doesn't": {releases, map[string]string{
			"main-imix": "Passed", "same-imix": "Undecided about 5 runs of each would do", "slow-imix": "Undecided too few runs to tell it from chance",
		}},
		"a baseline that is excluded": {releases + "repetitions: 5\nexclude: [{image: main, frames: imix}]\n", map[string]string{
			"same-imix": "Undecided Cell image main: it is excluded from the suite", "slow-64b": "Failed",
		}},
		"without a baseline": {strings.Replace(releases, "baseline: {axis: image, value: main}", "", 1), map[string]string{
			"main-imix": "Undecided there is no baseline", "slow-imix": "Undecided there is no baseline",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.spec)
			w.live(newRandom(9))
			rows := map[string]v1alpha1.SuiteRow{}
			for _, row := range w.suite.Status.Table {
				rows[row.Cell] = row
			}
			for cell, want := range c.want {
				verdict, words, _ := strings.Cut(want, " ")
				if got := rows[cell]; string(got.Verdict) != verdict || !strings.Contains(got.Message, words) {
					t.Errorf("%s: %s: %s, want %s", cell, got.Verdict, got.Message, want)
				}
			}
		})
	}
}
