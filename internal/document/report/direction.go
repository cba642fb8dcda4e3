package report

import (
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// Direction is one direction in one window, with what was asked, what was sent, what came back, and the raw
// counters behind it.
type Direction struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Intended Flow   `json:"intended"`
	Offered  Flow   `json:"offered"`
	Received Flow   `json:"received"`
	// Sent and Returned are the raw counters' differences over the window, ReceiveErrors what the generator itself
	// dropped of what reached it.
	Sent          units.Traffic `json:"sent"`
	Returned      units.Traffic `json:"returned"`
	ReceiveErrors int64         `json:"receiveErrors"`
	// SendDrops are frames of Sent that never left the generator, or may not have. DamagedFrames are those that
	// came back broken. They are among what is missing, as lost by the device.
	SendDrops     int64 `json:"sendDrops,omitempty"`
	DamagedFrames int64 `json:"damagedFrames,omitempty"`
	// MiscountedBytes is by how many bytes the sending ports counted more (or less, below zero) than the profile's
	// frames have. ResizedBytes is by how many all frames that came back were longer (or shorter) than those that
	// were sent, beyond what a mix of sizes explains. 0 is less than a byte a frame.
	MiscountedBytes int64 `json:"miscountedBytes,omitempty"`
	ResizedBytes    int64 `json:"resizedBytes,omitempty"`
	// EdgeFrames is how many frames the window's edges alone may account for. Less missing than that is not called
	// loss.
	EdgeFrames int64 `json:"edgeFrames,omitempty"`
	// DisturbedFrames is how many frames may have been lost while the threads that carry them waited for
	// processors. Less missing than that is not called loss either.
	DisturbedFrames int64 `json:"disturbedFrames,omitempty"`
	// SendersWaited is for how long the threads that sent the frames waited for processors themselves, of several
	// ports at the one that waited longest. The frames left in the time that remained, so that more of them may
	// have come while others waited. It is 0 where neither DisturbedFrames nor HeldUp depends on it, or nobody can
	// tell.
	SendersWaited plan.Duration `json:"sendersWaited,omitempty"`
	// HeldUp says that less was offered than asked for, because other programs of the generator's machine, or its
	// host, had the processors of the threads that send. It is the machine's weakness, and not the generator's.
	HeldUp bool `json:"heldUp,omitempty"`
	// Sending is for how long the frames of a trial were sent, of several ports the longest time, where that isn't
	// the window's Duration, and rates are over it. It is 0 where it is.
	Sending plan.Duration `json:"sending,omitempty"`
	// LossRatio is (sent − returned) ÷ sent, and LossRatioMin the part that is surely the DUT's, without the
	// generator's own drops (at either end), EdgeFrames and DisturbedFrames.
	LossRatio    units.Ratio `json:"lossRatio"`
	LossRatioMin units.Ratio `json:"lossRatioMin"`
	// LossRatioMax is the most that may have been lost, with what EdgeFrames may hide, and frames of others among
	// those that came back. It is rounded up, and 0 where it is LossRatio. MostLost has either.
	LossRatioMax units.Ratio `json:"lossRatioMax,omitempty"`
	// LineRatePercent is received layer-1 bits as a share of the destination link's line rate.
	LineRatePercent units.Percent `json:"lineRatePercent"`
	Quality         Quality       `json:"quality"`
	Reason          string        `json:"reason"`
	// Limit is what a search found of the direction by itself, in Answer.Directions alone. Where it is nil, what the
	// Answer says of all directions holds for each.
	Limit *DirectionLimit `json:"limit,omitempty"`
	// Limiter is what the Reference's own limit counted in the window, give or take a moment at the edges. It is
	// nil where there is none, or it can't be asked.
	Limiter *Limiter `json:"limiter,omitempty"`
	// MachineLost is how many frames were lost or held up by the machine that plays the device, as the Reference's
	// limit lets such a load through. The window is Invalid then.
	MachineLost int64 `json:"machineLost,omitempty"`
	// Latency is how long the frames were under way, by frame size, where they bear stamps (traffic.stamps). There
	// is none where they don't, or nobody follows them here, which a note says.
	Latency []Latency `json:"latency,omitempty"`
	// Unstamped are frames that came back in a trial and bear no stamp of the direction's, because they are other
	// people's, or the device has changed their end. Where windows follow each other without a pause nobody can
	// tell.
	Unstamped int64 `json:"unstamped,omitempty"`
	// Burst is the burst that the direction sent, in a window of phase Burst alone. Received says nothing
	// then. It is nil where the window isn't of bursts.
	Burst *SentBurst `json:"burst,omitempty"`
	// Own are the figures that the procedure finds of the direction beside its rates, in Answer.Directions alone.
	Own []OwnFigure `json:"own,omitempty"`
	// LostToSending is how many frames of a load that was given were lost while a generator sent in bursts, or nobody
	// saw how, in Answer.Directions alone. The device might have forwarded these frames of an even load.
	LostToSending int64 `json:"lostToSending,omitempty"`
	// Estimate is the direction's estimated load, in Answer.Directions alone. It is nil where the procedure estimates
	// none.
	Estimate *Estimate `json:"estimate,omitempty"`
	// Trains are the trains that the direction sent, in a window of phase Train, and in an answer of such windows
	// without what their figures were computed from. Nothing above but the direction, Quality, Reason and Own says
	// anything then. It is nil elsewhere.
	Trains *Trains `json:"trains,omitempty"`
	// Sessions is what connections did, where traffic is sessions. Nothing above but the direction, Quality and
	// Reason says anything then. It is nil where traffic is frames.
	Sessions *Sessions `json:"sessions,omitempty"`
}

