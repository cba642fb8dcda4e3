package measure

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// grantedWait is how long the threads that carry frames may wait for a processor in a window, all together, before
// the waits explain any loss. Generators may send batches of as much of their load, so every device has to hold
// that many frames anyway.
const grantedWait = batchTime

// haste is how fast a Paced port sends at most while it makes good what it is late with, in thousandths of what it
// was asked for.
const haste = 1004

// sender is how a direction's frames left in a window.
type sender struct {
	frames int64
	window time.Duration
	// waited is for how long the sending threads were kept from sending, of several ports at the one that waited
	// longest. It is 0 where they didn't wait, or nobody can tell.
	waited time.Duration
	// asked is what all ports were asked for, or a little more where that isn't known exactly.
	asked units.PacketRate
}

// waitedToSend is for how long a port's sending threads waited between two readings, at most. A port that isn't
// Paced sends as fast as it can after a wait, which its bursts show.
func waitedToSend(first, last engine.PortCounters) time.Duration {
	if !last.Paced {
		return 0
	}
	return max(0, last.Waited+last.Waiting-first.Waited)
}

// shortestTime is the least time in which all frames may have left. A thread that waits sends nothing, so the
// frames leave in the remaining time, as evenly as a thread with a processor sends, and no faster than they were
// asked for. Haste is allowed for, as a port that tells of its waits catches up a little faster.
//
//	sent     ▔▔▔▔▔▁▁▁▁▁▁▁▁▔▔▔▔▔▔▔▔▔▔▁▁▁▁▔▔▔    at the rate of window − waited
//	carried  ▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▁▁▁▁▁▁▁▔▔▔▔▔▔▔    at worst never while the sender waited, too
func (s sender) shortestTime() time.Duration {
	if s.waited <= 0 {
		return s.window
	}
	asked := scale(s.frames, int64(time.Second)*int64(units.PacketPerSecond), int64(s.asked))
	return min(s.window, time.Duration(max(1, scale(max(asked, int64(s.window-s.waited)), 1000, haste))))
}

// disturbedFrames is how many of the frames sent in a window may have been lost because the threads that carry them
// were disturbed. While those threads wait, frames come at the sender's rate, and no more can be lost than come.
// Nor can more be lost afterwards, in a queue that is still full. From a device slower than the sender, a wait
// takes what the device would have carried, which is less. A device that is faster empties its queue as frames
// come. Which part of a wait lay within the window isn't known, so all of it counts. A wait that cost no frame
// changes nothing, as only missing frames are explained.
//
//	come     ▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔
//	carried  ▔▔▔▔▔▔▔▔▔▔▁▁▁▁▁▁▁▔▔▔▔▔▔▔▔
//	                   waited: what comes meanwhile is queued, or lost
func (s Setup) disturbedFrames(d *report.Disturbance, sent sender) int64 {
	if d == nil {
		return 0
	}
	if d.Missing != "" {
		return sent.frames
	}
	waited := d.Waited.Std()
	if s.SharesKernel {
		waited = min(waited, d.Strangers.Std())
	}
	delay, shortest := waited+d.Stolen.Std(), sent.shortestTime()
	if scale(int64(delay), int64(sent.window), int64(shortest)) <= int64(grantedWait) {
		return 0
	}
	return scale(sent.frames, int64(min(delay, shortest)), int64(shortest))
}

// worthReporting is a disturbance that is worth reporting. It is nil where there was none, or none was measured.
func worthReporting(d *report.Disturbance) *report.Disturbance {
	if d == nil || d.Missing == "" && d.Waited.Std()+d.Stolen.Std() <= grantedWait &&
		longestWait(d, true).Waited.Std() <= grantedWait {
		return nil
	}
	return d
}

// longestWait is the longest wait of a sending thread, or of one that carries frames. It is the zero value where
// none waited.
func longestWait(d *report.Disturbance, sends bool) (longest report.Wait) {
	for _, w := range d.Waits {
		if w.Sends == sends && w.Waited > longest.Waited {
			longest = w
		}
	}
	return longest
}

