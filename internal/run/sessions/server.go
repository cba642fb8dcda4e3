package sessions

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/sockets"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/run/iperf3"
)

// Where the device's end is a server that isn't linerate's, the link's end is its client in all directions, and counts
// both what it sends and what it receives. What came of datagrams that it sent is in the server's report at the end.

// testRequest asks an end for a test with a server.
type testRequest struct {
	Shape
	Server   string `json:"server"` // host and port
	Sends    bool   `json:"sends,omitempty"`
	Receives bool   `json:"receives,omitempty"`
}

// Counted is what a server reports of each stream at the end of a test, of those that the end sent, and of those that
// it received.
type Counted struct {
	Sent     []iperf3.Reported `json:"sent,omitempty"`
	Received []iperf3.Reported `json:"received,omitempty"`
	// Sending is what the end itself sent in the whole test, in so long a time.
	Sending measure.Sending `json:"sending"`
}

// clientTest is a test with a server, of iperf3's protocol or of iperf 2's.
type clientTest interface {
	counting
	Carry(ctx context.Context) (*iperf3.Result, error)
	Finish()
	Close()
}

// counting is one side of a test whose streams are open.
type counting interface {
	Counters(sends bool) (iperf3.Counters, error)
	Conns(sends bool) []net.Conn
}

// serverTest is an end's test with a server. It is safe for concurrent use.
type serverTest struct {
	request testRequest
	test    clientTest
	watched *watched // nil with UDP, or where the end only receives
	started time.Time
	carried chan struct{} // closed when Carry has returned
	result  *iperf3.Result
	err     error
	cancel  context.CancelFunc
	course
}

// flow is which way the payload goes.
func (t testRequest) flow() iperf3.Flow {
	switch {
	case t.Sends && t.Receives:
		return iperf3.Bidirectional
	case t.Receives:
		return iperf3.Reverse
	}
	return iperf3.Forward
}

// withServer opens a test's streams to its server, and begins to send and receive.
func (e *end) withServer(ctx context.Context, q testRequest) (*serverTest, *Opened, error) {
	s := e.socket(q.Shape)
	place := iperf3.Place{Namespace: e.Namespace, Interface: e.Interface, Address: s.local}
	if e.HostNetwork {
		place = iperf3.Place{Interface: e.Bound}
	}
	test := q.iperf3Test()
	test.Flow = q.flow()
	var client clientTest
	var err error
	if q.Application == plan.ApplicationIperf2 {
		test.Duration = q.Lasts
		client, err = connected(iperf3.Iperf2{Server: q.Server, Place: place, Interval: ledgerEvery}.Connect(ctx, test))
	} else {
		client, err = connected(iperf3.Client{Server: q.Server, Place: place, Interval: ledgerEvery,
			EndsAtOnce: q.Datagrams}.Connect(ctx, test))
	}
	if err != nil {
		return nil, nil, err
	}
	t := &serverTest{request: q, test: client, started: time.Now(), carried: make(chan struct{})}
	opened, conns, err := describeConns(client, q)
	if err == nil {
		opened.Route, err = e.routeTo(opened.Remote)
	}
	if err != nil {
		client.Close()
		return nil, nil, err
	}
	if len(conns) > 0 {
		t.watched = watch(infosOf(conns))
	}
	var carrying context.Context
	carrying, t.cancel = context.WithCancel(context.Background())
	go func() {
		defer close(t.carried)
		if t.result, t.err = client.Carry(carrying); t.err != nil {
			t.breakWith(t.err)
			return
		}
		t.breakWith(errOver(q.Lasts))
	}()
	return t, opened, nil
}

// connected makes one interface of the results of two clients.
func connected[T clientTest](test T, err error) (clientTest, error) {
	if err != nil {
		return nil, err
	}
	return test, nil
}

// routeTo is the kernel's route to a test's server.
func (e *end) routeTo(remote netip.Addr) (route string, err error) {
	if e.HostNetwork && e.Bound == "" {
		return "by this host's route, dev " + e.Interface, nil
	}
	err = e.Namespace.Do(func() error {
		route, err = routeTo(e.Interface, remote)
		return err
	})
	return route, err
}

