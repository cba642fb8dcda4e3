package datapath

import (
	"os"
	"os/signal"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestASignalEndsNoSleep(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	heard, thread := make(chan os.Signal, 1), unix.Gettid()
	signal.Notify(heard, unix.SIGURG)
	defer signal.Stop(heard)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				_ = unix.Tgkill(unix.Getpid(), thread, unix.SIGURG)
			}
		}
	}()
	const long = 200 * time.Millisecond
	start := Now()
	doze(long)
	if took := Now() - start; took >= long {
		t.Fatalf("dozed for %v: no signal came", took)
	}
	start = Now()
	sleep(long)
	if took := Now() - start; took < long {
		t.Errorf("slept for %v of %v", took, long)
	}
}
