package realpackets

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const longTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: long}
spec:
  dut: {type: Reference, reference: {limit: {packetsPerSecond: 10000, burst: 10ms}}}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  procedure:
    ramp: {warmupDuration: 1s, targetRate: 9kpps, rampDuration: 60s, stepDuration: 1s, settleDuration: 300ms, holdDuration: 0s}
`

// TestNothingOutlivesAKilledRun: after SIGKILL in the middle of the ramp, processes, namespaces and with them interfaces and traffic are
// gone within 5 s.
func TestNothingOutlivesAKilledRun(t *testing.T) {
	needRoot(t)
	for _, path := range []string{"auto", "live"} { // the kernel that sends live frames has threads of the run in a call without an end
		t.Run(path, func(t *testing.T) {
			cmd, talk := start(t, "run", writeFile(t, "long.yaml", longTest), "--save", "", "--path", path)
			awaitLine(t, talk, "ramping")
			mine := descendants(t, cmd.Process.Pid)
			if len(mine) == 0 {
				t.Fatal("the run has no child process: this test would prove nothing")
			}
			own := pinned(t, mine)
			if len(own) == 0 {
				t.Fatal("the run has no namespace of its own: this test would prove nothing")
			}
			if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			eventually(t, 5*time.Second, "a process of the run is still there", func() bool { return !anyAlive(mine) })
			eventually(t, 5*time.Second, "a namespace of the run is still there", func() bool { return !anyHeld(t, own) })
		})
	}
}

// trialTest asks an engine that already runs for trials of trialTime.
const trialTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: trials}
spec:
  generator: {engine: Software, placement: {servers: [{address: "127.0.0.1:4501"}]}}
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  procedure: %s
`

const trialTime = 3 * time.Second

// TestAKilledTrialEndsByItself: a generator without a heartbeat, as TRex is, goes on sending when its client dies, but no longer than the trial was to be. A search is killed at any moment of its
// first trials, of which some are ended early.
func TestAKilledTrialEndsByItself(t *testing.T) {
	beside(t)
	for name, procedure := range map[string]string{
		"of a curve":                 "{type: FrameLoss, frameLoss: {maxRate: 4kpps, minRate: 1kpps, step: 1kpps, warmupDuration: 0s, trialDuration: %s}}",
		"of a search":                "{type: Search, search: {maxRate: 4kpps, minRate: 1kpps, warmupDuration: 0s, goals: [{name: NDR, finalTrialDuration: %s}]}}",
		"of a search that ends them": "{type: Search, search: {classification: Sequential, maxRate: 4kpps, minRate: 1kpps, warmupDuration: 0s, goals: [{name: NDR, finalTrialDuration: %s}]}}",
	} {
		t.Run(name, func(t *testing.T) { killed(t, 0, fmt.Sprintf(procedure, trialTime), strings.Contains(name, "search")) })
	}
}

// TestAGeneratorThatHearsNothingStops: one with a heartbeat stops that long after its client died, however long the trial was to be.
func TestAGeneratorThatHearsNothingStops(t *testing.T) {
	killed(t, trialTime, "{type: FrameLoss, frameLoss: {maxRate: 4kpps, minRate: 1kpps, step: 1kpps, warmupDuration: 0s, trialDuration: 60s}}", false)
}

