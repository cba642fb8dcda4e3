package suite

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// manyCells are the axes of a suite with rows times columns cells.
func manyCells(rows, columns int) string {
	var axes strings.Builder
	axes.WriteString("template: {spec: {}}\nparallelism: 200\naxes:\n")
	for axis, values := range []int{rows, columns} {
		fmt.Fprintf(&axes, "- name: axis%d\n  values:\n", axis)
		for value := range values {
			fmt.Fprintf(&axes, "  - {name: value-%d-of-axis-%d}\n", value, axis)
		}
	}
	return axes.String()
}

// storeAll says that all runs are stored.
func (w *world) storeAll() {
	for name := range w.runs {
		w.stored[name] = 0
	}
}

// BenchmarkDecide measures one decision for a suite of 1 000 cells, half of which are measured. It does so
// while nothing is due, when counts and table are, when the report is, and when the suite is complete and
// judged.
func BenchmarkDecide(b *testing.B) {
	for name, until := range map[string]struct {
		measured int
		due      func(*world, *Observed)
	}{
		"nothing is due": {500, func(w *world, o *Observed) {
			w.suite.Status.UpdateTime.Time, o.StoredAt = w.now,
				w.now
		}},
		"the status is": {500, func(_ *world, o *Observed) { o.StoredAt = o.Now }},
		"the report is": {500, func(w *world, o *Observed) { o.Unreported = true; w.storeAll() }},
		"it is over":    {1000, func(w *world, _ *Observed) { w.storeAll() }},
	} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b, manyCells(20, 50)+
				"criteria: [{name: no-worse, metric: PacketsPerSecond, maxRegression: \"2%\"}]\nbaseline: {axis: "+
				"axis0, value: value-0-of-axis-0}\n")
			for range 400 {
				w.pass()
				for name := range w.tests {
					if _, ended := completion(w.tests[name]); !ended && len(w.runs) < until.measured {
						w.end(name)
						w.runs[name] = RunOf(w.tests[name], 1, 1, reportOf(w.tests[name]), "")
					}
				}
				if len(w.runs) >= until.measured {
					break
				}
			}
			w.now = w.now.Add(time.Hour)
			o := Observed{Suite: w.suite, Matrix: w.matrix, Now: w.now, Checked: true, Tests: w.tests, Runs: w.runs,
				Stored: w.stored, StoredAt: w.storedAt}
			until.due(w, &o)
			for b.Loop() {
				if d := Decide(o); d.Rule == "testsEnded" || d.Store {
					b.Fatal(d.Rule)
				}
			}
		})
	}
}
