package aside

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Listen listens at a TCP address, and accepts only connections that don't come in by the links, which are
// interfaces of this process's network namespace. Listen skips a link that is no interface here, such as a device
// that DPDK took from the kernel. It doesn't filter an interface that appears later, so the caller waits for the
// interfaces first.
//
// The listener and each accepted connection have a socket filter (socket(7), SO_ATTACH_FILTER), which needs no rights.
func Listen(ctx context.Context, address string, links []string) (net.Listener, error) {
	var filter []unix.SockFilter
	for _, name := range links {
		link, err := net.InterfaceByName(name)
		if err != nil {
			continue
		}
		filter = append(filter, dropIfFrom(link.Index)...)
	}
	if len(filter) == 0 {
		return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	}
	if len(filter) > mostLinks*len(dropIfFrom(0)) {
		return nil, fmt.Errorf("listen at %s: %d links are more than %d", address, len(links), mostLinks)
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: wholeSegment})
	config := net.ListenConfig{Control: func(_, _ string, conn syscall.RawConn) error {
		var failed error
		err := conn.Control(func(fd uintptr) {
			failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
				&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
		})
		return errors.Join(err, failed)
	}}
	config.SetMultipathTCP(false) // its subflows wouldn't have the filter
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen at %s, except on the links: %w", address, err)
	}
	return l, nil
}

const (
	// mostLinks is far more than a test has, and what a filter has room for.
	mostLinks = 256
	// interfaceIndex is the offset at which a filter reads the index of the interface by which a packet came in
	// (linux/filter.h: SKF_AD_OFF + SKF_AD_IFINDEX).
	interfaceIndex = 0xfffff000 + 8
	// wholeSegment is the filter's return value that accepts the whole packet.
	wholeSegment = 0xffffffff
)

// dropIfFrom drops packets that came in by an interface.
func dropIfFrom(index int) []unix.SockFilter {
	return []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: interfaceIndex},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(index)},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	}
}
