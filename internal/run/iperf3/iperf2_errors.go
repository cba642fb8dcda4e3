package iperf3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"golang.org/x/sys/unix"
)

// unreachable is why there is no connection.
func (r *iperf2Test) unreachable(ctx context.Context, err error) error {
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, unix.ECONNREFUSED):
		return fmt.Errorf("%w at %s, which refuses connections: start one there (iperf -s -p %d), or name another port: "+
			"%w", ErrNoIperf2, r.address, r.address.Port(), err)
	case ok && timeout.Timeout():
		return fmt.Errorf("%w at %s within %s: check the address, the route, and that firewalls let TCP port %d "+
			"through: %w", ErrNoIperf2, r.address, answerTimeout, r.address.Port(), err)
	}
	return fmt.Errorf("connect to %s: %w", r.address, err)
}

// gone is why a stream ended early.
func (r *iperf2Test) gone(err error) error {
	switch {
	case r.test.Protocol == UDP && errors.Is(err, unix.ECONNREFUSED) && r.test.Parallel > 1:
		return fmt.Errorf("%w at %s, whose UDP port refuses datagrams: start one there for UDP (iperf -s -u -p %d); iperf "+
			"2.1.8 may crash at several streams of UDP, so use one (traffic.sessions.parallel: 1): %w", ErrNoIperf2, r.address,
			r.address.Port(), err)
	case r.test.Protocol == UDP && errors.Is(err, unix.ECONNREFUSED):
		return fmt.Errorf("%w at %s, whose UDP port refuses datagrams: start one there for UDP (iperf -s -u -p %d), as "+
			"iperf 2 serves TCP or UDP: %w", ErrNoIperf2, r.address, r.address.Port(), err)
	case errors.Is(err, errIperf3):
		return fmt.Errorf("%w: the server at %s answers as iperf3 does, which has another protocol: name it as iperf3, or "+
			"start iperf -s there", ErrProtocol, r.address)
	}
	return fmt.Errorf("the iperf 2 server at %s ended the test: %w", r.address, err)
}

// errIperf3 says that a server answered as iperf3's protocol has it.
var errIperf3 = errors.New("it sent a state of iperf3's protocol")

// listenForIperf3 breaks the test where a server sends on a connection on which only the client does. An iperf3 server
// takes a client's first bytes for a cookie, and the kernel confirms what nobody reads.
func (r *iperf2Test) listenForIperf3() {
	for _, s := range r.streams.filter(true) {
		if _, ok := s.conn.(*net.TCPConn); !ok {
			continue
		}
		r.awaiting.Go(func() {
			var b [1]byte
			n, _ := s.conn.Read(b[:])
			if n == 1 && slices.Contains([]state{paramExchange, accessDenied}, state(int8(b[0]))) {
				select {
				case r.transfer.broken <- errIperf3:
				default:
				}
			}
		})
	}
}
