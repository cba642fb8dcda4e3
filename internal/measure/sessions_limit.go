package measure

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Limiting is what kept sessions from carrying more.
type Limiting string

// What can.
const (
	ByEnds Limiting = "Ends" // receiver or sender, so the figure is a lower bound of what the device can do
	// others had the processors that the carrying threads needed, so it is a lower bound, too
	ByMachine Limiting = "Machine"
	ByPath    Limiting = "Path"    // what is between the ends, the device, as far as a lab's cables lose nothing
	ByLoad    Limiting = "Load"    // all that was asked for came, so it is a lower bound of what the device can do
	ByUnknown Limiting = "Unknown" // neither can be shown, as where the ends' processors are too slow
)

// The shares that tell what limited sessions.
const (
	// mostHeldByEnds is the share of the connections' time in which receivers or senders may have kept them from
	// sending, and the figure still is that of the path. The kernel counts single milliseconds of that even of
	// connections that the path holds back, as where a sender is woken late. What more might have been carried is
	// in the figure's interval.
	mostHeldByEnds = units.One / 20
	// mostEndsWaited is the share of the connections' time in which threads of the ends may have waited for
	// processors, all together, and the figure still is that of the path. A thread that is put aside in the middle
	// of a call keeps its connection's segments and acknowledgements waiting (the kernel's socket backlog), and
	// TCP_INFO counts that as any other time. Measured through a device of 50 Mb/s it was 1 to 3 % on a machine
	// with nothing else to do, and 6 to 40 % in windows in which 5 to 50 % too little came through, with nothing in
	// TCP_INFO to show for it.
	mostEndsWaited = units.One / 20
	// leastHeldByPath is in how many of the samples congestion control must have held connections back, for the
	// path to be what limited them. Where the ends' processors can't do more, nobody waits for anything that
	// TCP_INFO counts, and the congestion window grows until it is seldom full. Measured through a device of 50
	// Mb/s it was 85 to 100 % with cubic, and 42 to 80 % with bbr, which paces. With ends that computed all they
	// could it was 13 to 30 % with bbr, and with cubic senders that had nothing to send for 15 % of the time or
	// more.
	leastHeldByPath = units.One / 3
)

// SessionLimit is what kept sessions from carrying more, and how that is known.
type SessionLimit struct {
	Cause Limiting
	// HeldByEnds is the share of the connections' time in which an end was what they waited for.
	HeldByEnds units.Ratio
	// Sentence is the reason, for people.
	Sentence string
	// PathDoubt says why the retransmits, the loss and the round trips may come from the ends or the machine, in
	// whole or in part. It is empty where they are the path's.
	PathDoubt string
	// JitterDoubt says the same of the jitter of datagrams, which is also the ends' own where they waited for
	// processors and nothing was lost for it.
	JitterDoubt string
	// Carried says that what was asked for came through, though some was lost on the path, or the receiver did not
	// report all of it, so that the goodput is a lower bound.
	Carried bool
}

// ByDevice says that the device limited the sessions, or what is between the ends, so that their figure isn't a lower
// bound.
func (l SessionLimit) ByDevice() bool { return l.Cause == ByPath || l.Cause == ByServer }

// Reason is why a figure of such sessions is what it is.
func (l SessionLimit) Reason() report.Reason {
	switch l.Cause {
	case ByEnds:
		return report.GeneratorLimited
	case ByMachine:
		return report.MachineLimited
	case ByPath:
		return report.PathLimited
	case ByServer:
		return report.EndpointLimited
	case ByLoad:
		return report.TargetReached
	default:
		return report.Inconclusive
	}
}