// killed kills a run in one of its trials, at once or at any moment of the trials that follow; no later than trialTime the generator is silent.
func killed(t *testing.T, heartbeat time.Duration, procedure string, anyMoment bool) {
	beside(t)
	rig := newRig(t, 2)
	rig.route(t)
	rig.generate(t, "--heartbeat", heartbeat.String())
	cmd := exec.Command(linerate, "run", writeFile(t, "trials.yaml", fmt.Sprintf(trialTest, procedure)), "--save", "")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	in(t, rig.generator, cmd.Start)
	awaitLine(t, newReader(stderr), "trial: asked")
	proven := rig.sent(t) // marked frames, and a few of the load
	eventually(t, trialTime, "the trial's frames don't come", func() bool { return rig.sent(t) > proven+100 })
	if anyMoment {
		most := proven + rand.Uint64N(10_000) // frames of so many trials pass before
		eventually(t, time.Minute, "further frames don't come", func() bool { return rig.sent(t) > most })
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	moment := time.Now()
	_ = cmd.Wait()
	const (
		hush  = time.Second // how long no load must be sent to call it silence
		stray = 3           // frames that are no load: answers to the device's address resolution
	)
	last, before := moment, rig.sent(t)
	for time.Since(last) < hush {
		time.Sleep(50 * time.Millisecond)
		now := rig.sent(t)
		if now > before+stray {
			last = time.Now()
		}
		before = now
		if took := last.Sub(moment); took > trialTime+time.Second {
			t.Fatalf("the generator still sends %v after the run was killed; it should be silent after %v", took, trialTime)
		}
	}
	if last.Equal(moment) && !anyMoment && heartbeat == 0 { // any moment may be one between two trials, and a busy machine's client may have been silent before it was killed
		t.Fatal("nothing was sent after the kill: this test would prove nothing")
	}
	t.Logf("silent %v after the run was killed", last.Sub(moment).Round(10*time.Millisecond))
}

// TestAnInterruptedRunReportsWhatItMeasured: SIGINT ends in order, with exit code 130 and a Report.
func TestAnInterruptedRunReportsWhatItMeasured(t *testing.T) {
	beside(t)
	dir := t.TempDir()
	cmd, talk := start(t, "run", writeFile(t, "long.yaml", longTest), "--save", dir)
	awaitLine(t, talk, "ramping")
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	saved, err := os.ReadFile(filepath.Join(dir, "long-interrupted.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(saved), `"ending": "Interrupted"`) {
		t.Errorf("the saved report does not say that it was interrupted:\n%.500s", saved)
	}
}

func start(t *testing.T, args ...string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), linerate, args...)
	talk, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, newReader(talk)
}

func newReader(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }

// awaitLine reads the run's talk until a line contains the words, and leaves the rest to be thrown away.
func awaitLine(t *testing.T, talk *bufio.Reader, words string) {
	t.Helper()
	var heard strings.Builder
	for {
		line, err := talk.ReadString('\n')
		heard.WriteString(line)
		if strings.Contains(line, words) {
			go func() { _, _ = io.Copy(io.Discard, talk) }()
			return
		}
		if err != nil {
			t.Fatalf("the run ended without a line about %q:\n%s", words, heard.String())
		}
	}
}

// pinned are the network namespaces that the processes are in or hold open, other than this test's. The test holds them open itself until its end: the kernel
// gives the number of a namespace that is gone to the next one, which may be anybody's.
func pinned(t *testing.T, pids []int) map[string]bool {
	t.Helper()
	own := map[string]bool{}
	for _, pid := range pids {
		for target, link := range namespaces(t, strconv.Itoa(pid)) {
			if target == ours(t) || own[target] {
				continue
			}
			held, err := os.Open(link)
			if err != nil {
				t.Fatalf("hold namespace %s: %v", target, err)
			}
			t.Cleanup(func() { _ = held.Close() })
			own[target] = true
		}
	}
	return own
}

// namespaces are the network namespaces that a process is in or holds open, each with a file of it.
func namespaces(t *testing.T, pid string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"/proc/" + pid + "/task/[0-9]*/ns/net", "/proc/" + pid + "/fd/*"} {
		links, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links {
			if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, "net:[") {
				found[target] = link
			}
		}
	}
	return found
}

// ours is the network namespace of this test's process.
func ours(t *testing.T) string {
	t.Helper()
	target, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// anyHeld says that a process other than this one is in one of the namespaces, or holds it open.
func anyHeld(t *testing.T, own map[string]bool) bool {
	t.Helper()
	for _, p := range processes(t) {
		if p.PID == os.Getpid() {
			continue
		}
		for target := range namespaces(t, strconv.Itoa(p.PID)) {
			if own[target] {
				return true
			}
		}
	}
	return false
}

// descendants are the process ids of a process and all its children.
func descendants(t *testing.T, pid int) []int {
	t.Helper()
	var children []int
	for _, p := range processes(t) {
		if p.PPID == pid {
			children = append(children, p.PID)
			children = append(children, descendants(t, p.PID)...)
		}
	}
	return children
}

func anyAlive(pids []int) bool {
	for _, pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			return true
		}
	}
	return false
}

func eventually(t *testing.T, bound time.Duration, otherwise string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(bound); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s after %v", otherwise, bound)
		}
	}
}
