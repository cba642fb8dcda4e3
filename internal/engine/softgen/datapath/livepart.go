package datapath

import (
	"errors"
	"time"

	"github.com/cilium/ebpf"
)

// livePart is what one thread does of a port's run.
type livePart struct {
	thread  *liveThread
	slot    uint32
	memory  *liveMemory
	outlet  *ebpf.Map // of one entry: the interface
	program *ebpf.Program

	idle uint64 // the thread's, as the keeper had found it
	id   int    // the thread's, while its waits count for the port; 0: they don't
	// The run's mutex guards what follows.
	seen []traffic64 // of each track: what harvest had found
	lost lostFrames
}

// newLivePart makes what the program needs that sends on a port for so many streams.
func newLivePart(p *port, on *liveThread, streams int) (part *livePart, err error) {
	part = &livePart{thread: on, seen: make([]traffic64, streams)}
	if part.memory, err = newLiveMemory(liveHead + streams*liveStreamSize); err != nil {
		return nil, err
	}
	if part.outlet, err = ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.DevMap, KeySize: 4, ValueSize: 4, MaxEntries: 1}); err == nil {
		err = p.namespace.do(func() error { return part.outlet.Put(uint32(0), uint32(p.index)) })
	}
	if err != nil {
		return nil, errors.Join(err, part.close())
	}
	return part, nil
}

// lease lets the part send until then.
func (p *livePart) lease(until time.Duration) {
	p.memory.store(liveLease, uint64(until))
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
	return errors.Join(append(errs, p.memory.close())...)
}
