package datapath

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

// liveThread is a thread of this process that stays in one system call while any port sends on it.
// In that call the kernel runs the thread's entry program, which continues with the ports' programs.
// A signal to the thread ends the call, and so does the end of the process. No port sends past its
// lease. A timer of the kernel sends the signal after a long time without a renewed lease.
//
//	one port   entry ─▶ its program
//	several    entry ─▶ rotor ─▶ the program whose turn it is ─▶ the next, if no frame is due ─▶ … ─▶ drop
//
// Ports come and go by changes of the slots, a map of programs, while the call goes on.
type liveThread struct {
	frame        []byte // the initial bytes of the kernel's frames
	batch        int
	processors   []int       // the thread is bound to the first; it is unbound without any
	memory       *sendThread // shared with the programs
	mapped       mappedArray
	slots        *ebpf.Map // programs by slot; entry continues with slot 0
	entry, rotor *ebpf.Program
	parts        []*livePart // in the order of their turns
	head         *ebpf.Program
	started      atomic.Bool
	stopping     atomic.Bool
	leaseEnd     atomic.Int64 // after this time no port sends
	calls        atomic.Int64
	awaitsLease  atomic.Bool  // the thread sleeps without a call
	id           atomic.Int32 // the kernel's number; 0 while the thread doesn't run
	timer        atomic.Int32
	ended        chan struct{}
	err          error // the reason for the end, set before ended is closed
}

const (
	// liveSignal ends a call. No other program sends it, and Go's runtime ignores it.
	liveSignal = unix.Signal(36)
	// liveRepeats is how often one call runs the program, the most that the kernel takes.
	liveRepeats = math.MaxUint32
	// threadMap is the map that all programs of a thread share with user space (kernel/send.c).
	threadMap = ".data.thread"

	bpfProgRun     = 10     // BPF_PROG_TEST_RUN
	xdpLiveFrames  = 1 << 1 // BPF_F_TEST_XDP_LIVE_FRAMES
	notifyThread   = 4      // SIGEV_THREAD_ID
	scaleOfTimerID = 1      // the kernel's ids begin at 0, and 0 means no timer here
)

// programRun is the kernel's union bpf_attr for BPF_PROG_TEST_RUN.
type programRun struct {
	program, result   uint32
	dataSize, outSize uint32
	data, output      uint64
	repeat, duration  uint32
	contextSize, _    uint32
	context, _        uint64
	flags, cpu, batch uint32
	_                 uint32
}

// runLive has the kernel run a program this many times on copies of the frame. It returns EINTR after a signal.
func runLive(program *ebpf.Program, frame []byte, repeats uint32, batch int) error {
	attr := &programRun{
		program:  uint32(program.FD()),
		data:     uint64(uintptr(unsafe.Pointer(&frame[0]))),
		dataSize: uint32(len(frame)),
		repeat:   repeats,
		flags:    xdpLiveFrames,
		batch:    uint32(batch),
	}
	// This system call goes through Go's scheduler, so that garbage is collected meanwhile. It returns once in a run.
	_, _, errno := unix.Syscall(unix.SYS_BPF, bpfProgRun, uintptr(unsafe.Pointer(attr)), unsafe.Sizeof(*attr))
	runtime.KeepAlive(frame)
	if errno != 0 {
		return errno
	}
	return nil
}