// disturbedSentence says which threads waited for what, how many of a direction's frames that may have cost, and
// what to do about it.
func disturbedSentence(w report.Window, m report.Direction) string {
	switch d := w.Disturbance; {
	case d == nil:
		return fmt.Sprintf("%s: up to %d frames may have been lost for that", WhoWaited(w, m), m.DisturbedFrames)
	case d.Missing != "":
		return WhoWaited(w, m) + ", so all of them may have been lost that way; keep other work off it"
	}
	return fmt.Sprintf("%s: up to %d frames may have been lost for that; keep other work off the processors of generator and device", WhoWaited(w, m), m.DisturbedFrames)
}

// WhoWaited says which thread waited for a processor longest while frames of a direction may have been lost for
// that, and whether the sending threads waited, too.
func WhoWaited(w report.Window, m report.Direction) string {
	switch d := w.Disturbance; {
	case d == nil: // of a window that lost its detail
		return "the threads that carry frames waited for processors that others had"
	case d.Missing != "":
		return fmt.Sprintf("the machine was too busy to say who waited for its processors (%s)", d.Missing)
	case m.SendersWaited.Std() > grantedWait:
		return fmt.Sprintf("%s, and what sends waited %s, so that its frames left in the time that remained",
			DisturbanceSentence(*d), wording.Span(m.SendersWaited.Std()))
	default:
		return DisturbanceSentence(*d)
	}
}

// DisturbanceSentence says of a disturbance which thread waited for a processor longest, or what the host took, and
// which process ran.
func DisturbanceSentence(d report.Disturbance) string {
	text := ""
	if wait := longestWait(&d, false); wait.Waited > 0 {
		text = waitSentence(d, wait, "which carries frames")
	}
	if d.Stolen <= 0 {
		return text
	}
	stolen := fmt.Sprintf("the host of this virtual machine took %s of %s", wording.Span(d.Stolen.Std()),
		wording.Span(d.Over.Std()))
	if text == "" || d.Waited < d.Stolen {
		return stolen
	}
	return text + ", and " + stolen
}

// lateSentence says which sending thread waited longest for a processor while a window was sent late or in bursts,
// and who had that processor. It is empty where no thread waited longer than generators are granted. It stands
// beside the counted figures, and does not prove that the wait was the cause, because part of the wait may lie
// outside the window.
func lateSentence(w report.Window) string {
	if w.Disturbance == nil {
		return ""
	}
	wait := longestWait(w.Disturbance, true)
	if wait.Waited.Std() <= grantedWait {
		return ""
	}
	return "; meanwhile " + waitSentence(*w.Disturbance, wait, "which sends")
}

// waitSentence says of a thread what it does, for how long it waited for which processor, and which process had the
// processor.
func waitSentence(d report.Disturbance, wait report.Wait, verb string) string {
	return fmt.Sprintf("thread %s (%d), %s, waited %s of %s for processor %d", wait.Thread, wait.ID, verb,
		wording.Span(wait.Waited.Std()), wording.Span(d.Over.Std()), wait.Processor) +
		whoHadProcessor(d, wait.Processor)
}

// whoHadProcessor names the process that ran longest during the wait on the processor that was waited for, or else
// on the machine.
func whoHadProcessor(d report.Disturbance, processor int) string {
	share := func(o report.Other) int64 { return int64(100 * o.Ran / max(1, d.Over)) }
	for _, o := range d.Others {
		if o.Processor == processor && share(o) > 0 {
			return fmt.Sprintf(", which %s (process %d) had for %d %%", o.Process, o.PID, min(100, share(o)))
		}
	}
	if len(d.Others) > 0 && share(d.Others[0]) > 0 {
		return fmt.Sprintf("; beside it ran %s (process %d) for %d %%", d.Others[0].Process, d.Others[0].PID,
			share(d.Others[0]))
	}
	return ""
}