// Name is the direction for people, and in documents, such as "west→east".
func (m Direction) Name() string { return plan.Direction{From: m.From, To: m.To}.Name() }

// UnderOffered says that less than 99 % of what was asked for was offered.
func (m Direction) UnderOffered() bool {
	return 100*m.Offered.PacketsPerSecond < 99*m.Intended.PacketsPerSecond
}

// WeakGenerator says that less was offered than asked for, and that no other program explains it.
func (m Direction) WeakGenerator() bool { return m.UnderOffered() && !m.HeldUp }

// GeneratorDrops are frames that the generator itself lost, before they left or after they came back.
func (m Direction) GeneratorDrops() int64 { return m.ReceiveErrors + m.SendDrops }

// MostLost is the upper end of the loss, which is LossRatio where nothing may hide more.
func (m Direction) MostLost() units.Ratio { return max(m.LossRatio, m.LossRatioMax) }

// LossLeftOpen says that nobody knows whether loss between these ends is within a limit. It may be, and only what
// edges and frames of others may hide is beyond it.
func LossLeftOpen(low, high, limit units.Ratio) bool { return low <= limit && limit < high }

// Limiter is what a Reference's limit did with the frames of a direction, by its own counters. Frames that are
// missing and that it did not drop were lost elsewhere.
type Limiter struct {
	Passed  int64 `json:"passed"`
	Dropped int64 `json:"dropped"`
}

// GeneratorShare is what one of several generators sent and got in a window, on all its ports together. Where a
// replica's ports are on different machines, one sends and another gets.
type GeneratorShare struct {
	Name                     string `json:"name"`
	OfferedPacketsPerSecond  int64  `json:"offeredPacketsPerSecond"`
	ReceivedPacketsPerSecond int64  `json:"receivedPacketsPerSecond"`
	// StartSkew is how much later than the first of them it began to send, only in the result.
	StartSkew plan.Duration `json:"startSkew,omitempty"`
}

// Flow is a rate in its three usual units, rounded to whole ones.
type Flow struct {
	PacketsPerSecond    int64 `json:"packetsPerSecond"`
	Layer1BitsPerSecond int64 `json:"layer1BitsPerSecond"`
	Layer2BitsPerSecond int64 `json:"layer2BitsPerSecond"`
}

// Sample is one raw reading, summed over replicas, per direction.
type Sample struct {
	Time       plan.Duration     `json:"time"`
	Phase      Phase             `json:"phase"`
	Load       units.Ratio       `json:"load"`
	Directions []SampleDirection `json:"directions"`
	CPUPercent float64           `json:"cpuPercent"`
	QueueFull  int64             `json:"queueFull,omitempty"`
}

// Stolen is the processor time that a generator wanted and did not get, as the host of its virtual machine had
// others run. Frames sent late then, or lost by a device on the same host, are no doing of the device's.
type Stolen struct {
	Generator string `json:"generator"`
	// Percent is its share of the processors' time while traffic ran, WorstPercent that of the worst second or so.
	Percent      float64 `json:"percent"`
	WorstPercent float64 `json:"worstPercent"`
}

// SampleDirection holds cumulative counters since Report.Started.
type SampleDirection struct {
	IntendedPacketsPerSecond int64         `json:"intendedPacketsPerSecond"`
	Sent                     units.Traffic `json:"sent"`
	Returned                 units.Traffic `json:"returned"`
	ReceiveErrors            int64         `json:"receiveErrors,omitempty"`
	// Sessions is what connections had done, where traffic is sessions, and nothing above says anything then. It is
	// nil where traffic is frames.
	Sessions *SessionsSoFar `json:"sessions,omitempty"`
}

// Total settles a direction after the drain.
type Total struct {
	From          string        `json:"from"`
	To            string        `json:"to"`
	Sent          units.Traffic `json:"sent"`
	Returned      units.Traffic `json:"returned"`
	ReceiveErrors int64         `json:"receiveErrors"`
	// SendDrops are frames of Sent that never left the generator, or may not have. DamagedFrames are those that
	// came back broken.
	SendDrops     int64 `json:"sendDrops,omitempty"`
	DamagedFrames int64 `json:"damagedFrames,omitempty"`
	Drained       bool  `json:"drained"` // the counters stood still at the end
	// Limiter is what the Reference's own limit counted of it. It is nil where there is none, or it can't be asked.
	Limiter *Limiter `json:"limiter,omitempty"`
}

// Numbered are the frames of one latency stream over the whole run, as its receiver saw their numbers.
type Numbered struct {
	Generator string `json:"generator"`
	FlowID    uint32 `json:"flowID"`
	Sent      int64  `json:"sent"`
	Received  int64  `json:"received"`
	// Missing are numbers that did not come, Twice those that came again, OutOfOrder those that came late.
	Missing    int64 `json:"missing,omitempty"`
	Twice      int64 `json:"twice,omitempty"`
	OutOfOrder int64 `json:"outOfOrder,omitempty"`
}

// LostElsewhere is how many frames neither came back nor were dropped by the generator or taken by the Reference's
// limit, as the machine lost them. It is 0 where nobody can tell.
func (t Total) LostElsewhere() int64 {
	if t.Limiter == nil || !t.Drained {
		return 0
	}
	return max(0, t.Sent.Packets-t.Returned.Packets-t.ReceiveErrors-t.SendDrops-t.Limiter.Dropped)
}