// LimitOfSessions says what kept sessions from carrying more. It is the one place where that is decided.
//
//	held by ends  = (receiver's window full + sender's buffer too small + nothing to send) ÷ observed
//	ends waited   = time in which threads of the ends' programs waited for processors ÷ observed
//	held by path  = samples with a full congestion window, or in recovery ÷ samples, and the time that the end took which is the device's
//	dropped       = what the ends' own network cards and kernels threw away, which reads as loss on the path
//	disturbed     = the time in which those who carry frames waited for processors that others had
func LimitOfSessions(s report.Sessions) SessionLimit {
	if s.Datagrams != nil {
		return limitOfDatagrams(s)
	}
	if hasServer(s) {
		return limitWithServer(s)
	}
	t := s.Senders
	generators, devices := timesOfEnds(s)
	l := SessionLimit{Cause: ByUnknown, HeldByEnds: min(timeShare(t, generators), units.One), PathDoubt: pathDoubt(s)}
	path := units.RatioOf(t.HeldByPath, t.Samples) + timeShare(t, devices)
	switch {
	case t.Observed <= 0 || t.Samples <= 0:
		l.Sentence = "what the connections waited for was not measured: a lower bound"
	case receiverFellSilent(s):
		l.Sentence = silentReceiverSentence(s)
	case l.limitBesidePath(s, "the ends themselves"):
	case path < leastHeldByPath:
		l.Sentence = fmt.Sprintf("congestion control held the connections back in only %s of the samples, so the ends' own speed may be the limit: a lower bound", Percent(path))
	default:
		l.Cause, l.Sentence = ByPath, heldByPathSentence(s, devices)
	}
	if l.Cause == ByEnds || l.Cause == ByUnknown {
		l.Sentence += endsLateSentence(s.Disturbance)
	}
	return l
}

// limitBesidePath sets what limited the sessions where it was neither the device nor the way to it, and reports whether
// it did. ends are those whose losses and waits the Report counts.
func (l *SessionLimit) limitBesidePath(s report.Sessions, ends string) bool {
	switch {
	case reached(s.GoodputBitsPerSecond, s.AskedBitsPerSecond):
		l.Cause, l.HeldByEnds, l.Sentence = ByLoad, 0, "all that was asked for came: a lower bound"
	case l.HeldByEnds > mostHeldByEnds:
		l.Cause, l.Sentence = ByEnds, heldByEndsSentence(s)
	case s.Disturbed > 0:
		l.Cause, l.Sentence = ByMachine, disturbedSessionsSentence(s)
	case waitedShare(s) > mostEndsWaited:
		l.Cause, l.Sentence = ByEnds, waitedSentence(s)
	case droppedByEnds(s):
		l.Cause, l.Sentence = ByEnds, dropSentence(s)
	case s.Ends != nil && s.Ends.Unknown != "":
		l.Sentence = fmt.Sprintf("how much %s lost or waited is not known (%s): a lower bound", ends,
			s.Ends.Unknown)
	default:
		return false
	}
	return true
}

// timesOfEnds are the times in which connections waited for a generator's end, and for the device's own.
func timesOfEnds(s report.Sessions) (generators, devices plan.Duration) {
	receivers, senders := s.Senders.ReceiverLimited, s.Senders.BufferLimited+idleTime(s.Senders)
	switch {
	case s.Device == nil:
		return receivers + senders, 0
	case s.Device.Role == report.Receiver:
		return senders, receivers
	default:
		return receivers, senders
	}
}

// heldByPathSentence says what held the connections back, and how much of that was the device's end, where the
// device is one.
func heldByPathSentence(s report.Sessions, devices plan.Duration) string {
	switch {
	case s.Device == nil:
		return "held back by what is between the ends"
	case timeShare(s.Senders, devices) <= mostHeldByEnds:
		return "held back by the device, or what is between it and the generator"
	case s.Device.Role == report.Receiver:
		return fmt.Sprintf("held back by the device, whose receive window was full for %s of the time",
			Percent(timeShare(s.Senders, devices)))
	default:
		return fmt.Sprintf("held back by the device, which had nothing to send, or no buffer for it, for %s of the time", Percent(timeShare(s.Senders, devices)))
	}
}

