package measure

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// OverdueAfter is how long after its sending a datagram counts as lost where no later one arrived to show that. A
// datagram that arrives even later is no longer lost.
const OverdueAfter = 500 * time.Millisecond

// datagrams is what became of the datagrams between the edges. It is nil where the connections are TCP.
func (s SessionSpan) datagrams() *report.Datagrams {
	a, b := s.Sending[0], s.Sending[len(s.Sending)-1]
	start, end := s.Receiving[0], s.Receiving[len(s.Receiving)-1]
	if len(b.Datagrams) == 0 {
		return nil
	}
	received := distinct(end) - distinct(start)
	d := &report.Datagrams{
		Sent: total(b.Datagrams) - total(a.Datagrams), Received: received, Lost: Missing(b, end) - Missing(a, start),
		LostAtLeast: s.LostAtLeast, OutOfOrder: end.OutOfOrder - start.OutOfOrder,
		Duplicates: end.Duplicates - start.Duplicates, DroppedByReceiver: end.Dropped - start.Dropped,
	}
	if s.FramesEach > 1 {
		d.FramesEach = s.FramesEach
	}
	var jitter time.Duration
	for _, r := range s.Receiving[1:] {
		jitter += r.Jitter
	}
	d.JitterMicroseconds = (jitter / time.Duration(len(s.Receiving)-1)).Round(time.Microsecond).Microseconds()
	return d
}

// Missing is how many datagrams a receiver should have by now and has not. In each stream these are the numbers
// below the highest that arrived, and the overdue ones.
func Missing(s Sending, r Receiving) (n int64) {
	for i, stream := range r.Streams {
		n += missingOf(s, i, stream)
	}
	return n
}

// missingOf is Missing of one stream.
func missingOf(s Sending, i int, stream Arrivals) int64 {
	due := stream.Highest
	if i < len(s.Overdue) {
		due = max(due, s.Overdue[i])
	}
	return due - stream.Distinct
}

func distinct(r Receiving) (sum int64) {
	for _, s := range r.Streams {
		sum += s.Distinct
	}
	return sum
}

