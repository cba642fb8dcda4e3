package iperf3

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// state is a message about the test, one byte on the control connection (iperf3's src/iperf_api.h).
type state int8

const (
	testStart       state = 1
	testRunning     state = 2
	testEnd         state = 4
	paramExchange   state = 9
	createStreams   state = 10
	serverTerminate state = 11
	clientTerminate state = 12
	exchangeResults state = 13
	displayResults  state = 14
	iperfDone       state = 16
	accessDenied    state = -1
	serverError     state = -2
)

// Bounds of what the other side may send, and how long it may be silent when it only has to answer.
const (
	cookieBytes    = 37 // 36 characters, and a zero
	maxParameters  = 8 << 10
	maxResults     = 1 << 20
	answerTimeout  = 10 * time.Second
	maxIdleControl = 5 * time.Second // from a connection to its cookie
)

// Errors by which a caller decides.
var (
	// ErrUnreachable says that there is no answer at the server's address.
	ErrUnreachable = errors.New("no iperf3 server answers")
	// ErrNoIperf2 says that there is no answer at the address of an iperf 2 server.
	ErrNoIperf2 = errors.New("no iperf 2 server answers")
	// ErrBusy says that the server runs other tests.
	ErrBusy = errors.New("the server is busy")
	// ErrRefused says that the other side refuses this test.
	ErrRefused = errors.New("the test is refused")
	// ErrGone says that the other side ended, or went silent, in the middle.
	ErrGone = errors.New("the other side is gone")
	// ErrProtocol says that the other side doesn't speak iperf3's protocol, or contradicts itself.
	ErrProtocol = errors.New("not iperf3's protocol")
	// ErrIncomplete says that the counters of one side are missing.
	ErrIncomplete = errors.New("the result is incomplete")
	// ErrTaken says that another program has the port.
	ErrTaken = errors.New("the port is taken")
)

// control is the control connection. One goroutine at a time reads it, and one writes.
type control struct {
	net.Conn
	// peer names the other side in sentences. patience is how long it may be silent when it only has to answer.
	peer     string
	patience time.Duration
}

// await reads the next state, and waits for at most patience, or without a limit where it is 0.
func (c *control) await(patience time.Duration) (state, error) {
	var b [1]byte
	err := c.read(b[:], patience)
	return state(int8(b[0])), err
}

func (c *control) read(buffer []byte, patience time.Duration) error {
	deadline := time.Time{}
	if patience > 0 {
		deadline = time.Now().Add(patience)
	}
	_ = c.SetReadDeadline(deadline) // it fails only on a closed connection, and so does the read
	_, err := io.ReadFull(c.Conn, buffer)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: %s said nothing for %s", ErrGone, c.peer, patience)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: %s closed the control connection", ErrGone, c.peer)
	case err != nil:
		return fmt.Errorf("%w: the control connection with %s: %w", ErrGone, c.peer, err)
	}
	return nil
}

func (c *control) write(b []byte) error {
	_ = c.SetWriteDeadline(time.Now().Add(c.patience))
	if _, err := c.Write(b); err != nil {
		return fmt.Errorf("%w: the control connection with %s: %w", ErrGone, c.peer, err)
	}
	return nil
}

func (c *control) say(s state) error { return c.write([]byte{byte(s)}) }

// readDocument reads a JSON document of at most the given length, behind 4 bytes with its length.
func (c *control) readDocument(limit int) ([]byte, error) {
	var head [4]byte
	if err := c.read(head[:], c.patience); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > uint32(limit) {
		return nil, fmt.Errorf("%w: %s sends a document of %d bytes, and %d are allowed", ErrProtocol, c.peer, length,
			limit)
	}
	document := make([]byte, length)
	if err := c.read(document, c.patience); err != nil {
		return nil, fmt.Errorf("an incomplete document: %w", err)
	}
	return document, nil
}

func (c *control) writeDocument(v any) error {
	document, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.write(append(binary.BigEndian.AppendUint32(nil, uint32(len(document))), document...))
}

// number is a JSON number that counts something. iperf3 writes large ones with an exponent.
type number int64

// UnmarshalJSON refuses fractions, and numbers that aren't exact in a double. In some places iperf3 writes -1,
// for what it doesn't count, as the largest number of 64 bits.
func (n *number) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	if f == 1<<64 {
		f = -1
	}
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return fmt.Errorf("%s is no count", b)
	}
	*n = number(f)
	return nil
}

// flag is set by true or by a number that isn't 0, as iperf3 writes both.
type flag bool

