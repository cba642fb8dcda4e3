package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/host/sockets"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/run/iperf3"
)

// In sessions by iperf3's protocol the sender is a client, and the receiver a server that makes one test. Both count
// their own side as long as the test runs, so that windows count what was sent at the sender, and what arrived at the
// receiver. The results that the protocol exchanges at the end aren't needed.

// ledgerEvery is how often the two sides' own intervals end, which aren't used here.
const ledgerEvery = 10 * time.Second

// iperf3Test is what the client asks for. With a rate, Nagle's algorithm is off, because a message would otherwise
// wait until those before it are acknowledged.
func (s Shape) iperf3Test() iperf3.Test {
	t := iperf3.Test{Protocol: iperf3.TCP, Flow: iperf3.Forward,
		Duration: (s.Lasts + time.Second - 1).Truncate(time.Second), Parallel: s.Connections,
		MessageBytes: int(s.MessageBytes),
		WindowBytes:  int(s.WindowBytes), CongestionControl: s.CongestionControl, BitsPerSecond: s.BitsPerSecond,
		NoDelay: s.BitsPerSecond > 0}
	if s.Datagrams {
		t.Protocol = iperf3.UDP
	}
	return t
}

func (s socket) place() iperf3.Place {
	return iperf3.Place{Namespace: s.namespace, Interface: s.iface, Address: s.local, Hops: firstTTL}
}

// framesEach is how many frames a datagram takes. Several are fragments. If one is lost, the whole datagram is.
func (s socket) framesEach() (frames int64, err error) {
	err = s.namespace.Do(func() error {
		i, err := net.InterfaceByName(s.iface)
		if err != nil {
			return fmt.Errorf("interface %s: %w", s.iface, err)
		}
		frames = framesOf(s.shape.MessageBytes, int64(i.MTU), s.local.Is6())
		return nil
	})
	return frames, err
}

// framesOf is how many IP packets of an MTU a datagram's payload takes. All fragments but the last carry a
// multiple of 8 bytes, behind a header of their own (RFC 791, RFC 8200 §4.5).
func framesOf(message, mtu int64, six bool) int64 {
	header, fragments := int64(20), int64(20)
	if six {
		header, fragments = 40, 40+8
	}
	datagram := message + 8
	if datagram+header <= mtu {
		return 1
	}
	perFragment := (mtu - fragments) / 8 * 8
	return (datagram + perFragment - 1) / perFragment
}

// iperf3Sender is a direction's client. It is safe for concurrent use.
type iperf3Sender struct {
	test     *iperf3.Standing
	watched  *watched // nil with UDP
	carrying sync.WaitGroup
	cancel   context.CancelFunc
	course
}

// connectIperf3 makes all streams, from the link's own address by its own interface.
func connectIperf3(ctx context.Context, s socket, remote netip.Addr) (*iperf3Sender, *Opened, error) {
	opened := &Opened{Remote: remote, Local: s.local, Interface: s.iface}
	err := s.namespace.Do(func() (err error) {
		opened.Route, err = routeTo(s.iface, remote)
		return err
	})
	if err == nil && s.shape.Datagrams {
		opened.FramesEach, err = s.framesEach()
	}
	if err != nil {
		return nil, nil, err
	}
	place := s.place()
	place.Fragments = opened.FramesEach > 1
	standing, err := iperf3.Client{Server: netip.AddrPortFrom(remote, DataPort).String(), Place: place, Ours: true,
		Interval: ledgerEvery}.Connect(ctx, s.shape.iperf3Test())
	if err != nil {
		return nil, nil, err
	}
	w := &iperf3Sender{test: standing}
	var conns []*net.TCPConn
	for _, conn := range standing.Conns(true) {
		opened.Connections++
		if tcp, ok := conn.(*net.TCPConn); ok {
			conns = append(conns, tcp)
			info, err := sockets.TCPInfo(tcp)
			if err != nil {
				w.close()
				return nil, nil, err
			}
			opened.SegmentBytes, opened.CongestionControl = int64(info.Snd_mss), sockets.CongestionControl(tcp)
		}
	}
	if s.shape.Datagrams {
		opened.DatagramBytes = s.shape.MessageBytes
		return w, opened, nil
	}
	w.watched = watch(infosOf(conns))
	return w, opened, nil
}

