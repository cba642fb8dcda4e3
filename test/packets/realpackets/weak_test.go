//go:build full

package realpackets

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

const externalTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: external}
spec:
  generator: {engine: Software, placement: {servers: [{address: "127.0.0.1:4501"}]}}
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64}
  procedure:
    ramp: {warmupDuration: 1s, targetRate: %s, rampDuration: 8s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 2s, holdDuration: 0s, precision: %q}
`

// TestAWeakGeneratorIsNotAWeakDevice: a generator that sends at most 5 000 packets/s through a device that forwards 20 000. Whether that is enough can't
// be told, which is an answer of its own.
func TestAWeakGeneratorIsNotAWeakDevice(t *testing.T) {
	beside(t)
	rig := newRig(t, 2)
	rig.route(t)
	rig.limitEach(t, 10*time.Millisecond, 20_000, 20_000)
	rig.generate(t, "--max-rate", "5kpps")
	code, r := rig.judged(t, fmt.Sprintf(externalTest, "40kpps", "0.5%")+"  criteria: [{name: fast, metric: PacketsPerSecond, min: \"10000\"}]\n")
	if code != report.ExitNotMeasured || r.Verdict.Outcome != report.Undecided || !strings.Contains(r.Verdict.Criteria[0].Message, "lower bound only: the generator was too weak") {
		t.Errorf("exit code %d, verdict %+v; want %d and Undecided, for the generator", code, r.Verdict, report.ExitNotMeasured)
	}
	if r.Ending != report.Completed || r.Answer.Reason != report.GeneratorLimited {
		t.Errorf("ending %s, reason %s, want %s: %s", r.Ending, r.Answer.Reason, report.GeneratorLimited, r.Message)
	}
	if r.Answer.Saturated {
		t.Error("the device was called saturated")
	}
	for _, d := range r.Answer.Directions {
		if got := d.Received.PacketsPerSecond; got < 4_900 || got > 5_050 {
			t.Errorf("%s→%s: the lower bound is %d packets/s, want the generator's 5000", d.From, d.To, got)
		}
	}
}

// TestReceiveDropsAreNotTheDevices: a generator whose receive ring is far too small loses frames that the device has returned.
func TestReceiveDropsAreNotTheDevices(t *testing.T) {
	needRoot(t)
	rig := newRig(t, 2)
	rig.route(t)
	rig.generate(t, "--plain", "--receive-ring", "131072")
	r := rig.external(t, fmt.Sprintf(externalTest, "200kpps", "0%"))
	dropped := int64(0)
	for _, total := range r.Totals {
		dropped += total.ReceiveErrors
	}
	if dropped == 0 {
		t.Fatalf("no receive drop was provoked: this test would prove nothing (%s)", r.Message)
	}
	if r.Answer.Saturated {
		t.Errorf("%d frames that the generator dropped were charged to the device: %s", dropped, r.Answer.EvidenceText())
	}
	for _, w := range r.Windows {
		if w.Quality == report.Lossy {
			t.Errorf("window %d is Lossy though the device lost nothing: %s", w.Number, w.Reason)
		}
	}
}

// TestALoopbackMeasuresTheGeneratorItself: without a device, what comes back is what the generator can do.
func TestALoopbackMeasuresTheGeneratorItself(t *testing.T) {
	needRoot(t)
	r := measure(t, `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: capacity}
spec:
  dut: {type: Loopback}
  links: [{name: west, lineRate: 100gbps}, {name: east, lineRate: 100gbps}]
  traffic: {profile: FixedSize, frameSize: 64}
  procedure:
    ramp: {warmupDuration: 1s, targetRate: 100%, rampDuration: 10s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 2s, holdDuration: 0s, stopAtSaturation: true}
`)
	if r.Ending != report.Completed || !r.Answer.Measured || r.Answer.Saturated || r.Answer.Reason != report.GeneratorLimited {
		t.Errorf("ending %s (%s), measured %v, saturated %v, reason %s, want a lower bound that is %s", r.Ending, r.Message, r.Answer.Measured, r.Answer.Saturated, r.Answer.Reason, report.GeneratorLimited)
	}
}

// judged measures with the generator that generate started, and returns the exit code beside the Report.
func (r *rig) judged(t *testing.T, yaml string) (int, *report.Report) {
	t.Helper()
	got := r.call(t, "run", writeFile(t, "test.yaml", yaml), "-o", "json", "--save", "")
	var rep report.Report
	if err := json.Unmarshal([]byte(got.stdout), &rep); err != nil || len(rep.Verdict.Criteria) != 1 {
		t.Fatalf("exit code %d, no report with a verdict: %v\nstderr:\n%s", got.code, err, got.stderr)
	}
	t.Log(rep.Verdict.Criteria[0].Message)
	return got.code, &rep
}

// external measures with the generator that generate started.
func (r *rig) external(t *testing.T, yaml string) *report.Report {
	t.Helper()
	return r.report(t, "run", writeFile(t, "test.yaml", yaml), "-o", "json", "--save", "")
}
