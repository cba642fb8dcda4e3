package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/bounded"
)

// Reading is what a machine's processors did until a moment, and who waited for them. All times count since the
// start of the machine or the thread, so only differences mean something.
type Reading struct {
	// At is when it was read, on the machine's monotonic clock.
	At         time.Duration `json:"at"`
	Processors []Processor   `json:"processors"`
	// Threads are the watched threads, which carry frames or send them.
	Threads []Thread `json:"threads,omitempty"`
	// Processes are all visible processes, which in a container are only its own.
	Processes []Process `json:"processes,omitempty"`
}

// Processor is how one of them spent its time, to a hundredth of a second (proc_stat(5)).
type Processor struct {
	Number int `json:"number"`
	// Busy is all that wasn't idle, softirqs and interrupts included, and what the host took excluded.
	Busy    time.Duration `json:"busy"`
	SoftIRQ time.Duration `json:"softirq"`
	// Stolen is what the host of a virtual machine gave to others when this processor wanted to run.
	Stolen time.Duration `json:"stolen"`
	Idle   time.Duration `json:"idle"`
}

// Role is what a watched thread does.
type Role string

// The roles.
const (
	// Carries is the role of a thread that takes frames from an interface and hands them on. The kernel's threads
	// for that (threaded NAPI) have it, and a device's processes.
	Carries Role = "Carries"
	// Sends is the role of a thread of the generator.
	Sends Role = "Sends"
)

// Thread is one that is watched.
type Thread struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	Role Role   `json:"role"`
	// Processor is the one that it ran on last. Bound says that the thread runs on no other one.
	Processor int  `json:"processor"`
	Bound     bool `json:"bound,omitempty"`
	// Ran is for how long the thread had a processor. Waited is for how long it was ready to run while another had
	// the processor. They are the first two fields of /proc/PID/task/TID/schedstat.
	Ran    time.Duration `json:"ran"`
	Waited time.Duration `json:"waited"`
	// Starved says that the thread was ready to run, and didn't in all the time that the reading gave it. The
	// kernel counts a wait when it is over, so Waited lacks this one.
	Starved bool `json:"starved,omitempty"`

	ready bool // when it was read
}

// Process is one of a machine's, with all its threads.
type Process struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
	// Processor is the one that its main thread ran on last.
	Processor int `json:"processor"`
	// Ran is the processor time of all its threads, to a hundredth of a second.
	Ran time.Duration `json:"ran"`
	// Threads is how many threads it has. Those of a process with several may run on any processors.
	Threads int `json:"threads,omitempty"`
	// Ours says that the process is the generator's or the device's.
	Ours bool `json:"ours,omitempty"`
}

// Watch reads a machine. The zero value watches the kernel's threads that carry frames.
type Watch struct {
	// Generator is the process whose threads send, or 0 where it runs elsewhere.
	Generator int
	// Device says whether a process is the device's. It is nil where no process is known to be.
	Device func(pid int) bool
}

// Tick is the unit of the kernel's times of processors and processes, which is the same on all architectures that
// Go knows (USER_HZ).
const Tick = time.Second / 100

// Read takes a reading. It costs up to 50 µs for each process, so it is for the edges of a window and not for its
// inside. It leaves out processes that end before they are read.
func (w Watch) Read(ctx context.Context) (Reading, error) {
	r := Reading{}
	kernel, err := procfs.NewDefaultFS()
	if err != nil {
		return r, fmt.Errorf("who runs on this machine: %w", err)
	}
	processes, err := kernel.AllProcs()
	if err != nil {
		return r, fmt.Errorf("who runs on this machine: %w", err)
	}
	for _, p := range processes {
		if ctx.Err() != nil {
			return r, fmt.Errorf("who runs on this machine: %w", context.Cause(ctx))
		}
		if err := w.add(&r, kernel, p); err != nil && !ended(err) {
			return r, fmt.Errorf("who runs on this machine: %w", err)
		}
	}
	r.awaitRuns(ctx, kernel)
	if r.Processors, err = AllProcessors(); err != nil {
		return r, err
	}
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &clock); err != nil {
		return r, fmt.Errorf("when it is: %w", err)
	}
	r.At = time.Duration(clock.Nano())
	return r, nil
}

