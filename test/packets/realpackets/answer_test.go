//go:build full

package realpackets

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

var (
	table = flag.String("table", "", "write what was measured into this page")
	again = flag.Int("again", 5, "how often devices that are drawn at random, of which the file knows nothing, are measured again")
)

// answer is a device whose limit is known, and the test that must find it.
type answer struct {
	name string
	// limit is per direction: packets per second, or layer-2 bits per second where bits is set.
	limit int64
	bits  bool
	// target is the ramp's top as a multiple of the limit.
	target float64
	// traffic, links are parts of the spec; empty: IMIX, two links.
	traffic string
	lanes   int
	// device: the limit is set by the test on a device of its own, and stands nowhere in the file.
	device bool
	// captured: the frames are those of a capture, one way.
	captured bool
}

func answers() []answer {
	list := []answer{
		{name: "imix 10 000 pps", limit: 10_000, target: 5},
		{name: "imix 2 000 pps", limit: 2_000, target: 5},
		{name: "imix 50 000 pps", limit: 50_000, target: 5},
		{name: "64-byte frames", limit: 10_000, target: 5, traffic: "{profile: FixedSize, frameSize: 64}"},
		{name: "1518-byte frames", limit: 10_000, target: 5, traffic: "{profile: FixedSize, frameSize: 1518}"},
		{name: "one direction only", limit: 10_000, target: 5, traffic: "{profile: IMIX, directions: [{from: west, to: east}]}"},
		{name: "20 Mb/s of layer 2", limit: 20_000_000, bits: true, target: 5},
		{name: "20 Mb/s of 64-byte frames", limit: 20_000_000, bits: true, target: 5, traffic: "{profile: FixedSize, frameSize: 64}"},
		{name: "four links, two lanes", limit: 10_000, target: 5, lanes: 2},
		{name: "target 2 times the limit", limit: 10_000, target: 2},
		{name: "target 20 times the limit", limit: 10_000, target: 20},
		{name: "a device that the file knows nothing of", limit: unknown(), target: 5, device: true},
		{name: "such a device, and the frames of a capture", limit: unknown(), target: 5, device: true, captured: true},
	}
	for i := range *again {
		list = append(list, answer{name: fmt.Sprintf("an unknown device, again %d", i+1), limit: unknown(), target: 5, device: true})
	}
	return list
}

// unknown is a limit that only the device knows.
func unknown() int64 { return 1_000 + rand.Int64N(59_001) }

// TestKnownAnswers is the proof of the whole: a device limited to R measures as R within 1 %. Each row stands in the table, also a failed one, with how calm
// the machine was: one that is off while the machine was disturbed proves nothing, and says so.
func TestKnownAnswers(t *testing.T) {
	list := answers()
	knownAnswers{section: "limits", right: "within 1 %",
		columns: []string{"device", "limit per direction", "the judge knows it", "measured, per direction", "worst", "outcome", "took", "windows", "machine"},
	}.run(t, namesOf(list, func(a answer) string { return a.name }), func(t *testing.T, i int) knownAnswer {
		t.Helper()
		r := measureAnswer(t, list[i])
		faults, missing := list[i].held(r)
		return knownAnswer{report: r, faults: faults, missing: missing, cells: list[i].cells(r), took: lasted(r), behind: []string{fmt.Sprint(len(r.Windows))}}
	})
}

func measureAnswer(t *testing.T, a answer) *report.Report {
	t.Helper()
	if !a.device {
		return measure(t, a.yaml())
	}
	if a.captured {
		_, file := drawCapture(t, 10_000, 300)
		a.traffic = fmt.Sprintf("{profile: PCAP, pcap: {file: %q}, directions: [{from: west, to: east}]}", file)
	}
	rig := newRig(t, 2)
	rig.route(t)
	rig.limitEach(t, 10*time.Millisecond, a.limit, a.limit)
	return rig.measure(t, a.yaml())
}

