package iperf3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/sockets"
)

// ended is how a server's test ended.
type ended struct {
	result *Result
	err    error
}

// serve starts a server of ours on this machine. The channel gets the results of its tests.
func serve(t *testing.T, s Server) (address string, tests <-chan ended) {
	t.Helper()
	l, err := Listen(t.Context(), Place{}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan ended, 64)
	s.Ended = func(_ netip.AddrPort, r *Result, err error) { came <- ended{r, err} }
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(ctx, l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); serving.Wait() })
	return l.Address().String(), came
}

func directions(t *testing.T, r *Result, flow Flow) []Direction {
	t.Helper()
	want := 1
	if flow == Bidirectional {
		want = 2
	}
	if r == nil || len(r.Directions) != want {
		t.Fatalf("%+v: want %d directions", r, want)
	}
	return r.Directions
}

// checkWhole holds a direction of both sides of ours to what must be, at any speed. What was sent came, or is counted
// as lost, and both sides say the same.
func checkWhole(t *testing.T, d Direction, omit bool) {
	t.Helper()
	local := d.Sent
	if d.Received.CountedHere {
		local = d.Received
	}
	summed := int64(0)
	for index, i := range local.Intervals {
		if index > 0 && i.Start != local.Intervals[index-1].End {
			t.Errorf("%s: interval %d begins at %s, and the one before ends at %s", d.Flow, index, i.Start,
				local.Intervals[index-1].End)
		}
		if !i.Omitted {
			summed += i.Bytes
		}
		if d.Sent.CountedHere && i.Draining && i.Bytes != 0 {
			t.Errorf("%s: %d bytes were sent after the end", d.Flow, i.Bytes)
		}
	}
	if summed != local.Bytes || local.Bytes == 0 || local.Lasted < time.Second/2 {
		t.Errorf("%s: intervals of %d bytes, and a total of %d in %s", d.Flow, summed, local.Bytes, local.Lasted)
	}
	if omit && !local.Intervals[0].Omitted {
		t.Errorf("%s: the first interval isn't omitted", d.Flow)
	}
	if d.Unacknowledged != 0 {
		t.Errorf("%s: %d bytes without an answer", d.Flow, d.Unacknowledged)
	}
	if d.Datagrams == nil {
		// Where something is omitted the two sides cut at their own moments. In reverse the client ends the test
		// while the server still sends, and on a busy machine more of that is under way than it waits for.
		if sent, received := d.Sent.Bytes, d.Received.Bytes; !omit && (received > sent || d.Flow == Forward &&
			received != sent) {
			t.Errorf("%s: %d bytes sent, and %d received", d.Flow, d.Sent.Bytes, d.Received.Bytes)
		}
		if d.Sent.Retransmits == nil {
			t.Errorf("%s: retransmits aren't told", d.Flow)
		}
		return
	}
	g := *d.Datagrams
	if g.Sent != g.Received+g.Lost || g.Received == 0 || g.WholeTest {
		t.Errorf("%s: %+v", d.Flow, g)
	}
	if d.Received.CountedHere && g.Lost < g.Dropped { // a busy kernel loses some on its way to the socket, too
		t.Errorf("%s: %+v: what the receiver's own sockets dropped is lost", d.Flow, g)
	}
}

// All that is sent is received, whatever the shape of the test.
func TestLineratesClientAndServer(t *testing.T) {
	t.Parallel()
	address, tests := serve(t, Server{MaxTests: 64, Interval: 250 * time.Millisecond})
	client := Client{Server: address, Interval: 250 * time.Millisecond}
	var wait sync.WaitGroup
	count := 0
	for _, protocol := range []Protocol{TCP, UDP} {
		for _, flow := range []Flow{Forward, Reverse, Bidirectional} {
			for name, shape := range map[string]Test{
				"one":     {},
				"four":    {Parallel: 4, WindowBytes: 64 << 10, TOS: 32},
				"omitted": {Omit: time.Second, NoDelay: true},
			} {
				shape.Protocol, shape.Flow, shape.Duration, shape.BitsPerSecond = protocol, flow, time.Second, 4_000_000
				shape.MessageBytes = 1200
				count++
				wait.Go(func() {
					r, err := client.Measure(t.Context(), shape)
					if err != nil {
						t.Errorf("%s %s %s: %v", protocol, flow, name, err)
						return
					}
					for _, d := range directions(t, r, flow) {
						checkWhole(t, d, shape.Omit > 0)
					}
				})
			}
		}
	}
	wait.Wait()
	for range count {
		e := <-tests
		if e.err != nil {
			t.Error(e.err)
			continue
		}
		for _, d := range e.result.Directions {
			d.Unacknowledged = 0 // a server doesn't wait for its client to acknowledge
			if d.Datagrams == nil || d.Received.CountedHere {
				checkWhole(t, d, e.result.Test.Omit > 0)
			}
		}
	}
}

