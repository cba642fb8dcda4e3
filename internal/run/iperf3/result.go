package iperf3

import (
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/sockets"
)

// Result is what both sides of a test counted.
type Result struct {
	Test Test
	// PeerProduct is the other side's name of itself. iperf3's servers send none.
	PeerProduct string
	// Directions holds one direction, or with Both the client's and then the server's.
	Directions []Direction
}

// Direction is the result of one direction.
type Direction struct {
	// Flow is Forward where the client sends, and Reverse where the server does.
	Flow           Flow
	Sent, Received Side
	// Datagrams says what became of the datagrams. It is nil with TCP.
	Datagrams *Datagrams
	// Unacknowledged is how many sent bytes TCP had no answer for when the test ended, after some waiting. It is
	// known only where linerate sends.
	Unacknowledged int64
	// Reported is what the other side reports of each stream.
	Reported []Reported
	// Remarks are what a reader of the figures should know.
	Remarks []string
}

// Reported is what the other side counted of a stream, without the omitted time, in Lasted of its own clock. Datagrams
// are those that it sent, or the highest number that came, of which it misses Missing.
type Reported struct {
	Bytes, Datagrams, Missing int64
	Lasted, Jitter            time.Duration
	// Retransmits of a TCP sender, or nil if they are unknown, or if it is no TCP sender.
	Retransmits *int64
}

// reported is what the other side says of a stream.
func (r streamResult) reported() Reported {
	result := Reported{Bytes: int64(*r.Bytes), Datagrams: int64(*r.Packets), Missing: int64(*r.Errors),
		Lasted: r.lasted(), Jitter: time.Duration(*r.Jitter * float64(time.Second))}
	if r.Retransmits != nil && *r.Retransmits >= 0 {
		result.Retransmits = new(int64(*r.Retransmits))
	}
	return result
}

// Side is what one end of a direction counted, without the omitted time.
type Side struct {
	// CountedHere says that this side counted, and that the other side didn't report it.
	CountedHere bool
	Bytes       int64
	// Lasted is how long it counted. For a receiver it is at least as long as the sender sent, however early the
	// last payload arrived.
	Lasted time.Duration
	// Retransmits of a TCP sender, or nil if they are unknown, or if it is no TCP sender.
	Retransmits *int64
	// CongestionControl is the sender's, if it reports one.
	CongestionControl string
	// Intervals are known for this side only, from the beginning, with omitted ones. The Bytes of those that aren't
	// omitted add up to Bytes.
	Intervals []Interval
}

// BitsPerSecond is the rate of payload, and 0 where Lasted is 0.
func (s Side) BitsPerSecond() float64 {
	if s.Lasted <= 0 {
		return 0
	}
	return float64(s.Bytes) * 8 / s.Lasted.Seconds()
}

// Interval is what one side counted of one direction in a time span. TCP's values are those at its end.
type Interval struct {
	Start, End time.Duration // since the payload began
	Omitted    bool
	// Draining says that sending had ended, and that payload in flight arrived.
	Draining bool
	Bytes    int64
	// Datagrams that were sent, or that arrived, each counted once. Lost, at a receiver, are those that later ones
	// have overtaken. Lost is negative if late ones arrived.
	Datagrams, Lost, Reordered, Duplicates int64
	// Dropped is what the receiver's own sockets dropped, which the device didn't lose.
	Dropped int64
	// The last members are of a TCP sender, all streams together. They are retransmitted segments, round-trip times
	// (the streams' mean, the longest, and the shortest ever), and the congestion windows.
	Retransmits                                    int64
	RoundTrip, LongestRoundTrip, ShortestRoundTrip time.Duration
	CongestionWindow                               int64 // bytes
	DeliveryRate                                   int64 // bits per second
}

// Datagrams says what became of all datagrams that were sent.
type Datagrams struct {
	Sent, Received, Lost int64 // Received counts each once, and Sent = Received + Lost
	// Reordered, Duplicates and Dropped are known where linerate receives. Dropped, which is part of Lost, is what
	// the receiver's own sockets dropped.
	Reordered, Duplicates, Dropped int64
	Jitter                         time.Duration
	// WholeTest says that the numbers include the omitted time, since the receiver doesn't report it apart (iperf3
	// before 3.14).
	WholeTest bool
}

// LossRatio is the share of datagrams that didn't arrive, and 0 where none was sent.
func (d Datagrams) LossRatio() float64 {
	if d.Sent == 0 {
		return 0
	}
	return float64(d.Lost) / float64(d.Sent)
}

// tally is what this side counted of a stream in all, in the omitted time, and the difference.
type tally struct{ total, omitted, counted counts }

func (t *transfer) tally(s *stream) tally {
	t.mu.Lock()
	omitted := t.omitted[s.id]
	t.mu.Unlock()
	total, _ := s.read(false) // mark has reported an error already
	return tally{total: total, omitted: omitted, counted: total.minus(omitted)}
}

