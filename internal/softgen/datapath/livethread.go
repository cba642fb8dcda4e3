package datapath

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// liveThread is a thread of this process that is in one system call for as long as a run lasts: there the kernel runs its program. The call ends by a signal to the thread, and so
// with the process, however that ends; nothing leaves past the lease; and a timer of the kernel sends the signal when nobody has renewed the lease for long.
type liveThread struct {
	memory  *liveMemory
	program *ebpf.Program
	begun   bool
	calls   atomic.Int64
	waits   atomic.Bool  // for a lease, without a call
	id      atomic.Int32 // the kernel's; 0: it doesn't run
	timer   atomic.Int32
	ended   chan struct{}
	err     error // why it ended, once it has
}

const (
	// liveSignal ends a call. Nobody else sends it, and Go's runtime doesn't mind it.
	liveSignal = unix.Signal(36)
	// liveRepeats is how often a call runs the program: as often as can be said.
	liveRepeats = math.MaxUint32

	bpfProgRun     = 10     // BPF_PROG_TEST_RUN
	xdpLiveFrames  = 1 << 1 // BPF_F_TEST_XDP_LIVE_FRAMES
	notifyThread   = 4      // SIGEV_THREAD_ID
	scaleOfTimerID = 1      // ids begin at 0, and 0 is none here
)

// programRun is the kernel's union bpf_attr for BPF_PROG_TEST_RUN.
type programRun struct {
	program, result   uint32
	dataSize, outSize uint32
	data, out         uint64
	repeat, duration  uint32
	contextSize, _    uint32
	context, _        uint64
	flags, cpu, batch uint32
	_                 uint32
}

// runLive has the kernel run a program on frames like this one, so many times, and returns when it has, or with EINTR on a signal.
func runLive(program *ebpf.Program, frame []byte, repeats uint32, batch int) error {
	attr := &programRun{program: uint32(program.FD()), data: uint64(uintptr(unsafe.Pointer(&frame[0]))), dataSize: uint32(len(frame)), repeat: repeats, flags: xdpLiveFrames, batch: uint32(batch)}
	// Go's scheduler is told of the call, so that garbage is collected meanwhile; it returns once in a run.
	_, _, errno := unix.Syscall(unix.SYS_BPF, bpfProgRun, uintptr(unsafe.Pointer(attr)), unsafe.Sizeof(*attr))
	runtime.KeepAlive(frame)
	if errno != 0 {
		return errno
	}
	return nil
}

// run is the thread's life. Its system thread ends with it: it is bound, in a namespace and a class of its own.
func (t *liveThread) run(l *live, k int) {
	defer close(t.ended)
	runtime.LockOSThread()
	if t.err = l.port.namespace.enter(); t.err != nil {
		return
	}
	if t.err = bind(l.port.options.CPUs, k); t.err != nil {
		return
	}
	(&urgency{ordinary: true}).apply() // a real-time thread that never sleeps is stopped for 50 ms of each second
	ahead.add(1)
	defer ahead.add(-1)
	others := allSignals()
	others.Val[0] &^= 1 << (liveSignal - 1)
	if t.err = unix.PthreadSigmask(unix.SIG_SETMASK, others, nil); t.err != nil {
		return
	}
	if t.err = t.arm(); t.err != nil {
		return
	}
	t.id.Store(int32(unix.Gettid()))
	for t.err == nil && !l.over.Load() {
		if t.waits.Store(Now() > time.Duration(t.memory.load(liveLease))); t.waits.Load() {
			sleep(time.Millisecond) // the timer has ended the call: it isn't made again without a lease
			continue
		}
		t.calls.Add(1)
		if err := runLive(t.program, l.frame, liveRepeats, l.port.batch()); err != nil && !errors.Is(err, unix.EINTR) {
			t.err = fmt.Errorf("send live frames on %s: %w", l.port.name, err)
		}
	}
	t.id.Store(0)
	t.disarm()
}

func allSignals() *unix.Sigset_t {
	var s unix.Sigset_t
	for i := range s.Val {
		s.Val[i] = math.MaxUint64
	}
	return &s
}

// end interrupts the thread's call until it has noticed that all is over: a signal that comes just before the call is lost on it.
func (t *liveThread) end() {
	for {
		if id := t.id.Load(); id != 0 {
			_ = unix.Tgkill(os.Getpid(), int(id), liveSignal)
		}
		select {
		case <-t.ended:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// event is the kernel's struct sigevent.
type event struct {
	value                  uint64
	signal, notify, thread int32
	_                      [44]byte
}

// arm makes a timer that sends the signal to the calling thread.
func (t *liveThread) arm() error {
	e := event{signal: int32(liveSignal), notify: notifyThread, thread: int32(unix.Gettid())}
	var id int32
	if _, _, errno := unix.RawSyscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&e)), uintptr(unsafe.Pointer(&id))); errno != 0 {
		return fmt.Errorf("make a timer that ends sending: %w", errno)
	}
	t.timer.Store(id + scaleOfTimerID)
	return nil
}

func (t *liveThread) disarm() {
	if id := t.timer.Swap(0); id != 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_TIMER_DELETE, uintptr(id-scaleOfTimerID), 0, 0)
	}
}

// lease lets the thread send until then, and be for a while more.
func (t *liveThread) lease(until time.Duration) {
	t.memory.store(liveLease, uint64(until))
	id := t.timer.Load()
	if id == 0 {
		return
	}
	last := until + liveLeased
	setting := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(last)), Interval: unix.NsecToTimespec(int64(liveLeased))}
	_, _, _ = unix.RawSyscall6(unix.SYS_TIMER_SETTIME, uintptr(id-scaleOfTimerID), timerAbsolute, uintptr(unsafe.Pointer(&setting)), 0, 0, 0)
}

const timerAbsolute = 1 // TIMER_ABSTIME

func (t *liveThread) close() error {
	var errs []error
	if t.program != nil {
		errs = append(errs, t.program.Close())
	}
	return errors.Join(append(errs, t.memory.close())...)
}

// tryLive says why live frames can't be sent by this process on this kernel; nil: they can.
func tryLive() error {
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "linerate_try", Type: ebpf.XDP, License: "Apache-2.0",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, xdpDrop), asm.Return()}})
	if err == nil {
		err = errors.Join(runLive(program, make([]byte, 60), 1, 1), program.Close())
	}
	switch {
	case errors.Is(err, syscall.EPERM):
		return errors.New("it takes CAP_BPF and CAP_NET_ADMIN in the machine's own user namespace: run as root, or give the container both")
	case errors.Is(err, syscall.EINVAL):
		return errors.New("it takes Linux 5.18 or later")
	}
	return err
}
