package impaired

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ring is an interface's AF_PACKET ring (TPACKET_V2, packet(7)). It holds frames as they came, each with the time of
// its arrival on the wall clock. A frame in it is read in place, until it is given back.
type ring struct {
	fd     int
	memory []byte
	next   int // the slot that the next frame comes into
	missed atomic.Int64
}

// slots is how many frames wait for a device that gets no processor, a sixth of a second at 100 000/s. A slot holds a
// frame of 1 900 bytes and more.
const (
	slotBytes = 2048
	slots     = 16384
)

// arrived is a frame in a ring.
type arrived struct {
	frame   []byte
	arrival time.Duration // since 1970
	slot    int
}

func openRing(index int) (_ *ring, err error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open a packet socket: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("make a packet ring: %w", err), unix.Close(fd))
		}
	}()
	request := unix.TpacketReq{Block_size: 1 << 20, Block_nr: slotBytes * slots >> 20, Frame_size: slotBytes,
		Frame_nr: slots}
	if err := errors.Join(unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V2),
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.SetsockoptTpacketReq(fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &request)); err != nil {
		return nil, err
	}
	memory, err := unix.Mmap(fd, 0, slotBytes*slots, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil, err
	}
	const allProtocols = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8
	return &ring{fd: fd, memory: memory}, unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: allProtocols, Ifindex: index})
}

func (r *ring) header(slot int) *unix.Tpacket2Hdr {
	return (*unix.Tpacket2Hdr)(unsafe.Pointer(&r.memory[slot*slotBytes]))
}

// read is the next frame that came, if there is one. One that was too long for its slot is missed.
func (r *ring) read() (c arrived, ok bool) {
	for {
		h := r.header(r.next)
		if atomic.LoadUint32(&h.Status)&unix.TP_STATUS_USER == 0 {
			return arrived{}, false
		}
		c = arrived{slot: r.next, arrival: time.Duration(h.Sec)*time.Second + time.Duration(h.Nsec)}
		r.next = (r.next + 1) % slots
		if h.Snaplen < h.Len {
			r.missed.Add(1)
			r.release(c.slot)
			continue
		}
		c.frame = r.memory[c.slot*slotBytes+int(h.Mac):][:h.Snaplen:h.Snaplen]
		if h.Status&unix.TP_STATUS_VLAN_VALID != 0 { // the kernel took the tag out
			c.frame = tagged(c.frame, h.Vlan_tpid, h.Vlan_tci)
		}
		return c, true
	}
}

func tagged(frame []byte, tpid, tci uint16) []byte {
	whole := append(make([]byte, 0, len(frame)+4), frame[:12]...)
	return append(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(whole, tpid), tci), frame[12:]...)
}

func (r *ring) release(slot int) { atomic.StoreUint32(&r.header(slot).Status, unix.TP_STATUS_KERNEL) }

// await returns when a frame came, or after d. With a negative d it waits for a frame.
func (r *ring) await(d time.Duration) {
	var timeout *unix.Timespec
	if d >= 0 {
		limit := unix.NsecToTimespec(int64(d))
		timeout = &limit
	}
	// after an interrupt it is called again
	_, _ = unix.Ppoll([]unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN}}, timeout, nil)
}

// lost is how many frames came and found the ring full, or were too long, since it was opened. One goroutine
// may ask at a time.
func (r *ring) lost() int64 {
	if s, err := unix.GetsockoptTpacketStats(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		r.missed.Add(int64(s.Drops)) // the kernel begins anew with each reading
	}
	return r.missed.Load()
}

// outlet sends frames on an interface, past its queueing discipline.
type outlet struct {
	fd      int
	vectors [batch]unix.Iovec
	headers [batch]messageHeader
	n       int
}

// batch is how many frames leave by one call at most.
const batch = 64

// messageHeader is the kernel's struct mmsghdr.
type messageHeader struct {
	header unix.Msghdr
	length uint32
	_      [4]byte
}

func openOutlet(index int) (*outlet, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open a packet socket: %w", err)
	}
	if err := errors.Join(unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1),
		unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: index})); err != nil {
		return nil, errors.Join(fmt.Errorf("open an outlet: %w", err), unix.Close(fd))
	}
	o := &outlet{fd: fd}
	for i := range o.headers {
		o.headers[i].header.Iov = &o.vectors[i]
		o.headers[i].header.SetIovlen(1)
	}
	return o, nil
}

// add puts a frame into the batch, and returns false if the batch is full.
func (o *outlet) add(frame []byte) bool {
	if o.n == batch {
		return false
	}
	o.vectors[o.n].Base = &frame[0]
	o.vectors[o.n].SetLen(len(frame))
	o.n++
	return true
}

// flush sends the batch, and says how many of it the kernel took, and refused.
func (o *outlet) flush() (sent, refused int64) {
	for handled := 0; handled < o.n; {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(o.fd), uintptr(unsafe.Pointer(&o.headers[handled])),
			uintptr(o.n-handled), 0, 0, 0)
		switch errno {
		case 0:
			handled, sent = handled+int(n), sent+int64(n)
		case unix.EINTR, unix.EAGAIN:
		default:
			handled, refused = handled+1, refused+1
		}
	}
	o.n = 0
	return sent, refused
}
