package iperf3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/host/sockets"
)

// Place is where a side's sockets are made. The zero Place is the process's own namespace, and any interface.
type Place struct {
	Namespace *netif.Namespace
	Interface string
	// Address is the source of connections and datagrams. The zero Addr is the kernel's choice.
	Address netip.Addr
	// Hops is the time to live of all packets that are sent. With it, datagrams aren't fragmented unless Fragments is
	// set, and servers keep the remaining time to live of each stream's first packet. 0 means the kernel's own.
	Hops int
	// Fragments says that datagrams that don't fit into a frame of the interface are sent in fragments.
	Fragments bool
}

// Control binds a socket to the place's interface before it is bound or connected, and then calls more.
func (p Place) Control(configureMore func(fd int, six bool) error) func(string, string, syscall.RawConn) error {
	return func(network, _ string, raw syscall.RawConn) error {
		var configureErr error
		err := raw.Control(func(handle uintptr) {
			fd := int(handle)
			if p.Interface != "" {
				if configureErr = unix.BindToDevice(fd, p.Interface); configureErr != nil {
					configureErr = fmt.Errorf("bind to interface %s: %w", p.Interface, configureErr)
					return
				}
			}
			six := network[len(network)-1] == '6'
			if configureErr = p.setHops(fd, strings.HasPrefix(network, "udp"), six); configureErr == nil {
				configureErr = configureMore(fd, six)
			}
		})
		return errors.Join(err, configureErr)
	}
}

// setHops sets a socket's time to live, and what Hops says about fragments.
func (p Place) setHops(fd int, datagrams, six bool) error {
	if p.Hops == 0 {
		return nil
	}
	level, ttl, discover, tell := unix.IPPROTO_IP, unix.IP_TTL, unix.IP_MTU_DISCOVER, unix.IP_RECVTTL
	if six {
		level, ttl, discover, tell = unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, unix.IPV6_MTU_DISCOVER,
			unix.IPV6_RECVHOPLIMIT
	}
	if err := sockets.SetOption(fd, level, ttl, p.Hops, "the time to live"); err != nil {
		return err
	}
	if !datagrams {
		// for a listener. Without it the time to live of arriving streams is unknown
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_SAVE_SYN, 1)
		return nil
	}
	_ = unix.SetsockoptInt(fd, level, tell, 1)
	if p.Fragments {
		return sockets.SetOption(fd, level, discover, unix.IP_PMTUDISC_OMIT,
			"that datagrams go in fragments of the interface's MTU")
	}
	return sockets.SetOption(fd, level, discover, unix.IP_PMTUDISC_DO, "that datagrams stay whole")
}

func plain(int, bool) error { return nil }

// dial connects to an address, from a local one where that is given.
func (p Place) dial(ctx context.Context, network string, source, destination netip.AddrPort, configureMore func(fd int,
	six bool) error) (conn net.Conn, err error) {
	dialer := net.Dialer{Timeout: answerTimeout, KeepAlive: -1, Control: p.Control(configureMore)}
	dialer.SetMultipathTCP(false)
	if !source.IsValid() && p.Address.IsValid() {
		source = netip.AddrPortFrom(p.Address, 0)
	}
	switch {
	case !source.IsValid():
	case network == "tcp":
		dialer.LocalAddr = net.TCPAddrFromAddrPort(source)
	default:
		dialer.LocalAddr = net.UDPAddrFromAddrPort(source)
	}
	err = p.Namespace.Do(func() (err error) {
		conn, err = dialer.DialContext(ctx, network, destination.String())
		return err
	})
	return conn, err
}

// towards is this side's address on the way to another one.
func (p Place) towards(ctx context.Context, destination netip.AddrPort) (netip.Addr, error) {
	conn, err := p.dial(ctx, "udp", netip.AddrPort{}, destination, plain) // which sends nothing
	if err != nil {
		return netip.Addr{}, err
	}
	local := conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	return local, conn.Close()
}

// shape sets the options of a stream's socket, with TCP before it is connected, so that the window scale fits.
func (t Test) shape(fd int, six bool) error {
	level, name := unix.IPPROTO_IP, unix.IP_TOS
	if six {
		level, name = unix.IPPROTO_IPV6, unix.IPV6_TCLASS
	}
	if t.TOS != 0 {
		if err := sockets.SetOption(fd, level, name, t.TOS, "the type of service"); err != nil {
			return &refusal{125, err.Error()}
		}
	}
	if t.Protocol == TCP && t.SegmentBytes != 0 {
		if err := sockets.SetOption(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG, t.SegmentBytes,
			"the segment size"); err != nil {
			return &refusal{123, err.Error()}
		}
	}
	return t.tune(fd)
}

