package fabric

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

const (
	// socketBuffer holds some thousand frames that nobody has read yet.
	socketBuffer = 8 << 20
	// receiveTimeout is how long one wait for a frame takes at most, in microseconds, before the context is checked.
	receiveTimeout = 100_000
)

// Overhear returns the next frames that enter a wire. It returns fewer frames and an error where the context ends
// before.
func (s Spec) Overhear(ctx context.Context, wire string, frames int) (heard [][]byte, err error) {
	fd := -1
	var ends []int
	err = vf.InNamespace(s.path(), func() (err error) { // the socket stays in the wires' namespace
		if ends, err = s.endsOf(wire); err != nil {
			return err
		}
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listen to wire %s: %w", wire, err)
	}
	defer func() { _ = unix.Close(fd) }()
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, socketBuffer)
	const allProtocols = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8 // in the network's order
	err = errors.Join(unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO,
		&unix.Timeval{Usec: receiveTimeout}),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: allProtocols}))
	buffer := make([]byte, 1<<16)
	for err == nil && len(heard) < frames {
		if err = ctx.Err(); err != nil {
			break
		}
		n, sender, read := unix.Recvfrom(fd, buffer, 0)
		if linkLayer, ok := sender.(*unix.SockaddrLinklayer); read == nil && ok &&
			linkLayer.Pkttype != unix.PACKET_OUTGOING && slices.Contains(ends, linkLayer.Ifindex) {
			heard = append(heard, slices.Clone(buffer[:n]))
		} else if read != nil && !errors.Is(read, unix.EAGAIN) && !errors.Is(read, unix.EINTR) {
			err = read
		}
	}
	if err != nil {
		return heard, fmt.Errorf("listen to wire %s: %d of %d frames: %w", wire, len(heard), frames, err)
	}
	return heard, nil
}

// endsOf are the interfaces at which frames enter a wire.
func (s Spec) endsOf(wire string) (ends []int, err error) {
	links, err := vf.Links()
	if err != nil {
		return nil, err
	}
	for _, p := range s.ports() {
		for _, d := range p.devices {
			for _, l := range links {
				if p.wire == wire && l.Attrs().Name == d.Interface {
					ends = append(ends, l.Attrs().Index)
				}
			}
		}
	}
	if len(ends) == 0 {
		return nil, errors.New("nothing is plugged into it")
	}
	return ends, nil
}
