//go:build full

package realpackets

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

var neighbours = flag.Int("neighbours", 20, "how often a device is measured during a busy loop")

// neighbourTest is a test of a router of which neither file nor Plan knows anything.
const neighbourTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: neighbour}
spec:
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64, directions: [{from: west, to: east}]}
  procedure: {ramp: {warmupDuration: 1s, targetRate: 90kpps, rampDuration: 6s, stepDuration: 1s, settleDuration: 200ms, confirmDuration: 2s, holdDuration: 0s, stopAtSaturation: true}}
`

// police is for how long the router saves up what it didn't forward: less than others may have its processor at a time, so that their turns cost frames.
const police = 2 * time.Millisecond

// TestABusyLoopIsNoWeakDevice: a router whose kernel threads have the processor that something else computes on loses frames at loads that it forwards alone.
// Such windows say nothing of it. What is found is the limit, or a bound that the limit is beyond, and never a lower limit; whoever else uses this machine.
func TestABusyLoopIsNoWeakDevice(t *testing.T) {
	needRoot(t)
	var rows []string
	for i := range *neighbours + 1 {
		beside := i > 0
		t.Run(map[bool]string{false: "alone", true: fmt.Sprintf("beside a busy loop, %d", i)}[beside], func(t *testing.T) {
			limit := 20_000 + rand.Int64N(40_001)
			rig := newRig(t, 2)
			rig.route(t)
			rig.limitEach(t, police, limit, limit)
			rig.ownThreads(t, 1)
			if beside {
				busyLoop(t, 1)
			}
			r := rig.measure(t, neighbourTest)
			faults := truth.Device{Limits: map[string]int64{"west→east": limit}, Burst: police}.Faults(r)
			for _, fault := range faults {
				t.Error(fault)
			}
			voided, wrong := voidedWindows(r), wrongIfBelieved(r, limit)
			if beside && voided == 0 && r.Answer.Saturated {
				t.Errorf("%d packets/s are said to be the limit, and no window is voided: %s", r.Answer.Directions[0].Received.PacketsPerSecond, r.Answer.EvidenceText())
			}
			rows = append(rows, neighbourRow(beside, limit, r, voided, wrong, len(faults)))
		})
	}
	t.Log("| busy loop | limit | said | reason | windows | voided for waits | of these below the limit | wrong claims |\n|---|---|---|---|---|---|---|---|\n" + strings.Join(rows, "\n"))
}

func neighbourRow(beside bool, limit int64, r *report.Report, voided, wrong, faults int) string {
	said := "none"
	if r.Answer.Measured {
		said = fmt.Sprintf("%s %d", map[bool]string{false: "at least", true: "limit"}[r.Answer.Saturated], r.Answer.Directions[0].Received.PacketsPerSecond)
	}
	return fmt.Sprintf("| %v | %d | %s | %s | %d | %d | %d | %d |", beside, limit, said, r.Answer.Reason, len(r.Windows), voided, wrong, faults)
}

// voidedWindows lost frames, and say nothing as others had processors that the test needed.
func voidedWindows(r *report.Report) (n int) {
	for _, w := range r.Windows {
		if w.LostToDisturbance() {
			n++
		}
	}
	return n
}

// wrongIfBelieved are those of them at loads that the device forwards: without a look at who waited they would be a wrong limit.
func wrongIfBelieved(r *report.Report, limit int64) (n int) {
	for _, w := range r.Windows {
		if w.LostToDisturbance() && slices.ContainsFunc(w.Directions, func(m report.Direction) bool { return m.Intended.PacketsPerSecond < limit*99/100 }) {
			n++
		}
	}
	return n
}

// ownThreads gives the device a receive ring and a kernel thread for each port, at normal priority, all on one processor.
func (r *rig) ownThreads(t *testing.T, processor int) {
	t.Helper()
	in(t, r.generator, func() error {
		for i := range r.ports {
			if err := netif.SetOffload(fmt.Sprintf("g%d", i), netif.TCPSegmentation, false); err != nil {
				return err
			}
		}
		return nil
	})
	in(t, r.device, func() error {
		for i := range r.ports {
			name := fmt.Sprintf("d%d", i)
			if err := errors.Join(netif.SetOffload(name, netif.GenericReceive, true), threaded(name)); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range r.ports {
		pinThread(t, fmt.Sprintf("napi/d%d-", i), processor)
	}
}

// threaded gives an interface of the calling thread's namespace a kernel thread that receives for it (threaded NAPI).
func threaded(name string) error {
	fs, err := unix.Fsopen("sysfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fs) }()
	if err := unix.FsconfigCreate(fs); err != nil {
		return err
	}
	mount, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(mount) }()
	fd, err := unix.Openat(mount, "class/net/"+name+"/threaded", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), "threaded")
	_, err = file.WriteString("1")
	return errors.Join(err, file.Close())
}

// pinThread keeps the kernel thread whose name begins so on one processor.
func pinThread(t *testing.T, name string, processor int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, file := range files {
		comm, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(comm), name) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		pin(t, pid, processor)
		found = true
	}
	if !found {
		t.Fatalf("there is no thread %s…", name)
	}
}

func pin(t *testing.T, pid, processor int) {
	t.Helper()
	var only unix.CPUSet
	only.Set(processor)
	if err := unix.SchedSetaffinity(pid, &only); err != nil {
		t.Fatalf("keep process %d on processor %d: %v", pid, processor, err)
	}
}

// busyLoop computes on a processor until the test ends: an ordinary neighbour.
func busyLoop(t *testing.T, processor int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	pin(t, cmd.Process.Pid, processor)
}
