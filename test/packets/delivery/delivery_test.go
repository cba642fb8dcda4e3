package delivery

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// known is a test whose answer is known: 1000 packets/s. It takes about 35 s, or 20 s.
func known(ramp string) string {
	return `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: known}
spec:
  generator: {engine: Software}
  dut: {type: Reference, reference: {limit: {packetsPerSecond: 1000}}}
  links:
  - {name: west, lineRate: 1gbps}
  - {name: east, lineRate: 1gbps}
  traffic: {profile: FixedSize, frameSize: 64}
  procedure:
    ramp: {warmupRate: 100pps, warmupDuration: 2s, targetRate: 1600pps, rampDuration: ` + ramp + `, stepDuration: 2s, settleDuration: 500ms, precision: "2%", confirmDuration: 5s, holdDuration: 0s, stopAtSaturation: true}
`
}

func TestARunnerThatIsTerminated(t *testing.T) {
	t.Parallel()
	r := newRigWith(t, known("60s"), podRights)
	runner := r.start(t, "a")
	r.await(t, "a", "Ramping")
	_ = runner.cmd.Process.Signal(syscall.SIGTERM)
	begin := time.Now()
	if code := runner.wait(t); code != 3 {
		t.Errorf("exit code %d", code)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	got, e := r.report(t)
	if e.Final || got.Ending != report.Interrupted || len(got.Windows) == 0 || len(got.Totals) != 2 {
		t.Errorf("%+v, %s, %d windows, totals %+v", e, got.Ending, len(got.Windows), got.Totals)
	}
}

func TestAMissingGenerator(t *testing.T) {
	t.Parallel()
	needRoot(t)
	r := &rig{files: t.TempDir()}
	r.writePlan(t, planOf(t, known("16s")), "127.0.0.1:1")
	r.makeObjects(t)
	runner := r.start(t, "a", "--patience", "2s")
	if code := runner.wait(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got, e := r.report(t); !e.Final || got.Ending != report.GeneratorLost || !strings.Contains(got.Message, "127.0.0.1:1") {
		t.Errorf("%+v, %s: %s", e, got.Ending, got.Message)
	}
}
