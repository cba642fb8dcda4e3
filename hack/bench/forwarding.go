package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// forwarding is the forwarder alone, as nearly as a source can be nothing: a program in the kernel clones one
// packet into g0 in a loop, with no socket, no copy and no allocation of data. Its one flow costs the forwarder
// no more than others.
func forwarding() contender {
	return contender{name: "forwarding alone", refuses: plays, start: func(_ context.Context, l *testbed,
		asked load) (func() error, error) {
		frames, err := asked.prepared(hardware(0, 1), hardware(0, 2))
		if err != nil {
			return nil, err
		}
		program, err := cloner(l.nearLinks[0].Attrs().Index)
		if err != nil {
			return nil, fmt.Errorf("load the cloning program: %w", err)
		}
		stop := cloneUntilStopped(l, program, frames[0], asked.threads)
		return func() error { return errors.Join(stop(), program.Close()) }, nil
	}}
}

// cloner sends a clone of the packet it is run on to an interface.
func cloner(ifindex int) (*ebpf.Program, error) {
	return ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SchedCLS, License: "Apache-2.0", Instructions: asm.Instructions{
		asm.StoreImm(asm.R1, skbQueueMapping, 1, asm.Word), // the first queue: none is to be picked
		asm.Mov.Imm(asm.R2, int32(ifindex)),
		asm.Mov.Imm(asm.R3, 0),
		asm.FnCloneRedirect.Call(),
		asm.Mov.Imm(asm.R0, 0),
		asm.Return(),
	}})
}

// skbQueueMapping is queue_mapping's offset in struct __sk_buff.
const skbQueueMapping = 12

// clonesPerCall is how often the program runs per system call; between two calls the forwarder gets the processor.
const clonesPerCall = 256

// testRun is the kernel's union bpf_attr for BPF_PROG_TEST_RUN.
type testRun struct {
	program, _          uint32
	sizeIn, sizeOut     uint32
	received, forwarded uint64
	repeat, _           uint32
	contextIn, _        uint32
	contexts            [2]uint64
	flags, cpu, _, pad  uint32
}

const progTestRun = 10 // BPF_PROG_TEST_RUN

func cloneUntilStopped(l *testbed, program *ebpf.Program, f []byte, threads int) (stop func() error) {
	var end atomic.Bool
	var workers sync.WaitGroup
	failures := make(chan error, threads)
	for range threads {
		workers.Go(func() {
			runtime.LockOSThread() // and never given back: the thread stays in the lab, where the program looks for g0
			if err := netns.Set(l.generator); err != nil {
				failures <- err
				return
			}
			run := testRun{program: uint32(program.FD()), sizeIn: uint32(len(f)),
				received: uint64(uintptr(unsafe.Pointer(&f[0]))), repeat: clonesPerCall}
			for !end.Load() {
				_, _, errno := unix.Syscall(unix.SYS_BPF, progTestRun, uintptr(unsafe.Pointer(&run)),
					unsafe.Sizeof(run))
				if errno != 0 && errno != unix.EINTR {
					failures <- fmt.Errorf("run the cloning program: %w", errno)
					return
				}
			}
			runtime.KeepAlive(f)
		})
	}
	return func() error {
		end.Store(true)
		workers.Wait()
		close(failures)
		return <-failures
	}
}
