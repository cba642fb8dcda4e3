package datapath

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// What a program and its keeper tell each other of a run stands in a map of its own for each thread that has a part in the run: 64-bit words, each of which one of the two writes. Times are of
// Now's clock, in ns; schedule time begins with the run, and stands still in pauses and where time is given up.
const (
	// Written by the keeper.
	liveLease   = 8 * iota // past this time nothing leaves; 0: never again
	liveStart              // the run's first instant
	liveVersion            // grows with each order, once what it says is written
	liveOrder              // what is to be done, a liveOrderKind
	liveLeast              // how much overdue schedule time may leave at once where nothing is owed
	liveMost               // the same at most
	liveSpacing            // the least schedule time between two frames of the thread
	liveEnd                // no frame that is due at or after this time leaves
	liveAfter              // the slot of the port that the thread asks after this one; 0: no other port sends on the thread

	// Written by the program.
	liveLooks    // how often the program was run
	liveObeyed   // the version carried out last
	liveLast     // when the program last ran
	liveLag      // time lost to a stall and being made up for, in 1/256 ns
	liveOffset   // schedule time zero: the start, and all pauses and slip since
	liveSlip     // schedule time that was given up
	liveSlipAt   // what of it was before the last change of factor
	livePausedAt // 0: not paused
	liveNext     // when the next frame is due, in schedule time
	liveStream   // whose it is
	liveSpaced   // before this schedule time none leaves
	liveOver     // 1: nothing is left to send
	liveFirst    // when the first frame of a run of finite streams was made; 0: none was
	liveLatest   // the same of the latest frame
	liveHead     // how long all this is
)

// A stream's words. A gap is whole nanoseconds and a fraction in units of 2⁻³², so that the rate is right to a frame in days.
const (
	liveNewGap      = 8 * iota // written by the keeper, valid with the next order
	liveNewFraction            // the same
	liveGap
	liveFraction
	liveDue         // when the stream's next frame of this thread is due, in schedule time; liveNever: it has no more
	liveDueFraction // the same
	liveIndex       // that frame's index
	livePackets     // sent so far
	liveBytes       // the same, with FCS
	liveLeft        // frames to come, of a finite stream
	liveStreamSize
)

// A thread's words, the same for all ports that send on it.
const (
	threadEntry = 8 * iota // written by the keepers: the slot of a port that sends

	threadTurn  // the slot of the port that is asked first; 0: that of threadEntry
	threadFirst // the slot of the port that was asked first in the present run of the program
	threadIdle  // time in which no port had anything due
	threadHead  // how long all this is
)

const liveNever = ^uint64(0)

type liveOrderKind uint64

const (
	liveChangeFactor liveOrderKind = 1 + iota
	livePause
	liveResume
)

// liveLagUnit is how finely lag is kept: it shrinks by a unit per ns, which is haste.
const liveLagUnit = 8 // bits

// liveWord is where a stream's word stands.
func liveWord(stream int, word int16) int16 { return liveHead + int16(stream)*liveStreamSize + word }

// liveMemory is the map as the keeper sees it.
type liveMemory struct {
	words  *ebpf.Map
	memory []byte
}

func newLiveMemory(size int) (*liveMemory, error) {
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: uint32(size), MaxEntries: 1, Flags: unix.BPF_F_MMAPABLE})
	if err != nil {
		return nil, err
	}
	memory, err := unix.Mmap(m.FD(), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		_ = m.Close()
		return nil, err
	}
	return &liveMemory{m, memory}, nil
}

func (m *liveMemory) word(at int16) *uint64 { return (*uint64)(unsafe.Pointer(&m.memory[at])) }

func (m *liveMemory) load(at int16) uint64 { return atomic.LoadUint64(m.word(at)) }

func (m *liveMemory) store(at int16, value uint64) { atomic.StoreUint64(m.word(at), value) }

func (m *liveMemory) close() error {
	err := unix.Munmap(m.memory)
	m.memory = nil
	return errors.Join(err, m.words.Close())
}

// liveTable is what the programs of a run only read: templates that are too long for instructions, and lists of values.
type liveTable struct {
	values *ebpf.Map
	bytes  []byte
}

// add puts bytes behind those that are there, and says where.
func (t *liveTable) add(b []byte) (offset uint32) {
	offset = uint32(len(t.bytes))
	t.bytes = append(t.bytes, b...)
	for len(t.bytes)%8 != 0 {
		t.bytes = append(t.bytes, 0)
	}
	return offset
}

func (t *liveTable) addList(list []uint64) uint32 {
	var b []byte
	for _, v := range list {
		b = binary.NativeEndian.AppendUint64(b, v)
	}
	return t.add(b)
}

// load makes the map; nothing is added any more.
func (t *liveTable) load() (err error) {
	if len(t.bytes) == 0 {
		t.bytes = make([]byte, 8)
	}
	t.values, err = ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: uint32(len(t.bytes)), MaxEntries: 1, Flags: unix.BPF_F_RDONLY_PROG})
	if err != nil {
		return err
	}
	return t.values.Put(uint32(0), t.bytes)
}
