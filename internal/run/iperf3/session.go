package iperf3

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/sockets"
)

// serveTest makes one test, and reports how it ended.
func (w *serving) serveTest(ctx context.Context, c *control, cookie string) {
	r := &serverTest{serving: w, side: side{control: c}, cookie: cookie}
	client := c.RemoteAddr().(*net.TCPAddr).AddrPort()
	result, err := r.carryOut(ctx)
	if err != nil {
		r.sendError(ctx, err)
	}
	r.close()
	w.mu.Lock()
	w.tests--
	w.mu.Unlock()
	w.Log.Info("a test ended", "client", client, "error", err)
	if w.Ended != nil {
		w.Ended(client, result, err)
	}
}

// serverTest is one test on the server's side.
type serverTest struct {
	*serving
	side
	cookie        string
	clientProduct string
	next          <-chan stateEvent // the client's next state, once the test is agreed on
}

// sendError tells the client that there will be no result.
func (r *serverTest) sendError(ctx context.Context, err error) {
	refused, ok := errors.AsType[*refusal](err)
	switch {
	case ok:
		// serverError, without an error number of the kernel
		message := binary.BigEndian.AppendUint32([]byte{0xfe}, uint32(refused.number))
		_ = r.control.write(binary.BigEndian.AppendUint32(message, 0))
	case ctx.Err() != nil || !errors.Is(err, ErrGone):
		_ = r.control.say(serverTerminate)
	}
}

func (r *serverTest) carryOut(ctx context.Context) (*Result, error) {
	defer context.AfterFunc(ctx, func() { // ends reads of the control connection, and the last write is still sent
		_ = r.control.Conn.(*net.TCPConn).CloseRead()
	})()
	if err := r.agree(); err != nil {
		return nil, err
	}
	r.next = r.control.next(&r.awaiting)
	if err := r.connect(ctx); err != nil {
		return nil, err
	}
	if err := r.ready(r.control.say, r.Interval); err != nil {
		return nil, err
	}
	if r.Began != nil {
		r.Began(r.control.RemoteAddr().(*net.TCPAddr).AddrPort(), &Live{&r.side})
	}
	return r.carry(ctx, r.awaitEnd, r.exchange)
}

// agree asks for the test's parameters, and checks them.
func (r *serverTest) agree() error {
	if err := r.control.say(paramExchange); err != nil {
		return err
	}
	document, err := r.control.readDocument(maxParameters)
	if err != nil {
		return err
	}
	if r.test, r.clientProduct, err = parseParameters(document); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrRefused, r.control.peer, err)
	}
	streams := r.test.Parallel
	if r.test.Flow == Bidirectional {
		streams *= 2
	}
	longest := cmp.Or(r.Longest, time.Hour)
	switch {
	case streams*r.test.MessageBytes > maxMemory:
		err = &refusal{7, fmt.Sprintf("%d streams with messages of %d bytes take more than %d bytes: use fewer, or "+
			"smaller ones", streams, r.test.MessageBytes, maxMemory)}
	case r.test.Omit+r.test.Duration > longest:
		err = &refusal{5, fmt.Sprintf("a test of %s: this server allows %s", r.test.Omit+r.test.Duration, longest)}
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrRefused, r.control.peer, err)
	}
	return nil
}

// connect awaits all streams, first those on which the client sends.
func (r *serverTest) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, r.control.patience, fmt.Errorf("%w: %s doesn't connect its streams",
		ErrGone, r.control.peer))
	defer cancel()
	var sends []bool
	for _, direction := range []bool{false, true} {
		for range r.test.Parallel {
			if !direction && r.test.Flow.receives(true) || direction && r.test.Flow.sends(true) {
				sends = append(sends, direction)
			}
		}
	}
	var conns []arrived
	var err error
	if r.test.Protocol == TCP {
		conns, err = r.awaitTCP(ctx, len(sends))
	} else {
		conns, err = r.awaitUDP(ctx, len(sends))
	}
	for i, c := range conns {
		r.streams = append(r.streams, &stream{id: streamID(i), sends: sends[i], conn: c.conn, hops: c.hops})
	}
	return err
}

// arrived is a stream's socket, and the remaining time to live of its first packet, which is 0 if unknown.
type arrived struct {
	conn net.Conn
	hops int
}

// awaitTCP accepts the connections that show the test's cookie, in the order in which they were made.
func (r *serverTest) awaitTCP(ctx context.Context, n int) (conns []arrived, err error) {
	accepted := make(chan numbered, n)
	r.mu.Lock()
	r.waiting[r.cookie] = accepted
	r.mu.Unlock()
	var streams []numbered
	defer func() {
		r.mu.Lock()
		delete(r.waiting, r.cookie)
		r.mu.Unlock()
		for len(accepted) > 0 { // no goroutine adds to it any more
			streams = append(streams, <-accepted)
		}
		slices.SortFunc(streams, func(a, b numbered) int { return cmp.Compare(a.order, b.order) })
		for i, s := range streams {
			if i >= n {
				_ = s.conn.Close()
				continue
			}
			conns = append(conns, arrived{s.conn, sockets.SavedHops(s.conn)})
		}
	}()
	if err := r.control.say(createStreams); err != nil {
		return nil, err
	}
	for len(streams) < n {
		select {
		case s := <-accepted:
			streams = append(streams, s)
			if err := errors.Join(r.test.configure(s.conn), sockets.WithDescriptor(s.conn,
				func(fd int) error { return r.test.shape(fd, isSix(s.conn.LocalAddr())) })); err != nil {
				return nil, err
			}
		case s := <-r.next:
			return nil, r.early(s)
		case <-ctx.Done():
			return nil, fmt.Errorf("%w (%d of %d came)", context.Cause(ctx), len(streams), n)
		}
	}
	return nil, nil
}