// ended says that a process ended while it was looked at.
func ended(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH)
}

// add takes in a process, and those of its threads that are watched.
func (w Watch) add(r *Reading, kernel procfs.FS, p procfs.Proc) error {
	s, err := stateOf(p)
	if err != nil {
		return err
	}
	role := w.role(p.PID, s)
	r.Processes = append(r.Processes, Process{PID: p.PID, Name: s.name, Processor: s.processor, Ran: s.ran,
		Threads: s.threads, Ours: role != "" || p.PID == os.Getpid()})
	switch {
	case role == "":
		return nil
	case s.kernel:
		return r.watch(p, s, role)
	}
	threads, err := kernel.AllThreads(p.PID)
	if err != nil {
		return err
	}
	for _, thread := range threads {
		s, err := stateOf(thread)
		if err == nil {
			err = r.watch(thread, s, role)
		}
		if err != nil && !ended(err) {
			return err
		}
	}
	return nil
}

// role is what the threads of a process are watched for. It is empty where they aren't watched.
func (w Watch) role(pid int, s stat) Role {
	switch {
	case pid == w.Generator && pid != 0:
		return Sends
	case s.kernel && carries(s.name):
		return Carries
	case !s.kernel && w.Device != nil && w.Device(pid):
		return Carries
	}
	return ""
}

// carries says that frames wait for a kernel thread which receives for an interface (threaded NAPI) or for a
// processor's backlog. It excludes ksoftirqd. Since Linux 6.4, any thread that ends an interrupt or sends a frame
// does the work that is due on its processor, whether ksoftirqd waits or not.
func carries(name string) bool {
	return strings.HasPrefix(name, "napi/") || strings.HasPrefix(name, "backlog_napi/")
}

func (r *Reading) watch(thread procfs.Proc, s stat, role Role) error {
	t := Thread{ID: thread.PID, Name: s.name, Role: role, Processor: s.processor, ready: s.ready}
	var err error
	if t.Ran, t.Waited, err = scheduleOf(thread); err != nil {
		return err
	}
	var allowed unix.CPUSet
	t.Bound = unix.SchedGetaffinity(t.ID, &allowed) == nil && allowed.Count() == 1
	r.Threads = append(r.Threads, t)
	return nil
}

// The bounds of waiting for threads that are ready to run.
const (
	runPoll  = time.Millisecond
	runBound = 20 * time.Millisecond
)

// awaitRuns waits a moment until the carrying threads that are ready to run have run, because the kernel counts a
// wait when it is over.
func (r *Reading) awaitRuns(ctx context.Context, kernel procfs.FS) {
	begin := time.Now()
	for i := range r.Threads {
		t := &r.Threads[i]
		for t.ready && t.Role == Carries {
			thread, err := kernel.Proc(t.ID) // the kernel has each thread there, and lists those that lead a process
			if err != nil {
				break
			}
			ran, waited, err := scheduleOf(thread)
			if err != nil {
				break
			}
			if ran != t.Ran || waited != t.Waited {
				t.Ran, t.Waited = ran, waited
				break
			}
			if t.Starved = time.Since(begin) > runBound; t.Starved || bounded.Pause(ctx, runPoll) != nil {
				break
			}
		}
	}
}

// stat is what is needed of a process' or thread's stat (proc_pid_stat(5)).
type stat struct {
	name      string
	ready     bool // it runs, or waits for a processor
	kernel    bool // it is one of the kernel's own threads
	ran       time.Duration
	processor int
	threads   int
}

// kernelThread is PF_KTHREAD in a task's flags (the kernel's include/linux/sched.h).
const kernelThread = 0x00200000