// receivedUntil is when the last payload arrived, or the planned time if that is later.
func (t *transfer) receivedUntil(planned time.Duration) time.Duration {
	for _, s := range t.streams.filter(false) {
		planned = max(planned, time.Duration(s.lastArrival.Load()))
	}
	return planned
}

// results are this side's results for the other side. planned is how long the other side was to send, and reported is
// the other side's results if they came first.
func (t *transfer) results(planned time.Duration, reported map[int]streamResult) results {
	r := results{HasRetransmits: -1}
	r.CPU, r.CPUUser, r.CPUSystem = t.processor()
	for _, s := range t.streams {
		tally, end := t.tally(s), t.receivedUntil(planned)
		counted, omitted := tally.total, tally.omitted
		packets, errors, retransmits := counted.datagrams, int64(0), int64(-1)
		omittedPackets, omittedErrors := omitted.datagrams, int64(0)
		conn, tcp := s.conn.(*net.TCPConn)
		switch {
		case s.sends:
			if end = t.sentUntil; tcp {
				r.HasRetransmits, r.Congestion, retransmits = 1, sockets.CongestionControl(conn),
					tally.counted.retransmits
			} else {
				r.HasRetransmits = max(r.HasRetransmits, 0)
			}
		case !tcp:
			packets, errors, omittedPackets, omittedErrors = counted.highest, counted.missing, omitted.highest,
				omitted.missing-counted.overdue
			// the last ones may be lost, which only their sender knows
			if sent, ok := reported[s.id]; ok && int64(*sent.Packets) > packets {
				errors += int64(*sent.Packets) - packets
				packets = int64(*sent.Packets)
			}
		}
		jitter := s.jitter() / 1e9
		r.Streams = append(r.Streams, streamResult{
			ID: new(number(s.id)), Bytes: new(number(tally.counted.bytes)), Retransmits: new(number(retransmits)),
			Jitter: &jitter, Errors: new(number(errors)), Packets: new(number(packets)),
			OmittedErrors: new(number(omittedErrors)), OmittedPackets: new(number(omittedPackets)), StartTime: new(0.0),
			EndTime: new((end - t.test.Omit).Seconds()),
		})
	}
	return r
}

// processor is how much processor time this program has used since the beginning, in percent of one processor.
func (t *transfer) processor() (total, user, system float64) {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0, 0, 0
	}
	percent := func(later, earlier unix.Timeval) float64 {
		return 100 * float64(later.Nano()-earlier.Nano()) / float64(t.elapsed())
	}
	user, system = percent(usage.Utime, t.usage.Utime), percent(usage.Stime, t.usage.Stime)
	return user + system, user, system
}

// result joins what both sides counted. planned is as for results.
func (t *transfer) result(
	server bool, planned time.Duration, reported map[int]streamResult, summary results,
) (*Result, error) {
	if t.readErr != nil {
		return nil, fmt.Errorf("%w: %w", ErrIncomplete, t.readErr)
	}
	r := &Result{Test: t.test}
	for _, flow := range []Flow{Forward, Reverse} {
		if t.test.Flow != flow && t.test.Flow != Bidirectional {
			continue
		}
		d := Direction{Flow: flow}
		var err error
		if flow.sends(server) {
			err = t.joinSent(&d, reported)
		} else {
			err = t.joinReceived(&d, planned, reported, summary)
		}
		if err != nil {
			return nil, err
		}
		r.Directions = append(r.Directions, d)
	}
	return r, nil
}

// sum adds up the intervals that count.
func sum(intervals []Interval) (total Interval) {
	for _, i := range intervals {
		if !i.Omitted {
			total.Bytes, total.Retransmits = total.Bytes+i.Bytes, total.Retransmits+i.Retransmits
			total.Reordered, total.Duplicates, total.Dropped = total.Reordered+i.Reordered, total.Duplicates+
				i.Duplicates, total.Dropped+i.Dropped
		}
	}
	return total
}

// joinSent completes a direction in which this side sent.
func (t *transfer) joinSent(d *Direction, reported map[int]streamResult) error {
	sent := t.streams.filter(true)
	total := sum(t.sent.intervals)
	d.Sent = Side{CountedHere: true, Bytes: total.Bytes, Lasted: t.sentUntil - t.test.Omit, Intervals: t.sent.intervals}
	if conn, ok := sent[0].conn.(*net.TCPConn); ok {
		d.Sent.Retransmits, d.Sent.CongestionControl = &total.Retransmits, sockets.CongestionControl(conn)
		d.Unacknowledged = t.unconfirmed
	}
	d.Received.Lasted = d.Sent.Lasted
	if t.test.Protocol == TCP {
		d.Received.Lasted = max(d.Sent.Lasted, t.lastAck-t.test.Omit)
	} else {
		d.Datagrams = &Datagrams{}
	}
	for _, s := range sent {
		r := reported[s.id]
		d.Reported = append(d.Reported, r.reported())
		d.Received.Bytes += int64(*r.Bytes)
		if d.Datagrams != nil {
			if err := d.Datagrams.addReported(t.tally(s), r, t.test.Omit > 0); err != nil {
				return fmt.Errorf("stream %d: %w", s.id, err)
			}
		}
	}
	if d.Datagrams != nil && d.Datagrams.WholeTest {
		d.Remarks = append(d.Remarks, "the receiver's iperf3 doesn't report the datagrams lost in the omitted time "+
			"apart: the loss is that of the whole test")
	}
	if d.Unacknowledged > 0 {
		d.Remarks = append(d.Remarks, fmt.Sprintf("%d bytes that were sent had no answer for %s after the last one",
			d.Unacknowledged, maxUnmoved))
	}
	return nil
}