// UnmarshalJSON takes either.
func (f *flag) UnmarshalJSON(b []byte) error {
	var v any
	err := json.Unmarshal(b, &v)
	switch v := v.(type) {
	case bool:
		*f = flag(v)
	case float64:
		*f = v != 0
	case nil:
	default:
		return fmt.Errorf("%s is neither true nor a number", b)
	}
	return err
}

// parameters are a Test on the wire.
type parameters struct {
	TCP           flag   `json:"tcp,omitempty"`
	UDP           flag   `json:"udp,omitempty"`
	SCTP          flag   `json:"sctp,omitempty"`
	Omit          number `json:"omit"`
	Time          number `json:"time"`
	Bytes         number `json:"num"`
	Blocks        number `json:"blockcount"`
	Segment       number `json:"MSS,omitempty"`
	NoDelay       flag   `json:"nodelay,omitempty"`
	Parallel      number `json:"parallel"`
	Reverse       flag   `json:"reverse,omitempty"`
	Bidirectional flag   `json:"bidirectional,omitempty"`
	Window        number `json:"window,omitempty"`
	Length        number `json:"len,omitempty"`
	Bandwidth     number `json:"bandwidth,omitempty"`
	Pacing        number `json:"fqrate,omitempty"`
	TOS           number `json:"TOS,omitempty"`
	Congestion    string `json:"congestion,omitempty"`
	LongCounters  number `json:"udp_counters_64bit,omitempty"`
	ClientVersion string `json:"client_version,omitempty"`
}

// parameters are the test's parameters as a client sends them.
func (t Test) parameters() parameters {
	p := parameters{
		TCP: t.Protocol == TCP, UDP: t.Protocol == UDP, Omit: number(t.Omit / time.Second),
		Time: number(t.Duration / time.Second), Segment: number(t.SegmentBytes),
		NoDelay: flag(t.NoDelay), Parallel: number(t.Parallel), Reverse: t.Flow == Reverse,
		Bidirectional: t.Flow == Bidirectional, Window: number(t.WindowBytes),
		Length: number(t.MessageBytes), Bandwidth: number(t.BitsPerSecond), TOS: number(t.TOS),
		Congestion: t.CongestionControl, ClientVersion: "linerate",
	}
	if t.Protocol == UDP {
		p.LongCounters = 1
	}
	return p
}

// parseParameters is the test that a client asks for, and the client's name of itself.
func parseParameters(document []byte) (Test, string, error) {
	p := parameters{Parallel: 1}
	if err := intake.JSON(document, &p, intake.Limits{Bytes: maxParameters, Memory: 16 * maxParameters,
		Depth: 8}); err != nil {
		return Test{}, "", fmt.Errorf("%w: the test's parameters: %w", ErrProtocol, err)
	}
	t := Test{
		Protocol: TCP, Flow: Forward, Duration: seconds(p.Time), Omit: seconds(p.Omit),
		Parallel: withinBound(p.Parallel), MessageBytes: withinBound(p.Length), WindowBytes: withinBound(p.Window),
		CongestionControl: p.Congestion, BitsPerSecond: int64(p.Bandwidth), SegmentBytes: withinBound(p.Segment),
		NoDelay: bool(p.NoDelay), TOS: withinBound(p.TOS), short: p.LongCounters == 0,
		endless: p.Time == 0, pacing: int64(p.Pacing),
	}
	switch {
	case bool(p.SCTP):
		t.Protocol = "SCTP"
	case bool(p.UDP):
		t.Protocol = UDP
	}
	switch {
	case bool(p.Reverse && p.Bidirectional):
		t.Flow = "both reverse and bidirectional"
	case bool(p.Reverse):
		t.Flow = Reverse
	case bool(p.Bidirectional):
		t.Flow = Bidirectional
	}
	t = t.withDefaults()
	return t, p.ClientVersion, t.check()
}

// withinBound keeps a count from overflowing. Test.check refuses larger counts anyway.
func withinBound(n number) int { return int(max(-1, min(n, math.MaxInt32))) }

func seconds(n number) time.Duration {
	return time.Duration(withinBound(n)) * time.Second
}

// isCookie says whether these bytes are a cookie of an iperf3 client, which are printable characters and a zero.
// iperf 2 and other programs send something else.
func isCookie(b []byte) bool {
	end := len(b) - 1
	return len(b) == cookieBytes && b[end] == 0 && !strings.ContainsFunc(string(b[:end]),
		func(r rune) bool { return r <= ' ' || r > '~' })
}

// streamID is the number of the nth stream of a test, from 0, on both sides. iperf3 skips 2.
func streamID(n int) int {
	if n == 0 {
		return 1
	}
	return n + 2
}