// The time that a connection may take to show its cookie doesn't bound how long it stands.
func TestAStreamOutlivesItsCookie(t *testing.T) {
	t.Parallel()
	address, _ := serve(t, Server{patience: 2 * time.Second})
	r, err := Client{Server: address}.Measure(t.Context(), Test{Flow: Bidirectional, Duration: 3 * time.Second,
		BitsPerSecond: 1_000_000, MessageBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Directions {
		checkWhole(t, d, false)
	}
}

// The test sends as fast as it can, with a congestion control that each kernel has.
func TestASenderReportsTCPInfo(t *testing.T) {
	t.Parallel()
	address, tests := serve(t, Server{})
	r, err := Client{Server: address}.Measure(t.Context(), Test{Flow: Bidirectional, Duration: time.Second, Parallel: 2,
		CongestionControl: "reno"})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []Direction{r.Directions[0], (<-tests).result.Directions[1]} {
		if d.Sent.Retransmits == nil || d.Sent.CongestionControl != "reno" {
			t.Errorf("%s: retransmits %v, congestion control %q", d.Flow, d.Sent.Retransmits, d.Sent.CongestionControl)
		}
		for _, i := range d.Sent.Intervals {
			if !i.Draining && (i.RoundTrip <= 0 || i.LongestRoundTrip < i.RoundTrip || i.ShortestRoundTrip <= 0 ||
				i.CongestionWindow <= 0 || i.DeliveryRate <= 0) {
				t.Errorf("%s: %+v", d.Flow, i)
			}
		}
	}
	if sent := r.Directions[1].Sent; sent.CountedHere || sent.CongestionControl != "reno" || sent.Retransmits == nil {
		t.Errorf("the server told %+v of itself", sent)
	}
}

// agreed is a client that has agreed on a test with a server, and has not connected its streams.
func agreed(t *testing.T, address string, test Test) *control {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := &control{Conn: conn, peer: "the server", patience: 10 * time.Second}
	for _, err := range []error{c.write(newCookie()), c.expect(paramExchange, c.patience),
		c.writeDocument(test.withDefaults().parameters()), c.expect(createStreams, c.patience)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestABusyServerSaysSo, and is free again when its client has hung up.
func TestABusyServerSaysSo(t *testing.T) {
	t.Parallel()
	for _, protocol := range []Protocol{TCP, UDP} {
		address, tests := serve(t, Server{MaxTests: 1})
		c, test := agreed(t, address, Test{Protocol: protocol, Duration: time.Second}), Test{Duration: time.Second,
			BitsPerSecond: 1_000_000}
		if _, err := (Client{Server: address}).Measure(t.Context(), test); !errors.Is(err, ErrBusy) ||
			!strings.Contains(err.Error(), "wait for its end, or start a second server") {
			t.Errorf("a second test: %v", err)
		}
		_ = c.say(clientTerminate)
		if e := <-tests; !errors.Is(e.err, ErrGone) ||
			!strings.Contains(e.err.Error(), "ended the test before its end") {
			t.Errorf("the test that its client ended: %v", e.err)
		}
		if _, err := (Client{Server: address}).Measure(t.Context(), test); err != nil {
			t.Errorf("a test after that: %v", err)
		}
	}
}

// No client goes on, and none has a result.
func TestAServerThatEndsTellsItsClients(t *testing.T) {
	t.Parallel()
	l, err := Listen(t.Context(), Place{}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Server{}.Serve(ctx, l) }()
	failed := make(chan error, 2)
	for _, protocol := range []Protocol{TCP, UDP} {
		go func() {
			_, err := Client{Server: l.Address().String()}.Measure(t.Context(),
				Test{Protocol: protocol, Flow: Bidirectional, Duration: time.Minute, BitsPerSecond: 1_000_000})
			failed <- err
		}()
	}
	time.AfterFunc(300*time.Millisecond, cancel) // in the middle, or before its beginning, and either must end
	for range 2 {
		if err := <-failed; !errors.Is(err, ErrGone) && !errors.Is(err, ErrUnreachable) {
			t.Error(err)
		}
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	reopened, err := Listen(t.Context(), Place{}, l.Address().String())
	if err != nil {
		t.Fatalf("the port isn't free: %v", err)
	}
	_ = reopened.Close()
}

func TestAPortIsTaken(t *testing.T) {
	t.Parallel()
	address, _ := serve(t, Server{})
	port := netip.MustParseAddrPort(address).Port()
	if _, err := Listen(t.Context(), Place{}, address); !errors.Is(err, ErrTaken) ||
		!strings.Contains(err.Error(), fmt.Sprintf("ss -lntup 'sport = :%d' names it", port)) {
		t.Errorf("%v", err)
	}
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	l, err := Listen(t.Context(), Place{}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Address()
	_ = l.Close()
	_, err = Client{Server: address.String()}.Measure(t.Context(), Test{Duration: time.Second})
	if want := fmt.Sprintf("iperf3 -s -p %d", address.Port()); !errors.Is(err, ErrUnreachable) ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// TestWhatAServerRefuses is known to the client, by what iperf3's numbers say.
func TestWhatAServerRefuses(t *testing.T) {
	t.Parallel()
	address, tests := serve(t, Server{Longest: time.Minute})
	for name, c := range map[string]struct {
		test                     Test
		clientWords, serverWords string
	}{
		"too long a test": {Test{Duration: time.Hour}, "the duration is too long for it", "this server allows 1m0s"},
		"too much memory": {Test{Duration: time.Second, Parallel: 128, MessageBytes: 1 << 20},
			"the message size is too large", "use fewer, or smaller ones"},
		"datagrams of one byte more than it has": {Test{Duration: time.Second, Protocol: UDP, MessageBytes: 1 << 16},
			"UDP takes 16 to 65507", ""},
	} {
		_, err := Client{Server: address}.Measure(t.Context(), c.test)
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.clientWords) {
			t.Errorf("%s: %v, want %q", name, err, c.clientWords)
		}
		if c.serverWords == "" {
			continue // the client doesn't even ask
		}
		if e := <-tests; e.err == nil || !strings.Contains(e.err.Error(), c.serverWords) {
			t.Errorf("%s: the server has %v, want %q", name, e.err, c.serverWords)
		}
	}
}

// TestAnUnknownCongestionControlIsRefused ends the test before it begins.
func TestAnUnknownCongestionControlIsRefused(t *testing.T) {
	t.Parallel()
	address, _ := serve(t, Server{})
	_, err := Client{Server: address}.Measure(t.Context(), Test{Duration: time.Second, CongestionControl: "warp"})
	if err == nil || !strings.Contains(err.Error(),
		"warp: no such file or directory (sysctl net.ipv4.tcp_available_congestion_control lists") {
		t.Error(err)
	}
}

func TestRates(t *testing.T) {
	if got := (Side{Bytes: 1_250_000, Lasted: 2 * time.Second}).BitsPerSecond(); math.Abs(got-5e6) > 1e-6 {
		t.Errorf("%g bit/s, want 5e6", got)
	}
	if got := (Datagrams{Sent: 1000, Received: 990, Lost: 10}).LossRatio(); math.Abs(got-0.01) > 1e-12 {
		t.Errorf("a loss of %g, want 0.01", got)
	}
	if (Side{Bytes: 1}).BitsPerSecond() != 0 || (Datagrams{}).LossRatio() != 0 {
		t.Error("nothing isn't 0")
	}
}

// A client that can't even try shows nothing of the server, or of the way there.
func TestALocalFaultIsNotTheServers(t *testing.T) {
	address, _ := serve(t, Server{})
	_, err := Client{Server: address, Place: Place{Address: netip.MustParseAddr("192.0.2.1")}}.Connect(t.Context(),
		Test{Duration: time.Second})
	if err == nil || errors.Is(err, ErrUnreachable) || errors.Is(err, ErrGone) ||
		!strings.Contains(err.Error(), "cannot assign requested address") {
		t.Errorf("%v", err)
	}
}

// lossyRelay stands before a server, and loses the first hello and the first answer of each stream.
func lossyRelay(t *testing.T, server string) (address string) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	udp, err := net.ListenPacket("udp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var working sync.WaitGroup
	var mu sync.Mutex
	closers := []io.Closer{tcp, udp}
	dial := func(network string) net.Conn {
		conn, err := net.Dial(network, server)
		if err != nil {
			t.Error(err)
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		closers = append(closers, conn)
		return conn
	}
	working.Go(func() {
		for {
			client, err := tcp.Accept()
			if err != nil {
				return
			}
			far := dial("tcp")
			if far == nil {
				return
			}
			for _, ends := range [][2]net.Conn{{client, far}, {far, client}} {
				working.Go(func() {
					_, _ = io.Copy(ends[0], ends[1])
					_ = ends[0].Close()
				})
			}
		}
	})
	working.Go(func() {
		streams := map[string]net.Conn{}
		for buffer := make([]byte, maxDatagram); ; {
			n, source, err := udp.ReadFrom(buffer)
			if err != nil {
				return
			}
			if far, ok := streams[source.String()]; ok {
				_, _ = far.Write(buffer[:n])
				continue
			}
			far := dial("udp")
			if far == nil {
				return
			}
			streams[source.String()] = far
			working.Go(func() {
				buffer := make([]byte, maxDatagram)
				for answers := 0; ; answers++ {
					n, err := far.Read(buffer)
					if err != nil {
						return
					}
					if answers > 0 {
						_, _ = udp.WriteTo(buffer[:n], source)
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		mu.Lock()
		for _, c := range closers {
			_ = c.Close()
		}
		mu.Unlock()
		working.Wait()
	})
	return tcp.Addr().String()
}

// The relay loses the first hello of each stream, and the first answer.
func TestHelloIsRepeatedUntilAnswered(t *testing.T) {
	t.Parallel()
	for _, flow := range []Flow{Forward, Reverse, Bidirectional} {
		t.Run(string(flow), func(t *testing.T) {
			t.Parallel()
			address, _ := serve(t, Server{})
			r, err := Client{Server: lossyRelay(t, address), Ours: true}.Measure(t.Context(),
				Test{Protocol: UDP, Flow: flow, Duration: time.Second, Parallel: 3, BitsPerSecond: 200_000,
					MessageBytes: 500})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range directions(t, r, flow) {
				if d.Received.Bytes == 0 || d.Datagrams.Duplicates > 0 || len(d.Remarks) > 0 {
					t.Errorf("%s: %d bytes received, %+v; %q", d.Flow, d.Received.Bytes, d.Datagrams, d.Remarks)
				}
			}
		})
	}
	t.Run("never to an iperf3 that isn't ours", func(t *testing.T) {
		t.Parallel()
		address, _ := serve(t, Server{})
		if _, err := (Client{Server: lossyRelay(t, address), patience: impatient}).Measure(t.Context(),
			Test{Protocol: UDP, Duration: time.Second}); err == nil ||
			!strings.Contains(err.Error(), "it doesn't answer with UDP") {
			t.Errorf("%v", err)
		}
	})
}

// If a program dies in the middle, even by SIGKILL, its kernel sends nothing more.
func TestStreamsEndByAReset(t *testing.T) {
	live := make(chan *Live, 1)
	address, _ := serve(t, Server{Began: func(_ netip.AddrPort, l *Live) { live <- l }})
	s, err := Client{Server: address}.Connect(t.Context(), Test{Flow: Bidirectional, Duration: time.Second,
		Parallel: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	server := <-live
	conns := slices.Concat(s.Conns(true), s.Conns(false), server.Conns(true), server.Conns(false))
	for _, conn := range conns {
		var linger *unix.Linger
		err := sockets.WithDescriptor(conn.(*net.TCPConn), func(fd int) (err error) {
			linger, err = unix.GetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER)
			return err
		})
		if err != nil || linger.Onoff == 0 || linger.Linger != 0 {
			t.Errorf("%s to %s: %+v, %v", conn.LocalAddr(), conn.RemoteAddr(), linger, err)
		}
	}
	if len(conns) != 8 {
		t.Errorf("%d connections at both ends", len(conns))
	}
}
