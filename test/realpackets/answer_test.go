package realpackets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/test/published"
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
	// always is run in every `make test`, the others in `make known-answers`.
	always bool
}

func answers() []answer {
	list := []answer{
		{name: "imix 10 000 pps", limit: 10_000, target: 5, always: true},
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
		{name: "a device that the file knows nothing of", limit: unknown(), target: 5, device: true, always: true},
	}
	if !*all {
		return list
	}
	for i := range 20 {
		list = append(list, answer{name: fmt.Sprintf("imix 10 000 pps, again %d", i+1), limit: 10_000, target: 5})
	}
	for i := range 5 {
		list = append(list, answer{name: fmt.Sprintf("an unknown device, again %d", i+1), limit: unknown(), target: 5, device: true})
	}
	return list
}

// unknown is a limit that nobody but the device is told. Above 20 000 packets/s nothing but the share of the machine that the test takes is another, and
// machines that are shared have less than that to give: the whole table goes there.
func unknown() int64 {
	if *all {
		return 1_000 + rand.Int64N(59_001)
	}
	return 1_000 + rand.Int64N(19_001)
}

// TestKnownAnswers is the proof of the whole: a device limited to R measures as R within 1 %.
func TestKnownAnswers(t *testing.T) {
	needRoot(t)
	list := slices.DeleteFunc(answers(), func(a answer) bool { return !a.always && !*all })
	rows, measured := make([]string, len(list)), published.Provenance(time.Now())+"."
	t.Run("each", func(t *testing.T) {
		for i, a := range list {
			t.Run(a.name, func(t *testing.T) {
				beside(t)
				r := measureAnswer(t, a)
				checkAnswer(t, a, r)
				rows[i] = row(a, r)
			})
		}
	})
	if *table != "" {
		writeTable(t, *table, measured, slices.DeleteFunc(rows, func(row string) bool { return row == "" }))
	}
}

func measureAnswer(t *testing.T, a answer) *report.Report {
	t.Helper()
	if !a.device {
		return measure(t, a.yaml())
	}
	rig := newRig(t, 2)
	rig.route(t)
	rig.limit(t, a.limit)
	return rig.measure(t, a.yaml())
}

// yaml is the LoadTest; a device's target is the same whatever its limit, so that it tells nothing.
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
    ramp: {warmupDuration: 2s, targetRate: %s, rampDuration: 12s, stepDuration: 1s, settle: 300ms, confirmDuration: 5s, holdDuration: 0s, stopAtSaturation: true}
`, dut, links, traffic, target)
}

func (a answer) unit() string {
	if a.bits {
		return "layer2BitsPerSecond"
	}
	return "packetsPerSecond"
}

func checkAnswer(t *testing.T, a answer, r *report.Report) {
	t.Helper()
	if r.Ending != report.Completed || !r.Result.Saturated || !r.Result.Confirmed {
		t.Fatalf("ending %s, saturated %v, confirmed %v: %s %s", r.Ending, r.Result.Saturated, r.Result.Confirmed, r.Message, r.Result.Message)
	}
	for _, d := range r.Result.Directions {
		if off := a.off(d); math.Abs(off) > 0.01 {
			t.Errorf("%s→%s: received %+v, %.2f %% off the known %d", d.From, d.To, d.Received, off*100, a.limit)
		}
		if d.LossRatio > r.Plan.Procedure.MaxLossRatio {
			t.Errorf("%s→%s: loss %s at the reported load is above the limit %s", d.From, d.To, d.LossRatio, r.Plan.Procedure.MaxLossRatio)
		}
	}
	if !lossyAbove(r) {
		t.Error("no Lossy window above the reported load: nothing shows that it is the limit")
	}
	if r.Result.MaxReceived == nil {
		t.Error("the highest rate received at any loss is not reported")
	}
}

// off is how far a direction's received rate is from the known limit, as a share of it.
func (a answer) off(d report.Measured) float64 {
	got := d.Received.PacketsPerSecond
	if a.bits {
		got = d.Received.Layer2BitsPerSecond
	}
	return float64(got-a.limit) / float64(a.limit)
}

// lossyAbove: some window with a higher load than the reported one was Lossy.
func lossyAbove(r *report.Report) bool {
	reported := r.Windows[r.Result.Window-1].Load
	for _, w := range r.Windows {
		if w.Load > reported && w.Quality == report.Lossy {
			return true
		}
	}
	return false
}

func row(a answer, r *report.Report) string {
	worst, unit := 0.0, "pps"
	if a.bits {
		unit = "b/s"
	}
	var got []string
	for _, d := range r.Result.Directions {
		v := d.Received.PacketsPerSecond
		if a.bits {
			v = d.Received.Layer2BitsPerSecond
		}
		got = append(got, fmt.Sprint(v))
		if off := a.off(d); math.Abs(off) > math.Abs(worst) {
			worst = off
		}
	}
	return fmt.Sprintf("| %s | %d %s | %s | %+.2f %% | %v | %d |", a.name, a.limit, unit, strings.Join(got, ", "), worst*100,
		r.Finished.Sub(r.Started).Round(1e9), len(r.Windows))
}

func writeTable(t *testing.T, file, measured string, rows []string) {
	t.Helper()
	text := "# Known answers\n\nEach row is a device with an exact limit per direction, measured with real packets by `make known-answers`, which writes this\n" +
		"page and fails where a direction is more than 1 % off. Rows that say so are Device tests: the limit was drawn at random and set by\nthe test; nothing in the file or the Plan tells it.\n\n" + measured + "\n\n" +
		"| device | limit per direction | measured, per direction | worst | took | windows |\n|---|---|---|---|---|---|\n" + strings.Join(rows, "\n") + "\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { // a page of the documentation
		t.Fatal(err)
	}
}
