package iperf3

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// scripted is a server that does what a test says, on its first connection. Then it hangs up, and accepts no other
// one.
func scripted(t *testing.T, script func(t *testing.T, c *control)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		conn, err := l.Accept()
		_ = l.Close()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		c := &control{Conn: conn, peer: "the client", patience: 10 * time.Second}
		if c.read(make([]byte, cookieBytes), c.patience) == nil {
			script(t, c)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-served })
	return l.Addr().String()
}

// hang waits until the other side hangs up.
func hang(c *control) { _, _ = io.Copy(io.Discard, c.Conn) }

// impatient is the patience with a silent side. A side that answers may take its time on a busy machine.
const impatient = 700 * time.Millisecond

// Each of these servers ends the test soon, with a sentence.
func TestServersThatAreNotIperf3(t *testing.T) {
	t.Parallel()
	params := func(c *control) {
		_ = c.say(paramExchange)
		_, _ = c.readDocument(maxParameters)
	}
	for name, c := range map[string]struct {
		script   func(t *testing.T, c *control)
		want     error
		words    string
		patience time.Duration
	}{
		"it says nothing, as iperf 2 does": {func(_ *testing.T, c *control) { hang(c) }, ErrGone, "such as iperf 2",
			impatient},
		"it hangs up at once": {func(*testing.T, *control) {}, ErrGone, "such as iperf 2", 0},
		"a web server": {func(_ *testing.T,
			c *control) {
			_ = c.write([]byte("HTTP/1.1 400 Bad Request\r\n"))
		}, ErrProtocol, "sends state 72", 0},
		"it is busy": {func(_ *testing.T, c *control) { _ = c.say(accessDenied) }, ErrBusy,
			"iperf3 takes one at a time", 0},
		"it hangs after the parameters": {func(_ *testing.T, c *control) { params(c); hang(c) }, ErrGone,
			"said nothing for", impatient},
		"it refuses, without a reason": {func(_ *testing.T, c *control) { params(c); _ = c.say(serverError) },
			ErrRefused, "its own output does", 0},
		"it refuses the window": {func(_ *testing.T,
			c *control) {
			params(c)
			_ = c.write([]byte{0xfe, 0, 0, 0, 141, 0, 0, 0, 0})
		}, ErrRefused, "rmem_max", 0},
		"it refuses for a reason of later": {func(_ *testing.T,
			c *control) {
			params(c)
			_ = c.write([]byte{0xfe, 0, 0, 3, 232, 0, 0, 0, 0})
		}, ErrRefused, "iperf3's error 1000", 0},
		"it is ended before the test": {func(_ *testing.T, c *control) { params(c); _ = c.say(serverTerminate) },
			ErrGone, "was stopped in the middle", 0},
		"its streams are ready, and no one": {func(_ *testing.T, c *control) { params(c); _ = c.say(testRunning) },
			ErrProtocol, "sends state 2", 0},
		"it takes no stream": {func(_ *testing.T,
			c *control) {
			params(c)
			_ = c.say(createStreams)
			hang(c)
		}, ErrGone, "connect stream 1 to 127.0.0.1:", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Client{Server: scripted(t, c.script), patience: c.patience}.Measure(t.Context(),
				Test{Duration: time.Second})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%v, want %q", err, c.words)
			}
		})
	}
}

// scriptedTest is a server that makes a whole test of one stream of TCP, and then says what a test says.
func scriptedTest(t *testing.T, ending func(c *control)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		first, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = first.Close() }()
		c := &control{Conn: first, peer: "the client", patience: 10 * time.Second}
		_ = c.read(make([]byte, cookieBytes), c.patience)
		_ = c.say(paramExchange)
		_, _ = c.readDocument(maxParameters)
		_ = c.say(createStreams)
		stream, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = stream.Close() }()
		go func() { _, _ = io.Copy(io.Discard, stream) }() // ends with the stream
		_ = c.say(testStart)
		_ = c.say(testRunning)
		ending(c)
	}()
	t.Cleanup(func() { _ = l.Close(); <-served })
	return l.Addr().String()
}