// describeConns describes the streams, and returns the connections over which the end sends TCP.
func describeConns(test counting, q testRequest) (*Opened, []*net.TCPConn, error) {
	opened, senders := &Opened{}, []*net.TCPConn(nil)
	for _, sends := range []bool{true, false} {
		for _, conn := range test.Conns(sends) {
			opened.Connections++
			opened.Local, opened.Remote = hostOf(conn.LocalAddr()), hostOf(conn.RemoteAddr())
			tcp, ok := conn.(*net.TCPConn)
			if !ok || !sends {
				continue
			}
			info, err := sockets.TCPInfo(tcp)
			if err != nil {
				return nil, nil, err
			}
			opened.SegmentBytes, opened.CongestionControl = int64(info.Snd_mss), sockets.CongestionControl(tcp)
			senders = append(senders, tcp)
		}
	}
	if q.Datagrams {
		opened.DatagramBytes = q.MessageBytes
	}
	return opened, senders, nil
}

// hostOf is the address of a connection's end, without its port.
func hostOf(a net.Addr) netip.Addr {
	if udp, ok := a.(*net.UDPAddr); ok {
		return udp.AddrPort().Addr().Unmap()
	}
	return addressOf(a)
}

// read adds what has been sent and received by now.
func (t *serverTest) read(r *Reading, clock func() time.Duration) {
	if t.request.Sends {
		sending := readSending(t.test, t.watched, clock)
		sending.Broken = cmp.Or(t.brokenBy(), sending.Broken)
		r.Sending = &sending
	}
	if t.request.Receives {
		receiving := readReceiving(t.test, clock)
		receiving.Broken = cmp.Or(t.brokenBy(), receiving.Broken)
		r.Receiving = &receiving
	}
}

// finish ends the test, and returns what the server reports of it.
func (t *serverTest) finish(ctx context.Context) (*Counted, error) {
	t.test.Finish()
	select {
	case <-t.carried:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if t.err != nil {
		return nil, t.err
	}
	t.course.finish()
	c := &Counted{}
	for _, d := range t.result.Directions {
		if d.Flow == iperf3.Forward {
			c.Sent = d.Reported
			lasted := d.Sent.Lasted
			if lasted == 0 {
				lasted = time.Since(t.started)
			}
			c.Sending = readSending(t.test, nil, func() time.Duration { return lasted })
		} else {
			c.Received = d.Reported
		}
	}
	return c, nil
}

// close ends the test, without the server's report. It is called once.
func (t *serverTest) close() {
	t.course.finish()
	if t.watched != nil {
		t.watched.close()
	}
	reset(t.test.Conns(true))
	t.cancel()
	t.test.Close()
	<-t.carried
}

// readSending is what one side has sent by now. watched is nil with UDP.
func readSending(test counting, watched *watched, clock func() time.Duration) measure.Sending {
	r := measure.Sending{}
	if watched != nil {
		r = watched.read(clock)
	} else {
		r.At = clock()
	}
	counted, err := test.Counters(true)
	r.Connections, r.WrittenBytes = len(test.Conns(true)), counted.Bytes
	if watched == nil {
		r.SentBytes = counted.Bytes
		for _, s := range counted.Streams {
			r.Datagrams = append(r.Datagrams, s.Highest)
		}
		for _, bytes := range counted.Each {
			r.Each = append(r.Each, measure.ConnectionSending{SentBytes: bytes})
		}
	}
	if r.Broken == "" && err != nil {
		r.Broken = err.Error()
	}
	return r
}

// readReceiving is what one side has received by now.
func readReceiving(test counting, clock func() time.Duration) measure.Receiving {
	r := measure.Receiving{At: clock()}
	counted, err := test.Counters(false)
	if err != nil {
		r.Broken = err.Error()
	}
	r.Connections, r.Bytes, r.Each = len(test.Conns(false)), counted.Bytes, counted.Each
	r.OutOfOrder, r.Duplicates, r.Dropped, r.Jitter = counted.Reordered, counted.Duplicates, counted.Dropped,
		counted.Jitter
	for _, s := range counted.Streams {
		r.Streams = append(r.Streams, measure.Arrivals{Highest: s.Highest, Distinct: s.Distinct})
	}
	return r
}

// finishTimeout is how long a test may take to end.
const finishTimeout = 15 * time.Second
