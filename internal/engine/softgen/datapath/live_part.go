package datapath

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
)

// livePart is one thread's part of a port's run.
type livePart struct {
	thread  *liveThread
	slot    uint32
	memory  *sendPart // shared with the program
	mapped  mappedArray
	outlet  *ebpf.Map // has one entry, the interface
	program *ebpf.Program

	idle uint64 // the thread's idle time at the last publishBusyTime
	id   int    // the thread's, while its waits count for the port; else 0
	// The run's mutex guards counted and lost.
	counted []traffic64 // by track, at the last collectSent
	lost    lostFrames
}

// lease lets the part send until end.
func (p *livePart) lease(end time.Duration) {
	atomic.StoreUint64(&p.memory.Lease, uint64(end))
	p.thread.lease(end)
}

func (p *livePart) close() error {
	var errs []error
	if p.program != nil {
		errs = append(errs, p.program.Close())
	}
	if p.outlet != nil {
		errs = append(errs, p.outlet.Close())
	}
	return errors.Join(append(errs, p.mapped.close())...)
}
