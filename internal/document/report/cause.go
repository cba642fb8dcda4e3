package report

import (
	"fmt"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// Detail distinguishes the causes of one Reason. Each pair of Reason and Detail has a sentence
// (internal/result/answer).
type Detail string

// These are the details that only the windows show. An empty Detail means that the Reason says all.
const (
	// LossAboveLimit, where the device did not carry as much all the time.
	CarriedLessLater      Detail = "CarriedLessLater"      // later it carried less
	CarriedLessEarlier    Detail = "CarriedLessEarlier"    // earlier it carried less
	CarriedLessNowAndThen Detail = "CarriedLessNowAndThen" // now and then it carried less
	CarriedLessAfterLoad  Detail = "CarriedLessAfterLoad"  // after an overload it carries less
	// GeneratorLimited.
	SentInBursts     Detail = "SentInBursts"     // frames were lost while a generator sent in bursts
	SentUnwatched    Detail = "SentUnwatched"    // frames were lost while nothing was read of how generators sent
	SendingQueueFull Detail = "SendingQueueFull" // the port took no more frames
	// MachineLimited, and NotHeld.
	OtherPrograms  Detail = "OtherPrograms"  // other programs used processors that the test needed
	HostOfMachine  Detail = "HostOfMachine"  // the host of a virtual machine used them
	BelowReference Detail = "BelowReference" // the machine lost frames that a Reference's limit lets through
	CountersLate   Detail = "CountersLate"   // generators reported their counters too late
	// Inconclusive.
	LossUnattributed Detail = "LossUnattributed" // which direction lost frames first is unknown
	LossNotRepeated  Detail = "LossNotRepeated"  // frames were lost above the figure, but not in each window
	EdgesHideLoss    Detail = "EdgesHideLoss"    // no load is known to be clean
	OthersHeldAbove  Detail = "OthersHeldAbove"  // the other directions were held above a limit of theirs
	SumUnjudged      Detail = "SumUnjudged"      // all directions' limits at once could not be judged
	CutShort         Detail = "CutShort"         // the run ended before the procedure did
	LossMayBeTesters Detail = "LossMayBeTesters" // part of the loss may be the generators'
	// NoCleanLoad.
	LossAtEveryLoad Detail = "LossAtEveryLoad" // the same share is lost at each load
	NothingJudged   Detail = "NothingJudged"   // no window at the lowest load could be judged
	// NotHeld.
	LinkDown      Detail = "LinkDown"      // a link went down and stayed down
	LinkBack      Detail = "LinkBack"      // a link went down and came back
	ForwardsAgain Detail = "ForwardsAgain" // the device forwarded nothing for a while, and then went on
	LinkFlapped   Detail = "LinkFlapped"   // a link changed its state, for no measurable time
	EndsWaited    Detail = "EndsWaited"    // nothing came back while the ends' programs waited for processors
	PartlyJudged  Detail = "PartlyJudged"  // windows say nothing about the device
	LostInBetween Detail = "LostInBetween" // more frames are missing than all windows lost
	// TrainsMeasured.
	SenderSetPace Detail = "SenderSetPace" // frames left no faster than they came, so the figure is an upper bound
	SenderUntimed Detail = "SenderUntimed" // nobody knows how fast frames left, so the figure is an upper bound
	// NotMeasured.
	NoBurstSearched   Detail = "NoBurstSearched"   // no burst was needed
	NobodyAnswers     Detail = "NobodyAnswers"     // nobody answers for the device's address
	FrameTooLong      Detail = "FrameTooLong"      // a port of the link takes no frames of this length
	NothingReturned   Detail = "NothingReturned"   // nothing came back of a load, though single frames did
	BackgroundTraffic Detail = "BackgroundTraffic" // other traffic on a link hides more loss than is allowed
	FramesLinger      Detail = "FramesLinger"      // frames take longer through the device than a load settles
	// NotMeasured, as the device's address was not found where the Plan has it.
	AnswersUntagged Detail = "AnswersUntagged" // the device answers without a VLAN tag
	AnswersInVLAN   Detail = "AnswersInVLAN"   // the device answers in another link's VLAN
	PortsSwapped    Detail = "PortsSwapped"    // the device takes one link for another
	// NotMeasured, as marked frames or connections did not prove the path.
	RoutedBack       Detail = "RoutedBack"       // the device sends frames back to the link that they came from
	FramesReflected  Detail = "FramesReflected"  // frames came back unchanged on the port that sent them
	OtherPort        Detail = "OtherPort"        // frames came out at another link's port
	DeviceBypassed   Detail = "DeviceBypassed"   // frames arrived as they were sent, though the device changes them
	FramesRepeated   Detail = "FramesRepeated"   // frames arrived more than once
	OtherRouters     Detail = "OtherRouters"     // the TTL shows another number of routers
	ReplacesMACs     Detail = "ReplacesMACs"     // the device replaces MACs and leaves the TTL
	LowersTTL        Detail = "LowersTTL"        // the device routes, and should not
	PassedNoRouter   Detail = "PassedNoRouter"   // connections passed no router
	OtherTTL         Detail = "OtherTTL"         // the TTL is of no device as the Plan has it
	OtherMACs        Detail = "OtherMACs"        // MACs are of no device as the Plan has it
	UnknownSource    Detail = "UnknownSource"    // frames came from a MAC that isn't the device's
	OtherAddresses   Detail = "OtherAddresses"   // addresses were not translated as the Plan has it
	UndeclaredChange Detail = "UndeclaredChange" // the device changes frames as was not declared
	WrongTranslation Detail = "WrongTranslation" // the device takes one flow for another
	Fragments        Detail = "Fragments"        // the device sent a packet in fragments
	FramesResized    Detail = "FramesResized"    // frames arrived longer or shorter
	PayloadChanged   Detail = "PayloadChanged"   // frames arrived with another payload
	ChecksumWrong    Detail = "ChecksumWrong"    // frames arrived with a wrong checksum
	NothingForwarded Detail = "NothingForwarded" // no frame came out of the device
	NothingBridged   Detail = "NothingBridged"   // no frame came out of a bridge
	SomeForwarded    Detail = "SomeForwarded"    // not all frames came out of the device
	OwnDestination   Detail = "OwnDestination"   // a stream sends to another MAC than the device's
	StreamChecksum   Detail = "StreamChecksum"   // a stream's frames have a wrong header checksum
	TTLTooSmall      Detail = "TTLTooSmall"      // the frames' TTL ends on the way
	NothingToMark    Detail = "NothingToMark"    // no stream has a frame that can be marked
	NoRoute          Detail = "NoRoute"          // the device has no route to a destination
	NoNeighbour      Detail = "NoNeighbour"      // nobody answers for the next hop of the device's route
	Prohibited       Detail = "Prohibited"       // the device forbids the frames
	PacketTooBig     Detail = "PacketTooBig"     // a packet is larger than the device's MTU
	OwnAddress       Detail = "OwnAddress"       // the device takes a destination for its own address
	BadHeader        Detail = "BadHeader"        // the device doesn't understand the headers
	Refused          Detail = "Refused"          // the device sent another ICMP error
	NotReset         Detail = "NotReset"         // the device did not forward again after its reset
	NotConnected     Detail = "NotConnected"     // connections did not come through the device
	ServerBusy       Detail = "ServerBusy"       // the server that is the device's end ran somebody else's tests
	EndpointSilent   Detail = "EndpointSilent"   // the device, which is an end, does not answer connections
	TTLNotKept       Detail = "TTLNotKept"       // a kernel doesn't keep the TTL that proves the path
	// LoadHeld, where all directions' limits together are too much.
	LimitsTogether Detail = "LimitsTogether"
)

// Cause is what the windows show about an Answer's Reason, as values that its sentence contains. A value that is zero
// is unknown, or the sentence doesn't need it.
type Cause struct {
	Detail Detail `json:"detail,omitempty"`
	// Lost is the share of frames that the device lost. Acceptable is a loss limit somewhat above that.
	Lost       units.Ratio `json:"lostRatio,omitempty"`
	Acceptable units.Ratio `json:"acceptableLossRatio,omitempty"`
	// PacketsPerSecond is the rate that the sentence names beside the figure, in one direction.
	PacketsPerSecond int64 `json:"packetsPerSecond,omitempty"`
	// Process is the program that used a processor which the test needed, such as "cc1".
	Process string `json:"process,omitempty"`
	// Link and Direction are what the sentence is about, "east" or "west→east".
	Link      string `json:"link,omitempty"`
	Direction string `json:"direction,omitempty"`
	// Address is what the sentence is about, such as the device's, for which nobody answers. It may be a MAC.
	Address string `json:"address,omitempty"`
	// Change is what the device changes of frames, by its name in dut.changes. Found says as what frames came, in a few
	// words, such as "as 198.18.1.1:1024".
	Change string `json:"change,omitempty"`
	Found  string `json:"found,omitempty"`
	// FrameBytes is the length of a frame that is too long, with its FCS.
	FrameBytes int `json:"frameBytes,omitempty"`
	// Port is the TCP or UDP port that connections go to.
	Port uint16 `json:"port,omitempty"`
	// Routers is how many routers frames passed, by their TTL.
	Routers int16 `json:"routers,omitempty"`
	// Elapsed is the time from the beginning of traffic to an event, and Lasted how long that event took.
	Elapsed plan.Duration `json:"elapsed,omitempty"`
	Lasted  plan.Duration `json:"lasted,omitempty"`
	// Judged is how long a load was held in windows that could be judged, of Held.
	Judged plan.Duration `json:"judged,omitempty"`
	Held   plan.Duration `json:"held,omitempty"`
	// Frames is a number of frames, such as those of the longest burst without loss.
	Frames int64 `json:"frames,omitempty"`
	// Cautions are sentences of the generators' ports about what may keep frames from them, such as what a physical
	// port sets for a virtual function.
	Cautions []string `json:"cautions,omitempty"`
}

// EvidenceRow is one observation behind an Answer.
type EvidenceRow struct {
	// Subject is what the row is about: "answer", "lossy load", "held", "link", "device", "limit".
	Subject string `json:"subject"`
	// Window is the number of the window that shows the observation, or 0 where several windows do, or none.
	Window int `json:"window,omitempty"`
	// Text has the observation with its figures.
	Text string `json:"text"`
}

// EvidenceText is all evidence in one line.
func (r Answer) EvidenceText() string {
	var texts []string
	for _, e := range r.Evidence {
		texts = append(texts, e.String())
	}
	return strings.Join(texts, "; ")
}

// String is the row in one line, such as "lowest loss, window 7: 4 % lost".
func (e EvidenceRow) String() string {
	if e.Window == 0 {
		return e.Subject + ": " + e.Text
	}
	return fmt.Sprintf("%s, window %d: %s", e.Subject, e.Window, e.Text)
}
