package datapath

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// xdpPool is an AF_XDP socket's memory and completion ring, shared by all threads that send on one queue of an
// interface. In copy mode the kernel copies each frame as it sends it, so a completion tells no more than the
// transmit ring, and the ring is only kept empty. In zero copy a completion means that the card has finished
// with a frame (zero_copy.go).
type xdpPool struct {
	fd        int
	mutex     sync.Mutex
	completed ring
}

// ring is one of AF_XDP's rings. It has two growing indices, and entries.
type ring struct {
	memory             []byte
	producer, consumer *uint32
	entries            unsafe.Pointer
}

// xdpRingSize is a power of two, and larger than a batch.
const xdpRingSize = 256

// xdpTransmitter sends on an AF_XDP socket. In copy mode it takes one allocation, one copy and one driver call per
// frame, less than half of AF_PACKET's cost. It needs only CAP_NET_RAW, no eBPF, and takes frames up to a page.
type xdpTransmitter struct {
	iface string
	fd    int
	pool  *xdpPool
	ring  ring
	zero  bool                      // zero copy, in which the card reads frames from the engine's memory
	kick  func() (errno unix.Errno) // makes the kernel read the ring
	clock func() time.Duration
	open  []piece // the frames of the batch that the card hasn't completed
}

// openXDP opens a sender on a queue of the interface. pool is that of an earlier sender on the same queue, or nil.
func openXDP(iface string, index, queue int, a *arena, pool *xdpPool, mode uint16) (*xdpTransmitter, *xdpPool, error) {
	fd, err := unix.Socket(unix.AF_XDP, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open an AF_XDP socket: %w", err)
	}
	t := &xdpTransmitter{iface: iface, fd: fd, pool: pool, zero: mode == unix.XDP_ZEROCOPY, clock: Now,
		kick: func() unix.Errno {
			_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), 0, 0, unix.MSG_DONTWAIT, 0, 0)
			return errno
		}}
	if err := t.setUp(index, queue, a, mode); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("set up AF_XDP on %s queue %d: %w", iface, queue, err), unix.Close(fd))
	}
	return t, t.pool, nil
}

func (t *xdpTransmitter) setUp(index, queue int, a *arena, mode uint16) error {
	if err := enlargeSendBuffer(t.fd); err != nil {
		return err
	}
	if err := unix.SetsockoptInt(t.fd, unix.SOL_XDP, unix.XDP_TX_RING, xdpRingSize); err != nil {
		return err
	}
	// since Linux 6.17; without it 32 frames leave per call
	_ = unix.SetsockoptInt(t.fd, unix.SOL_XDP, xdpMaxTxBudget, xdpRingSize/2)
	bind := unix.SockaddrXDP{Ifindex: uint32(index), QueueID: uint32(queue), Flags: mode}
	if t.pool != nil {
		bind.Flags, bind.SharedUmemFD = unix.XDP_SHARED_UMEM, uint32(t.pool.fd)
	} else if err := t.register(a); err != nil {
		return err
	}
	offsets, err := t.offsets()
	if err != nil {
		return err
	}
	if t.ring, err = mapRing(t.fd, unix.XDP_PGOFF_TX_RING, offsets.Tx,
		xdpRingSize*unsafe.Sizeof(unix.XDPDesc{})); err != nil {
		return err
	}
	if t.pool == nil {
		t.pool = &xdpPool{fd: t.fd}
		if t.pool.completed, err = mapRing(t.fd, unix.XDP_UMEM_PGOFF_COMPLETION_RING, offsets.Cr,
			completionRingSize*8); err != nil {
			return err
		}
	}
	return unix.Bind(t.fd, &bind)
}

// xdpMaxTxBudget is XDP_MAX_TX_SKB_BUDGET of linux/if_xdp.h.
const xdpMaxTxBudget = 9

// umemRegistration is the kernel's struct xdp_umem_reg.
type umemRegistration struct {
	address, length  uint64
	chunk, headroom  uint32
	flags, _metadata uint32
}