// addReported adds a stream that this side sent, by the receiver's numbers.
func (d *Datagrams) addReported(local tally, r streamResult, omit bool) error {
	packets, errors := int64(*r.Packets), int64(*r.Errors)
	sent := local.total.datagrams
	if packets > sent || errors < 0 || errors > packets {
		return fmt.Errorf("%w: %d datagrams were sent, and the receiver reports %d, of which %d are missing",
			ErrProtocol, sent, packets, errors)
	}
	lost := sent - packets + errors // the last ones that never arrived, and the gaps before
	switch {
	case !omit:
	case r.OmittedPackets != nil:
		sent, lost = sent-int64(*r.OmittedPackets), lost-int64(*r.OmittedErrors)
	default:
		d.WholeTest = true
	}
	if omit {
		lost = max(lost, 0) // iperf3's omitted errors include datagrams that arrived after the omitted time
	}
	if lost < 0 || lost > sent {
		return fmt.Errorf("%w: of %d datagrams %d would be lost", ErrProtocol, sent, lost)
	}
	d.Sent, d.Lost, d.Received = d.Sent+sent, d.Lost+lost, d.Received+sent-lost
	d.Jitter = max(d.Jitter, time.Duration(*r.Jitter*float64(time.Second)))
	return nil
}

// joinReceived completes a direction in which this side received.
func (t *transfer) joinReceived(d *Direction, planned time.Duration, reported map[int]streamResult,
	summary results) error {
	total := sum(t.received.intervals)
	d.Received = Side{CountedHere: true, Bytes: total.Bytes, Lasted: t.receivedUntil(planned) - t.test.Omit,
		Intervals: t.received.intervals}
	d.Sent.CongestionControl = summary.Congestion
	if t.test.Protocol == UDP {
		d.Datagrams = &Datagrams{Reordered: total.Reordered, Duplicates: total.Duplicates, Dropped: total.Dropped}
	}
	retransmits := int64(0)
	reportsRetransmits := t.test.Protocol == TCP && summary.HasRetransmits > 0
	for _, s := range t.streams.filter(false) {
		r := reported[s.id]
		d.Reported = append(d.Reported, r.reported())
		d.Sent.Bytes += int64(*r.Bytes)
		if d.Sent.Lasted = max(d.Sent.Lasted, r.lasted()); d.Sent.Lasted > t.elapsed()+time.Second {
			return fmt.Errorf("%w: the other side reports that it sent for %s, and the test lasted %s", ErrProtocol,
				d.Sent.Lasted, t.elapsed())
		}
		if r.Retransmits == nil || *r.Retransmits < 0 {
			reportsRetransmits = false
		} else {
			retransmits += int64(*r.Retransmits)
		}
		if d.Datagrams != nil {
			local := t.tally(s)
			if int64(*r.Packets) < local.total.highest {
				return fmt.Errorf("%w: stream %d: datagram %d arrived, and the other side reports that it sent %d",
					ErrProtocol, s.id, local.total.highest, *r.Packets)
			}
			sent := int64(*r.Packets) - local.omitted.highest
			received := local.counted.datagrams - local.total.overdue
			d.Datagrams.Sent, d.Datagrams.Received, d.Datagrams.Lost = d.Datagrams.Sent+sent, d.Datagrams.Received+
				received, d.Datagrams.Lost+sent-received
			d.Datagrams.Jitter = max(d.Datagrams.Jitter, time.Duration(s.jitter()))
			if foreign := local.counted.foreign + local.counted.tooLate; foreign > 0 {
				d.Remarks = append(d.Remarks,
					fmt.Sprintf("stream %d: %d datagrams aren't the test's, or were so late that they may be "+
						"duplicates, and don't count as received", s.id, foreign))
			}
		}
	}
	if reportsRetransmits {
		d.Sent.Retransmits = &retransmits
	}
	if d.Sent.Lasted <= 0 {
		return fmt.Errorf("%w: the other side doesn't report how long it sent", ErrIncomplete)
	}
	if d.Received.Lasted = max(d.Received.Lasted, d.Sent.Lasted); t.test.Protocol == UDP {
		d.Received.Lasted = d.Sent.Lasted // all counted datagrams were sent in that time
	}
	if d.Datagrams != nil && d.Datagrams.Dropped > 0 {
		d.Remarks = append(d.Remarks, fmt.Sprintf("%d of the lost datagrams arrived, but the receiver's own sockets "+
			"had no room for them: the device didn't lose them; send fewer, or use a larger window",
			d.Datagrams.Dropped))
	}
	return nil
}