func total(counts []int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// addDatagrams adds a part to a sum, and leaves a nil part out. It adds jitter, too, which the caller divides by
// the number of parts.
func addDatagrams(sum, d *report.Datagrams) *report.Datagrams {
	if d == nil {
		return sum
	}
	if sum == nil {
		sum = &report.Datagrams{}
	}
	sum.Sent, sum.Received, sum.Lost = sum.Sent+d.Sent, sum.Received+d.Received, sum.Lost+d.Lost
	sum.OutOfOrder, sum.Duplicates, sum.DroppedByReceiver = sum.OutOfOrder+d.OutOfOrder, sum.Duplicates+d.Duplicates,
		sum.DroppedByReceiver+d.DroppedByReceiver
	sum.JitterMicroseconds += d.JitterMicroseconds
	sum.LostAtLeast = sum.LostAtLeast || d.LostAtLeast
	sum.FramesEach = max(sum.FramesEach, d.FramesEach)
	return sum
}

// sentRate is how much payload per second was sent, by the senders' clocks.
func sentRate(s report.Sessions) int64 {
	return int64(units.BitRateOver(8*s.WrittenBytes, int64(s.SentIn)))
}

// limitOfDatagrams is LimitOfSessions for UDP, which has no congestion control. The ends send what was asked for,
// unless an end is too weak, and what does not arrive is lost.
func limitOfDatagrams(s report.Sessions) SessionLimit {
	d, l := s.Datagrams, SessionLimit{Cause: ByUnknown}
	switch {
	case s.Disturbed > 0:
		l.Cause, l.Sentence, l.PathDoubt = ByMachine, disturbedSessionsSentence(s),
			"the threads that carry frames waited for processors"
	case droppedByGenerator(s):
		l.Cause, l.PathDoubt = ByEnds, "the receiver's own sockets had no room for some"
		l.Sentence = fmt.Sprintf("the receiver's own sockets had no room for %d of the datagrams that came: a lower bound (give traffic.sessions.window more, the receiver more CPU, or ask for less)", d.DroppedByReceiver)
	case interfaceDroppedFrames(s):
		l.Cause, l.Sentence, l.PathDoubt = ByEnds, interfaceDropSentence(s),
			"an end itself dropped frames that may have been these datagrams"
	case s.Device != nil && waitedShare(s) > mostEndsWaited:
		// senders that wait make bursts, and a receiver that waits and answers late looks like the device's own end
		l.Cause, l.Sentence, l.PathDoubt = ByEnds, waitedSentence(s), endsWaitedWhy
	case s.Ends != nil && s.Ends.Unknown != "":
		l.Sentence, l.PathDoubt = fmt.Sprintf("how much the ends themselves lost or waited is not known (%s): a lower bound", s.Ends.Unknown), "how much the ends themselves lost or waited is not known"
	case fragmentsLost(s) > 0:
		l.Sentence, l.PathDoubt = fragmentSentence(s), "fragments were lost, and it is not known who lost them"
	case !reached(sentRate(s), s.AskedBitsPerSecond):
		l.Cause, l.Sentence = sentTooLittle(s)
	case receiverMissedTheEnd(s):
		l.Sentence, l.PathDoubt = silentReceiverSentence(s), "what became of some is not known"
	case unaccounted(s), fewerThanAsked(s):
		l.Sentence = fmt.Sprintf("%d datagrams were sent, and the receiver knows of %d only: a lower bound", d.Sent,
			d.Received+d.Lost)
		l.PathDoubt = "what became of some is not known"
	case d.Lost > 0:
		l = limitOfLoss(s)
	default:
		l.Cause, l.Sentence = ByLoad, "all that was asked for came: a lower bound"
	}
	l.JitterDoubt = cmp.Or(l.PathDoubt, jitterOfEnds(s))
	return l
}

// limitOfLoss is the limit of senders that sent all that was asked for, and whose datagrams were lost on the way.
func limitOfLoss(s report.Sessions) (l SessionLimit) {
	if hasServer(s) && deviceIs(s, report.Receiver) {
		l.Cause, l.Sentence = lostOnWayToServer(s)
		return l
	}
	d := s.Datagrams
	l.Carried = reached(s.GoodputBitsPerSecond, s.AskedBitsPerSecond) || d.LostAtLeast && d.Sent-d.Received > d.Lost
	l.Cause, l.Sentence = ByPath, fmt.Sprintf("%s was sent, as asked for, and %s lost the rest",
		wording.BitRate(sentRate(s)), whoLost(s))
	return l
}

// receiverMissedTheEnd says that the receiver reported nothing about the last datagrams that were sent.
func receiverMissedTheEnd(s report.Sessions) bool {
	return s.Datagrams.LostAtLeast && s.SentIn-s.ReceivedIn > plan.Duration(OverdueAfter/2)
}

// fewerThanAsked says that less arrived than was asked for, and that no datagram is known to be lost.
func fewerThanAsked(s report.Sessions) bool {
	return s.Datagrams.LostAtLeast && s.Datagrams.Lost <= 0 && !reached(s.GoodputBitsPerSecond, s.AskedBitsPerSecond)
}

// droppedByGenerator says that a generator's sockets had no room for some datagrams.
func droppedByGenerator(s report.Sessions) bool {
	return s.Datagrams.DroppedByReceiver > 0 && !deviceIs(s, report.Receiver)
}

// sentTooLittle says which end sent less than was asked for.
func sentTooLittle(s report.Sessions) (Limiting, string) {
	sent, asked := wording.BitRate(sentRate(s)), wording.BitRate(s.AskedBitsPerSecond)
	if hasServer(s) && deviceIs(s, report.Sender) {
		return ByServer, fmt.Sprintf("%s sent only %s of %s asked for, as far as its numbers came, and the loss is of "+
			"what it sent", s.Device.Server, sent, asked)
	}
	if deviceIs(s, report.Sender) {
		return ByPath, fmt.Sprintf("the device sent only %s of %s asked for, and the loss is of what it sent", sent,
			asked)
	}
	return ByEnds, fmt.Sprintf("the sender sent only %s of %s asked for: a lower bound, and the loss is of what was sent (give the senders more CPU, or ask for less)", sent, asked)
}

// deviceIs says whether the device is the direction's sender, or its receiver.
func deviceIs(s report.Sessions, kind string) bool { return s.Device != nil && s.Device.Role == kind }

// whoLost names the end, the device or the path that lost the datagrams.
func whoLost(s report.Sessions) string {
	switch d := s.Datagrams; {
	case deviceIs(s, report.Receiver) && d.DroppedByReceiver > 0:
		return fmt.Sprintf("the device (whose own sockets had no room for %d), or what is before it,",
			d.DroppedByReceiver)
	case s.Device != nil:
		return "the device, or what is between it and the generator,"
	}
	return "what is between the ends"
}

// jitterOfEnds says why the jitter may be the ends' own. It is empty where most of the jitter can't be. A thread
// that waits for a processor delays one datagram by its whole wait, and the datagrams behind it by less and less.
// The differences of these delays add up to twice the wait, spread over all datagrams that arrived.
func jitterOfEnds(s report.Sessions) string {
	d := s.Datagrams
	if d.Received <= 0 {
		return ""
	}
	longestWait := time.Duration(2*s.EndsWaited) / time.Duration(d.Received)
	if longestWait <= max(time.Microsecond, time.Duration(d.JitterMicroseconds)*time.Microsecond/2) {
		return ""
	}
	return fmt.Sprintf("the ends' own threads waited %s for processors, which makes up to %s of jitter",
		s.EndsWaited.Std().Round(10*time.Microsecond), wording.Microseconds(longestWait.Microseconds()))
}

// unaccounted says that the receiver knows nothing of more datagrams than are sent in twice OverdueAfter. That many
// are too many to be on their way.
func unaccounted(s report.Sessions) bool {
	d := s.Datagrams
	return float64(d.Sent-d.Received-d.Lost)*float64(s.SentIn) > float64(d.Sent)*float64(2*OverdueAfter)
}

// interfaceDroppedFrames says that an end's network card or kernel dropped frames. What TCP dropped at the ends was
// none of the datagrams.
func interfaceDroppedFrames(s report.Sessions) bool { return len(interfaceDrops(s)) > 0 }

func interfaceDrops(s report.Sessions) (drops []report.EndDrop) {
	if s.Ends == nil {
		return nil
	}
	for _, d := range s.Ends.Dropped {
		ofInterface := d.Counter != FragmentDrops && slices.ContainsFunc(InterfaceDropCounters,
			func(c DropCounter) bool { return c.Name == d.Counter })
		if ofInterface && (d.Counter != notOurs || s.Datagrams.Lost > 0) { // this counter has others' frames, too
			drops = append(drops, d)
		}
	}
	return drops
}

// fragmentsLost is how many fragments the IP stacks of the ends gave up, where datagrams were lost. Who caused that
// is unknown. Fragments whose companions the device lost take up the memory that is missing later, and are given up
// when their number is used again, or after half a minute.
func fragmentsLost(s report.Sessions) (frames int64) {
	if s.Ends == nil || s.Datagrams.Lost <= 0 {
		return 0
	}
	for _, d := range s.Ends.Dropped {
		if d.Counter == FragmentDrops {
			frames = max(frames, d.Packets)
		}
	}
	return frames
}

func fragmentSentence(s report.Sessions) string {
	return fmt.Sprintf("fragments were lost, and it is not known who lost them: an end gave up %d that arrived (%s), for want of memory, or because other fragments of the same datagrams were lost on the way: a lower bound (send datagrams that fit into a frame)", fragmentsLost(s), FragmentDrops)
}

func interfaceDropSentence(s report.Sessions) string {
	d := interfaceDrops(s)[0]
	i := slices.IndexFunc(InterfaceDropCounters, func(c DropCounter) bool { return c.Name == d.Counter })
	c := InterfaceDropCounters[i]
	return fmt.Sprintf("the end of link %s itself dropped %d, where %s (%s of %s: %s): a lower bound (%s)", d.Link,
		d.Packets, lostText(*s.Datagrams), d.Counter, d.Interface, c.Means, c.Remedy)
}

func lostText(d report.Datagrams) string {
	return fmt.Sprintf("%d of %s %s lost", d.Lost, wording.Counted(int(d.Received+d.Lost), "datagram"),
		wording.Verb(int(d.Lost), "was", "were"))
}

// datagramsSentence is SessionsSentence for UDP, such as "48.20 Mb/s goodput, 12 of 4000 datagrams were lost (0.3
// %), jitter 12 µs". The share and the jitter appear only where the path caused them.
func datagramsSentence(s report.Sessions, limit SessionLimit) string {
	d := *s.Datagrams
	text := wording.BitRate(s.GoodputBitsPerSecond) + " goodput, " + lostText(d)
	switch minLoss, maxLoss := max(0, d.LossRatio), d.MostLossRatio(); {
	case limit.PathDoubt != "":
	case maxLoss > minLoss:
		text += " (" + Percent(minLoss) + " to " + Percent(maxLoss) + ")"
	default:
		text += " (" + Percent(minLoss) + ")"
	}
	if d.FramesEach > 1 {
		text += fmt.Sprintf(", each went in %d fragments", d.FramesEach)
	}
	if d.OutOfOrder > 0 {
		text += fmt.Sprintf(", %d came late", d.OutOfOrder)
	}
	if d.Duplicates > 0 {
		text += fmt.Sprintf(", %d came twice", d.Duplicates)
	}
	if limit.JitterDoubt == "" {
		text += ", jitter " + wording.Microseconds(d.JitterMicroseconds)
	}
	return text
}