// heldByEndsSentence says which end the connections waited for most, and the way out. The device's own end is none
// of these.
func heldByEndsSentence(s report.Sessions) string {
	t, idle := s.Senders, idleTime(s.Senders)
	if s.Device != nil && s.Device.Role == report.Receiver {
		t.ReceiverLimited = 0
	} else if s.Device != nil {
		t.BufferLimited, idle = 0, 0
	}
	switch {
	case t.ReceiverLimited >= max(t.BufferLimited, idle):
		return fmt.Sprintf("the receiver was too slow, or its window too small, for %s of the time: a lower bound (give traffic.sessions.window more, or the receiver more CPU)", Percent(timeShare(t, t.ReceiverLimited)))
	case t.BufferLimited >= idle:
		return fmt.Sprintf("the sender's buffer was too small for %s of the time: a lower bound (give traffic.sessions.window more)", Percent(timeShare(t, t.BufferLimited)))
	default:
		return fmt.Sprintf("the sender had nothing to send for %s of the time: a lower bound (give the senders more CPU, or traffic.sessions.window more)", Percent(timeShare(t, idle)))
	}
}

// mostUntold is how long a receiver may report nothing, while data is sent, and its goodput still counts as that of
// the time it reported. iperf 2 reports each half second, and its TCP sender has another clock.
const mostUntold = plan.Duration(750 * time.Millisecond)

// receiverFellSilent says that a TCP receiver stopped reporting, and its own clock, which goodput is measured by,
// stood still.
func receiverFellSilent(s report.Sessions) bool {
	return s.Datagrams == nil && s.SentIn-s.ReceivedIn > mostUntold
}

func silentReceiverSentence(s report.Sessions) string {
	return fmt.Sprintf("the receiving program reported only %s of the %s in which data was sent: a lower bound (it reports nothing while nothing arrives, as when the device stops forwarding)",
		s.ReceivedIn.Std().Round(time.Millisecond), s.SentIn.Std().Round(time.Millisecond))
}

// reached says that 99 % of a load that was asked for was sent or carried, as for a load of frames. Without a load
// asked for it is false.
func reached(bitsPerSecond, asked int64) bool { return asked > 0 && 100*bitsPerSecond >= 99*asked }

// pathDoubt is SessionLimit.PathDoubt.
func pathDoubt(s report.Sessions) string {
	switch {
	case s.Disturbed > 0:
		return "the threads that carry frames waited for processors"
	case waitedShare(s) > mostEndsWaited:
		return endsWaitedWhy
	case droppedByEnds(s):
		return "an end itself dropped segments that may have been of these connections"
	case s.Ends != nil && s.Ends.Unknown != "":
		return "how much the ends themselves lost or waited is not known"
	}
	return ""
}

// idleTime is the time in which senders had nothing to send, timeShare a time's share of the connections' time, and
// waitedShare that in which ends waited.
func idleTime(t report.SenderTime) plan.Duration { return max(0, t.Observed-t.Busy) }

func timeShare(t report.SenderTime, d plan.Duration) units.Ratio {
	return units.RatioOf(int64(d), int64(t.Observed))
}

func waitedShare(s report.Sessions) units.Ratio {
	t := s.Senders
	if s.Datagrams != nil { // whose senders' times nobody looks at
		t.Observed = s.SentIn * plan.Duration(s.Connections)
	}
	return min(timeShare(t, s.EndsWaited), units.One)
}

// endsWaitedWhy is why no figure is the path's where the ends waited longer than mostEndsWaited.
const endsWaitedWhy = "the ends' programs waited for processors"

func waitedSentence(s report.Sessions) string {
	return fmt.Sprintf("the ends' programs waited for processors for %s of the connections' time: a lower bound (give the ends processors that nothing else uses)", Percent(waitedShare(s)))
}

// SessionsSentence says what the sessions did, such as "48.20 Mb/s goodput, 12 retransmits, rtt 1.9 ms". It prints
// retransmits as counted, wherever the segments were lost. It prints a round trip time only where that is the
// path's, by limit.
func SessionsSentence(s report.Sessions, limit SessionLimit) string {
	if s.Datagrams != nil {
		return datagramsSentence(s, limit)
	}
	text := wording.BitRate(s.GoodputBitsPerSecond) + " goodput"
	if !hasServer(s) || deviceIs(s, report.Receiver) { // else only the server knows
		text += ", " + wording.Counted(int(s.RetransmittedSegments), "retransmit")
	}
	if s.RoundTrip != nil && limit.PathDoubt == "" {
		text += ", rtt " + wording.Microseconds(s.RoundTrip.MeanMicroseconds)
	}
	return text
}