// isSix says whether a connection is IPv6, as an IPv6 socket may carry IPv4.
func isSix(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && !tcp.AddrPort().Addr().Unmap().Is4()
}

// awaitUDP makes a socket, on the server's own port, for each of the client's sockets that sends hello. One
// test at a time does so. A repeated hello gets another answer.
func (r *serverTest) awaitUDP(ctx context.Context, n int) (conns []arrived, err error) {
	select {
	case <-r.setup:
		defer func() { r.setup <- struct{}{} }()
	case s := <-r.next:
		return nil, r.early(s)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	greetings := make(chan greeting, 1)
	r.mu.Lock()
	r.hellos = greetings
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.hellos = nil
		r.mu.Unlock()
	}()
	client := r.control.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	address := netip.AddrPortFrom(r.control.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap(),
		r.listener.Address().Port())
	if err := r.control.say(createStreams); err != nil {
		return nil, err
	}
	repeat := time.NewTicker(helloEvery / 5)
	defer repeat.Stop()
	for len(conns) < n {
		select {
		case <-repeat.C:
			for _, c := range conns {
				answerAgain(c.conn)
			}
		case g := <-greetings:
			source := netip.AddrPortFrom(g.source.Addr().Unmap(), g.source.Port())
			if source.Addr() != client {
				continue
			}
			// it sent hello twice before it had a socket
			isSource := func(c arrived) bool { return c.conn.RemoteAddr().(*net.UDPAddr).AddrPort() == source }
			if i := slices.IndexFunc(conns, isSource); i >= 0 {
				_ = answer(conns[i].conn)
				continue
			}
			conn, err := r.listener.place.dial(ctx, "udp", address, source, func(fd int, six bool) error {
				return errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1), r.test.shape(fd, six))
			})
			if err != nil {
				return conns, fmt.Errorf("a stream's socket: %w", err)
			}
			conns = append(conns, arrived{conn, g.hops})
			if err := answer(conn); err != nil {
				return conns, fmt.Errorf("%w: %w", ErrGone, err)
			}
		case s := <-r.next:
			return conns, r.early(s)
		case <-ctx.Done():
			return conns, fmt.Errorf("%w (%d of %d came)", context.Cause(ctx), len(conns), n)
		}
	}
	return conns, nil
}

// answer tells a client's socket that its stream is open.
func answer(conn net.Conn) error {
	_, err := conn.Write(binary.NativeEndian.AppendUint32(nil, reply))
	return err
}

// answerAgain answers repeated hellos that have arrived, without waiting. Before the payload nothing else arrives.
func answerAgain(conn net.Conn) {
	raw, err := conn.(*net.UDPConn).SyscallConn()
	if err != nil {
		return
	}
	for buffer := make([]byte, helloLength+1); ; {
		var n int
		_ = raw.Read(func(fd uintptr) bool {
			n, _ = unix.Read(int(fd), buffer)
			return true
		})
		if n <= 0 {
			return
		}
		if isHello(buffer[:n]) {
			_ = answer(conn)
		}
	}
}

// awaitEnd waits until the client ends the test, and returns how long it was to send.
func (r *serverTest) awaitEnd(ctx context.Context) (time.Duration, error) {
	allowed := r.test.Omit + r.test.Duration + grace
	if r.test.endless {
		allowed = cmp.Or(r.Longest, time.Hour)
	}
	timer := time.NewTimer(allowed)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	case <-timer.C:
		return 0, fmt.Errorf("%s doesn't end its test within %s", r.control.peer, allowed)
	case s := <-r.next:
		if err := r.checkEnd(s); err != nil {
			return 0, err
		}
	case err := <-r.transfer.broken:
		select {
		case s := <-r.next:
			if err := r.checkEnd(s); err != nil {
				return 0, err
			}
		case <-time.After(reasonWait):
			return 0, err
		}
	}
	planned := r.test.Omit + r.test.Duration
	if r.test.endless {
		planned = r.transfer.elapsed()
	}
	return planned, r.transfer.end(func() error { return nil })
}

// early is the error for a state that arrives before the test runs.
func (r *serverTest) early(s stateEvent) error {
	if err := r.checkEnd(s); err != nil {
		return err
	}
	return fmt.Errorf("%w: %s ends the test before it began", ErrProtocol, r.control.peer)
}

// checkEnd is nil where the client ended the test properly.
func (r *serverTest) checkEnd(s stateEvent) error {
	switch {
	case s.err != nil:
		return s.err
	case s.state == clientTerminate:
		return fmt.Errorf("%w: %s ended the test before its end", ErrGone, r.control.peer)
	case s.state != testEnd:
		return fmt.Errorf("%w: %s says %d in the middle of the test", ErrProtocol, r.control.peer, s.state)
	}
	return nil
}

// exchange reads the client's results, and sends this side's.
func (r *serverTest) exchange(planned time.Duration) (*Result, error) {
	if err := r.control.say(exchangeResults); err != nil {
		return nil, err
	}
	document, err := r.control.readDocument(maxResults)
	if err != nil {
		return nil, fmt.Errorf("%w: the client's: %w", ErrIncomplete, err)
	}
	reported, summary, err := parseResults(document, r.streams.ids())
	if err != nil {
		return nil, err
	}
	if err := r.control.writeDocument(r.transfer.results(planned, reported)); err != nil {
		return nil, err
	}
	result, err := r.transfer.result(true, planned, reported, summary)
	if err != nil {
		return nil, err
	}
	result.PeerProduct = r.clientProduct
	if err := r.control.say(displayResults); err != nil {
		return nil, err
	}
	_, _ = r.control.await(r.control.patience) // the client's last state, or its end. Both results are known
	return result, nil
}
