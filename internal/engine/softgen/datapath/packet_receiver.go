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

// packetReceiver reads an AF_PACKET ring (TPACKET_V3), which needs no eBPF. The kernel counts frames without
// room in the ring, and they are reported as missed. A header in front of each frame says whether the kernel
// has merged several frames (struct virtio_net_hdr).
type packetReceiver struct {
	fd, wake    int
	blocks      int
	memory      []byte
	sink        sink
	promiscuous atomic.Bool
	passAll     atomic.Bool
	trains      atomic.Pointer[packetTrainRecord] // nil while no trains are recorded
	tally       ringTally
	perFlow     [maxFlowID + 1]trafficCounter
	reading     sync.WaitGroup
}

// The ring consists of blocks. The reader gets a block when it is full or a millisecond old.
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
	r.reading.Go(r.read)
	return r, nil
}

func (r *packetReceiver) setUp(index int) error {
	request := unix.TpacketReq3{Block_size: ringBlock, Block_nr: uint32(r.blocks), Frame_size: 2048,
		Frame_nr: uint32(ringBlock / 2048 * r.blocks), Retire_blk_tov: 1}
	err := errors.Join(unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3),
		unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1),
		r.filter(false),
		unix.SetsockoptTpacketReq3(r.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &request))
	if err != nil {
		return err
	}
	if r.memory, err = unix.Mmap(r.fd, 0, ringBlock*r.blocks, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED); err != nil {
		return err
	}
	return unix.Bind(r.fd, &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ALL), Ifindex: index})
}

func networkOrder(v uint16) uint16 { return v<<8 | v>>8 }

// snapLength is how much the ring gets of a frame that is only counted. All headers fit.
const snapLength = 96

// filter makes the kernel shorten frames that are only counted. Latency streams' frames stay whole, because
// their stamps are at the end. Frames that are neither IPv4 nor IPv6 stay whole too, because they may be
// requests to this port.
func (r *packetReceiver) filter(passAll bool) error {
	const whole = 0xffff
	program := []bpf.Instruction{bpf.RetConstant{Val: whole}}
	if !passAll {
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
	for i, instruction := range raw {
		code[i] = unix.SockFilter{Code: instruction.Op, Jt: instruction.Jt, Jf: instruction.Jf, K: instruction.K}
	}
	return unix.SetsockoptSockFprog(r.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]})
}

func (r *packetReceiver) selectFrames(w frameSelection) error {
	r.promiscuous.Store(w.promiscuous)
	if r.passAll.Swap(w.passAll) != w.passAll {
		return r.filter(w.passAll)
	}
	return nil
}

func (r *packetReceiver) mark() func() receiveCounts {
	m := r.tally.mark(func() (arrived, dropped int64) {
		s, err := unix.GetsockoptTpacketStatsV3(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
		if err != nil {
			return 0, 0 // impossible on a socket that is open
		}
		return int64(s.Packets) - int64(s.Drops), int64(s.Drops)
	})
	return func() receiveCounts { return r.tally.settle(m, ringTimeout) }
}

// dropsAreMissed: the kernel's own stack also gets each frame, and counts frames without a receiver as dropped.
func (r *packetReceiver) dropsAreMissed() bool { return false }

func (r *packetReceiver) flows(visit func(uint32, units.Traffic)) {
	for id := range r.perFlow {
		if t := r.perFlow[id].traffic(); t.Packets > 0 {
			visit(uint32(id), t)
		}
	}
}

// follower is nil because the sink gets all stamps.
func (r *packetReceiver) follower() follower { return nil }

func (r *packetReceiver) close() error {
	_, err := unix.Write(r.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	r.reading.Wait()
	return errors.Join(err, unix.Munmap(r.memory), unix.Close(r.fd), unix.Close(r.wake))
}

// read walks round the blocks until close wakes it.
func (r *packetReceiver) read() {
	fds := []unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN}, {Fd: int32(r.wake), Events: unix.POLLIN}}
	for block := 0; ; block = (block + 1) % r.blocks {
		memory := r.memory[block*ringBlock : (block+1)*ringBlock]
		status := (*uint32)(unsafe.Pointer(&memory[8]))
		for atomic.LoadUint32(status)&unix.TP_STATUS_USER == 0 {
			if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) || fds[1].Revents != 0 {
				return
			}
			// the interface went down, and poll returns the error until it is read
			if fds[0].Revents&unix.POLLERR != 0 {
				_, _ = unix.GetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_ERROR)
			}
		}
		r.block(memory)
		atomic.StoreUint32(status, unix.TP_STATUS_KERNEL)
	}
}

