package machine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

func TestWhatAStateSays(t *testing.T) {
	const rest = " 2 0 0 0 -1 2129984 0 0 0 0 7 35 0 0 20 0 1 0 32 0 0 18446744073709551615 0 0 0 0 0 0 0 2147483647 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
	for name, c := range map[string]struct {
		text string
		want stat
		err  string
	}{
		"a kernel's thread":            {"22 (ksoftirqd/1) S" + rest, stat{name: "ksoftirqd/1", kernel: true, ran: 420 * time.Millisecond, processor: 1, threads: 1}, ""},
		"one that is ready to run":     {"22 (napi/d0-5) R" + rest, stat{name: "napi/d0-5", kernel: true, ready: true, ran: 420 * time.Millisecond, processor: 1, threads: 1}, ""},
		"a name with all that it may":  {"7 (a) b (c) S" + strings.Replace(rest, "2129984", "4194560", 1), stat{name: "a) b (c", ran: 420 * time.Millisecond, processor: 1, threads: 1}, ""},
		"no state":                     {"hello", stat{}, "the state of process 22: "},
		"too few fields":               {"22 (sh) S 2 0", stat{}, "the state of process 22: EOF"},
		"something that is no number ": {"22 (sh) S" + strings.Replace(rest, " 35 ", " x ", 1), stat{}, "the state of process 22: expected integer"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := stateOf(processOf(t, 22, "stat", c.text))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("%+v (%v), want %+v", got, err, c.want)
			}
		})
	}
}

// processOf is a process of which the kernel says what this file says.
func processOf(t *testing.T, pid int, file, text string) procfs.Proc {
	t.Helper()
	root := t.TempDir()
	directory := filepath.Join(root, strconv.Itoa(pid))
	if err := os.Mkdir(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, file), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	kernel, err := procfs.NewFS(root)
	if err != nil {
		t.Fatal(err)
	}
	p, err := kernel.Proc(pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestHowLongAThreadRanAndWaited(t *testing.T) {
	ran, waited, err := scheduleOf(processOf(t, 22, "schedstat", "72998 56479 2\n"))
	if err != nil || ran != 72998 || waited != 56479 {
		t.Errorf("ran %d ns and waited %d ns (%v), want 72998 and 56479", ran, waited, err)
	}
	for _, broken := range []string{"", "1 2", "1 x 3"} {
		if ran, waited, err := scheduleOf(processOf(t, 22, "schedstat", broken)); err == nil {
			t.Errorf("%q is read as %s and %s", broken, ran, waited)
		}
	}
}

func TestAThreadIsReadWhereTheKernelHasIt(t *testing.T) {
	kernel, err := procfs.NewDefaultFS()
	if err != nil {
		t.Fatal(err)
	}
	threads, err := kernel.AllThreads(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, thread := range threads {
		again, err := kernel.Proc(thread.PID)
		if err != nil {
			continue // it has ended
		}
		before, _, errBefore := scheduleOf(thread)
		after, _, errAfter := scheduleOf(again)
		if errBefore != nil || errAfter != nil {
			continue
		}
		if read++; after < before {
			t.Errorf("thread %d ran %s, and a moment later %s", thread.PID, before, after)
		}
	}
	if read == 0 {
		t.Errorf("none of %d threads could be read", len(threads))
	}
}

func TestWhoCarriesFrames(t *testing.T) {
	for name, want := range map[string]bool{"napi/d0-592": true, "backlog_napi/1": true, "ksoftirqd/0": false, "kworker/0:1": false, "napier": false} {
		if carries(name) != want {
			t.Errorf("%s: %v, want %v", name, !want, want)
		}
	}
	kernel, own := stat{name: "napi/d0-592", kernel: true}, stat{name: "napi/d0-592"}
	w := Watch{Generator: 7, Device: func(pid int) bool { return pid == 8 }}
	for pid, want := range map[int]Role{7: Sends, 8: Carries, 9: ""} {
		if got := w.role(pid, own); got != want {
			t.Errorf("process %d: %q, want %q: a name alone makes nobody the kernel's", pid, got, want)
		}
	}
	if got := w.role(9, kernel); got != Carries {
		t.Errorf("the kernel's thread: %q", got)
	}
}

// TestThisMachineIsRead: what can be said of a machine whatever it does.
func TestThisMachineIsRead(t *testing.T) {
	w := Watch{Generator: os.Getpid()}
	before, err := w.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after, err := w.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if after.At <= before.At || len(before.Processors) == 0 || len(after.Processors) != len(before.Processors) {
		t.Errorf("from %s to %s, %d and %d processors", before.At, after.At, len(before.Processors), len(after.Processors))
	}
	for i, p := range after.Processors {
		if was := before.Processors[i]; p.Number != was.Number || p.Busy < was.Busy || p.Busy+p.Idle == 0 {
			t.Errorf("processor %+v, before %+v", p, was)
		}
	}
	if !slices.ContainsFunc(after.Processes, func(p Process) bool { return p.PID == os.Getpid() && p.Ours }) {
		t.Errorf("this process isn't among %v", after.Processes)
	}
	found := false
	for _, thread := range after.Threads {
		found = found || thread.ID == os.Getpid() && thread.Role == Sends && thread.Ran > 0
	}
	if !found {
		t.Errorf("this process' main thread isn't among %v", after.Threads)
	}
}

func TestAReadingLastsNoLongerThanItMay(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := (Watch{}).Read(ended); err == nil {
		t.Errorf("read %+v after its time was over", r)
	}
}

// What was started is read with this process, and needn't run any more.
func TestOwnWaitsOfWhatWasStarted(t *testing.T) {
	var w OwnWaits
	if _, err := w.Read(os.Getppid(), 1<<30); err != nil {
		t.Error(err)
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", os.Getppid()))
	if err != nil {
		t.Fatal(err)
	}
	id, err := strconv.Atoi(threads[0].Name())
	if _, seen := w.waits[id]; err != nil || !seen {
		t.Errorf("thread %d of the process that was named was not read: %v", id, err)
	}
}

func TestOwnWaitsBeginWithTheFirstReading(t *testing.T) {
	var w OwnWaits
	first, err := w.Read()
	if err != nil || first != 0 {
		t.Errorf("%s, %v; whatever was before isn't known", first, err)
	}
	second, err := w.Read()
	if err != nil || second < 0 {
		t.Errorf("%s, %v", second, err)
	}
	w.waits = map[int]time.Duration{}
	if all, err := w.Read(); err != nil || all < second {
		t.Errorf("with threads that began in between %s, %v; want %s or more", all, err, second)
	}
}
