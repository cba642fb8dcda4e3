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

// ethtoolSet carries out one of ethtool's commands that turn a feature on or off.
func ethtoolSet(name string, command uint32, enabled bool) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	var value [8]byte
	binary.NativeEndian.PutUint32(value[:], command)
	if enabled {
		binary.NativeEndian.PutUint32(value[4:], 1)
	}
	request := struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}{data: unsafe.Pointer(&value)}
	copy(request.name[:unix.IFNAMSIZ-1], name)
	var failed error
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL,
		uintptr(unsafe.Pointer(&request))); errno != 0 {
		failed = fmt.Errorf("set %#x of %s: %w", command, name, errno)
	}
	return errors.Join(failed, unix.Close(fd))
}

// victim sends until its process is killed, for half a minute at most.
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

// TestLiveSenderEndsWithItsProcess stops the sender's process, kills it, or stops its supervisor.
func TestLiveSenderEndsWithItsProcess(t *testing.T) {
	for name, signal := range map[string]unix.Signal{"killed": unix.SIGKILL, "stopped": unix.SIGSTOP,
		"asked to end": unix.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			a, _ := liveCable(t, Options{})
			noError(t, a.Close())
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = append(os.Environ(), victimInterface+"=west")
			cmd.Stderr = os.Stderr
			cmd.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
			stdout, err := cmd.StdoutPipe()
			noError(t, err)
			noError(t, cmd.Start())
			ended := false
			defer func() {
				if !ended {
					noError(t, cmd.Process.Kill())
					_ = cmd.Wait() // it was killed
				}
			}()
			line, err := bufio.NewReader(stdout).ReadString('\n')
			noError(t, err)
			if !strings.HasPrefix(line, "sends by live frames") {
				t.Fatalf("the process %s", line)
			}
			initial := transmitted(t, "west")
			eventually(t, line+"goes on", func() bool { return transmitted(t, "west") > initial+1000 })
			noError(t, cmd.Process.Signal(signal))
			silent(t, Now())
			if signal != unix.SIGSTOP {
				_ = cmd.Wait() // it was killed
				ended = true
			}
		})
	}
	t.Run("a sender without its supervisor stops at its lease's end", func(t *testing.T) {
		a, b := liveCable(t, Options{})
		p := a.(*port)
		run := runTo(b, 1, continuous(20_000, frame(60)))
		tracks, err := p.compile(run.Streams, run.NextHop)
		noError(t, err)
		l, err := startLive(p, run, tracks, 1)
		noError(t, err)
		initial, part, expired := transmitted(t, "west"), l.parts[0], time.Duration(0)
		eventually(t, "frames leave", func() bool {
			expired = Now() + liveLease
			part.lease(expired) // renewed until here, however long that takes
			return transmitted(t, "west") > initial+1000
		})
		if lease := time.Duration(atomic.LoadUint64(&part.memory.Lease)); lease != expired {
			t.Fatalf("the program may send until %v, and its keeper leased it until %v", lease, expired)
		}
		for Now() <= expired {
			sleep(5 * time.Millisecond)
		}
		calls, sent := part.thread.calls.Load(), transmitted(t, "west")
		eventually(t, "its call ends", func() bool { return part.thread.awaitsLease.Load() })
		if late := transmitted(t, "west") - sent; late > int64(p.batch()) { // the batch in progress at the lease's end
			t.Errorf("%d frames left without a lease", late)
		}
		if later := part.thread.calls.Load(); later != calls {
			t.Errorf("%d calls more without a lease", later-calls)
		}
		noError(t, l.end())
	})
}

// silent waits until no frame has left for 200 ms, and checks how long that took. Frames that are counted after
// 3 s left after 3 s if the reading before was later than that, too.
func silent(t *testing.T, end time.Duration) {
	t.Helper()
	latest, changed := transmitted(t, "west"), Now()
	for read := changed; read-changed < 200*time.Millisecond; {
		sleep(5 * time.Millisecond)
		instant := Now()
		if n := transmitted(t, "west"); n != latest {
			if read-end > 3*time.Second {
				t.Fatal("frames still leave after 3 s")
			}
			latest, changed = n, Now()
		}
		read = instant
	}
	t.Logf("silent within %v", changed-end)
}
