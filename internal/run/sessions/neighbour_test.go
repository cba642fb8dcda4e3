//go:build full

package sessions

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// A limit of 50 Mb/s of frames with FCS lets this payload through, because of each full segment's 1518 bytes on the
// wire (14 of Ethernet, 20 of IP, 32 of TCP with timestamps, 4 of FCS) 1448 are payload.
const (
	limit          = 50_000_000
	oneWay         = limit * 1448 / 1518
	inaccuracy     = 0.02
	afterSlowStart = 2 * time.Second
)

var neighbours = flag.Int("neighbours", 3, "how often sessions are measured beside a busy loop, through each device")

// A loop computes on the processor of a device of 50 Mb/s. A goodput that is called the path's is what the limit lets
// through, and every other one is a lower bound of that. Where kernel threads carry the frames, which then wait for
// that processor, the Report names the threads.
func TestABusyLoopIsNoWeakDeviceOfSessions(t *testing.T) {
	for name, ownThreads := range map[string]bool{"forwarding where frames are sent": false,
		"kernel threads of its own": true} {
		t.Run(name, func(t *testing.T) {
			var rows []string
			named := 0
			for i := range *neighbours + 1 {
				t.Run(map[bool]string{false: "alone", true: fmt.Sprintf("beside a busy loop, %d", i)}[i > 0],
					func(t *testing.T) {
						limit := &plan.Limit{Layer2BitsPerSecond: limit, Queue: plan.Duration(10 * time.Millisecond)}
						r := newRigOf(t, limit, ownThreads, oneWay50, func(p *plan.Plan, _ []End) {
							p.Procedure.ConstantLoad.WarmupDuration,
								p.Procedure.ConstantLoad.Duration = plan.Duration(afterSlowStart),
								plan.Duration(8*time.Second)
						})
						if ownThreads {
							pinThreads(t, 1, "napi/west-", "napi/east-")
						}
						if i > 0 {
							busyLoop(t, 1)
						}
						watch := machine.Watch{Generator: os.Getpid()}
						rep := runner.Run(t.Context(), r.plan, New(r.places, Options{Machine: watch.Read}),
							runner.Options{})
						if rep.Ending != report.Completed || !rep.Answer.Measured {
							t.Fatalf("%s %s: %s", rep.Ending, rep.Message, rep.Answer.EvidenceText())
						}
						s := rep.Answer.Directions[0].Sessions
						goodput := float64(s.GoodputBitsPerSecond)
						if goodput > oneWay*(1+inaccuracy) {
							t.Errorf("%.2f Mb/s are more than the limit lets through: %s", goodput/1e6,
								rep.Answer.EvidenceText())
						}
						if rep.Answer.Reason == report.PathLimited && goodput < oneWay*(1-inaccuracy) {
							t.Errorf("%.2f Mb/s are said to be the path's, which lets %.2f through: %s", goodput/1e6,
								oneWay/1e6, rep.Answer.EvidenceText())
						}
						if i > 0 && strings.Contains(rep.Answer.EvidenceText(), "waited") {
							named++
						}
						rows = append(rows, fmt.Sprintf("| %v | %.2f | %s | %s | %s | %s |", i > 0, goodput/1e6,
							rep.Answer.Reason, s.EndsWaited.Std().Round(time.Millisecond),
							s.Disturbed.Std().Round(time.Millisecond), rep.Answer.EvidenceText()))
					})
			}
			if ownThreads && named == 0 {
				t.Error("in no run it is said who waited for a processor")
			}
			t.Log(name + "\n| busy loop | Mb/s | reason | ends waited | disturbed for | message " +
				"|\n|---|---|---|---|---|---|\n" + strings.Join(rows, "\n"))
		})
	}
}

// pinThreads keeps the kernel threads whose names begin so on one processor.
func pinThreads(t *testing.T, processor int, names ...string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/comm")
	noError(t, err)
	found := 0
	for _, file := range files {
		comm, err := os.ReadFile(file)
		for _, name := range names {
			if err == nil && strings.HasPrefix(string(comm), name) {
				pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
				noError(t, err)
				noError(t, pin(pid, processor))
				found++
			}
		}
	}
	if found != len(names) {
		t.Fatalf("there are %d threads %s…, want one each", found, names)
	}
}

func pin(pid, processor int) error {
	var allowed unix.CPUSet
	allowed.Set(processor)
	return unix.SchedSetaffinity(pid, &allowed)
}

// busyLoop computes on a processor until the test ends, like an ordinary neighbour.
func busyLoop(t *testing.T, processor int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	noError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	noError(t, pin(cmd.Process.Pid, processor))
}
