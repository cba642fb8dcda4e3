package datapath

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/units"
)

// packetReceiver reads an AF_PACKET ring (TPACKET_V3): the way that needs no eBPF. What the ring has no room for is counted by the
// kernel, and reported as missed. A header in front of each frame says whether the kernel has merged several (struct virtio_net_hdr).
type packetReceiver struct {
	fd, wake    int
	blocks      int
	memory      []byte
	sink        sink
	promiscuous atomic.Bool
	all         atomic.Bool
	tally       ringTally
	perFlow     [maxFlowID + 1]count
	done        sync.WaitGroup
}

// The ring consists of blocks, which the reader gets when they are full or a millisecond old.
const (
	ringBlock   = 128 << 10
	defaultRing = 8 << 20
)

func openPacketReceiver(iface string, index, size int, s sink) (_ receiver, err error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open a packet socket (needs CAP_NET_RAW): %w", err)
	}
	r := &packetReceiver{fd: fd, wake: -1, sink: s, blocks: max(cmp.Or(size, defaultRing)/ringBlock, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("receive on %s: %w", iface, err), unix.Close(fd))
		}
	}()
	if err := r.setUp(index); err != nil {
		return nil, err
	}
	if r.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC); err != nil {
		return nil, err
	}
	r.done.Go(r.read)
	return r, nil
}

func (r *packetReceiver) setUp(index int) error {
	request := unix.TpacketReq3{Block_size: ringBlock, Block_nr: uint32(r.blocks), Frame_size: 2048, Frame_nr: uint32(ringBlock / 2048 * r.blocks), Retire_blk_tov: 1}
	err := errors.Join(unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3),
		unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1),
		r.filter(false),
		unix.SetsockoptTpacketReq3(r.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &request))
	if err != nil {
		return err
	}
	if r.memory, err = unix.Mmap(r.fd, 0, ringBlock*r.blocks, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return err
	}
	return unix.Bind(r.fd, &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ALL), Ifindex: index})
}

func networkOrder(v uint16) uint16 { return v<<8 | v>>8 }

// snapLength is how much of a frame that is only counted comes up: all headers.
const snapLength = 96

// filter makes the kernel cut frames short that are only counted. Latency streams' frames stay whole, as their stamps are at the end; and so do frames that are neither IPv4
// nor IPv6, which may be requests to this port.
func (r *packetReceiver) filter(all bool) error {
	const whole = 0xffff
	program := []bpf.Instruction{bpf.RetConstant{Val: whole}}
	if !all {
		program = []bpf.Instruction{
			bpf.LoadAbsolute{Off: 12, Size: 2},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: etherIPv4, SkipTrue: 1},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: etherIPv6, SkipTrue: 2, SkipFalse: 4},
			bpf.LoadAbsolute{Off: 15, Size: 1},
			bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: 0x01, SkipTrue: 2, SkipFalse: 3},
			bpf.LoadAbsolute{Off: 15, Size: 1},
			bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: 0x10, SkipFalse: 1},
			bpf.RetConstant{Val: whole},
			bpf.RetConstant{Val: snapLength},
		}
	}
	raw, err := bpf.Assemble(program)
	if err != nil {
		return fmt.Errorf("assemble the filter: %w", err)
	}
	code := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		code[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	return unix.SetsockoptSockFprog(r.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]})
}

func (r *packetReceiver) look(w wanted) error {
	r.promiscuous.Store(w.promiscuous)
	if r.all.Swap(w.all) != w.all {
		return r.filter(w.all)
	}
	return nil
}

