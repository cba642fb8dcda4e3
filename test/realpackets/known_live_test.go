//go:build full

package realpackets

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/forwarder"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/test/calm"
	"github.com/linerate-dev/linerate/test/impaired"
	"github.com/linerate-dev/linerate/test/published"
	"github.com/linerate-dev/linerate/test/truth"
)

// liveAnswer is an impaired device that a ramp of live frames must find the limit of. Only the device is told what it is.
type liveAnswer struct {
	about    int64 // the limit is drawn within 3 % of it, in packets/s and direction
	bothWays bool
	again    int // which of several such; 0: the only one
	limit    int64
	target   string
}

// liveNear is how far a figure may be from the limit.
const liveNear = 0.005

func liveAnswers() (list []liveAnswer) {
	for _, a := range []liveAnswer{{about: 2_000, target: "8kpps"}, {about: 10_000, target: "40kpps"}, {about: 50_000, target: "150kpps"}, {about: 300_000, target: "500kpps"}} {
		for _, a.bothWays = range waysHere() {
			list = append(list, a)
		}
	}
	for i := range 20 {
		ways := waysHere()
		list = append(list, liveAnswer{about: 10_000, bothWays: ways[len(ways)-1], again: i + 1, target: "40kpps"})
	}
	for i := range list {
		a := &list[i]
		a.limit = a.about - a.about*3/100 + rand.Int64N(a.about*6/100)
	}
	return list
}

// waysHere says whether both directions can be sent at once: each takes a processor for itself, the far end of its cable another, and all else one. On fewer the generator's own requests go unanswered, and
// the run says so.
func waysHere() []bool {
	if runtime.NumCPU() < 5 {
		return []bool{false}
	}
	return []bool{false, true}
}

func (a liveAnswer) name() string {
	ways := map[bool]string{false: "one way", true: "both ways at once"}[a.bothWays]
	if a.again > 0 {
		return fmt.Sprintf("about %d packets/s, %s, %d of 20", a.about, ways, a.again)
	}
	return fmt.Sprintf("about %d packets/s, %s", a.about, ways)
}

func (a liveAnswer) yaml() string {
	directions := ""
	if !a.bothWays {
		directions = ", directions: [{from: west, to: east}]"
	}
	return fmt.Sprintf(`apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: known-answer}
spec:
  dut: {type: Device, forwarding: L2}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64%s}
  procedure:
    ramp: {warmupDuration: 2s, targetRate: %s, rampDuration: 12s, stepDuration: 1s, settle: 300ms, confirmDuration: 5s, holdDuration: 0s, stopAtSaturation: true}
`, directions, a.target)
}

// measure has the kernel send, whatever else it would take on so few processors.
func (a liveAnswer) measure(t *testing.T) *report.Report {
	t.Helper()
	r := newRig(t, 2)
	in(t, r.device, func() error { return errors.Join(forwarder.TakeXDP("d0"), forwarder.TakeXDP("d1")) })
	i := impaired.Impairment{Limit: a.limit, Saves: savesUp}
	r.impair(t, impaired.Spec{Ports: [2]impaired.Impairment{i, i}, InKernel: a.about > 20_000})
	return r.measure(t, a.yaml(), "--path", "live")
}

// faults are claims that aren't so; missing is what a calm machine has to find and this one didn't.
func (a liveAnswer) faults(r *report.Report) (faults, missing []string) {
	if r.Ending != report.Completed {
		return nil, []string{r.Message}
	}
	for _, p := range r.Generators[0].Ports {
		if sends := p.Name == "west" || a.bothWays; sends && !strings.HasPrefix(p.Path, "sends by live frames") {
			faults = append(faults, fmt.Sprintf("%s %s", p.Name, p.Path))
		}
	}
	for _, name := range []string{there, back} {
		if name == back && !a.bothWays {
			continue
		}
		at := slices.IndexFunc(r.Result.Directions, func(m report.Direction) bool { return truth.Direction(m.From, m.To) == name })
		if at < 0 {
			missing = append(missing, name+": no figure: "+r.Result.Message)
			continue
		}
		d := r.Result.Directions[at]
		switch off := a.off(d); {
		case off > liveNear || saturated(r, d) && off < -liveNear:
			faults = append(faults, fmt.Sprintf("%s: %d, %+.2f %% off", name, d.Received.PacketsPerSecond, 100*off))
		case !saturated(r, d) && (off < -liveNear || d.Limit == nil || d.Limit.Reason != report.OtherDirection):
			missing = append(missing, fmt.Sprintf("%s: a lower bound, %d: %s", name, d.Received.PacketsPerSecond, r.Result.Message))
		}
	}
	return faults, missing
}

func (a liveAnswer) off(d report.Direction) float64 {
	return float64(d.Received.PacketsPerSecond-a.limit) / float64(a.limit)
}

// TestKnownAnswersByLiveFrames: what the kernel sends finds limits that nobody but the device knows, within 0.5 %, both ways at once where there are processors for that. Each row stands in the table, also one without an answer.
func TestKnownAnswersByLiveFrames(t *testing.T) {
	needRoot(t)
	watch, err := calm.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count, measured := map[calm.Outcome]int{}, published.Provenance(time.Now())
	var rows []string
	list := liveAnswers()
	for _, a := range list {
		t.Run(a.name(), func(t *testing.T) {
			begun := time.Now()
			r := a.measure(t)
			faults, missing := a.faults(r)
			took := watch.Since(begun)
			outcome := took.Outcome(append(slices.Clone(faults), missing...))
			if outcome == calm.Wrong && len(faults) == 0 && slices.ContainsFunc(r.Windows, func(w report.Window) bool { return w.Disturbance != nil }) {
				outcome = calm.Disturbed
			}
			if outcome == calm.Wrong {
				t.Errorf("on a calm machine: %s", strings.Join(append(faults, missing...), "; "))
			}
			count[outcome]++
			rows = append(rows, a.row(r, outcome, append(faults, missing...), took))
			t.Log(rows[len(rows)-1])
		})
	}
	tally := fmt.Sprintf("%d rows, %d within 0.5 %%, %d disturbed, %d wrong. %s.", len(rows), count[calm.Right], count[calm.Disturbed], count[calm.Wrong], measured)
	t.Log(tally)
	if *table == "" {
		return
	}
	if len(rows) != len(list) {
		t.Fatalf("%d of %d rows were measured: the table stays as it was", len(rows), len(list))
	}
	text := tally + "\n\n| device | it forwards, per direction | measured | worst | outcome | took | machine |\n|---|---|---|---|---|---|---|\n" + strings.Join(rows, "\n") + "\n"
	if err := published.Section(*table, "live frames", text); err != nil {
		t.Error(err)
	}
}

func (a liveAnswer) row(r *report.Report, outcome calm.Outcome, faults []string, took calm.Taken) string {
	var got []string
	worst := 0.0
	for _, d := range r.Result.Directions {
		got = append(got, map[bool]string{false: "≥ "}[saturated(r, d)]+fmt.Sprint(d.Received.PacketsPerSecond))
		if off := a.off(d); math.Abs(off) > math.Abs(worst) {
			worst = off
		}
	}
	said := string(outcome)
	if len(faults) > 0 {
		said += ": " + strings.ReplaceAll(strings.Join(faults, "; "), "|", "\\|")
	}
	return fmt.Sprintf("| %s | %d | %s | %+.2f %% | %s | %v | %s |", a.name(), a.limit, cmp.Or(strings.Join(got, ", "), "none"), 100*worst, said,
		r.Finished.Sub(r.Started).Round(time.Second), took.Row())
}