// results are what one side counted.
type results struct {
	CPU            float64        `json:"cpu_util_total"`
	CPUUser        float64        `json:"cpu_util_user"`
	CPUSystem      float64        `json:"cpu_util_system"`
	HasRetransmits number         `json:"sender_has_retransmits"`
	Congestion     string         `json:"congestion_used,omitempty"`
	Streams        []streamResult `json:"streams"`
}

// streamResult is one stream's part of the results. Bytes exclude the omitted time. Packets and errors include it,
// and since 3.14 iperf3 reports how many of them belong to it.
type streamResult struct {
	ID             *number  `json:"id"`
	Bytes          *number  `json:"bytes"`
	Retransmits    *number  `json:"retransmits"`
	Jitter         *float64 `json:"jitter"`
	Errors         *number  `json:"errors"`
	OmittedErrors  *number  `json:"omitted_errors,omitempty"`
	Packets        *number  `json:"packets"`
	OmittedPackets *number  `json:"omitted_packets,omitempty"`
	StartTime      *float64 `json:"start_time"`
	EndTime        *float64 `json:"end_time"`
}

// lasted is how long the side counted, without the omitted time.
func (r streamResult) lasted() time.Duration {
	return time.Duration((*r.EndTime - *r.StartTime) * float64(time.Second)).Round(time.Microsecond)
}

// parseResults reads the other side's results of the streams with these numbers. It is an error unless each
// stream is there once, with all its members.
func parseResults(document []byte, ids []int) (map[int]streamResult, results, error) {
	var r results
	if err := intake.JSON(document, &r, intake.Limits{Bytes: maxResults, Memory: 4 * maxResults,
		Depth: 16}); err != nil {
		return nil, r, fmt.Errorf("%w: the other side's result: %w", ErrProtocol, err)
	}
	byID := map[int]streamResult{}
	for _, s := range r.Streams {
		if s.ID == nil {
			return nil, r, fmt.Errorf("%w: a stream in the other side's result has no number", ErrProtocol)
		}
		if _, twice := byID[withinBound(*s.ID)]; twice {
			return nil, r, fmt.Errorf("%w: the other side's result has stream %d twice", ErrProtocol, *s.ID)
		}
		byID[withinBound(*s.ID)] = s
	}
	for _, id := range ids {
		s, ok := byID[id]
		if !ok {
			return nil, r, fmt.Errorf("%w: the other side's result lacks stream %d", ErrIncomplete, id)
		}
		if err := s.check(); err != nil {
			return nil, r, fmt.Errorf("stream %d of the other side's result: %w", id, err)
		}
	}
	return byID, r, nil
}

// check refuses a stream's result that lacks a member, or has an impossible one.
func (r streamResult) check() error {
	if slices.Contains([]*number{r.Bytes, r.Errors, r.Packets}, nil) ||
		slices.Contains([]*float64{r.Jitter, r.StartTime, r.EndTime}, nil) {
		return fmt.Errorf("%w: bytes, errors, packets, jitter and both times are needed, which iperf3 reports since "+
			"3.2: use a newer one there", ErrIncomplete)
	}
	omitted := number(0)
	if r.OmittedPackets != nil {
		omitted = *r.OmittedPackets
	}
	if lasts := *r.EndTime - *r.StartTime; min(*r.Bytes, *r.Packets, omitted) < 0 || min(*r.Jitter, lasts) < 0 ||
		lasts > (2*maxDuration).Seconds() ||
		omitted > *r.Packets || (r.OmittedErrors == nil) != (r.OmittedPackets == nil) {
		return fmt.Errorf("%w: it contradicts itself", ErrProtocol)
	}
	return nil
}

// meaningOf is the meaning of an iperf3 error number that a server may send. Other numbers stay numbers.
func meaningOf(number int) string {
	switch number {
	case 5:
		return "the duration is too long for it"
	case 6:
		return "too many parallel streams"
	case 7, 20:
		return "the message size is too large for it"
	case 8, 124, 141:
		return "its kernel doesn't give sockets a window of that size: ask for less, or raise net.core.rmem_max and " +
			"wmem_max there"
	case 27:
		return "more bits per second than it allows"
	case 131:
		return "it doesn't have that protocol"
	case 134:
		return "its kernel doesn't have that congestion control: sysctl net.ipv4.tcp_available_congestion_control " +
			"lists there what it has"
	case 142:
		return "it wants a user name and a password, which can't be given: start it without --rsa-private-key-path"
	case 202:
		return "it can't listen for streams: another program there has the port"
	}
	return fmt.Sprintf("iperf3's error %d", number)
}
