//go:build full

package realpackets

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/test/rigs/built"
)

// workTest is a load that the router carries, so that only bounds are known of its limit, and trains after it.
const workTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: work}
spec:
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64, directions: [{from: west, to: east}]}
  procedure:
    type: ConstantLoad
    constantLoad: {rate: 10kpps, warmupDuration: 0s, duration: 1s, window: 1s}
    trains: {count: 100, setUps: 7}
`

// workLinks is what linerate says of the links to a router in a pod.
const workLinks = `{"links": [
  {"name": "west", "interface": "d0", "addresses": ["198.18.0.1/24"], "generators": [{"address": "198.18.0.2", "networks": ["16.0.0.0/24"]}]},
  {"name": "east", "interface": "d1", "addresses": ["198.18.1.1/24"], "generators": [{"address": "198.18.1.2", "networks": ["48.0.0.0/24"]}]}]}`

// TestHalfAMicrosecondOfWorkFailsAGate measures the example router, the same again, and one that burns half a
// microsecond for each frame, in turns. Bounds hide their limits, and trains show the work: only the burning one fails,
// by as much as it burns.
func TestHalfAMicrosecondOfWorkFailsAGate(t *testing.T) {
	needRoot(t)
	own, err := machine.OwnProcessors()
	if err != nil {
		t.Fatal(err)
	}
	processors, dir, file := machine.ListProcessors(own), t.TempDir(), writeFile(t, "work.yaml", workTest)
	releases := []struct {
		name  string
		flags []string
	}{{"before", nil}, {"equal", nil}, {"burning", []string{"-burn", "500ns"}}}
	var rigs []*rig
	for _, release := range releases {
		r := &rig{generator: space(t), device: space(t), ports: 2}
		r.cableQueues(t, 1)
		r.receive(t, placed{queues: 1, flows: 1, threads: []int{processors[len(processors)-1]}})
		r.runRouter(t, release.flags...)
		rigs = append(rigs, r)
	}
	begun := time.Now()
	for i := range gateRuns {
		for k := range rigs {
			k = (k + i) % len(rigs) // so that drift meets all alike
			rigs[k].keepOf(t, file, filepath.Join(dir, releases[k].name), i)
		}
	}
	t.Logf("%d runs in %v", gateRuns*len(rigs), time.Since(begun).Round(time.Second))
	equal, burning := judgeWork(t, dir, "equal"), judgeWork(t, dir, "burning")
	if equal.code != report.ExitNotMeasured || equal.side().Reason != "" {
		t.Errorf("equal builds: exit code %d, %q, want %d", equal.code, equal.side().Reason, report.ExitNotMeasured)
	}
	change := burning.side().TimePerFrame
	if burning.code != report.ExitFailed || burning.side().Reason != report.MoreWorkPerFrame || change == nil {
		t.Fatalf("half a microsecond more: exit code %d, %q, want %d", burning.code, burning.side().Reason,
			report.ExitFailed)
	}
	// The router counts how much to burn in this machine's fastest moment, which takes up to 150 ns longer in others.
	low, high := change.LowNanoseconds.Float(), change.HighNanoseconds.Float()
	if low > 650 || high < 500 || high-low > 500 {
		t.Errorf("a frame takes %.0f to %.0f ns longer, want 500 to 650 in an interval of at most 500", low, high)
	}
}

// judgeWork lets the command line compare a release with that before, by the rates, and where these decide nothing by
// the work for a frame.
func judgeWork(t *testing.T, dir, release string) judged {
	t.Helper()
	got := call(t, time.Minute, "compare", filepath.Join(dir, "before"), filepath.Join(dir, release),
		"--max-regression", allowed, "--max-work-regression", "10%", "-o", "json")
	j := judged{code: got.code}
	if err := json.Unmarshal([]byte(got.stdout), &j.comparison); err != nil || len(j.comparison.Rows) != 1 {
		t.Fatalf("exit code %d, no comparison: %v\nstderr:\n%s", got.code, err, got.stderr)
	}
	change := "unknown"
	if c := j.side().TimePerFrame; c != nil {
		change = comparison.TimeChangeText(*c)
	}
	t.Logf("%s: %s, a frame takes %s: %s", release, j.side().Verdict, change, j.side().Message)
	return j
}

// runRouter runs the example router in the device until the test ends.
func (r *rig) runRouter(t *testing.T, flags ...string) {
	t.Helper()
	project, err := built.Project()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "router")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", program, "./examples/router")
	build.Dir = project
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the router: %v\n%s", err, output)
	}
	router := exec.Command(program, append([]string{"-links", writeFile(t, "links.json", workLinks)}, flags...)...)
	router.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	talk, err := router.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	in(t, r.device, func() error {
		loopbackUp()
		return router.Start()
	})
	t.Cleanup(func() {
		_ = router.Process.Signal(syscall.SIGTERM)
		_ = router.Wait()
	})
	awaitLine(t, newReader(talk), fmt.Sprintf("forwarding on %d links", r.ports))
}
