package datapath

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// largestTrainBatch is the kernel's largest batch of live frames (TEST_XDP_MAX_BATCH). The frames of a batch are made
// while no other work of the sender's processor can begin. So a train in one batch is in the device's queue before the
// device begins to work, also where the device works on the sender's processor.
const largestTrainBatch = 256

// liveTrains are trains that the kernel sends as live frames, from a thread of their own.
type liveTrains struct {
	port    *port
	trains  Trains
	track   *track
	table   liveTable
	thread  *liveThread
	memory  *sendTrains // shared with the program
	mapped  mappedArray
	outlet  *ebpf.Map
	times   *ebpf.Map // by the trains that come after a train
	program *ebpf.Program
	took    []time.Duration
}

// startLiveTrains loads the program and starts its thread. After an errNotLive, another path can send the trains.
func startLiveTrains(p *port, t Trains, tracks []*track) (_ *liveTrains, err error) {
	if length := tracks[0].program.MaxLength(); length > liveLongestFrame {
		return nil, fmt.Errorf("%w: frames of %d bytes, of %d at most", errNotLive, length, liveLongestFrame)
	}
	if err := checkLiveInterface(p); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotLive, err)
	}
	l := &liveTrains{port: p, trains: t, track: tracks[0]}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%w: %w", errNotLive, err), l.close())
		}
	}()
	batches := (t.Frames + largestTrainBatch - 1) / largestTrainBatch
	batch := (t.Frames + batches - 1) / batches
	if l.thread, err = newLiveThread(tracks[0].program.MaxLength(), batch); err != nil {
		return nil, err
	}
	l.thread.processors = p.options.CPUs
	if err := l.load(tracks); err != nil {
		return nil, err
	}
	*l.memory = sendTrains{Start: math.MaxUint64, Frames: uint64(t.Frames), Batch: uint64(batch),
		Pause: uint64(t.Pause), Coming: uint64(t.Trains)}
	return l, l.thread.slots.Put(uint32(0), l.program)
}

func (l *liveTrains) load(tracks []*track) error {
	makeFrame, err := composeFrames(tracks, l.trains.Generation, &l.table)
	if err != nil {
		return err
	}
	spec, err := loadSend()
	if err != nil {
		return err
	}
	program := spec.Programs[sendProgLinerateTrain]
	making := func(string) asm.Instructions { return makeFrame }
	if program.Instructions, err = inlineCalls(program.Instructions, "make_frame", making); err != nil {
		return err
	}
	spec.Maps[sendMapSendings].MaxEntries = uint32(l.trains.Trains)
	var loaded struct {
		Train  *ebpf.Program `ebpf:"linerate_train"`
		Outlet *ebpf.Map     `ebpf:"outlet"`
		Times  *ebpf.Map     `ebpf:"sendings"`
		Memory *ebpf.Map     `ebpf:".data.trains"`
	}
	if err := spec.LoadAndAssign(&loaded, nil); err != nil {
		return err
	}
	l.program, l.outlet, l.times = loaded.Train, loaded.Outlet, loaded.Times
	if l.mapped, l.memory, err = mapWords[sendTrains](loaded.Memory); err != nil {
		return err
	}
	return l.port.namespace.run(func() error { return l.outlet.Put(uint32(0), uint32(l.port.index)) })
}

// run renews the lease until all trains have left. Without this process nothing leaves past the lease.
func (l *liveTrains) run(pl *playback) (err error) {
	l.lease()
	l.thread.begin()
	for deadline := Now() + liveSetupTimeout; atomic.LoadUint64(&l.memory.Runs) == 0; sleep(time.Millisecond) {
		l.lease()
		switch {
		case l.thread.failed():
			return errors.Join(l.thread.err, l.end(0))
		case Now() > deadline:
			return errors.Join(fmt.Errorf("the sending thread was not ready within %v: its processor is taken by others",
				liveSetupTimeout), l.end(0))
		}
	}
	id := int(l.thread.id.Load())
	l.port.waits.begin(id)
	atomic.StoreUint64(&l.memory.Start, uint64(Now()))
	for !pl.stop.Load() && atomic.LoadUint64(&l.memory.Coming) > 0 && !l.thread.failed() {
		l.lease()
		sleep(liveKeepInterval / 10)
	}
	if l.thread.failed() {
		err = l.thread.err
	}
	return errors.Join(err, l.end(id))
}

func (l *liveTrains) lease() {
	end := Now() + liveLease
	atomic.StoreUint64(&l.memory.Lease, uint64(end))
	l.thread.lease(end)
}

// end stops sending, counts what was sent, and reads how long the trains took.
func (l *liveTrains) end(thread int) error {
	l.port.waits.end(thread, 0)
	l.thread.end()
	frames := int64(atomic.LoadUint64(&l.memory.Stream.Packets))
	if sent := &l.port.sent; l.port.link.isUp.Load() {
		sent.total.add(frames, frames*wireLength(l.track.program.MaxLength()))
	} else {
		sent.errors.Add(frames)
	}
	for coming := l.trains.Trains - 1; coming >= int(atomic.LoadUint64(&l.memory.Coming)); coming-- {
		var took time.Duration
		if err := l.times.Lookup(uint32(coming), &took); err != nil {
			return fmt.Errorf("read how long a train took: %w", err)
		}
		l.took = append(l.took, took)
	}
	return nil
}

func (l *liveTrains) sendings() []time.Duration { return l.took }

func (l *liveTrains) close() error {
	errs := []error{l.program.Close(), l.outlet.Close(), l.times.Close(), l.table.values.Close()}
	if l.mapped.array != nil {
		errs = append(errs, l.mapped.close())
	}
	if l.thread != nil {
		errs = append(errs, l.thread.close())
	}
	return errors.Join(errs...)
}
