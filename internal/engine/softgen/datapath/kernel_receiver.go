package datapath

import (
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

// kernelReceiver counts in the kernel, with the program of kernel/count.c. That takes about a tenth of a microsecond
// per frame, and the counters can't overflow. It needs CAP_BPF and CAP_NET_ADMIN in the machine's initial user
// namespace.
type kernelReceiver struct {
	hook    hook
	maps    kernelMaps
	program *ebpf.Program
	link    link.Link
	reader  *ringbuf.Reader
	sink    sink
	reading sync.WaitGroup

	mac               [6]byte
	driverCountsDrops bool
	flowCounters      []byte          // the mapped map of flows
	stampFollower     *kernelFollower // nil if the sink follows stamped frames
	recording         atomic.Bool     // the arrivals of trains
}

// openTCReceiver counts at the traffic control hook, which every interface has.
func openTCReceiver(p *port) (receiver, error) {
	return openKernelReceiver(p, tcHook(), func(program *ebpf.Program) (link.Link, error) {
		return link.AttachTCX(link.TCXOptions{Interface: p.index, Program: program, Attach: ebpf.AttachTCXIngress,
			Anchor: link.Head()})
	})
}

// openXDPReceiver counts in the network card's driver, before the kernel merges frames. Where
// the driver can't, the traffic control hook is better than XDP's generic one. The generic
// hook also comes after the merging, but doesn't know how many frames a buffer holds.
func openXDPReceiver(p *port) (receiver, error) {
	return openKernelReceiver(p, xdpHook(), func(program *ebpf.Program) (link.Link, error) {
		return link.AttachXDP(link.XDPOptions{Interface: p.index, Program: program, Flags: link.XDPDriverMode})
	})
}

// openKernelReceiver counts frames in the kernel, and follows stamped ones if the
// options ask for that. On a kernel that can't follow them it still counts.
func openKernelReceiver(p *port, h hook, attach func(*ebpf.Program) (link.Link, error)) (receiver, error) {
	r, err := newKernelReceiver(p, h, attach, p.options.Follow)
	if err == nil || !p.options.Follow {
		return r, err
	}
	if plain, errPlain := newKernelReceiver(p, h, attach, false); errPlain == nil {
		return plain, nil
	}
	return nil, err
}

func newKernelReceiver(
	p *port, h hook, attach func(*ebpf.Program) (link.Link, error), follow bool,
) (_ receiver, err error) {
	_ = rlimit.RemoveMemlock() // for kernels before 5.11; where memory is short, making the maps fails
	r := &kernelReceiver{hook: h, sink: p.inbox, mac: p.mac, driverCountsDrops: h.dropsCountedBy(p.nic.Driver)}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("count on %s in eBPF: %w", p.name, err), r.close())
		}
	}()
	if err := r.load(h, follow); err != nil {
		return nil, err
	}
	if err := r.selectFrames(frameSelection{}); err != nil {
		return nil, err
	}
	if r.link, err = attach(r.program); err != nil {
		return nil, err
	}
	r.reading.Go(r.read)
	return r, nil
}

// load makes the maps and the program. It doesn't attach the program.
func (r *kernelReceiver) load(h hook, follow bool) (err error) {
	if r.program, r.maps, err = h.load(r.mac, follow); err != nil {
		return err
	}
	if follow {
		r.stampFollower = newKernelFollower(r.maps)
	}
	flows := r.maps.flows
	if r.flowCounters, err = unix.Mmap(flows.FD(), 0, int(flows.MaxEntries()*flows.ValueSize()), unix.PROT_READ,
		unix.MAP_SHARED); err != nil {
		return fmt.Errorf("map the flows' counters: %w", err)
	}
	r.reader, err = ringbuf.NewReader(r.maps.ring)
	return err
}

func (c countCounters) traffic() units.Traffic {
	return units.Traffic{Packets: int64(c.Packets), Bytes: int64(c.Bytes)}
}

// mark reads the program's counters, which can't overflow.
func (r *kernelReceiver) mark() func() receiveCounts {
	var perProcessor []countTotals // by processor
	if err := r.maps.totals.Lookup(uint32(0), &perProcessor); err != nil {
		perProcessor = nil // impossible on an array that is open
	}
	return func() (a receiveCounts) {
		for _, t := range perProcessor {
			a.received, a.strays = a.received.Add(t.All.traffic()), a.strays.Add(t.Strays.traffic())
		}
		return a
	}
}

// dropsAreMissed: the program drops every frame, so no later drop is in the interface's
// counters, unless the driver counts the program's own drops there.
func (r *kernelReceiver) dropsAreMissed() bool { return !r.driverCountsDrops }

func (r *kernelReceiver) flows(visit func(uint32, units.Traffic)) {
	entries := unsafe.Slice((*countCounters)(unsafe.Pointer(&r.flowCounters[0])), r.maps.flows.MaxEntries())
	for id := range entries {
		packets, bytes := atomic.LoadUint64(&entries[id].Packets), atomic.LoadUint64(&entries[id].Bytes)
		if packets > 0 {
			visit(uint32(id), units.Traffic{Packets: int64(packets), Bytes: int64(bytes)})
		}
	}
}

func (r *kernelReceiver) selectFrames(w frameSelection) error {
	var wants countShared
	for bit, enabled := range map[countShared]bool{
		countSharedWANTS_PROMISCUOUS: w.promiscuous,
		countSharedWANTS_ALL:         w.passAll,
		countSharedWANTS_NEIGHBOURS:  w.neighbours,
	} {
		if enabled {
			wants |= bit
		}
	}
	return r.maps.selection.Set(wants)
}

func (r *kernelReceiver) follower() follower {
	if r.stampFollower == nil {
		return nil
	}
	return r.stampFollower
}

func (r *kernelReceiver) close() error {
	var errs []error
	if r.link != nil {
		errs = append(errs, r.link.Close())
	}
	if r.reader != nil {
		errs = append(errs, r.reader.Close())
	}
	r.reading.Wait()
	errs = append(errs, r.program.Close())
	if r.stampFollower != nil {
		errs = append(errs, r.stampFollower.close())
	}
	if r.flowCounters != nil {
		errs = append(errs, unix.Munmap(r.flowCounters))
	}
	return errors.Join(append(errs, r.maps.close())...)
}

// read handles the ring's records until the ring is closed.
func (r *kernelReceiver) read() {
	var record ringbuf.Record
	for {
		if err := r.reader.ReadInto(&record); err != nil {
			return
		}
		r.handleRecord(record.RawSample)
	}
}

func (r *kernelReceiver) handleRecord(b []byte) {
	var head countRecord
	size := int(unsafe.Sizeof(head))
	if len(b) < size {
		return
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&head)), size), b)
	body, came, kind := b[size:], time.Duration(head.Time), countShared(head.Kind)
	if kind&countSharedRECORD_FRAME == 0 {
		if s, ok := readStamp(body[:stampSize]); ok && r.stampFollower != nil {
			r.stampFollower.record(came, s)
		} else if ok {
			r.sink.stamped(came, s, int64(head.Length))
		}
		return
	}
	for _, frame := range splitMerged(body[:min(int(head.Buffer), len(body))], int(head.Segment)) {
		r.sink.frame(came, wireFrame(frame, kind&countSharedRECORD_TAGGED != 0, etherVLAN, head.Tci))
	}
}
