package report

import (
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// Sessions is what the TCP connections or UDP streams of a direction did in a window, or those of all directions
// together. Payload is counted where a program reads it. The rest is, with TCP, what the senders' kernels say of
// each connection (TCP_INFO, include/uapi/linux/tcp.h), and with UDP it is Datagrams. None of it is a count of
// frames. A connection sends again what was lost, and the device's frames are not seen by either end.
type Sessions struct {
	Connections int `json:"connections"`
	// AskedBitsPerSecond is the payload that was to be sent, all connections together, or 0 for all that they
	// carry.
	AskedBitsPerSecond int64 `json:"askedBitsPerSecond,omitempty"`
	// Datagrams is what became of them. It is nil where the connections are TCP's. SentIn is the time between the
	// two readings of what was sent of them, by the sender's own clock. Of TCP it stands where the receiver may be
	// silent (iperf 2), and it is 0 elsewhere.
	Datagrams *Datagrams    `json:"datagrams,omitempty"`
	SentIn    plan.Duration `json:"sentIn,omitempty"`
	// WrittenBytes is the payload that the senders' kernels took, AcknowledgedBytes what receivers' kernels
	// confirmed, ReceivedBytes what the receiving programs read.
	WrittenBytes      int64 `json:"writtenBytes"`
	AcknowledgedBytes int64 `json:"acknowledgedBytes"`
	ReceivedBytes     int64 `json:"receivedBytes"`
	// ReceivedIn is the time between the two readings of ReceivedBytes, by the receiver's own clock.
	// GoodputBitsPerSecond is 8 × ReceivedBytes ÷ ReceivedIn.
	ReceivedIn           plan.Duration `json:"receivedIn"`
	GoodputBitsPerSecond int64         `json:"goodputBitsPerSecond"`
	// Segments with payload left the senders, of which RetransmittedSegments had been sent before. SentBytes and
	// RetransmittedBytes are their payload.
	Segments              int64       `json:"segments"`
	RetransmittedSegments int64       `json:"retransmittedSegments"`
	SentBytes             int64       `json:"sentBytes"`
	RetransmittedBytes    int64       `json:"retransmittedBytes"`
	RetransmitRatio       units.Ratio `json:"retransmitRatio"` // of segments
	// Each is what each connection carried, in the order in which they were made. It is nil where the ends don't tell
	// their connections apart, and of all directions together.
	Each []Connection `json:"each,omitempty"`
	// RoundTrip is nil where no connection had a sample of it.
	RoundTrip *RoundTrip `json:"roundTrip,omitempty"`
	Senders   SenderTime `json:"senders"`
	// Ends is what the two ends themselves threw away in the window. It is nil for nothing, or where the Report is
	// older than the question.
	Ends *SessionEnds `json:"ends,omitempty"`
	// Device is the end that is the device's own, where the device is one (dut.role Endpoint). It is nil where the
	// device is between the ends. The costs of that end are the device's affair, and not in Ends.
	Device *DeviceEnd `json:"device,omitempty"`
	// EndsWaited is for how long threads of the ends' programs were ready to run, and others had the processors,
	// all together. A connection whose thread waits in the middle of a call neither sends nor confirms anything,
	// and the senders' kernels count that as the path's time. Ends says so of an end that can't tell.
	EndsWaited plan.Duration `json:"endsWaited,omitempty"`
	// Disturbed is for how long others had the processors that were needed by the threads that carry the
	// connections' frames, in windows in which that was too long to be overlooked. It is 0 for none, or where
	// nobody can tell. Disturbance is who waited, for what, and who had that in the time, of the ends' own threads,
	// too, in windows in which that was worth telling.
	Disturbed   plan.Duration `json:"disturbed,omitempty"`
	Disturbance *Disturbance  `json:"disturbance,omitempty"`
}

// Datagrams is what became of UDP's datagrams. What was sent is the sender's count, everything else the receiver's,
// by the numbers in the datagrams.
//
//	numbers   1 2 3 4 5 6 7 8 9 …
//	came      1 2   4 3 6     9        at 9: 7 of 9, so 2 are lost for now (5, 7, 8 of those below 9 are missing, and 3 came late)
type Datagrams struct {
	// Sent is how many the sender's kernel took in the window, by the sender's clock.
	Sent int64 `json:"sent"`
	// Received is how many the receiving program read, each once. Lost is how many it misses of those that it
	// should have had by then, because later ones came, or they were sent half a second before. One that comes late
	// is no longer lost, so of a single window Lost may be below 0.
	Received int64 `json:"received"`
	Lost     int64 `json:"lost"`
	// LostAtLeast says that Lost is a lower bound, as the receiving program tells nothing of datagrams after which
	// none came (iperf 2). Up to Sent − Received may be lost, and goodput is over the longer of SentIn and
	// ReceivedIn.
	LostAtLeast bool `json:"lostAtLeast,omitempty"`
	// LossRatio is Lost ÷ (Received + Lost).
	LossRatio units.Ratio `json:"lossRatio"`
	// FramesEach is in how many frames each was sent, where it didn't fit into one. A fragment that is lost takes
	// the whole datagram with it. It is 0 where each was one frame, or nobody says.
	FramesEach int64 `json:"framesEach,omitempty"`
	// OutOfOrder came after later ones, Duplicates a second time.
	OutOfOrder int64 `json:"outOfOrder"`
	Duplicates int64 `json:"duplicates"`
	// DroppedByReceiver are of the lost ones those that came, and for which the receiver's own sockets had no room.
	DroppedByReceiver int64 `json:"droppedByReceiver,omitempty"`
	// JitterMicroseconds is the mean of the receiver's smoothed jitter (RFC 1889, A.8), of the stream that had most.
	JitterMicroseconds int64 `json:"jitterMicroseconds"`
}

// MostLossRatio is the share of datagrams that may have been lost, which is LossRatio, and where Lost is a lower
// bound all others with them of which the receiver told nothing.
func (d Datagrams) MostLossRatio() units.Ratio {
	lost := d.Lost
	if d.LostAtLeast {
		lost = max(lost, d.Sent-d.Received)
	}
	return max(0, units.RatioOf(lost, d.Received+lost))
}

// SessionEnds is what the ends of sessions threw away themselves, which reads as loss on the path to whoever sends.
type SessionEnds struct {
	// Dropped has an entry for each counter of an end's that grew.
	Dropped []EndDrop `json:"dropped,omitempty"`
	// Unknown says of which end it isn't known what it threw away, or for how long it waited for processors, and
	// why. It is empty where that is known of both.
	Unknown string `json:"unknown,omitempty"`
}

// What an end is to a direction.
const (
	Sender   = "Sender"
	Receiver = "Receiver"
)

// Connection is one connection's part of Sessions, which add up to ReceivedBytes and SentBytes there.
type Connection struct {
	ReceivedBytes int64 `json:"receivedBytes"`
	SentBytes     int64 `json:"sentBytes,omitempty"`
	// Retransmits are segments of TCP that were sent again. It is nil where the sender doesn't tell, or of UDP.
	Retransmits *int64 `json:"retransmits,omitempty"`
	// Datagrams is nil of TCP.
	Datagrams *ConnectionDatagrams `json:"datagrams,omitempty"`
}

// ConnectionDatagrams is one stream's part of Datagrams.
type ConnectionDatagrams struct {
	Sent     int64 `json:"sent"`
	Received int64 `json:"received"`
	Lost     int64 `json:"lost"`
}

// DeviceEnd is what the device's own end sent or received, and threw away.
type DeviceEnd struct {
	Role string `json:"role"` // Sender or Receiver
	// Server is the program that is this end, where it isn't linerate's, such as "the iperf3 server at
	// 192.0.2.1:5201". It counts nothing that can be read while it runs. What TCP received from linerate is what its
	// kernel confirmed, and what UDP did is its own count of a whole test.
	Server  string    `json:"server,omitempty"`
	Dropped []EndDrop `json:"dropped,omitempty"`
}

// EndDrop is one counter of an end's, of frames or segments that it threw away.
type EndDrop struct {
	Link      string `json:"link"`
	Interface string `json:"interface"`
	// Counter is the kernel's name of it. Of an interface it is as in rtnl_link_stats64
	// (include/uapi/linux/if_link.h), such as rx_dropped, and of TCP as in the TcpExt of /proc/net/netstat, such as
	// TCPRcvQDrop. qdisc_drops is of the interface's queueing discipline.
	Counter string `json:"counter"`
	// Packets is by how much it grew, which is so many frames or segments at least.
	Packets int64 `json:"packets"`
}

// RoundTrip is the time until what was sent is acknowledged, as the senders' kernels see it.
type RoundTrip struct {
	// MinMicroseconds is the shortest that the kernels saw (over their last minutes). MeanMicroseconds and
	// MaxMicroseconds are of their smoothed one, looked at some 50 times a second.
	MinMicroseconds  int64 `json:"minMicroseconds"`
	MeanMicroseconds int64 `json:"meanMicroseconds"`
	MaxMicroseconds  int64 `json:"maxMicroseconds"`
}

// SenderTime is how the senders' time was spent, added up over their connections.
//
//	├───────────────────────── Observed ─────────────────────────┤
//	├──────────────────── Busy ──────────────────────┤ nothing to send
//	├ ReceiverLimited ┤ BufferLimited ┤ the rest: the path's time
type SenderTime struct {
	Observed plan.Duration `json:"observed"`
	// Busy is the time with something to send or to be acknowledged.
	Busy plan.Duration `json:"busy"`
	// ReceiverLimited is the time in which the receiver's window was full, BufferLimited that in which the sender's
	// own buffer was too small.
	ReceiverLimited plan.Duration `json:"receiverLimited"`
	BufferLimited   plan.Duration `json:"bufferLimited"`
	// Samples is how often connections were looked at, and HeldByPath in how many of them congestion control kept a
	// connection from sending, because its congestion window was full, or it made good for losses.
	Samples    int64 `json:"samples"`
	HeldByPath int64 `json:"heldByPath"`
}

// SessionsSoFar is what the connections of a direction had done by a sample's moment. Counters are cumulative, so
// that what lies between any two samples follows from these two, also where the samples between them were given up.
type SessionsSoFar struct {
	// ReceivedBytes is the payload that the receiving programs had read since the connections were made, and
	// ReceivedIn the time since the run's first sample, both at one moment by the receiver's own clock. The
	// sample's Time is the runner's clock, and only places it on an axis, as the time that an answer took to arrive
	// is no part of a rate.
	ReceivedBytes int64         `json:"receivedBytes"`
	ReceivedIn    plan.Duration `json:"receivedIn"`
	// RetransmittedSegments are those that the senders had sent again since the connections were made.
	// LostDatagrams, instead, are those that the receiver missed.
	RetransmittedSegments int64 `json:"retransmittedSegments"`
	LostDatagrams         int64 `json:"lostDatagrams,omitempty"`
}

// GoodputSince is the mean goodput since an earlier sample, 8 × received bytes ÷ time by the receiver's clock. ok
// is false where counters or clock went back or stood still, as those of an end that was restarted, for which there
// is no rate.
func (s SessionsSoFar) GoodputSince(earlier SessionsSoFar) (bitsPerSecond int64, ok bool) {
	bytes, took := s.ReceivedBytes-earlier.ReceivedBytes, s.ReceivedIn-earlier.ReceivedIn
	if bytes < 0 || took <= 0 {
		return 0, false
	}
	return int64(units.BitRateOver(8*bytes, int64(took))), true
}