// The test was made, and its result isn't whole.
func TestInvalidResults(t *testing.T) {
	t.Parallel()
	ended := func(c *control) {
		_, _ = c.await(0)
		_ = c.say(exchangeResults)
		_, _ = c.readDocument(maxResults)
	}
	for name, c := range map[string]struct {
		ending   func(c *control)
		want     error
		words    string
		patience time.Duration
	}{
		"the server dies in the middle": {func(*control) {}, ErrGone, "closed the control connection", 0},
		"it is ended in the middle": {func(c *control) { _ = c.say(serverTerminate) }, ErrGone, "start it again",
			0},
		"it says what nobody knows": {func(c *control) { _ = c.say(77) }, ErrProtocol, "sends state 77", 0},
		"it never says what it counted": {func(c *control) { hang(c) }, ErrIncomplete,
			"doesn't report its counters", impatient},
		"it dies instead": {func(c *control) { _, _ = c.await(0) }, ErrGone, "closed the control connection", 0},
		"a document of 2 GiB": {func(c *control) { ended(c); _ = c.write([]byte{0x80, 0, 0, 0}) },
			ErrProtocol, "sends a document of 2147483648 bytes", 0},
		"half a document": {func(c *control) { ended(c); _ = c.write([]byte{0, 0, 1, 0, '{'}) },
			ErrIncomplete, "an incomplete document", 0},
		"a document that doesn't go on": {func(c *control) {
			ended(c)
			_ = c.write([]byte{0, 0, 1, 0, '{'})
			hang(c)
		}, ErrIncomplete, "said nothing for", impatient},
		"garbage": {func(c *control) { ended(c); _ = c.write([]byte("\x00\x00\x00\x07garbage")) }, ErrProtocol,
			"invalid character", 0},
		"the result without the stream": {func(c *control) { ended(c); _ = c.writeDocument(results{}) },
			ErrIncomplete, "lacks stream 1", 0},
		"the result, and then another word": {func(c *control) {
			ended(c)
			_ = c.writeDocument(wholeResult())
			_ = c.say(testRunning)
		}, ErrProtocol, "sends state 2", 0},
		"the result, and then no other word": {func(c *control) { ended(c); _ = c.writeDocument(wholeResult()) },
			ErrGone, "closed the control connection", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Client{Server: scriptedTest(t, c.ending), patience: c.patience}.Measure(t.Context(),
				Test{Duration: time.Second, BitsPerSecond: 1_000_000, MessageBytes: 1000})
			if r != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%v, %v, want %q", r, err, c.words)
			}
		})
	}
}

// wholeResult is one of a single stream.
func wholeResult() results {
	zero, second := 0.0, 1.0
	n := func(v number) *number { return &v }
	return results{Streams: []streamResult{{ID: n(1), Bytes: n(5), Retransmits: n(0), Jitter: &zero, Errors: n(0),
		Packets: n(0), StartTime: &zero, EndTime: &second}}}
}

// A program that connects and isn't iperf3's client, or hangs, keeps nobody else from a test.
func TestAForeignClientStartsNoTest(t *testing.T) {
	t.Parallel()
	address, tests := serve(t, Server{MaxTests: 1, patience: time.Second})
	say := func(words string) {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = conn.Write([]byte(words))
	}
	cookie := string(newCookie())
	for _, words := range []string{"", "GET / HTTP/1.1\r\nHost: linerate.example\r\n\r\n", cookie[:20],
		strings.Repeat("\x00", 100)} {
		say(words) // each has no test, or for so long only as patience is
	}
	for name, words := range map[string]string{
		"no parameters":           string(newCookie()),
		"parameters of 2 GiB":     string(newCookie()) + "\x80\x00\x00\x00",
		"half of the parameters":  string(newCookie()) + "\x00\x00\x00\x10{",
		"garbage":                 string(newCookie()) + "\x00\x00\x00\x07garbage",
		"streams that never come": string(newCookie()) + "\x00\x00\x00\x1e" + `{"tcp":true,"time":1,"len":10}`,
	} {
		say(words)
		if e := <-tests; e.err == nil || e.result != nil {
			t.Errorf("%s: %+v, %v", name, e.result, e.err)
		}
	}
	if _, err := (Client{Server: address}).Measure(t.Context(), Test{Duration: time.Second,
		BitsPerSecond: 1_000_000}); err != nil {
		t.Errorf("a client that is one: %v", err)
	}
}

