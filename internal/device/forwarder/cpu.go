package forwarder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// chooseCPU sets up which CPU forwards.
//
// A virtual cable has no hardware. What one end sends, the kernel forwards at once, on the sender's CPU and
// time. The device is then never too slow, only the sender is. With OwnCPU, each link has a finite receive
// queue (a ring of 256 frames that drops when full) and a kernel thread that empties it, as a device with a NIC
// has.
//
//	             sender's CPU                        a thread per link
//	generator ───────────────────▶ ring ─ ─ ─ ─ ─▶ receive, forward, send ───▶ generator
//	                                 └▶ full: lost
//
// That takes NAPI on the forwarder's end, which veth has while GRO is on, and its threaded mode (kernel,
// Documentation/networking/napi.rst). The generator's end must have TCP segmentation off, or veth goes round
// the ring.
func chooseCPU(spec Spec, info *Info) error {
	if !spec.OwnCPU {
		for _, l := range spec.Links {
			if err := forwardOnSendersCPU(l.Interface, spec.AcceptsXDP); err != nil {
				info.missing("%v", err)
			}
		}
		return nil
	}
	var missing error
	bound := make([]string, 0, len(spec.Links))
	for _, l := range spec.Links {
		threads, err := GiveOwnThread(l.Interface)
		missing = errors.Join(missing, err)
		if l.Processor != nil && err == nil && takeProcessor(threads, l) == nil {
			bound = append(bound, fmt.Sprintf("processor %d for %s", *l.Processor, l.Interface))
		}
	}
	if missing != nil {
		info.missing("a CPU of the forwarder's own: %v", missing)
		return nil
	}
	info.applied("a receive queue and a kernel thread of its own for each link (threaded NAPI)")
	if len(bound) > 0 {
		info.applied("%s", strings.Join(bound, ", "))
	}
	return nil
}

// takeProcessor binds a link's threads to their processor. With RunsFirst they run before all ordinary work there,
// where this user may say so. An ordinary thread that wakes up may wait for some milliseconds until another one's turn
// ends, at nice -20, too, and its queue holds the frames of one. The kernel leaves other work 5 % of the processor
// (fair servers since Linux 6.8, sched_rt_runtime_us before). Threads that share a processor take turns.
func takeProcessor(threads []int, l Link) error {
	if err := Bind(threads, *l.Processor); err != nil || !l.RunsFirst {
		return err
	}
	first := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1}
	for _, thread := range threads {
		_ = unix.SchedSetAttr(thread, &first, 0)
	}
	return nil
}

// Bind binds threads to a processor.
func Bind(threads []int, processor int) error {
	for _, thread := range threads {
		if err := machine.Bind(thread, processor); err != nil {
			return err
		}
	}
	return nil
}

// forwardOnSendersCPU lets the CPU that sends forward, too. It makes a receive queue only where frames sent by
// XDP must arrive.
func forwardOnSendersCPU(name string, takesXDP bool) error {
	if takesXDP {
		return netif.AcceptXDP(name)
	}
	if err := netif.SetOffload(name, netif.GenericReceive, false); err != nil {
		return fmt.Errorf("receive offload off: %w", err)
	}
	return nil
}

// GiveOwnThread gives an interface of the calling thread's network namespace a receive queue, and a kernel
// thread that empties it, and returns the ids of its threads. They have priority over other work where this
// user may give it, as a Reference that has to wait for other work on the machine loses frames that a separate
// device would not lose.
func GiveOwnThread(name string) (threads []int, err error) {
	if err := netif.AcceptXDP(name); err != nil {
		return nil, err
	}
	existing := threadsNamed(name)
	if _, err := SetThreaded(name, true); err != nil {
		return nil, err
	}
	threads = slices.DeleteFunc(threadsNamed(name), func(id int) bool { return slices.Contains(existing, id) })
	for _, id := range threads {
		_ = unix.Setpriority(unix.PRIO_PROCESS, id, -20)
	}
	return threads, nil
}

// threadsNamed are the kernel threads that empty receive queues of interfaces of this name, in any namespace,
// as another lab may have some.
func threadsNamed(name string) (ids []int) {
	const longest = 15 // bytes of a thread's name that the kernel keeps
	names, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		return nil
	}
	want := "napi/" + name + "-"
	for _, file := range names {
		comm, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(strings.TrimSpace(string(comm)), want[:min(len(want), longest)]) {
			continue
		}
		if id, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// SetThreaded turns threaded NAPI of an interface on or off, and says what it was. The switch is in sysfs only, so
// SetThreaded mounts one for this moment (netif.MountSysfs).
func SetThreaded(name string, enabled bool) (before bool, err error) {
	mount, err := netif.MountSysfs()
	if err != nil {
		return false, fmt.Errorf("%s: reach its threaded switch: %w", name, err)
	}
	defer func() { _ = unix.Close(mount) }()
	fd, err := unix.Openat(mount, "class/net/"+name+"/threaded", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, fmt.Errorf("%s: open its threaded switch: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name+"/threaded")
	old := make([]byte, 1)
	_, errRead := f.ReadAt(old, 0)
	_, errWrite := f.WriteAt([]byte{map[bool]byte{false: '0', true: '1'}[enabled]}, 0)
	if err := errors.Join(errRead, errWrite, f.Close()); err != nil {
		return false, fmt.Errorf("%s: set threaded NAPI: %w", name, err)
	}
	return old[0] == '1', nil
}
