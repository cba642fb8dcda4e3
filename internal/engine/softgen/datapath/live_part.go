package datapath

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
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
	return errors.Join(p.program.Close(), p.outlet.Close(), p.mapped.close())
}

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel -type shared send kernel/send.c -- -Wall -Werror -mcpu=v3

const xdpDrop = 1 // enum xdp_action

// liveSender describes one thread's part of a run, before its program is loaded.
type liveSender struct {
	tracks  []*track
	number  int // the thread's number in the run
	threads int
	batch   int
	finite  bool // the run ends by itself
	// makeFrame are the instructions of make_frame for the run's streams.
	makeFrame asm.Instructions
}

// load makes a port's part of a run on a thread, with a program of its own.
func (s *liveSender) load(p *port, thread *liveThread, factor float64) (_ *livePart, err error) {
	part := &livePart{thread: thread, counted: make([]traffic64, len(s.tracks))}
	defer func() {
		if err != nil {
			err = errors.Join(err, part.close())
		}
	}()
	spec, err := s.spec()
	if err != nil {
		return nil, err
	}
	var loaded struct {
		Send   *ebpf.Program `ebpf:"linerate_send"`
		Outlet *ebpf.Map     `ebpf:"outlet"`
		Memory *ebpf.Map     `ebpf:".data.part"`
	}
	shared := map[string]*ebpf.Map{sendMapSlots: thread.slots, threadMap: thread.mapped.array}
	if err := spec.LoadAndAssign(&loaded, &ebpf.CollectionOptions{MapReplacements: shared}); err != nil {
		return nil, err
	}
	part.program, part.outlet = loaded.Send, loaded.Outlet
	if part.mapped, part.memory, err = mapWords[sendPart](loaded.Memory); err != nil {
		return nil, err
	}
	if err := p.namespace.run(func() error { return part.outlet.Put(uint32(0), uint32(p.index)) }); err != nil {
		return nil, err
	}
	s.prepare(part.memory, len(thread.frame), factor)
	return part, nil
}

// spec is the program with the constants of the part.
func (s *liveSender) spec() (*ebpf.CollectionSpec, error) {
	spec, err := loadSend()
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]any{
		sendVarStreams: uint32(len(s.tracks)),
		sendVarHasEnd:  s.finite,
		sendVarTimed:   allFinite(s.tracks),
		sendVarMaxLag:  uint64(maxLag),
	} {
		if err := spec.Variables[name].Set(value); err != nil {
			return nil, fmt.Errorf("set %s: %w", name, err)
		}
	}
	program := spec.Programs[sendProgLinerateSend]
	search := func(label string) asm.Instructions { return composeSearch(len(s.tracks), label) }
	making := func(string) asm.Instructions { return s.makeFrame }
	code, err := inlineCalls(program.Instructions, "find_next", search)
	if err == nil {
		program.Instructions, err = inlineCalls(code, "make_frame", making)
	}
	return spec, err
}
