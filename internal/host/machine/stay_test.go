package machine

import (
	"os"
	"slices"
	"testing"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// TestAllThreadsStay: while several ask for it, and until the last one is done.
func TestAllThreadsStay(t *testing.T) {
	own, err := OwnProcessors()
	if err != nil {
		t.Fatal(err)
	}
	all := ListProcessors(own)
	first, err := StayOn(all[0])
	if err != nil {
		t.Fatal(err)
	}
	second, err := StayOn(all...)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		end  func() error
		want []int
	}{{func() error { return nil }, all[:1]}, {first, all[:1]}, {second, all}} {
		if err := step.end(); err != nil {
			t.Fatal(err)
		}
		threads, err := procfs.AllThreads(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range threads {
			var allowed unix.CPUSet
			if err := unix.SchedGetaffinity(thread.PID, &allowed); err == nil &&
				!slices.Equal(ListProcessors(&allowed), step.want) {
				t.Errorf("thread %d may run on %v, want %v", thread.PID, ListProcessors(&allowed), step.want)
			}
		}
	}
}