// block counts and passes on the frames of one block.
func (r *packetReceiver) block(memory []byte) {
	frames, position := binary.NativeEndian.Uint32(memory[12:]), binary.NativeEndian.Uint32(memory[16:])
	offset := wallClockOffset()
	for range frames {
		f := memory[position:]
		var traffic units.Traffic
		var stray bool
		if r.promiscuous.Load() || f[unix.SizeofTpacket3Hdr+packetTypeOffset] != unix.PACKET_OTHERHOST {
			traffic, stray = r.handleFrame((*unix.Tpacket3Hdr)(unsafe.Pointer(&f[0])), f, offset)
		}
		r.tally.walk(traffic, stray)
		position += binary.NativeEndian.Uint32(f)
	}
}

// packetTypeOffset is the offset of sll_pkttype in struct sockaddr_ll, which follows the frame's header.
const packetTypeOffset = 10

// handleFrame handles one frame. The kernel has removed a VLAN tag. The tag counts, and captures get it back.
func (r *packetReceiver) handleFrame(
	h *unix.Tpacket3Hdr, f []byte, offset time.Duration,
) (traffic units.Traffic, stray bool) {
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
	class := inspect(frame)
	arrival := time.Duration(h.Sec)*time.Second + time.Duration(h.Nsec) - offset
	if s, ok := readStamp(frame); class.class == latencyFrame && ok {
		r.sink.stamped(arrival, s, traffic.Bytes)
	}
	if class.class == flowFrame && class.id <= maxFlowID && !r.recordArrival(class.id, frame, arrival+offset) {
		r.perFlow[class.id].add(traffic.Packets, traffic.Bytes)
	}
	if class.class == neighbour || r.passAll.Load() {
		for _, part := range splitMerged(frame, size) {
			r.sink.frame(arrival, wireFrame(part, tag > 0, h.Hv1.Vlan_tpid, uint16(h.Hv1.Vlan_tci)))
		}
	}
	return traffic, class.stray
}

// recordArrival records a frame of trains, by the wall clock. It returns false for other frames.
func (r *packetReceiver) recordArrival(id uint32, frame []byte, wall time.Duration) bool {
	if id != trainFlow {
		return false
	}
	record := r.trains.Load()
	s, ok := readStamp(frame)
	return ok && record != nil && record.record(s, wall)
}

// struct virtio_net_hdr has 10 bytes right before the frame. Its gso_size is at vnetSegmentSize.
const (
	vnetHeader      = 10
	vnetSegmentSize = 4
)

// wireFrame copies a frame, with the VLAN tag that it had on the wire.
func wireFrame(frame []byte, tagged bool, tpid, tci uint16) []byte {
	if !tagged || len(frame) < 12 {
		return append([]byte(nil), frame...)
	}
	copied := make([]byte, 0, len(frame)+4)
	copied = append(copied, frame[:12]...)
	copied = binary.BigEndian.AppendUint16(copied, tpid)
	copied = binary.BigEndian.AppendUint16(copied, tci)
	return append(copied, frame[12:]...)
}

// wallClockOffset is how far the wall clock is ahead of Now. The ring's times are on the wall clock.
func wallClockOffset() time.Duration {
	var wall unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &wall); err != nil {
		return 0
	}
	return time.Duration(wall.Nano()) - Now()
}