// yaml is the LoadTest; a device's target is the same whatever its limit.
func (a answer) yaml() string {
	dut := fmt.Sprintf("{type: Reference, reference: {limit: {%s: %d, burst: 2ms}}}", a.unit(), a.limit)
	target := fmt.Sprintf("%d%s", int64(float64(a.limit)*a.target), map[bool]string{false: "pps", true: "bps"}[a.bits])
	if a.device {
		dut, target = "{type: Device}", "90kpps"
	}
	links, traffic := "[{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]", a.traffic
	if a.lanes == 2 {
		links = "[{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}, {name: north, lineRate: 1gbps}, {name: south, lineRate: 1gbps}]"
		traffic = "{directions: [{from: west, to: east}, {from: east, to: west}, {from: north, to: south}, {from: south, to: north}]}"
	}
	if traffic == "" {
		traffic = "{profile: IMIX}"
	}
	return fmt.Sprintf(`apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: known-answer}
spec:
  dut: %s
  links: %s
  traffic: %s
  procedure:
    ramp: {warmupDuration: 2s, targetRate: %s, rampDuration: 12s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 5s, holdDuration: 0s, stopAtSaturation: true}
`, dut, links, traffic, target)
}

func (a answer) unit() string {
	if a.bits {
		return "layer2BitsPerSecond"
	}
	return "packetsPerSecond"
}

// held holds a Report to the known limit: faults are claims that aren't so, missing is what a calm machine has to find and this one didn't.
func (a answer) held(r *report.Report) (faults, missing []string) {
	if r.Ending != report.Completed || len(r.Answer.Directions) == 0 {
		return nil, []string{fmt.Sprintf("ending %s: %s %s", r.Ending, r.Message, r.Answer.EvidenceText())}
	}
	if !r.Answer.Confirmed || !slices.ContainsFunc(r.Answer.Directions, func(d report.Direction) bool { return saturated(r, d) }) {
		missing = append(missing, fmt.Sprintf("saturated %v, confirmed %v: %s", r.Answer.Saturated, r.Answer.Confirmed, r.Answer.EvidenceText()))
	}
	for _, d := range r.Answer.Directions {
		if !saturated(r, d) && (d.Limit == nil || d.Limit.Reason != report.OtherDirection) {
			missing = append(missing, fmt.Sprintf("%s is a lower bound, and no other direction's doing: %s", d.Name(), r.Answer.EvidenceText()))
		}
		if off := a.off(d); math.Abs(off) > 0.01 {
			said := fmt.Sprintf("%s: received %+v, %.2f %% off the known %d", d.Name(), d.Received, off*100, a.limit)
			if off > 0 || saturated(r, d) {
				faults = append(faults, said)
			} else {
				missing = append(missing, said)
			}
		}
		if d.LossRatio > r.Plan.Procedure.MaxLossRatio {
			faults = append(faults, fmt.Sprintf("%s: loss %s at the reported load is above the limit %s", d.Name(), d.LossRatio, r.Plan.Procedure.MaxLossRatio))
		}
	}
	if !lossyAbove(r) {
		missing = append(missing, "no Lossy window above the reported load: nothing shows that it is the limit")
	}
	if r.Answer.MaxReceived == nil {
		faults = append(faults, "the highest rate received at any loss is not reported")
	}
	return faults, missing
}

// off is how far a direction's received rate is from the known limit, as a share of it.
func (a answer) off(d report.Direction) float64 {
	got := d.Received.PacketsPerSecond
	if a.bits {
		got = d.Received.Layer2BitsPerSecond
	}
	return float64(got-a.limit) / float64(a.limit)
}

// lossyAbove: some window with a higher load than the reported one was Lossy.
func lossyAbove(r *report.Report) bool {
	reported := r.Windows[r.Answer.Window-1].Load
	for _, w := range r.Windows {
		if w.Load > reported && w.Quality == report.Lossy {
			return true
		}
	}
	return false
}

// cells are the row's: the device, its limit, whether the file names it, what was measured, and how far the worst direction is off.
func (a answer) cells(r *report.Report) []string {
	worst, unit := 0.0, "pps"
	if a.bits {
		unit = "b/s"
	}
	got := []string{"none"}
	for i, d := range r.Answer.Directions {
		v := d.Received.PacketsPerSecond
		if a.bits {
			v = d.Received.Layer2BitsPerSecond
		}
		got = append(got[:i], map[bool]string{false: "≥ "}[saturated(r, d)]+fmt.Sprint(v))
		if off := a.off(d); math.Abs(off) > math.Abs(worst) {
			worst = off
		}
	}
	knows := map[bool]string{false: "yes, a Reference's", true: "no"}[a.device]
	return []string{a.name, fmt.Sprintf("%d %s", a.limit, unit), knows, strings.Join(got, ", "), fmt.Sprintf("%+.2f %%", worst*100)}
}