// tune sets the options that can be set on an open connection, too.
func (t Test) tune(fd int) error {
	if t.Protocol == TCP && t.CongestionControl != "" {
		if err := sockets.SetCongestionControl(fd, t.CongestionControl); err != nil {
			return &refusal{134, "congestion control " + err.Error()}
		}
	}
	if t.pacing != 0 {
		if err := unix.SetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, uint64(t.pacing/8)); err != nil {
			return &refusal{140, fmt.Sprintf("set the pacing rate: %v", err)}
		}
	}
	if t.WindowBytes != 0 {
		if err := sockets.SetBuffers(fd, t.WindowBytes); err != nil {
			return &refusal{141, "window: " + err.Error()}
		}
	} else if t.Protocol == UDP {
		enlarge(fd)
	}
	return nil
}

// roomy is the receive buffer of UDP streams where the test names no window. What a receiver drops while its process
// waits for a processor isn't the device's loss.
const roomy = 4 << 20

// enlarge raises a receive buffer as far as the process may, up to roomy. Drops are counted in any case.
func enlarge(fd int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, roomy) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, roomy)
	}
}

// unanswered is how long a connection may send without an answer before its kernel closes it (TCP_USER_TIMEOUT).
const unanswered = 20 * time.Second

// configure sets the options of an open connection to iperf3's defaults, which differ from Go's. Until the test ends
// properly, closing the connection is a reset, so that even if this process is killed, no kernel goes on sending what
// is left in a buffer.
func (t Test) configure(conn *net.TCPConn) error {
	return errors.Join(conn.SetNoDelay(t.NoDelay), conn.SetLinger(0), sockets.WithDescriptor(conn, func(fd int) error {
		return sockets.SetOption(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(unanswered.Milliseconds()),
			"TCP_USER_TIMEOUT")
	}))
}

// Listener is a server's port, with TCP and UDP.
type Listener struct {
	place Place
	tcp   *net.TCPListener
	udp   *net.UDPConn
}

// portTries is how many ports of the kernel's choice are tried, as a port that is free with TCP may be taken with UDP.
const portTries = 16

// Listen opens a port, such as ":5201". Port 0 is one of the kernel's choice.
func Listen(ctx context.Context, place Place, address string) (*Listener, error) {
	destination, err := resolve(ctx, address)
	if err != nil {
		return nil, err
	}
	for range portTries {
		var l *Listener
		if l, err = listen(ctx, place, destination); err == nil || destination.Port() != 0 ||
			!errors.Is(err, ErrTaken) {
			return l, err
		}
	}
	return nil, err
}

func listen(ctx context.Context, place Place, address netip.AddrPort) (*Listener, error) {
	l := &Listener{place: place}
	config := net.ListenConfig{KeepAlive: -1, Control: place.Control(plain)}
	config.SetMultipathTCP(false)
	// a socket of each stream has the same port
	shared := net.ListenConfig{Control: place.Control(func(fd int,
		_ bool) error {
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	})}
	err := place.Namespace.Do(func() error {
		listener, err := config.Listen(ctx, "tcp", address.String())
		if err != nil {
			return err
		}
		l.tcp = listener.(*net.TCPListener)
		conn, err := shared.ListenPacket(ctx, "udp", netip.AddrPortFrom(address.Addr(), l.Address().Port()).String())
		if err != nil {
			return errors.Join(err, l.tcp.Close())
		}
		l.udp = conn.(*net.UDPConn)
		return nil
	})
	if errors.Is(err, unix.EAFNOSUPPORT) && address.Addr() == netip.IPv6Unspecified() { // a kernel without IPv6
		return listen(ctx, place, netip.AddrPortFrom(netip.IPv4Unspecified(), address.Port()))
	}
	if errors.Is(err, unix.EADDRINUSE) {
		return nil, fmt.Errorf("listen on %s: %w: end the program that has it (ss -lntup 'sport = :%d' names it), or "+
			"use another one: %w", address, ErrTaken, address.Port(), err)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return l, nil
}

// Address is where clients reach the server.
func (l *Listener) Address() netip.AddrPort { return l.tcp.Addr().(*net.TCPAddr).AddrPort() }

// Close closes the port. Serve does so, too.
func (l *Listener) Close() error { return errors.Join(l.tcp.Close(), l.udp.Close()) }

// resolve is the address of a host and port. An empty host is any.
func resolve(ctx context.Context, address string) (netip.AddrPort, error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("address %s: %w", address, err)
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", service)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("address %s: %w", address, err)
	}
	if host == "" {
		return netip.AddrPortFrom(netip.IPv6Unspecified(), uint16(port)), nil
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("address %s: %w", address, err)
	}
	return netip.AddrPortFrom(found[0].Unmap(), uint16(port)), nil
}
