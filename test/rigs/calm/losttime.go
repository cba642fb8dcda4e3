package calm

import (
	"fmt"
	"time"
)

const (
	// windowSeconds is roughly how many seconds a measurement's window has. The processor time lost in that time is
	// by how much the window is wrong.
	windowSeconds = 2
	// disturbingShare of all processors in a stretch is more than a calm machine ever takes.
	disturbingShare = 0.05
	// disturbingLateness is a beat's lateness that no real-time thread has on a machine that runs it. A
	// generator's frames came as late.
	disturbingLateness = 20 * time.Millisecond
)

// LostTime is the processor time that a machine took from the programs that ran on it.
type LostTime struct {
	seconds  int
	share    float64       // of all processors' time, by the host
	worst    float64       // the largest share in any stretch
	latest   time.Duration // the latest beat's lateness
	realTime bool          // otherwise lateness has no meaning
}

func sum(seconds []second, processors int, realTime bool) LostTime {
	t := LostTime{seconds: len(seconds), realTime: realTime}
	stolen := time.Duration(0)
	for i, s := range seconds {
		stolen += s.stolen
		t.latest = max(t.latest, s.latest)
		stretchStolen := time.Duration(0)
		for _, s := range seconds[max(0, i+1-windowSeconds) : i+1] {
			stretchStolen += s.stolen
		}
		t.worst = max(t.worst, stretchStolen.Seconds()/float64(windowSeconds*processors))
	}
	if len(seconds) > 0 {
		t.share = stolen.Seconds() / float64(len(seconds)*processors)
	}
	return t
}

// Disturbed says whether the machine took enough to disturb a measurement.
func (t LostTime) Disturbed() bool {
	return t.worst >= disturbingShare || t.realTime && t.latest >= disturbingLateness
}

// Outcome is the outcome of a row of the full tier.
type Outcome string

// The outcomes, as tables have them.
const (
	Right Outcome = "as it should be"
	// it isn't as it should be, and proves nothing, as the machine took too much meanwhile
	Disturbed Outcome = "**disturbed**"
	Wrong     Outcome = "**WRONG**"
)

// Outcome is the outcome of a row with these faults.
func (t LostTime) Outcome(faults []string) Outcome {
	switch {
	case len(faults) == 0:
		return Right
	case t.Disturbed():
		return Disturbed
	}
	return Wrong
}

// Row is a table's cell with how calm the machine was while the row was measured.
func (t LostTime) Row() string {
	text := fmt.Sprintf("%.1f %% stolen", 100*t.share)
	if t.realTime {
		text += fmt.Sprintf(", %.0f ms late", float64(t.latest)/float64(time.Millisecond))
	}
	if t.Disturbed() {
		return "**disturbed**: " + text
	}
	return text
}

// String is a sentence without its end.
func (t LostTime) String() string {
	text := fmt.Sprintf("the host took %.1f %% of the processors in %d s, %.1f %% in the worst %d s", 100*t.share,
		t.seconds, 100*t.worst, windowSeconds)
	if !t.realTime {
		return text + " (only root can see how late the machine runs a real-time thread)"
	}
	return text + fmt.Sprintf(", and the machine ran a real-time thread up to %.1f ms late",
		float64(t.latest)/float64(time.Millisecond))
}
