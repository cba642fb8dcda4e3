package datapath

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/units"
)

// tcReceiver counts in the kernel, with the program of tcprogram.go: about a tenth of a microsecond per frame, and nothing to overflow.
// It needs CAP_BPF and CAP_NET_ADMIN in the machine's initial user namespace.
type tcReceiver struct {
	maps    tcMaps
	program *ebpf.Program
	link    link.Link
	reader  *ringbuf.Reader
	sink    sink
	done    sync.WaitGroup

	flowMemory []byte // the flows map, as mapped
}

func openTCReceiver(iface string, index int, s sink) (_ receiver, err error) {
	_ = rlimit.RemoveMemlock() // for kernels before 5.11; where it matters and fails, the maps say so
	r := &tcReceiver{sink: s}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("count on %s in eBPF: %w", iface, err), r.close())
		}
	}()
	if err := r.maps.create(); err != nil {
		return nil, err
	}
	if r.flowMemory, err = unix.Mmap(r.maps.flows.FD(), 0, flowMapEntries*countersOfPacket, unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return nil, fmt.Errorf("map the flows' counters: %w", err)
	}
	r.program, err = ebpf.NewProgram(&ebpf.ProgramSpec{Name: "linerate_count", Type: ebpf.SchedCLS, License: "Apache-2.0", Instructions: countingProgram(r.maps)})
	if err != nil {
		return nil, err
	}
	if r.reader, err = ringbuf.NewReader(r.maps.ring); err != nil {
		return nil, err
	}
	if r.link, err = link.AttachTCX(link.TCXOptions{Interface: index, Program: r.program, Attach: ebpf.AttachTCXIngress, Anchor: link.Head()}); err != nil {
		return nil, err
	}
	r.done.Go(r.read)
	return r, nil
}

func (m *tcMaps) create() error {
	for _, spec := range []struct {
		to *(*ebpf.Map)
		ebpf.MapSpec
	}{
		{&m.settings, ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1}},
		{&m.totals, ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 2 * countersOfPacket, MaxEntries: 1}},
		{&m.flows, ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: countersOfPacket, MaxEntries: flowMapEntries, Flags: unix.BPF_F_MMAPABLE}},
		{&m.ring, ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: ringBytes}},
	} {
		created, err := ebpf.NewMap(&spec.MapSpec)
		if err != nil {
			return err
		}
		*spec.to = created
	}
	return nil
}

func (m *tcMaps) close() error {
	var errs []error
	for _, each := range []*ebpf.Map{m.settings, m.totals, m.flows, m.ring} {
		if each != nil {
			errs = append(errs, each.Close())
		}
	}
	return errors.Join(errs...)
}

// pair is an entry of a counting map, as one processor has it.
type pair struct{ Packets, Bytes uint64 }

func (p pair) traffic() units.Traffic {
	return units.Traffic{Packets: int64(p.Packets), Bytes: int64(p.Bytes)}
}

// totals is the entry that counts all frames, as one processor has it; strays are among all.
type totals struct{ All, Strays pair }

// mark reads the program's counters. It has no room to run out of.
func (r *tcReceiver) mark() func() tallied {
	var each []totals
	if err := r.maps.totals.Lookup(uint32(0), &each); err != nil {
		each = nil // impossible on an array that is open
	}
	return func() (a tallied) {
		for _, t := range each {
			a.received, a.strays = a.received.Add(t.All.traffic()), a.strays.Add(t.Strays.traffic())
		}
		return a
	}
}

// last: the program drops every frame, so nobody behind it does on the interface's account.
func (r *tcReceiver) last() bool { return true }

func (r *tcReceiver) flows(visit func(uint32, units.Traffic)) {
	entries := unsafe.Slice((*pair)(unsafe.Pointer(&r.flowMemory[0])), flowMapEntries)
	for id := range entries {
		packets, bytes := atomic.LoadUint64(&entries[id].Packets), atomic.LoadUint64(&entries[id].Bytes)
		if packets > 0 {
			visit(uint32(id), units.Traffic{Packets: int64(packets), Bytes: int64(bytes)})
		}
	}
}

func (r *tcReceiver) look(w wanted) error {
	var bits uint32
	for bit, on := range map[uint32]bool{settingPromiscuous: w.promiscuous, settingAll: w.all, settingNeighbours: w.neighbours} {
		if on {
			bits |= bit
		}
	}
	return r.maps.settings.Put(uint32(0), bits)
}

func (r *tcReceiver) close() error {
	var errs []error
	if r.link != nil {
		errs = append(errs, r.link.Close())
	}
	if r.reader != nil {
		errs = append(errs, r.reader.Close())
	}
	r.done.Wait()
	if r.program != nil {
		errs = append(errs, r.program.Close())
	}
	if r.flowMemory != nil {
		errs = append(errs, unix.Munmap(r.flowMemory))
	}
	return errors.Join(append(errs, r.maps.close())...)
}

// read takes records from the ring until it is closed.
func (r *tcReceiver) read() {
	var record ringbuf.Record
	for {
		if err := r.reader.ReadInto(&record); err != nil {
			return
		}
		r.take(record.RawSample)
	}
}

func (r *tcReceiver) take(b []byte) {
	if len(b) < recordHeader {
		return
	}
	at := time.Duration(binary.NativeEndian.Uint64(b))
	length := int64(binary.NativeEndian.Uint32(b[8:]))
	tci, kind := binary.NativeEndian.Uint16(b[12:]), binary.NativeEndian.Uint16(b[14:])
	buffer, size := int(binary.NativeEndian.Uint32(b[16:])), int(binary.NativeEndian.Uint32(b[20:]))
	body := b[recordHeader:]
	if kind&recordFrame == 0 {
		if s, ok := readStamp(body[:stampSize]); ok {
			r.sink.stamped(at, s, length)
		}
		return
	}
	for _, frame := range apart(body[:min(buffer, len(body))], size) {
		r.sink.frame(at, wireFrame(frame, kind&recordTagged != 0, etherVLAN, tci))
	}
}