// startStream is the stream of a client that has agreed on a test of one with UDP, which the client sends, and
// that the server has begun.
func startStream(t *testing.T, address string, c *control) net.Conn {
	t.Helper()
	stream, err := net.Dial("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stream.Close() })
	_, _ = stream.Write(binary.NativeEndian.AppendUint32(nil, hello))
	if n, err := stream.Read(make([]byte, 100)); n != helloLength || err != nil {
		t.Fatalf("%d bytes for a hello: %v", n, err)
	}
	for _, s := range []state{testStart, testRunning} {
		if err := c.expect(s, c.patience); err != nil {
			t.Fatal(err)
		}
	}
	return stream
}

// TestAClientThatNeverStopsSending keeps no test from its end.
func TestAClientThatNeverStopsSending(t *testing.T) {
	t.Parallel()
	address, tests := serve(t, Server{})
	c := agreed(t, address, Test{Protocol: UDP, Duration: time.Second, MessageBytes: 100})
	stream := startStream(t, address, c)
	stopped := make(chan struct{})
	var sending sync.WaitGroup
	sending.Go(func() {
		for n := uint64(1); pauseFor(shortPause, stopped) && !isClosed(stopped); n++ {
			_, _ = stream.Write(datagram(n, time.Now()))
		}
	})
	defer sending.Wait()
	defer close(stopped)
	if err := c.say(testEnd); err != nil {
		t.Fatal(err)
	}
	if err := c.expect(exchangeResults, time.Minute); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if e := <-tests; !errors.Is(e.err, ErrIncomplete) {
		t.Errorf("%+v, %v", e.result, e.err)
	}
}

// endless is a stream whose deadline is always over, and of which the kernel always has more.
type endless struct {
	net.Conn
	zeros *os.File
}

func (endless) Read([]byte) (int, error)                { return 0, os.ErrDeadlineExceeded }
func (endless) SetReadDeadline(time.Time) error         { return nil }
func (e endless) SyscallConn() (syscall.RawConn, error) { return e.zeros.SyscallConn() }

// TestDrainingEnds where whoever sends is faster than we read.
func TestDrainingEnds(t *testing.T) {
	zeros, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = zeros.Close() }()
	s := &stream{conn: endless{zeros: zeros}}
	// it hangs where it has no end
	if err := s.drain(&transfer{began: time.Now()}, make([]byte, 100),
		time.Now().Add(100*time.Millisecond)); err != nil {
		t.Error(err)
	}
}

// The client loses each tenth datagram, sends some twice and some late, and the last ones not at all.
func TestLossIsCountedExactly(t *testing.T) {
	t.Parallel()
	address, tests := serve(t, Server{})
	c := agreed(t, address, Test{Protocol: UDP, Duration: time.Second, MessageBytes: 100})
	want := func(s state) {
		t.Helper()
		if err := c.expect(s, c.patience); err != nil {
			t.Fatal(err)
		}
	}
	stream := startStream(t, address, c)
	send := func(number uint64) { _, _ = stream.Write(append(datagram(number, time.Now()), make([]byte, 84)...)) }
	const sent, tail, came = 400, 5, 356 // few enough for any receive buffer
	for n := uint64(1); n <= sent-tail; n++ {
		switch {
		case n%10 == 0: // lost
		case n%100 == 7: // late
		case n%100 == 9:
			send(n)
			send(n - 2)
		case n%100 == 1: // twice
			send(n)
			send(n)
		default:
			send(n)
		}
	}
	_, _ = stream.Write([]byte("short"))
	if err := c.say(testEnd); err != nil {
		t.Fatal(err)
	}
	want(exchangeResults)
	zero, second := 0.0, 1.0
	number := func(v number) *number { return &v }
	reported := results{Streams: []streamResult{{ID: number(1), Bytes: number(sent * 100), Jitter: &zero,
		Errors: number(0), Packets: number(sent), StartTime: &zero, EndTime: &second}}}
	if err := c.writeDocument(reported); err != nil {
		t.Fatal(err)
	}
	document, err := c.readDocument(maxResults)
	if err != nil {
		t.Fatal(err)
	}
	var r results
	if err := json.Unmarshal(document, &r); err != nil {
		t.Fatal(err)
	}
	if s := r.Streams[0]; *s.Packets != sent || *s.Errors != sent-came || *s.Bytes != came*100 {
		t.Errorf("the client is told %d packets, %d errors, %d bytes: %d were sent, %d came", *s.Packets, *s.Errors,
			*s.Bytes, sent, came)
	}
	want(displayResults)
	_ = c.say(iperfDone)
	e := <-tests
	if e.err != nil {
		t.Fatal(e.err)
	}
	d := e.result.Directions[0]
	if g := *d.Datagrams; g.Sent != sent || g.Received != came || g.Lost != sent-came || g.Reordered != 4 ||
		g.Duplicates != 4 || g.Dropped != 0 {
		t.Errorf("%+v", g)
	}
	if d.Received.Bytes != came*100 || d.Received.Lasted != time.Second || len(d.Remarks) != 1 ||
		!strings.Contains(d.Remarks[0], "1 datagrams aren't the test's") {
		t.Errorf("%+v", d)
	}
}
