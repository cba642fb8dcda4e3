package machine

// This file tells how a machine's processors spent their time, as its kernel counts it: a generator whose processors were others' meanwhile sent
// late, through no fault of the device's. It also says who gets them: it binds threads to processors, and gives the sessions of who sends and who asks priority over others (precedence.go).

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// OwnProcessors are the processors that the calling thread may use: a container or taskset(1) may leave it fewer than the machine has.
func OwnProcessors() (*unix.CPUSet, error) {
	var mine unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mine); err != nil {
		return nil, fmt.Errorf("which processors there are: %w", err)
	}
	return &mine, nil
}

// ListProcessors are a set's processors in their order.
func ListProcessors(set *unix.CPUSet) (all []int) {
	for cpu, left := 0, set.Count(); left > 0; cpu++ {
		if set.IsSet(cpu) {
			all, left = append(all, cpu), left-1
		}
	}
	return all
}

// Bind binds a thread, 0 being the calling one, to these processors. A thread of the kernel's takes CAP_SYS_NICE.
func Bind(thread int, to ...int) error {
	var set unix.CPUSet
	for _, processor := range to {
		set.Set(processor)
	}
	if err := unix.SchedSetaffinity(thread, &set); err != nil {
		return fmt.Errorf("bind a thread to processors %v: %w", to, err)
	}
	return nil
}

// BindProcess binds all threads of a process to these processors, and so all that these threads start.
func BindProcess(pid int, to ...int) error {
	for bound := map[int]bool{}; ; {
		threads, err := procfs.AllThreads(pid)
		if err != nil {
			return fmt.Errorf("bind process %d to processors %v: %w", pid, to, err)
		}
		all := true
		for _, thread := range threads {
			if bound[thread.PID] {
				continue
			}
			if err := Bind(thread.PID, to...); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
			all, bound[thread.PID] = false, true
		}
		if all { // a thread that one of them started before it was bound would have been new
			return nil
		}
	}
}

// Spent is how these processors spent their time since the machine started, all together, in seconds (proc_stat(5)). Guests' time is left out, as it is
// counted as the user's, too.
func Spent(of *unix.CPUSet) (sum procfs.CPUStat, err error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return sum, err
	}
	stat, err := fs.Stat()
	if err != nil {
		return sum, err
	}
	return total(stat.CPU, of), nil
}

// Stolen is what the host of a virtual machine gave to others when one of these processors wanted to run, on average of them.
func Stolen(all []Processor, of *unix.CPUSet) time.Duration {
	sum := time.Duration(0)
	for _, p := range all {
		if of.IsSet(p.Number) {
			sum += p.Stolen
		}
	}
	return sum / time.Duration(max(1, of.Count()))
}

// total adds them up in their order, as the same numbers have another sum in another: counters that only grow would seem to go back.
func total(spent map[int64]procfs.CPUStat, of *unix.CPUSet) (sum procfs.CPUStat) {
	for _, cpu := range slices.Sorted(maps.Keys(spent)) {
		if of.IsSet(int(cpu)) {
			its := spent[cpu]
			sum.User, sum.Nice, sum.System, sum.Idle = sum.User+its.User, sum.Nice+its.Nice, sum.System+its.System, sum.Idle+its.Idle
			sum.Iowait, sum.IRQ, sum.SoftIRQ, sum.Steal = sum.Iowait+its.Iowait, sum.IRQ+its.IRQ, sum.SoftIRQ+its.SoftIRQ, sum.Steal+its.Steal
		}
	}
	return sum
}
