package iperf3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// listen awaits the server's own streams, on a port of this machine's choice.
func (r *iperf2Test) listen(ctx context.Context) (<-chan arrived, error) {
	place, back := r.client.Place, make(chan arrived, r.test.Parallel)
	local := netip.AddrPortFrom(place.Address, 0).String()
	if !place.Address.IsValid() {
		local = ":0"
	}
	config := net.ListenConfig{KeepAlive: -1, Control: place.Control(func(fd int, six bool) error {
		return errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1), r.test.shape(fd, six))
	})}
	config.SetMultipathTCP(false)
	return back, place.Namespace.Do(func() error {
		if r.test.Protocol == TCP {
			l, err := config.Listen(ctx, "tcp", local)
			if err != nil {
				return fmt.Errorf("listen for the server's connections: %w", err)
			}
			r.listener, r.port = l, l.Addr().(*net.TCPAddr).Port
			r.awaiting.Go(func() { r.acceptBack(l, back) })
			return nil
		}
		l, err := config.ListenPacket(ctx, "udp", local)
		if err != nil {
			return fmt.Errorf("listen for the server's datagrams: %w", err)
		}
		r.listener, r.port = l, l.LocalAddr().(*net.UDPAddr).Port
		r.test.back = r.port
		r.awaiting.Go(func() { r.receiveBack(ctx, l.(*net.UDPConn), back) })
		return nil
	})
}

// acceptBack accepts the server's connections until the listener is closed. Others are closed.
func (r *iperf2Test) acceptBack(l net.Listener, back chan<- arrived) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		tcp := conn.(*net.TCPConn)
		from := tcp.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
		if from != r.address.Addr() || r.test.configure(tcp) != nil {
			_ = conn.Close()
			continue
		}
		select {
		case back <- arrived{conn: conn}:
		default:
			_ = conn.Close()
		}
	}
}

// receiveBack makes a socket for each of the server's sockets that sends. Datagrams that come before are its first
// ones, from before the time that is judged.
func (r *iperf2Test) receiveBack(ctx context.Context, l *net.UDPConn, back chan<- arrived) {
	var sources []netip.AddrPort
	buffer := make([]byte, 1<<16)
	for {
		_, from, err := l.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return
		}
		source := netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		if source.Addr() != r.address.Addr() || slices.Contains(sources, source) || len(sources) == r.test.Parallel {
			continue
		}
		conn, err := r.client.Place.dial(ctx, "udp", netip.AddrPortFrom(r.local, uint16(r.port)), source,
			func(fd int, six bool) error {
				return errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1), r.test.shape(fd, six))
			})
		if err != nil {
			continue
		}
		sources = append(sources, source)
		back <- arrived{conn: conn}
	}
}

// greetEvery is how often a stream's first datagram is sent until the server's own stream comes.
const greetEvery = 250 * time.Millisecond

// awaitBack awaits the stream that the server makes for one of the client's. A first datagram may be lost.
func (r *iperf2Test) awaitBack(ctx context.Context, s *stream, back <-chan arrived) error {
	patience, again := time.NewTimer(r.patience), time.NewTicker(greetEvery)
	defer patience.Stop()
	defer again.Stop()
	for {
		select {
		case a := <-back:
			r.streams = append(r.streams, &stream{id: len(r.streams) + 1, conn: a.conn})
			return nil
		case <-again.C:
			if r.test.Protocol == UDP {
				if err := r.greet(s); err != nil {
					return r.gone(err)
				}
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-patience.C:
			return fmt.Errorf("%w: the iperf 2 server at %s didn't connect back to %s port %d of this machine within %s: "+
				"let that through, or measure one direction at a time", ErrGone, r.address, r.test.Protocol, r.port,
				r.patience)
		}
	}
}