// newLiveThread makes a thread without parts.
func newLiveThread(length, batch int) (_ *liveThread, err error) {
	t := &liveThread{frame: make([]byte, length), batch: batch, ended: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	var loaded struct {
		Entry  *ebpf.Program `ebpf:"linerate_entry"`
		Rotor  *ebpf.Program `ebpf:"linerate_rotor"`
		Slots  *ebpf.Map     `ebpf:"slots"`
		Memory *ebpf.Map     `ebpf:".data.thread"`
	}
	if err := loadSendObjects(&loaded, nil); err != nil {
		return nil, err
	}
	t.entry, t.rotor, t.slots = loaded.Entry, loaded.Rotor, loaded.Slots
	t.mapped, t.memory, err = mapWords[sendThread](loaded.Memory)
	return t, err
}

// add gives a part its turns on the thread.
func (t *liveThread) add(part *livePart) error {
	inUse := func(p *livePart) bool { return p.slot == part.slot }
	for part.slot = 1; slices.ContainsFunc(t.parts, inUse); part.slot++ {
	}
	if err := t.slots.Put(part.slot, part.program); err != nil {
		return err
	}
	part.idle = atomic.LoadUint64(&t.memory.Idle)
	t.parts = append(t.parts, part)
	if err := t.link(); err != nil {
		return errors.Join(err, t.remove(part))
	}
	return nil
}

// remove takes a part's program out of the turns. A run of the program in progress ends.
func (t *liveThread) remove(part *livePart) error {
	t.parts = slices.DeleteFunc(t.parts, func(p *livePart) bool { return p == part })
	return errors.Join(t.link(), t.slots.Delete(part.slot))
}

// link sets the first program and each program's successor. A run in progress may meet some earlier links
// and some new ones. At worst it goes round until the kernel follows it no more, and drops its frame.
func (t *liveThread) link() error {
	if len(t.parts) == 0 {
		return nil
	}
	atomic.StoreUint64(&t.memory.EntrySlot, uint64(t.parts[0].slot))
	for i, p := range t.parts {
		successor := t.parts[(i+1)%len(t.parts)]
		if successor == p {
			atomic.StoreUint64(&p.memory.NextSlot, 0)
			continue
		}
		atomic.StoreUint64(&p.memory.NextSlot, uint64(successor.slot))
	}
	head := t.rotor
	if len(t.parts) == 1 {
		head = t.parts[0].program
	}
	if head == t.head {
		return nil
	}
	t.head = head
	return t.slots.Put(uint32(0), head)
}

// waitForCurrentBatch waits until the kernel has passed on its current batch,
// which may have frames of a stopped port. A remaining part counts the runs.
func (t *liveThread) waitForCurrentBatch() {
	if !t.started.Load() {
		return
	}
	runs := &t.parts[0].memory.Runs
	target := atomic.LoadUint64(runs) + uint64(t.batch) + 1
	for ; atomic.LoadUint64(runs) < target && !t.failed(); sleep(50 * time.Microsecond) {
		t.lease(Now() + liveLease)
	}
}

// failed says whether the thread has ended. A thread with parts ends only by an error.
func (t *liveThread) failed() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

// begin starts the thread unless it runs.
func (t *liveThread) begin() {
	if t.started.CompareAndSwap(false, true) {
		go t.run()
	}
}

// run is the thread's main function. The system thread ends with it, because it is bound and has a scheduling
// class of its own.
func (t *liveThread) run() {
	defer close(t.ended)
	runtime.LockOSThread()
	if t.err = bind(t.processors, 0); t.err != nil {
		return
	}
	(&urgency{ordinary: true}).apply() // the kernel stops a real-time thread that never sleeps for 50 ms of each second
	defer machine.FillFirst()()
	blocked := allSignals()
	blocked.Val[0] &^= 1 << (liveSignal - 1)
	if t.err = unix.PthreadSigmask(unix.SIG_SETMASK, blocked, nil); t.err != nil {
		return
	}
	if t.err = t.arm(); t.err != nil {
		return
	}
	t.id.Store(int32(unix.Gettid()))
	for t.err == nil && !t.stopping.Load() {
		if t.awaitsLease.Store(Now() > time.Duration(t.leaseEnd.Load())); t.awaitsLease.Load() {
			sleep(time.Millisecond) // the timer has ended the call, and the thread needs a lease for another
			continue
		}
		t.calls.Add(1)
		if err := runLive(t.entry, t.frame, liveRepeats, t.batch); err != nil && !errors.Is(err, unix.EINTR) {
			t.err = fmt.Errorf("live frames: %w", err)
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

// end interrupts the thread's call until the thread has noticed stopping.
// A signal that comes just before the call doesn't interrupt it.
func (t *liveThread) end() {
	t.stopping.Store(true)
	for t.started.Load() {
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
	_, _, errno := unix.RawSyscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&e)),
		uintptr(unsafe.Pointer(&id)))
	if errno != 0 {
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

// lease lets the thread make calls until end, and lets a call last for liveLease more.
func (t *liveThread) lease(end time.Duration) {
	t.leaseEnd.Store(int64(end))
	id := t.timer.Load()
	if id == 0 {
		return
	}
	setting := unix.ItimerSpec{
		Value:    unix.NsecToTimespec(int64(end + liveLease)),
		Interval: unix.NsecToTimespec(int64(liveLease)),
	}
	timer := uintptr(id - scaleOfTimerID)
	_, _, _ = unix.RawSyscall6(unix.SYS_TIMER_SETTIME, timer, timerAbsolute, uintptr(unsafe.Pointer(&setting)), 0, 0, 0)
}

const timerAbsolute = 1 // TIMER_ABSTIME

func (t *liveThread) close() error {
	return errors.Join(t.entry.Close(), t.rotor.Close(), t.slots.Close(), t.mapped.close())
}

// checkLiveKernel says why this process can't send live frames on this kernel, or returns nil if it can.
func checkLiveKernel() error {
	var loaded struct {
		Try *ebpf.Program `ebpf:"linerate_try"`
	}
	err := loadSendObjects(&loaded, nil)
	if err == nil {
		err = errors.Join(runLive(loaded.Try, make([]byte, 60), 1, 1), loaded.Try.Close())
	}
	switch {
	case errors.Is(err, syscall.EPERM):
		return errors.New("it takes CAP_BPF and CAP_NET_ADMIN in the machine's own user namespace: " +
			"run as root, or give the container both")
	case errors.Is(err, syscall.EINVAL):
		return errors.New("it takes Linux 5.18 or later")
	}
	return err
}
