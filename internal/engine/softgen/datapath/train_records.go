package datapath

import (
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// kernelTrainRecord has what a variant of the counting program records, which takes the place of the receiver's own
// program meanwhile. So other traffic pays nothing for it.
type kernelTrainRecord struct {
	receiver *kernelReceiver
	program  *ebpf.Program
	arrivals *ebpf.Map
	arrived  *ebpf.Variable
	bytes    []byte // of arrivals
	closing  sync.Once
}

func (r *kernelReceiver) recordTrains(t Trains) (_ TrainRecord, err error) {
	if !r.recording.CompareAndSwap(false, true) {
		return nil, errRecording
	}
	k := &kernelTrainRecord{receiver: r}
	defer func() {
		if err != nil {
			err = errors.Join(err, k.Close())
		}
	}()
	if err := k.load(t); err != nil {
		return nil, fmt.Errorf("load the program that records: %w", err)
	}
	return k, r.link.Update(k.program)
}

func (k *kernelTrainRecord) load(t Trains) error {
	spec, err := loadCount()
	if err != nil {
		return err
	}
	h, m := k.receiver.hook, &k.receiver.maps
	if err := keepProgram(spec, h.recording, k.receiver.mac); err != nil {
		return err
	}
	if err := spec.Variables[countVarTrainGeneration].Set(t.Generation); err != nil {
		return fmt.Errorf("set the trains' generation: %w", err)
	}
	spec.Maps[countMapArrivals].MaxEntries = uint32(t.room())
	c, err := ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{MapReplacements: map[string]*ebpf.Map{
		countMapTotals: m.totals, countMapFlows: m.flows, countMapRing: m.ring, selectionMap: m.variables}})
	if err != nil {
		return err
	}
	defer c.Close() // closes everything that isn't detached
	k.program, k.arrivals, k.arrived = c.DetachProgram(h.recording), c.DetachMap(countMapArrivals),
		c.Variables[countVarArrived]
	k.bytes, err = unix.Mmap(k.arrivals.FD(), 0, t.room()*int(unsafe.Sizeof(countArrival{})), unix.PROT_READ,
		unix.MAP_SHARED)
	return err
}

// Arrived implements TrainRecord.
func (k *kernelTrainRecord) Arrived() int {
	var n uint64
	if k.arrived.Get(&n) != nil {
		return 0 // impossible on a map that is open
	}
	return int(n)
}

// Arrivals implements TrainRecord. The program makes room for an arrival before it records it.
func (k *kernelTrainRecord) Arrivals(first, limit int) (list []TrainArrival) {
	recorded := unsafe.Slice((*countArrival)(unsafe.Pointer(&k.bytes[0])), int(k.arrivals.MaxEntries()))
	for end := min(first+limit, k.Arrived(), len(recorded)); first < end; first++ {
		a := recorded[first]
		if a.Recorded == 0 {
			break
		}
		list = append(list, TrainArrival{a.Sequence, time.Duration(a.Time)})
	}
	return list
}

// Close implements TrainRecord.
func (k *kernelTrainRecord) Close() (err error) {
	k.closing.Do(func() {
		var errs []error
		if k.program != nil {
			errs = append(errs, k.receiver.link.Update(k.receiver.program), k.program.Close())
		}
		if k.bytes != nil {
			errs = append(errs, unix.Munmap(k.bytes))
		}
		err = errors.Join(append(errs, k.arrivals.Close())...)
		k.receiver.recording.Store(false)
	})
	return err
}

// packetTrainRecord has the arrivals that an AF_PACKET receiver records, by the kernel's times.
type packetTrainRecord struct {
	receiver   *packetReceiver
	generation uint8
	room       int
	offset     time.Duration // of the wall clock; one for all arrivals, so that a slow reading of it shifts all alike

	mutex    sync.Mutex // guards the fields below
	arrivals []TrainArrival
	arrived  int
}

func (r *packetReceiver) recordTrains(t Trains) (TrainRecord, error) {
	record := &packetTrainRecord{receiver: r, generation: t.Generation, room: t.room(),
		offset: wallClockOffset()}
	if !r.trains.CompareAndSwap(nil, record) {
		return nil, errRecording
	}
	return record, nil
}

// record records a frame of the trains, by the wall clock. It returns false for other frames.
func (r *packetTrainRecord) record(s stamp, wall time.Duration) bool {
	if uint32(s.id) != trainFlow || s.generation != r.generation {
		return false
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.arrived++
	if len(r.arrivals) < r.room {
		r.arrivals = append(r.arrivals, TrainArrival{s.sequence, wall - r.offset})
	}
	return true
}

// Arrived implements TrainRecord.
func (r *packetTrainRecord) Arrived() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.arrived
}

// Arrivals implements TrainRecord.
func (r *packetTrainRecord) Arrivals(first, limit int) []TrainArrival {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	first = min(first, len(r.arrivals))
	return append([]TrainArrival(nil), r.arrivals[first:min(first+limit, len(r.arrivals))]...)
}

// Close implements TrainRecord.
func (r *packetTrainRecord) Close() error {
	r.receiver.trains.CompareAndSwap(r, nil)
	return nil
}
