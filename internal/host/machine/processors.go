package machine

// This file reads how a machine's processors spent their time, as its kernel counts it. A generator whose
// processors ran others' work sent late, through no fault of the device. The file also binds threads to processors.
// precedence.go gives the sessions of senders and judges priority over others.

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// OwnProcessors are the processors that the calling thread may use. A container or taskset(1) may leave it fewer
// than the machine has.
func OwnProcessors() (*unix.CPUSet, error) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return nil, fmt.Errorf("which processors there are: %w", err)
	}
	return &allowed, nil
}

// ListProcessors are a set's processors in their order.
func ListProcessors(set *unix.CPUSet) (numbers []int) {
	for cpu, remaining := 0, set.Count(); remaining > 0; cpu++ {
		if set.IsSet(cpu) {
			numbers, remaining = append(numbers, cpu), remaining-1
		}
	}
	return numbers
}

// Bind binds a thread, 0 being the calling one, to these processors. A thread of the kernel's takes CAP_SYS_NICE.
func Bind(thread int, processors ...int) error {
	var set unix.CPUSet
	for _, processor := range processors {
		set.Set(processor)
	}
	if err := unix.SchedSetaffinity(thread, &set); err != nil {
		return fmt.Errorf("bind a thread to processors %v: %w", processors, err)
	}
	return nil
}

// BindProcess binds all threads of a process to these processors, and so all that these threads start.
func BindProcess(pid int, processors ...int) error {
	for bound := map[int]bool{}; ; {
		threads, err := procfs.AllThreads(pid)
		if err != nil {
			return fmt.Errorf("bind process %d to processors %v: %w", pid, processors, err)
		}
		complete := true
		for _, thread := range threads {
			if bound[thread.PID] {
				continue
			}
			if err := Bind(thread.PID, processors...); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
			complete, bound[thread.PID] = false, true
		}
		if complete { // a thread that one of them started before it was bound would have been new
			return nil
		}
	}
}

// Spent is how these processors spent their time since the machine started, all together, in seconds
// (proc_stat(5)). Guests' time is left out, as it is counted as the user's, too.
func Spent(set *unix.CPUSet) (sum procfs.CPUStat, err error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return sum, err
	}
	stat, err := fs.Stat()
	if err != nil {
		return sum, err
	}
	return total(stat.CPU, set), nil
}

// Stolen is what the host of a virtual machine gave to others when one of these processors wanted to run, on
// average of them.
func Stolen(processors []Processor, set *unix.CPUSet) time.Duration {
	sum := time.Duration(0)
	for _, p := range processors {
		if set.IsSet(p.Number) {
			sum += p.Stolen
		}
	}
	return sum / time.Duration(max(1, set.Count()))
}

// total adds the processors up in their order. In another order the sum of the same floats differs, and counters
// that only grow would seem to go back.
func total(spent map[int64]procfs.CPUStat, set *unix.CPUSet) (sum procfs.CPUStat) {
	for _, cpu := range slices.Sorted(maps.Keys(spent)) {
		if set.IsSet(int(cpu)) {
			processor := spent[cpu]
			sum.User, sum.Nice, sum.System, sum.Idle = sum.User+processor.User, sum.Nice+processor.Nice, sum.System+
				processor.System, sum.Idle+processor.Idle
			sum.Iowait, sum.IRQ, sum.SoftIRQ, sum.Steal = sum.Iowait+processor.Iowait, sum.IRQ+processor.IRQ,
				sum.SoftIRQ+processor.SoftIRQ, sum.Steal+processor.Steal
		}
	}
	return sum
}
