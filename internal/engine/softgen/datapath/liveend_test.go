package datapath

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	ethtoolSetGRO = 0x2c // ETHTOOL_SGRO
	// victimInterface names the interface that a process of this test binary sends on until it is killed.
	victimInterface = "LINERATE_TEST_VICTIM"
)

// ethtoolSet is one of ethtool's commands that turn something on or off.
func ethtoolSet(name string, command uint32, on bool) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	var value [8]byte
	binary.NativeEndian.PutUint32(value[:], command)
	if on {
		binary.NativeEndian.PutUint32(value[4:], 1)
	}
	request := struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}{data: unsafe.Pointer(&value)}
	copy(request.name[:unix.IFNAMSIZ-1], name)
	var failed error
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request))); errno != 0 {
		failed = fmt.Errorf("set %#x of %s: %w", command, name, errno)
	}
	return errors.Join(failed, unix.Close(fd))
}

// victim sends until somebody ends its process, for half a minute at most.
func victim(name string) {
	p, err := Open(Options{Interface: name, Path: PathLive})
	if err == nil {
		err = p.Start(Run{Streams: streams(continuous(20_000, frame(60))), Factor: 1, Duration: 30 * time.Second})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(p.Info().Path)
	<-p.Done()
	os.Exit(0)
}

// TestLiveSenderEndsWithItsProcess plays what a sender can't do anything about: its process is stopped, killed, or its keeper stands still.
func TestLiveSenderEndsWithItsProcess(t *testing.T) {
	for name, signal := range map[string]unix.Signal{"killed": unix.SIGKILL, "stopped": unix.SIGSTOP, "asked to end": unix.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			a, _ := liveCable(t, Options{})
			must(t, a.Close())
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = append(os.Environ(), victimInterface+"=west")
			cmd.Stderr = os.Stderr
			cmd.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			ended := false
			defer func() {
				if !ended {
					must(t, cmd.Process.Kill())
					_ = cmd.Wait() // it was killed
				}
			}()
			line, err := bufio.NewReader(out).ReadString('\n')
			must(t, err)
			if !strings.HasPrefix(line, "sends by live frames") {
				t.Fatalf("the process %s", line)
			}
			before := transmitted(t, "west")
			eventually(t, line+"goes on", func() bool { return transmitted(t, "west") > before+1000 })
			must(t, cmd.Process.Signal(signal))
			silent(t, Now())
			if signal != unix.SIGSTOP {
				_ = cmd.Wait() // it was killed
				ended = true
			}
		})
	}
	t.Run("nobody keeps it", func(t *testing.T) {
		a, b := liveCable(t, Options{})
		p := a.(*port)
		run := Run{Streams: streams(addressed(continuous(20_000, frame(60)))), Factor: 1, NextHop: macOf(b)}
		tracks, err := p.compiler(run.NextHop).compile(run.Streams)
		must(t, err)
		l, err := startLive(p, run, tracks, 1)
		must(t, err)
		before, part, over := transmitted(t, "west"), l.parts[0], time.Duration(0)
		eventually(t, "frames leave", func() bool {
			over = Now() + liveLeased
			part.lease(over) // kept until here, however long that takes
			return transmitted(t, "west") > before+1000
		})
		if is := time.Duration(atomic.LoadUint64(&part.memory.Lease)); is != over {
			t.Fatalf("the program may send until %v, and its keeper leased it until %v", is, over)
		}
		for Now() <= over {
			sleep(5 * time.Millisecond)
		}
		calls, sent := part.thread.calls.Load(), transmitted(t, "west")
		eventually(t, "its call ends", func() bool { return part.thread.waits.Load() })
		if late := transmitted(t, "west") - sent; late > int64(p.batch()) { // what was in hand when the lease was over
			t.Errorf("%d frames left without a lease", late)
		}
		if again := part.thread.calls.Load(); again != calls {
			t.Errorf("%d calls more without a lease", again-calls)
		}
		must(t, l.end())
	})
}

// silent waits until nothing has left for 200 ms, and says how long that took. Frames that are counted after 3 s left after 3 s where the reading before was later than that, too.
func silent(t *testing.T, since time.Duration) {
	t.Helper()
	last, at := transmitted(t, "west"), Now()
	for read := at; read-at < 200*time.Millisecond; {
		sleep(5 * time.Millisecond)
		again := Now()
		if n := transmitted(t, "west"); n != last {
			if read-since > 3*time.Second {
				t.Fatal("frames still leave after 3 s")
			}
			last, at = n, Now()
		}
		read = again
	}
	t.Logf("silent within %v", at-since)
}