func (r *packetReceiver) mark() func() tallied {
	m := r.tally.mark(func() (arrived, dropped int64) {
		s, err := unix.GetsockoptTpacketStatsV3(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
		if err != nil {
			return 0, 0 // impossible on a socket that is open
		}
		return int64(s.Packets) - int64(s.Drops), int64(s.Drops)
	})
	return func() tallied { return r.tally.settle(m, ringPatience) }
}

// last: the kernel's own stack also gets each frame, and counts those without a receiver as dropped.
func (r *packetReceiver) last() bool { return false }

func (r *packetReceiver) flows(visit func(uint32, units.Traffic)) {
	for id := range r.perFlow {
		if t := r.perFlow[id].traffic(); t.Packets > 0 {
			visit(uint32(id), t)
		}
	}
}

// follower: the sink gets all stamps.
func (r *packetReceiver) follower() follower { return nil }

func (r *packetReceiver) close() error {
	_, err := unix.Write(r.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	r.done.Wait()
	return errors.Join(err, unix.Munmap(r.memory), unix.Close(r.fd), unix.Close(r.wake))
}

// read goes round the blocks until it is woken to end.
func (r *packetReceiver) read() {
	fds := []unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN}, {Fd: int32(r.wake), Events: unix.POLLIN}}
	for block := 0; ; block = (block + 1) % r.blocks {
		memory := r.memory[block*ringBlock : (block+1)*ringBlock]
		status := (*uint32)(unsafe.Pointer(&memory[8]))
		for atomic.LoadUint32(status)&unix.TP_STATUS_USER == 0 {
			if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) || fds[1].Revents != 0 {
				return
			}
			if fds[0].Revents&unix.POLLERR != 0 { // the interface went down: read the error, or poll returns it forever
				_, _ = unix.GetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_ERROR)
			}
		}
		r.block(memory)
		atomic.StoreUint32(status, unix.TP_STATUS_KERNEL)
	}
}

// block counts and passes on the frames of one block.
func (r *packetReceiver) block(memory []byte) {
	frames, at := binary.NativeEndian.Uint32(memory[12:]), binary.NativeEndian.Uint32(memory[16:])
	offset := wallClockOffset()
	for range frames {
		f := memory[at:]
		var traffic units.Traffic
		var stray bool
		if r.promiscuous.Load() || f[unix.SizeofTpacket3Hdr+packetTypeOffset] != unix.PACKET_OTHERHOST {
			traffic, stray = r.take((*unix.Tpacket3Hdr)(unsafe.Pointer(&f[0])), f, offset)
		}
		r.tally.walk(traffic, stray)
		at += binary.NativeEndian.Uint32(f)
	}
}

// packetTypeOffset is sll_pkttype's place in struct sockaddr_ll, which follows the frame's header.
const packetTypeOffset = 10

// take handles one frame. The kernel has removed a VLAN tag, which counts, and is put back for captures.
func (r *packetReceiver) take(h *unix.Tpacket3Hdr, f []byte, offset time.Duration) (traffic units.Traffic, stray bool) {
	frame := f[h.Mac : uint32(h.Mac)+h.Snaplen]
	size := int(binary.NativeEndian.Uint16(f[int(h.Mac)-vnetHeader+vnetSegmentSize:]))
	tag := 0
	if h.Status&unix.TP_STATUS_VLAN_VALID != 0 {
		tag = 4
	}
	header := headersOf(frame)
	if header > 0 {
		header += tag
	}
	traffic = framesIn(int(h.Len)+tag, header, size)
	seen := inspect(frame)
	at := time.Duration(h.Sec)*time.Second + time.Duration(h.Nsec) - offset
	if s, ok := readStamp(frame); seen.class == lateFrame && ok {
		r.sink.stamped(at, s, traffic.Bytes)
	}
	if seen.class == flowFrame && seen.id <= maxFlowID {
		r.perFlow[seen.id].add(traffic.Packets, traffic.Bytes)
	}
	if seen.class == neighbour || r.all.Load() {
		for _, one := range apart(frame, size) {
			r.sink.frame(at, wireFrame(one, tag > 0, h.Hv1.Vlan_tpid, uint16(h.Hv1.Vlan_tci)))
		}
	}
	return traffic, seen.stray
}

// struct virtio_net_hdr stands right before the frame: 10 bytes, and where gso_size is in it.
const (
	vnetHeader      = 10
	vnetSegmentSize = 4
)

// wireFrame copies a frame, with its VLAN tag where it had one.
func wireFrame(frame []byte, tagged bool, tpid, tci uint16) []byte {
	if !tagged || len(frame) < 12 {
		return append([]byte(nil), frame...)
	}
	out := make([]byte, 0, len(frame)+4)
	out = append(out, frame[:12]...)
	out = binary.BigEndian.AppendUint16(out, tpid)
	out = binary.BigEndian.AppendUint16(out, tci)
	return append(out, frame[12:]...)
}

// wallClockOffset is how far the wall clock, which the ring's times are on, is ahead of Now.
func wallClockOffset() time.Duration {
	var wall unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &wall); err != nil {
		return 0
	}
	return time.Duration(wall.Nano()) - Now()
}