// stateOf reads what a process, or a thread, did so far.
func stateOf(p procfs.Proc) (stat, error) {
	s, err := p.Stat()
	if err != nil {
		return stat{}, fmt.Errorf("the state of process %d: %w", p.PID, err)
	}
	return stat{
		name: s.Comm, ready: s.State == "R", kernel: s.Flags&kernelThread != 0, processor: int(s.Processor),
		threads: s.NumThreads,
		ran:     time.Duration(s.UTime+s.STime) * Tick,
	}, nil
}

// scheduleOf is how long a thread ran, and how long it waited for a processor (the kernel's
// Documentation/scheduler/sched-stats.rst).
func scheduleOf(thread procfs.Proc) (ran, waited time.Duration, err error) {
	s, err := thread.Schedstat()
	if err != nil {
		return 0, 0, fmt.Errorf("how long thread %d ran and waited: %w", thread.PID, err)
	}
	return time.Duration(s.RunningNanoseconds), time.Duration(s.WaitingNanoseconds), nil
}

// WaitedBy is for how long a thread of this process, by the kernel's number, was ready to run since it began, and
// others had the processors. A wait counts when it is over.
func WaitedBy(thread int) (time.Duration, error) {
	kernel, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, fmt.Errorf("how long thread %d waited: %w", thread, err)
	}
	process, err := kernel.Proc(thread)
	if err != nil {
		return 0, fmt.Errorf("how long thread %d waited: %w", thread, err)
	}
	_, waited, err := scheduleOf(process)
	return waited, err
}

// OwnWaits follows for how long this process' threads were ready to run, and others had the processors. Its zero
// value begins with the first reading. It is not safe for concurrent use.
type OwnWaits struct {
	waits map[int]time.Duration // by thread
	total time.Duration
}

// Read is how long they waited since the first reading, all together, threads that ended since then included as far
// as they were seen. It needs no rights, and in a container counts the time in which that had used up its share of
// the processors, too. Threads of processes that this one has started are read with its own, as long as these run.
func (w *OwnWaits) Read(started ...int) (time.Duration, error) {
	self, err := procfs.Self()
	if err != nil {
		return 0, fmt.Errorf("for how long this process waited: %w", err)
	}
	threads, err := procfs.AllThreads(self.PID)
	if err != nil {
		return 0, fmt.Errorf("for how long this process waited: %w", err)
	}
	for _, pid := range started {
		if children, err := procfs.AllThreads(pid); err == nil { // it may have ended
			threads = append(threads, children...)
		}
	}
	waits, ran := map[int]time.Duration{}, time.Duration(0)
	for _, thread := range threads {
		threadRan, waited, err := scheduleOf(thread)
		switch {
		case err != nil && ended(err):
			continue
		case err != nil:
			return 0, err
		}
		ran += threadRan
		if waits[thread.PID] = waited; w.waits != nil {
			w.total += max(0, waited-w.waits[thread.PID])
		}
	}
	if ran == 0 { // and yet somebody reads this
		return 0, errors.New("for how long this process waited: this kernel counts no thread's time (CONFIG_SCHED_INFO)")
	}
	w.waits = waits
	return w.total, nil
}

// AllProcessors are the times of each of this machine's processors since the machine's start, in the order of their
// numbers. In a container they are the node's.
func AllProcessors() ([]Processor, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	spent, err := fs.Stat()
	if err != nil {
		return nil, err
	}
	var processors []Processor
	for number, s := range spent.CPU {
		processors = append(processors, Processor{
			Number: int(number), SoftIRQ: ofSeconds(s.SoftIRQ), Stolen: ofSeconds(s.Steal),
			Idle: ofSeconds(s.Idle + s.Iowait),
			Busy: ofSeconds(s.User + s.Nice + s.System + s.IRQ + s.SoftIRQ),
		})
	}
	slices.SortFunc(processors, func(a, b Processor) int { return a.Number - b.Number })
	return processors, nil
}

// ofSeconds is a time that the kernel gave in hundredths, to the nearest of these.
func ofSeconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(Tick)
}
