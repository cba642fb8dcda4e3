package datapath

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
)

// livePart is what one thread does of a port's run.
type livePart struct {
	thread  *liveThread
	slot    uint32
	memory  *sendPart // shared with the program
	mapped  mappedArray
	outlet  *ebpf.Map // of one entry: the interface
	program *ebpf.Program

	idle uint64 // the thread's, as the keeper had found it
	id   int    // the thread's, while its waits count for the port; 0: they don't
	// The run's mutex guards what follows.
	seen []traffic64 // of each track: what harvest had found
	lost lostFrames
}

// lease lets the part send until then.
func (p *livePart) lease(until time.Duration) {
	atomic.StoreUint64(&p.memory.Lease, uint64(until))
	p.thread.lease(until)
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
