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

// liveThread is a thread of this process that is in one system call for as long as anything is sent on it: there the
// kernel runs its program, which goes on to those of the ports. The call ends by a signal to the thread, and so with
// the process, however that ends; no port sends past its lease; and a timer of the kernel sends the signal when
// nobody has renewed any lease for long.
//
//	one port           entry ─▶ its program
//	several            entry ─▶ rotor ─▶ the program whose turn it is ─▶ the next one, if that has no frame due ─▶ … ─▶ drop
//
// Ports come and go by changing the slots, a map of programs, while the call goes on.
type liveThread struct {
	frame        []byte // what the kernel's frames begin as
	batch        int
	processors   []int       // the first of them is the thread's; none: any
	memory       *sendThread // shared with the programs
	mapped       mappedArray
	slots        *ebpf.Map // programs by slot; slot 0 is what entry goes on to
	entry, rotor *ebpf.Program
	parts        []*livePart // in the order of their turns
	head         *ebpf.Program
	begun        atomic.Bool
	over         atomic.Bool
	leased       atomic.Int64 // until when any port may send
	calls        atomic.Int64
	waits        atomic.Bool  // for a lease, without a call
	id           atomic.Int32 // the kernel's; 0: it doesn't run
	timer        atomic.Int32
	ended        chan struct{}
	err          error // why it ended, once it has
}

const (
	// liveSignal ends a call. Nobody else sends it, and Go's runtime doesn't mind it.
	liveSignal = unix.Signal(36)
	// liveRepeats is how often a call runs the program: as often as can be said.
	liveRepeats = math.MaxUint32
	// threadMap is the map that all programs of a thread share with user space (kernel/send.c).
	threadMap = ".data.thread"

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

// runLive has the kernel run a program on frames like this one, so many times, and returns when it has, or with EINTR
// on a signal.
func runLive(program *ebpf.Program, frame []byte, repeats uint32, batch int) error {
	attr := &programRun{
		program:  uint32(program.FD()),
		data:     uint64(uintptr(unsafe.Pointer(&frame[0]))),
		dataSize: uint32(len(frame)),
		repeat:   repeats,
		flags:    xdpLiveFrames,
		batch:    uint32(batch),
	}
	// Go's scheduler is told of the call, so that garbage is collected meanwhile; it returns once in a run.
	_, _, errno := unix.Syscall(unix.SYS_BPF, bpfProgRun, uintptr(unsafe.Pointer(attr)), unsafe.Sizeof(*attr))
	runtime.KeepAlive(frame)
	if errno != 0 {
		return errno
	}
	return nil
}

// newLiveThread makes a thread that has no part in anything yet.
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
	taken := func(p *livePart) bool { return p.slot == part.slot }
	for part.slot = 1; slices.ContainsFunc(t.parts, taken); part.slot++ {
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

// remove has a part's program run no more, but for a run in progress.
func (t *liveThread) remove(part *livePart) error {
	t.parts = slices.DeleteFunc(t.parts, func(p *livePart) bool { return p == part })
	return errors.Join(t.link(), t.slots.Delete(part.slot))
}

// link says which program comes first, and which after each. A run in progress may meet some links of before and some
// of after: at worst it goes round, until the kernel follows it no more, and drops its frame.
func (t *liveThread) link() error {
	if len(t.parts) == 0 {
		return nil
	}
	atomic.StoreUint64(&t.memory.EntrySlot, uint64(t.parts[0].slot))
	for i, p := range t.parts {
		after := t.parts[(i+1)%len(t.parts)]
		if after == p {
			atomic.StoreUint64(&p.memory.NextSlot, 0)
			continue
		}
		atomic.StoreUint64(&p.memory.NextSlot, uint64(after.slot))
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

// waitForCurrentBatch waits until the kernel has passed on the batch that it has in hand: a port that has stopped may
// have frames in it. A part that stays counts the runs.
func (t *liveThread) waitForCurrentBatch() {
	if !t.begun.Load() {
		return
	}
	runs := &t.parts[0].memory.Runs
	enough := atomic.LoadUint64(runs) + uint64(t.batch) + 1
	for ; atomic.LoadUint64(runs) < enough && !t.failed(); sleep(50 * time.Microsecond) {
		t.lease(Now() + liveLeased)
	}
}

// failed says whether the thread has ended; while it has parts, that is by an error.
func (t *liveThread) failed() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

// begin has the thread run, if it doesn't yet.
func (t *liveThread) begin() {
	if t.begun.CompareAndSwap(false, true) {
		go t.run()
	}
}

// run is the thread's life. Its system thread ends with it: it is bound, and in a class of its own.
func (t *liveThread) run() {
	defer close(t.ended)
	runtime.LockOSThread()
	if t.err = bind(t.processors, 0); t.err != nil {
		return
	}
	(&urgency{ordinary: true}).apply() // a real-time thread that never sleeps is stopped for 50 ms of each second
	defer machine.FillFirst()()
	others := allSignals()
	others.Val[0] &^= 1 << (liveSignal - 1)
	if t.err = unix.PthreadSigmask(unix.SIG_SETMASK, others, nil); t.err != nil {
		return
	}
	if t.err = t.arm(); t.err != nil {
		return
	}
	t.id.Store(int32(unix.Gettid()))
	for t.err == nil && !t.over.Load() {
		if t.waits.Store(Now() > time.Duration(t.leased.Load())); t.waits.Load() {
			sleep(time.Millisecond) // the timer has ended the call: it isn't made again without a lease
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

// end interrupts the thread's call until it has noticed that all is over: a signal that comes just before the call is
// lost on it.
func (t *liveThread) end() {
	t.over.Store(true)
	for t.begun.Load() {
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
	_, _, errno := unix.RawSyscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&e)), uintptr(unsafe.Pointer(&id)))
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

// lease lets the thread make calls until then, and be in one for a while more.
func (t *liveThread) lease(until time.Duration) {
	t.leased.Store(int64(until))
	id := t.timer.Load()
	if id == 0 {
		return
	}
	setting := unix.ItimerSpec{
		Value:    unix.NsecToTimespec(int64(until + liveLeased)),
		Interval: unix.NsecToTimespec(int64(liveLeased)),
	}
	timer := uintptr(id - scaleOfTimerID)
	_, _, _ = unix.RawSyscall6(unix.SYS_TIMER_SETTIME, timer, timerAbsolute, uintptr(unsafe.Pointer(&setting)), 0, 0, 0)
}

const timerAbsolute = 1 // TIMER_ABSTIME

func (t *liveThread) close() error {
	var errs []error
	for _, p := range []*ebpf.Program{t.entry, t.rotor} {
		if p != nil {
			errs = append(errs, p.Close())
		}
	}
	if t.slots != nil {
		errs = append(errs, t.slots.Close())
	}
	return errors.Join(append(errs, t.mapped.close())...)
}

// tryLive says why live frames can't be sent by this process on this kernel; nil: they can.
func tryLive() error {
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
