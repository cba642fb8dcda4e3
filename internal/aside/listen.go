// Package aside keeps what drives a generator off the links under test: who is on a link, the device first of all, may send to the machine's addresses by it, and no
// policy of the pods' network sees that.
//
//	pods' network ──▶ eth0 ─┐
//	this machine  ──▶ lo   ─┼─▶ listener
//	link under test ─▶ west ─✗  dropped before TCP looks at it: nothing answers, also at the other interfaces' addresses
//
// It is the interface by which a segment came that counts. To listen at the pods' network's address alone isn't enough: Linux takes packets for any of its addresses from
// any interface (ip-sysctl: the weak host model), and answers to a forged sender leave by the pods' network.
package aside

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Listen listens at a TCP address for what doesn't come by any of the links, which are interfaces of the calling process' network namespace. A link that isn't there as an
// interface, as a device that left the kernel, is none that anything comes by; but one that appears later isn't known either: await it first.
//
// The listener, and each connection that it accepts, has a filter of the kernel's (socket(7), SO_ATTACH_FILTER), which takes no rights.
func Listen(ctx context.Context, address string, links []string) (net.Listener, error) {
	var filter []unix.SockFilter
	for _, name := range links {
		link, err := net.InterfaceByName(name)
		if err != nil {
			continue
		}
		filter = append(filter, dropIfBy(link.Index)...)
	}
	if len(filter) == 0 {
		return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	}
	if len(filter) > mostLinks*len(dropIfBy(0)) {
		return nil, fmt.Errorf("listen at %s: %d links are more than %d", address, len(links), mostLinks)
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: wholeSegment})
	config := net.ListenConfig{Control: func(_, _ string, conn syscall.RawConn) error {
		var failed error
		err := conn.Control(func(fd uintptr) {
			failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
		})
		return errors.Join(err, failed)
	}}
	config.SetMultipathTCP(false) // whose subflows wouldn't have the filter
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen at %s, and not for what comes by links: %w", address, err)
	}
	return l, nil
}

const (
	// mostLinks is far more than a test has, and what a filter has room for.
	mostLinks = 256
	// interfaceIndex is where a filter finds by which interface a packet came (linux/filter.h: SKF_AD_OFF + SKF_AD_IFINDEX).
	interfaceIndex = 0xfffff000 + 8
	// wholeSegment is what a filter answers that lets all of a packet pass.
	wholeSegment = 0xffffffff
)

// dropIfBy drops what came by an interface, and goes on otherwise.
func dropIfBy(index int) []unix.SockFilter {
	return []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: interfaceIndex},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(index)},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	}
}