func (t *xdpTransmitter) register(a *arena) error {
	r := umemRegistration{address: uint64(uintptr(unsafe.Pointer(&a.memory[0]))), length: uint64(len(a.memory)),
		chunk: uint32(unix.Getpagesize())}
	_, _, errno := unix.Syscall6(unix.SYS_SETSOCKOPT, uintptr(t.fd), unix.SOL_XDP, unix.XDP_UMEM_REG,
		uintptr(unsafe.Pointer(&r)), unsafe.Sizeof(r), 0)
	if errno != 0 {
		return fmt.Errorf("register %d bytes: %w", len(a.memory), errno)
	}
	return errors.Join(unix.SetsockoptInt(t.fd, unix.SOL_XDP, unix.XDP_UMEM_FILL_RING, xdpRingSize),
		unix.SetsockoptInt(t.fd, unix.SOL_XDP, unix.XDP_UMEM_COMPLETION_RING, completionRingSize))
}

func (t *xdpTransmitter) offsets() (unix.XDPMmapOffsets, error) {
	var offsets unix.XDPMmapOffsets
	size := uint32(unsafe.Sizeof(offsets))
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(t.fd), unix.SOL_XDP, unix.XDP_MMAP_OFFSETS,
		uintptr(unsafe.Pointer(&offsets)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return offsets, fmt.Errorf("ask for the rings' layout: %w", errno)
	}
	return offsets, nil
}

func mapRing(fd int, offset int64, o unix.XDPRingOffset, size uintptr) (ring, error) {
	memory, err := unix.Mmap(fd, offset, int(o.Desc)+int(size), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return ring{}, fmt.Errorf("map a ring: %w", err)
	}
	return ring{memory, (*uint32)(unsafe.Pointer(&memory[o.Producer])), (*uint32)(unsafe.Pointer(&memory[o.Consumer])),
		unsafe.Pointer(&memory[o.Desc])}, nil
}

// enqueue puts the batch on the transmit ring, and returns its first and end index.
func (t *xdpTransmitter) enqueue(batch []piece) (first, end uint32) {
	first = atomic.LoadUint32(t.ring.producer)
	descriptors := (*[xdpRingSize]unix.XDPDesc)(t.ring.entries)
	for i, p := range batch {
		descriptors[(first+uint32(i))%xdpRingSize] = unix.XDPDesc{Addr: p.offset, Len: p.length}
	}
	end = first + uint32(len(batch))
	atomic.StoreUint32(t.ring.producer, end)
	return first, end
}

func (t *xdpTransmitter) send(batch []piece, results []outcome) (retries int, err error) {
	if t.zero {
		return t.sendUncopied(batch, results)
	}
	for i := range batch {
		results[i] = accepted
	}
	first, end := t.enqueue(batch)
	for consumed := first; consumed != end; {
		errno := t.kick()
		previous := consumed
		consumed = atomic.LoadUint32(t.ring.consumer)
		t.pool.drain()
		switch {
		case isDeviceGone(errno):
			return retries, sendError(t.iface, errno)
		case errno == unix.ENETDOWN:
			atomic.StoreUint32(t.ring.producer, consumed)
			for i := consumed - first; i < uint32(len(batch)); i++ {
				results[i] = refused
			}
			return retries, nil
		case errno == unix.EBUSY && consumed != previous:
			results[consumed-first-1] = dropped // the frame last consumed
		case consumed == previous:
			retries++
		}
	}
	return retries, nil
}

// drain empties the completion ring, unless another thread is doing so.
func (p *xdpPool) drain() {
	if p.mutex.TryLock() {
		atomic.StoreUint32(p.completed.consumer, atomic.LoadUint32(p.completed.producer))
		p.mutex.Unlock()
	}
}

func (t *xdpTransmitter) close() error {
	errs := []error{unix.Munmap(t.ring.memory)}
	if t.pool.fd == t.fd {
		errs = append(errs, unix.Munmap(t.pool.completed.memory))
	}
	return errors.Join(append(errs, unix.Close(t.fd))...)
}