// send begins to send. The two sides have agreed on the duration.
func (w *iperf3Sender) send(lasts time.Duration) error {
	return w.begin(func() {
		var ctx context.Context
		ctx, w.cancel = context.WithCancel(context.Background())
		w.carrying.Go(func() {
			_, err := w.test.Carry(ctx)
			if err == nil {
				err = errOver(lasts)
			}
			w.breakWith(err)
		})
	})
}

func (w *iperf3Sender) read(clock func() time.Duration) *measure.Sending {
	r := readSending(w.test, w.watched, clock)
	r.Broken = cmp.Or(w.brokenBy(), r.Broken)
	return &r
}

func (w *iperf3Sender) close() {
	if !w.finish() {
		return
	}
	if w.watched != nil {
		w.watched.close()
	}
	reset(w.test.Conns(true))
	if w.cancel != nil {
		w.cancel()
	}
	w.carrying.Wait()
	w.test.Close()
}

// reset makes connections end by a TCP reset, so that no kernel goes on sending what is left in a buffer.
// Streams end that way from the beginning, until their test ends properly.
func reset(conns []net.Conn) {
	for _, conn := range conns {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
}

// iperf3Receiver is a direction's server. It is safe for concurrent use.
type iperf3Receiver struct {
	socket
	cancel  context.CancelFunc
	serving sync.WaitGroup
	opened  chan struct{} // closed when the test's streams are open
	course

	mu     sync.Mutex
	live   *iperf3.Live // nil until a client has connected
	client netip.AddrPort
}

// listenIperf3 begins to take a test.
func listenIperf3(s socket) (*iperf3Receiver, error) {
	l, err := iperf3.Listen(context.Background(), s.place(), netip.AddrPortFrom(s.local, DataPort).String())
	if err != nil {
		return nil, err
	}
	r := &iperf3Receiver{socket: s, opened: make(chan struct{})}
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(context.Background())
	server := iperf3.Server{MaxTests: 1, Longest: s.shape.Lasts + 2*time.Second, Interval: ledgerEvery, Began: r.began,
		Ended: r.ended}
	r.serving.Go(func() {
		if err := server.Serve(ctx, l); err != nil {
			r.breakWith(err)
		}
	})
	return r, nil
}

// began takes the first test whose streams are open. A later test is another client's, and isn't counted.
func (r *iperf3Receiver) began(client netip.AddrPort, live *iperf3.Live) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live == nil {
		r.live, r.client = live, client
		close(r.opened)
	}
}

func (r *iperf3Receiver) ended(client netip.AddrPort, _ *iperf3.Result, err error) {
	r.mu.Lock()
	ours := client == r.client
	r.mu.Unlock()
	switch {
	case !ours:
	case err == nil:
		r.breakWith(errors.New("the sender's own time was over"))
	default:
		r.breakWith(err)
	}
}

// awaitAll waits until the test's streams are open.
func (r *iperf3Receiver) awaitAll(ctx context.Context) (*Opened, error) {
	select {
	case <-r.opened:
	case <-ctx.Done():
		return nil, fmt.Errorf("no iperf3 test came to %s, and %w: %w", r.local, errMissing, context.Cause(ctx))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Opened{Connections: len(r.live.Conns(false)), Local: r.local, Remote: r.client.Addr().Unmap(),
		Interface: r.iface, TTLs: r.live.Hops()}, nil
}

func (r *iperf3Receiver) read(clock func() time.Duration) *measure.Receiving {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live == nil {
		return &measure.Receiving{At: clock(), Broken: r.brokenBy()}
	}
	reading := readReceiving(r.live, clock)
	reading.Broken = cmp.Or(r.brokenBy(), reading.Broken)
	return &reading
}

func (r *iperf3Receiver) close() {
	r.finish()
	r.mu.Lock()
	live := r.live
	r.mu.Unlock()
	if live != nil {
		reset(live.Conns(false))
	}
	r.cancel()
	r.serving.Wait()
}
