package profile

import (
	"errors"
	"fmt"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -type running sample kernel/sample.c -- -Wall -Werror -mcpu=v3

// Hertz is how often each processor is sampled in a second. It is no divisor of the kernel's own timers, which would
// be met again and again.
const Hertz = 997

// Sampler samples processors from Start to Stop. One goroutine uses it.
type Sampler struct {
	objects sampleObjects
	clocks  []int // file descriptors, one for each processor
	started time.Time
}

// Start begins to sample these processors. It takes CAP_PERFMON and CAP_BPF.
func Start(processors []int) (*Sampler, error) {
	_ = rlimit.RemoveMemlock() // for kernels before 5.11, where loading fails if this does
	s := &Sampler{}
	if err := loadSampleObjects(&s.objects, nil); err != nil {
		return nil, fmt.Errorf("load the program that samples processors: %w", explain(err))
	}
	for _, processor := range processors {
		if err := s.attach(processor); err != nil {
			return nil, errors.Join(fmt.Errorf("sample processor %d: %w", processor, explain(err)), s.close())
		}
	}
	s.started = time.Now()
	for _, clock := range s.clocks {
		if err := unix.IoctlSetInt(clock, unix.PERF_EVENT_IOC_ENABLE, 0); err != nil {
			return nil, errors.Join(fmt.Errorf("start to sample: %w", err), s.close())
		}
	}
	return s, nil
}

func (s *Sampler) attach(processor int) error {
	clock, err := unix.PerfEventOpen(&unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Size: unix.PERF_ATTR_SIZE_VER8,
		Sample: Hertz, Bits: unix.PerfBitFreq | unix.PerfBitDisabled,
	}, -1, processor, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return err
	}
	s.clocks = append(s.clocks, clock)
	return unix.IoctlSetInt(clock, unix.PERF_EVENT_IOC_SET_BPF, s.objects.LinerateSample.FD())
}

// explain adds the way out to what the kernel refuses.
func explain(err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("%w: it takes the capabilities CAP_PERFMON and CAP_BPF (run as root), and a kernel that is "+
			"not locked down", err)
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, ebpf.ErrNotSupported):
		return fmt.Errorf("%w: it takes a kernel with CONFIG_PERF_EVENTS and CONFIG_BPF_EVENTS", err)
	case errors.Is(err, unix.ENODEV):
		return fmt.Errorf("%w: no such processor is online", err)
	}
	return err
}

// Stop ends sampling, and returns what was counted. Processes that have ended by then are named without their
// functions. owner says whose a process is.
func (s *Sampler) Stop(owner func(pid int) Owner) (Profile, error) {
	defer s.close() //nolint:errcheck // nothing was written to what is closed
	for _, clock := range s.clocks {
		if err := unix.IoctlSetInt(clock, unix.PERF_EVENT_IOC_DISABLE, 0); err != nil {
			return Profile{}, fmt.Errorf("stop sampling: %w", err)
		}
	}
	p := Profile{Duration: time.Since(s.started), Processors: len(s.clocks)}
	counted, err := s.read(&p)
	if err != nil {
		return p, fmt.Errorf("read the samples: %w", err)
	}
	return p, p.fold(counted, owner)
}

// counted is a stack as the kernel counted it, innermost addresses first.
type counted struct {
	process              int
	command              string
	kernel, user         []uint64
	lostKernel, lostUser bool // the kernel's table had no room for that stack
	count                int64
}

func (s *Sampler) read(p *Profile) (all []counted, err error) {
	var key sampleRunning
	var count uint64
	for each := s.objects.Counts.Iterate(); each.Next(&key, &count); {
		c := counted{process: int(key.Process), command: commandName(key.Command[:]), count: int64(count)}
		if c.kernel, err = s.stack(key.Kernel); err != nil {
			return nil, err
		}
		if c.user, err = s.stack(key.User); err != nil {
			return nil, err
		}
		c.lostKernel, c.lostUser = key.Kernel == taken, key.User == taken
		all, p.Samples = append(all, c), p.Samples+c.count
	}
	if err := s.objects.Uncounted.Lookup(uint32(0), &count); err != nil {
		return nil, err
	}
	p.Samples, p.Lost = p.Samples+int64(count), p.Lost+int64(count)
	return all, nil
}

// taken is instead of a stack whose place in the kernel's table another stack had.
const taken = -int32(unix.EEXIST)

// stack is a stack's addresses, none where the process had none.
func (s *Sampler) stack(id int32) ([]uint64, error) {
	if id < 0 {
		return nil, nil
	}
	var addresses [127]uint64
	if err := s.objects.Stacks.Lookup(uint32(id), &addresses); err != nil {
		return nil, err
	}
	depth := 0
	for depth < len(addresses) && addresses[depth] != 0 {
		depth++
	}
	return addresses[:depth:depth], nil
}

func (s *Sampler) close() error {
	for _, clock := range s.clocks {
		_ = unix.Close(clock)
	}
	return s.objects.Close()
}
