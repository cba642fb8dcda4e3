//go:build full

package realpackets

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

// backToBackTest sends bursts through a limit of 20 kpps of 64-byte frames, with a queue that is drawn.
const backToBackTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: bursts}
spec:
  dut: {type: Reference, reference: {limit: {layer2BitsPerSecond: 10240000, burst: 10ms, queue: %dms}}}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64}
  procedure: {type: BackToBack, backToBack: {rate: 40kpps, warmupDuration: 1s, trialDuration: 5s, repetitions: 10}}
`

// TestBurstsShowTheQueueOfALimit: a limit in bits forwards at its rate, holds its queue, which the kernel counts without FCS, and lets pass at once what its bucket saved up, which it counts with it. Bursts show both
// together, give or take the batch of frames that a generator hands over at once.
func TestBurstsShowTheQueueOfALimit(t *testing.T) {
	needRoot(t)
	watch, err := calm.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	queue := 20 + rand.Int64N(81)
	begun := time.Now()
	got := call(t, 10*time.Minute, "run", writeFile(t, "bursts.yaml", fmt.Sprintf(backToBackTest, queue)), "-o", "json", "--save", "")
	var r report.Report
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatalf("exit code %d, no report: %v\nstderr:\n%s", got.code, err, got.stderr)
	}
	t.Logf("a queue of %d ms: %s", queue, r.Answer.EvidenceText())
	const bytesPerSecond, batch = 10_240_000 / 8, 64
	truth := float64(queue)*bytesPerSecond/1000/60 + 0.010*bytesPerSecond/64
	want := map[report.Metric]float64{procedure.BufferFrames: truth, procedure.BackToBackFrames: 2 * truth}
	var faults []string
	seen := 0
	for _, f := range figures.Of(&r) {
		held, ofBursts := want[f.Metric]
		if !ofBursts || f.Direction == report.AllDirections {
			continue
		}
		seen++
		if slack := 2*batch + 0.03*held; f.High == "" || f.Low.Float() > held+slack || f.High.Float() < held-slack {
			faults = append(faults, fmt.Sprintf("%s of %s is %s to %s, want %.0f", f.Metric, f.Direction, f.Low, f.High, held))
		}
	}
	if seen != 4 {
		faults = append(faults, fmt.Sprintf("%d figures of bursts, want two of each direction: %s", seen, r.Answer.Reason))
	}
	switch took := watch.Since(begun); took.Outcome(faults) {
	case calm.Wrong:
		t.Errorf("on a calm machine: %v", faults)
	case calm.Disturbed:
		t.Skipf("the machine was disturbed: %v", faults)
	default:
	}
}
