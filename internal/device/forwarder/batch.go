package forwarder

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
	"net/netip"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// batchSize is how many requests go to the kernel in one message. The kernel carries them out one after another
// and answers once. A million single requests take ten times as long.
const batchSize = 512

// sendAll has the kernel carry out all requests of a netlink family, in the calling thread's namespace. The
// error is the first one's that failed.
func sendAll(family int, requests iter.Seq[*nl.NetlinkRequest]) error {
	socket, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, family)
	if err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	defer func() { _ = unix.Close(socket) }()
	if err := unix.Bind(socket, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("bind netlink: %w", err)
	}
	var batch []byte
	waiting, sequence := 0, uint32(0)
	var pending *nl.NetlinkRequest
	flush := func() error {
		pending.Flags |= unix.NLM_F_ACK
		batch = append(batch, pending.Serialize()...)
		err := exchangeBatch(socket, batch, pending.Seq)
		batch, waiting, pending = batch[:0], 0, nil
		return err
	}
	for r := range requests {
		if pending != nil {
			batch = append(batch, pending.Serialize()...)
		}
		sequence++
		r.Flags, r.Seq, pending = r.Flags&^unix.NLM_F_ACK, sequence, r
		if waiting++; waiting == batchSize {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if pending == nil {
		return nil
	}
	return flush()
}

// exchangeBatch sends requests, and reads answers until the last request is acknowledged, or one has failed.
func exchangeBatch(socket int, batch []byte, finalSequence uint32) error {
	if err := unix.Sendto(socket, batch, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("send to netlink: %w", err)
	}
	buffer := make([]byte, 1<<16)
	for {
		n, _, err := unix.Recvfrom(socket, buffer, 0)
		if err != nil {
			return fmt.Errorf("read from netlink: %w", err)
		}
		for answer := buffer[:n]; len(answer) >= unix.NLMSG_HDRLEN+4; {
			length, kind, sequence := binary.NativeEndian.Uint32(answer), binary.NativeEndian.Uint16(answer[4:]),
				binary.NativeEndian.Uint32(answer[8:])
			if length < unix.NLMSG_HDRLEN+4 || int(length) > len(answer) {
				return fmt.Errorf("netlink's answer of %d bytes can't be read", n)
			}
			code := -int32(binary.NativeEndian.Uint32(answer[unix.NLMSG_HDRLEN:]))
			switch {
			case kind == unix.NLMSG_ERROR && code != 0:
				return fmt.Errorf("request %d: %w", sequence, unix.Errno(code))
			case kind == unix.NLMSG_ERROR && sequence == finalSequence:
				return nil
			}
			answer = answer[min(int(length+3)&^3, len(answer)):]
		}
	}
}

// cut divides a network into n adjacent parts whose sizes differ by a factor of two at most. Where n is no
// power of two, the first parts are the wider ones.
//
//	6 of 48.0.0.0/8:  /10 /10 /11 /11 /11 /11
//
// It divides only the first 2³² addresses of an IPv6 network, as flows use no others. With n = 1 the part is
// the whole network.
func cut(network netip.Prefix, n int) iter.Seq[netip.Prefix] {
	network = network.Masked()
	length := network.Bits()
	if n > 1 {
		length = max(length, network.Addr().BitLen()-32)
	}
	deep := bits.Len(uint(n - 1))
	wide := 1<<deep - n
	return func(yield func(netip.Prefix) bool) {
		address := network.Addr().As16()
		base, offset := binary.BigEndian.Uint32(address[12:]), uint64(0)
		for i := range n {
			length := length + deep
			if i < wide {
				length--
			}
			binary.BigEndian.PutUint32(address[12:], base+uint32(offset))
			part := netip.AddrFrom16(address)
			if network.Addr().Is4() {
				part = part.Unmap()
			}
			if !yield(netip.PrefixFrom(part, length)) {
				return
			}
			offset += 1 << (network.Addr().BitLen() - length)
		}
	}
}
