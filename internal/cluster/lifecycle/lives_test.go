package lifecycle_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden traces anew")

const reference = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: first}
spec:
  dut: {type: Reference}
  links:
  - {name: west, network: west, lineRate: 1gbps}
  - {name: east, network: east, lineRate: 1gbps}
  procedure:
    ramp: {warmupDuration: 2s, targetRate: 50kpps, rampDuration: 12s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 5s, holdDuration: 0s}
  criteria: [{name: rate, metric: PacketsPerSecond, min: "9900"}]
  activeDeadline: 10m
`

// withLines adds lines to a spec.
func withLines(spec string, lines ...string) string {
	return spec + "  " + strings.Join(lines, "\n  ") + "\n"
}

// life is a test's whole life, played by a script.
type life struct {
	name   string
	spec   string
	script func(*world)
}

// toRun brings a test to where its runner runs.
func (w *world) toRun() string {
	w.t.Helper()
	w.settle()
	w.schedule()
	w.settle()
	w.run()
	w.settle()
	r := w.runner()
	w.settle()
	return r
}

// measure is a minute of a run.
func (w *world) measure(runner string) {
	for i, phase := range []string{"Preparing", "ProvingPath", "WarmUp", "Ramping", "Ramping", "Ramping", "Ramping",
		"Ramping", "Ramping", "Refining", "Confirming", "Draining"} {
		w.progress(runner, phase, i*8)
		w.settle()
		w.pass(5 * time.Second)
	}
}

func TestLives(t *testing.T) {
	for _, l := range lives() {
		t.Run(l.name, func(t *testing.T) {
			golden(t, l.name, undisturbed(t, l).trace)
		})
	}
}

func TestEachTraceIsALifes(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "lives", "*.golden"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(files), len(lives()); got != want {
		t.Errorf("%d golden traces of %d lives", got, want)
	}
}

// A run of a minute may cost 60 requests in all. The runner's own are 13 of progress, two of the Report and one
// to look at what is there.
func TestAMinutesLifeIsWithinItsBudget(t *testing.T) {
	const runners, budget = 16, 60
	w := undisturbed(t, lives()[0]).world
	if got := w.writes + w.creates + w.deletes + w.tries + w.reads + w.events; got+runners > budget {
		t.Errorf("%d requests of the operator's and %d of the runner's are more than %d", got, runners, budget)
	}
}

// closing are the last lines of a trace, with the life's sum.
func (w *world) closing() (lines []string) {
	if w.test == nil {
		lines = append(lines, "the LoadTest is gone")
	}
	sum := fmt.Sprintf("%d status writes, %d creates, %d deletes, %d dry runs, %d reports read, %d events", w.writes,
		w.creates, w.deletes, w.tries, w.reads, w.events)
	if w.finalizes > 0 {
		sum += fmt.Sprintf(", %d finalizer writes", w.finalizes)
	}
	return append(lines, sum)
}

func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	file := filepath.Join("testdata", "lives", strings.NewReplacer(" ", "-", "'", "").Replace(name)+".golden")
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the trace is another one (go test ./internal/cluster/lifecycle -update writes it anew):\n%s\nnot\n%s",
			got, want)
	}
}
