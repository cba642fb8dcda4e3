//go:build full

package realpackets

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/impaired"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// liveAnswer is an impaired device that a ramp of live frames must find the limit of. Only the device knows it.
type liveAnswer struct {
	about    int64 // the limit is drawn within 3 % of it, in packets/s and direction
	bothWays bool
	again    int // which of several such; 0: the first
	limit    int64
	target   string
}

// liveNear is how far a figure may be from the limit.
const liveNear = 0.005

func liveAnswers() (list []liveAnswer) {
	for _, a := range []liveAnswer{{about: 2_000, target: "8kpps"}, {about: 10_000, target: "40kpps"}, {about: 50_000, target: "150kpps"}, {about: 300_000, target: "500kpps"}} {
		for _, a.bothWays = range []bool{false, true} {
			list = append(list, a)
		}
	}
	for i := range *again {
		list = append(list, liveAnswer{about: 10_000, bothWays: true, again: i + 1, target: "40kpps"})
	}
	for i := range list {
		a := &list[i]
		a.limit = a.about - a.about*3/100 + rand.Int64N(a.about*6/100)
	}
	return list
}

func (a liveAnswer) name() string {
	ways := map[bool]string{false: "one way", true: "both ways at once"}[a.bothWays]
	if a.again > 0 {
		return fmt.Sprintf("about %d packets/s, %s, again %d", a.about, ways, a.again)
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
    ramp: {warmupDuration: 2s, targetRate: %s, rampDuration: 12s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 5s, holdDuration: 0s, stopAtSaturation: true}
`, directions, a.target)
}

// measure sends live frames, also where PathAuto would choose another way on so few processors.
func (a liveAnswer) measure(t *testing.T) *report.Report {
	t.Helper()
	r := newRig(t, 2)
	in(t, r.device, func() error { return errors.Join(netif.AcceptXDP("d0"), netif.AcceptXDP("d1")) })
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
		at := slices.IndexFunc(r.Answer.Directions, func(m report.Direction) bool { return truth.Direction(m.From, m.To) == name })
		if at < 0 {
			missing = append(missing, name+": no figure: "+r.Answer.EvidenceText())
			continue
		}
		d := r.Answer.Directions[at]
		switch off := a.off(d); {
		case off > liveNear || saturated(r, d) && off < -liveNear:
			faults = append(faults, fmt.Sprintf("%s: %d, %+.2f %% off", name, d.Received.PacketsPerSecond, 100*off))
		case !saturated(r, d) && (off < -liveNear || d.Limit == nil || d.Limit.Reason != report.OtherDirection):
			missing = append(missing, fmt.Sprintf("%s: a lower bound, %d: %s", name, d.Received.PacketsPerSecond, r.Answer.EvidenceText()))
		}
	}
	return faults, missing
}

func (a liveAnswer) off(d report.Direction) float64 {
	return float64(d.Received.PacketsPerSecond-a.limit) / float64(a.limit)
}

// TestKnownAnswersByLiveFrames: live frames find limits that only the device knows, within 0.5 %, one way and both ways at once. Each row is in the table, also one without an answer.
func TestKnownAnswersByLiveFrames(t *testing.T) {
	list := liveAnswers()
	knownAnswers{section: "live frames", right: "within 0.5 %",
		columns: []string{"device", "it forwards, per direction", "measured", "worst", "outcome", "took", "machine"},
	}.run(t, namesOf(list, liveAnswer.name), func(t *testing.T, i int) knownAnswer {
		t.Helper()
		r := list[i].measure(t)
		faults, missing := list[i].faults(r)
		return knownAnswer{report: r, faults: faults, missing: missing, cells: list[i].cells(r), took: lasted(r)}
	})
}

// cells are the row's: the device, its limit, what was measured, and how far the worst direction is off.
func (a liveAnswer) cells(r *report.Report) []string {
	var got []string
	worst := 0.0
	for _, d := range r.Answer.Directions {
		got = append(got, map[bool]string{false: "≥ "}[saturated(r, d)]+fmt.Sprint(d.Received.PacketsPerSecond))
		if off := a.off(d); math.Abs(off) > math.Abs(worst) {
			worst = off
		}
	}
	return []string{a.name(), fmt.Sprint(a.limit), cmp.Or(strings.Join(got, ", "), "none"), fmt.Sprintf("%+.2f %%", 100*worst)}
}
