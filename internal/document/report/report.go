package report

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// Version is the document's kind and version. A reader refuses others, and ignores members that it doesn't know. So a
// changed meaning changes the version.
const Version = "linerate.dev/report.v1alpha1"

// Report is one run's measurement.
type Report struct {
	Version  string     `json:"version"`
	Producer string     `json:"producer"` // linerate's own version
	Plan     *plan.Plan `json:"plan"`
	Started  time.Time  `json:"started"`
	Finished time.Time  `json:"finished"`
	// Ending says how the run came to its end. Only Completed is a whole measurement.
	Ending  Ending `json:"ending"`
	Message string `json:"message,omitempty"` // one sentence, with the way out where it ended badly
	// Fault is what the Message is about, where a sentence of its own says that. It is nil for other endings.
	Fault      *Cause      `json:"fault,omitempty"`
	Generators []Generator `json:"generators,omitempty"`
	// Device is what ran as the device under test. It is nil where the device is no pod of the test's.
	Device *plan.Device `json:"device,omitempty"`
	// Environment is what the run was measured in, which comparisons check. It follows from Generators and Device,
	// and is nil where no generator was reached.
	Environment *Environment `json:"environment,omitempty"`
	// LineRates are the line rates used, per link.
	LineRates []LineRate  `json:"lineRates,omitempty"`
	Path      []PathCheck `json:"path,omitempty"`
	Silence   []Silence   `json:"silence,omitempty"`
	Windows   []Window    `json:"windows,omitempty"`
	// Samples are raw counters about once a second, for graphs. The windows' own counters are the evidence of the
	// result. Those of sessions are at each step's end, too.
	Samples []Sample `json:"samples,omitempty"`
	// Interruptions are the times in which a link was down, or nothing came back of a load that the device carried
	// at another time. They are empty for none.
	Interruptions []Interruption `json:"interruptions,omitempty"`
	// Contradictions are the directions in which the device carried a load at one time, and lost frames of as much
	// at another. They are empty where no windows show that.
	Contradictions []Contradiction `json:"contradictions,omitempty"`
	// Stolen is the processor time that hosts of virtual machines took from generators while they sent. It is empty
	// for nothing, or where it is unknown.
	Stolen []Stolen `json:"stolen,omitempty"`
	// Collected is what the Plan's collections gave, each at each of its times.
	Collected []Collected `json:"collected,omitempty"`
	// Observations are what the Plan's observers read beside the traffic, one for each.
	Observations []Observation `json:"observations,omitempty"`
	// Totals settle, per direction, all that was sent and came back between the first start and the end of the drain.
	Totals []Total `json:"totals,omitempty"`
	// Numbered is what became of frames that carry sequence numbers, which latency streams of the profile do.
	// Counters alone can't distinguish a lost frame from one that came twice. It is empty where the profile has no
	// such streams.
	Numbered []Numbered `json:"numbered,omitempty"`
	// Untimed is why frames were sent without the time stamps that traffic.stamps asks for. It is empty where no
	// stamps were asked for, or all frames had theirs.
	Untimed []Untimed `json:"untimed,omitempty"`
	Answer  Answer    `json:"answer"`
	// Figures are what the run claims, for readers of the document. They follow from Answer, LineRates and Windows,
	// and linerate never reads them back.
	Figures []Figure `json:"figures,omitempty"`
	// Baseline is what relative criteria were judged against. It is nil where nothing was given.
	Baseline *Baseline `json:"baseline,omitempty"`
	Verdict  Verdict   `json:"verdict"`
	Notes    []Note    `json:"notes,omitempty"`
	// Thinned is how much detail there was before some was left out to make the Report fit where it is kept. It is
	// nil where nothing was left out.
	Thinned *Thinned `json:"thinned,omitempty"`
}

// Thinned counts what a run had, where its Report has less.
type Thinned struct {
	Windows int `json:"windows"`
	// InvalidWindows are those of them that say nothing about the DUT.
	InvalidWindows int `json:"invalidWindows"`
	Samples        int `json:"samples"`
	Notes          int `json:"notes"`
}

// Ending is how a run ended.
type Ending string

// The endings.
const (
	Completed        Ending = "Completed"
	Interrupted      Ending = "Interrupted"      // a person or a signal
	DeadlineExceeded Ending = "DeadlineExceeded" // spec.activeDeadline
	GeneratorLost    Ending = "GeneratorLost"
	PathNotProven    Ending = "PathNotProven"
	Failed           Ending = "Failed" // anything else, for which Message says what and the way out
)

// Generator is what a generator reported about itself, and how far its start was apart from the others'.
type Generator struct {
	Name     string `json:"name"`
	Product  string `json:"product"`
	Server   string `json:"server,omitempty"`
	Hostname string `json:"hostname,omitempty"`
	CPUModel string `json:"cpuModel,omitempty"`
	Cores    int    `json:"cores,omitempty"` // that it sends with
	// Processors, Kernel, Hypervisor and Tuning are of the machine that it runs on. They are how many, the release,
	// whose ("none" on bare metal), and how it is set up, with frequency governor, isolated processors, NUMA nodes,
	// and the kernel's command line. Allowed are the processors that the generator may run on.
	Processors int    `json:"processors,omitempty"`
	Kernel     string `json:"kernel,omitempty"`
	Hypervisor string `json:"hypervisor,omitempty"`
	Tuning     string `json:"tuning,omitempty"`
	Allowed    string `json:"allowed,omitempty"`
	Pod        string `json:"pod,omitempty"`
	Node       string `json:"node,omitempty"` // the Kubernetes node that it ran on
	// Containers are its pod's, with the images that they were given. A generator that is no pod has none.
	Containers []plan.Container `json:"containers,omitempty"`
	Ports      []GeneratorPort  `json:"ports"`
	StartSkew  plan.Duration    `json:"startSkew,omitempty"`
}

// GeneratorPort is a generator's port on a link.
type GeneratorPort struct {
	Link        string `json:"link"`
	Index       int    `json:"index"`
	Name        string `json:"name,omitempty"`
	Driver      string `json:"driver,omitempty"`
	NIC         string `json:"nic,omitempty"` // the card's model, or its PCI ids
	Firmware    string `json:"firmware,omitempty"`
	Path        string `json:"path,omitempty"` // how it sends and receives, where it says so
	MAC         string `json:"macAddress"`
	NextHopMAC  string `json:"nextHopMacAddress,omitempty"`
	FlowControl string `json:"flowControl,omitempty"`
	// ReceiveQueues is how many queues the port receives by. Frames that arrive by several may be seen in another
	// order. 0 is unknown.
	ReceiveQueues int `json:"receiveQueues,omitempty"`
	// ReceiveDrops says whether the port counts frames that it had no room for, and PauseFrames whether it counts
	// received pause frames: "counted", "hidden" (its driver has no counter for them), "unknown", or "none" where
	// there can't be any. It is empty for an end of sessions.
	ReceiveDrops string `json:"receiveDrops,omitempty"`
	PauseFrames  string `json:"pauseFrames,omitempty"`
	// LinkChanges is how often the port's link went down or came up from when it was claimed to the last reading of
	// its counters. A window in which it did shows nothing about the device.
	LinkChanges int64 `json:"linkChanges,omitempty"`
	// CongestionControl is what the sessions that are sent from here really used, as Linux names it, such as
	// "cubic". It is empty where there are none, or it is unknown.
	CongestionControl string `json:"congestionControl,omitempty"`
	// Network is the link's network in the cluster, Device the PCI address of what the pod was given of it, and
	// PhysicalPort that of the port behind a virtual function, as functions of one port share its bandwidth.
	Network      string `json:"network,omitempty"`
	Device       string `json:"device,omitempty"`
	PhysicalPort string `json:"physicalPort,omitempty"`
}

// LineRate is the layer-1 line rate of a link, and where it came from.
type LineRate struct {
	Link          string        `json:"link"`
	BitsPerSecond units.BitRate `json:"bitsPerSecond"`
	Source        string        `json:"source"` // spec, port
}

// PathCheck is what the marked frames of one direction showed before any load.
type PathCheck struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Proven   bool   `json:"proven"`
	Sent     int    `json:"sent"`
	Received int    `json:"received"`
	Message  string `json:"message"` // what was seen, such as "8 of 8 frames on east, source MAC 02:…, TTL 63"
	// Fault is why the path isn't proven, where that has a sentence.
	Fault *Cause `json:"fault,omitempty"`
	// Repeats is what numbered frames showed. It is nil where none were sent, as the path wasn't proven.
	Repeats *Repeats `json:"repeats,omitempty"`
	// Learned is what the device changes of frames, where the test declares that it does (dut.changes).
	Learned *Learned `json:"learned,omitempty"`
}

// Learned is what a device was seen to change of a direction's frames before any load.
type Learned struct {
	// TranslatedFlows is how many flows came with other addresses or ports. Translations are the first of them.
	TranslatedFlows int           `json:"translatedFlows,omitempty"`
	Translations    []Translation `json:"translations,omitempty"`
	// Answers says that the direction's frames answer what arrived in the other one, as those of an outside host do
	// that a NAT lets in.
	Answers bool `json:"answers,omitempty"`
	// Tunnel is what packets came wrapped into, such as "VXLAN".
	Tunnel string `json:"tunnel,omitempty"`
	// UnwrappedFrom is what packets were sent wrapped into, and came without.
	UnwrappedFrom string `json:"unwrappedFrom,omitempty"`
	// AddedBytesMin and AddedBytesMax are by how much frames came longer, below zero for shorter. Offered rates are of
	// frames as sent, received ones as they came.
	AddedBytesMin int `json:"addedBytesMin,omitempty"`
	AddedBytesMax int `json:"addedBytesMax,omitempty"`
	// SentVLAN and ArrivedVLAN are the tags, 0 for untagged.
	SentVLAN    uint16 `json:"sentVLAN,omitempty"`
	ArrivedVLAN uint16 `json:"arrivedVLAN,omitempty"`
	// TTLLowerMin and TTLLowerMax are by how much the TTL of packets was lower.
	TTLLowerMin int `json:"ttlLowerMin,omitempty"`
	TTLLowerMax int `json:"ttlLowerMax,omitempty"`
	// Unchanged are changes that were declared and not seen.
	Unchanged []string `json:"unchanged,omitempty"`
}

// Translation is a flow as it was sent, "16.0.0.1:1024 to 48.0.0.1:53", and as it arrived.
type Translation struct {
	Sent    string `json:"sent"`
	Arrived string `json:"arrived"`
}

// Repeats is what became of frames that each carried a number of its own, before any load, which is how many were
// sent, how many of these came, and how many of those more than once.
type Repeats struct {
	Sent     int `json:"sent"`
	Received int `json:"received"`
	Twice    int `json:"twice"`
}

// Silence is the background traffic that a port received while linerate sent nothing.
type Silence struct {
	Link             string        `json:"link"`
	Generator        string        `json:"generator"`
	Received         units.Traffic `json:"received"`
	Duration         plan.Duration `json:"duration"`
	PacketsPerSecond int64         `json:"packetsPerSecond"`
}

// Phase is the part of the procedure that a window belongs to.
type Phase string

// The phases, in their order.
const (
	WarmUp    Phase = "WarmUp"
	Ramping   Phase = "Ramping"
	Refine    Phase = "Refining"
	Confirm   Phase = "Confirming"
	Hold      Phase = "Holding"
	AllAtOnce Phase = "Together" // the loads that were found of each direction by itself, all at once
	Trial     Phase = "Trial"    // a finite one, drained at its end
	Bursting  Phase = "Burst"    // a burst of an exact number of frames, drained at its end
	AtLoad    Phase = "Latency"  // a trial whose frames' latency is measured, after the procedure had its result
)

// The phases of a run after its traffic. No window belongs to them.
const (
	Draining Phase = "Draining" // the last frames are waited for
	Ended    Phase = "Ended"
)

// AfterTraffic says that nothing more will be measured, as the Report is about to be written.
func (p Phase) AfterTraffic() bool { return p == Draining || p == Ended }

// Quality is what a window is worth.
type Quality string

// These are the qualities, from best to worst. docs/measurement.md has the rules.
const (
	Good    Quality = "Good"
	Short   Quality = "Short"   // offered more than 1 % under intended, and no loss, so it is a lower bound only
	Lossy   Quality = "Lossy"   // loss above the limit, surely the DUT's
	Invalid Quality = "Invalid" // says nothing about the DUT
	// Unjudged is a direction's quality while the load of another one varied, or where another one ended the trial
	// early. The Report has its loss, but neither the window's quality nor a claim depends on it.
	Unjudged Quality = "Unjudged"
)

// Window is one stretch of constant load, judged.
type Window struct {
	Number int   `json:"number"` // from 1
	Phase  Phase `json:"phase"`
	// Load is the step's height as a share of the target rate, of the direction that varied, or of the highest
	// where each had its own.
	Load units.Ratio `json:"load"`
	// Varied is the direction whose load varied, such as "west→east", while the others were held and not judged. It
	// is empty where all directions were judged, except, in a trial that was Decided, those that didn't decide it.
	Varied string `json:"varied,omitempty"`
	// Start is the time since Report.Started at which the judged part begins (after settling), and Duration its
	// length.
	Start    plan.Duration `json:"start"`
	Duration plan.Duration `json:"duration"`
	// Took is how long a trial took from its first frame until its last one had come back or was given up. It is 0
	// for other windows.
	Took plan.Duration `json:"took,omitempty"`
	// Reset is how the device's tables were emptied before the trial. It is nil where the test doesn't ask for
	// that.
	Reset *Reset `json:"reset,omitempty"`
	// Decided is set for a trial that was ended early, as it had lost too much already. Duration is how long frames
	// were sent, and all figures are of that time. It is nil where the trial went to its end.
	Decided    *Decided    `json:"decided,omitempty"`
	Quality    Quality     `json:"quality"` // the worst of the directions that are judged
	Reason     string      `json:"reason"`
	Directions []Direction `json:"directions"`
	// Generators is each generator's share of it, where there are several.
	Generators []GeneratorShare `json:"generators,omitempty"`
	// GeneratorCPUPercent is the busiest generator's, or -1 where unknown.
	GeneratorCPUPercent float64 `json:"generatorCPUPercent"`
	// Bursts are, for each sending port, the worst moment in which it sent faster than asked. They are empty where
	// all ports sent evenly, as far as readings show.
	Bursts []Burst `json:"bursts,omitempty"`
	// Unwatched is the longest time in which nothing was read of how evenly generators sent, as one of them or the
	// runner was held up. It is 0 where they were watched throughout.
	Unwatched plan.Duration `json:"unwatched,omitempty"`
	// ReadLate is for how long counters were awaited that came too late for the window to count, as generator or runner
	// was held up. It is 0 where they came in time, or the window counts all the same.
	ReadLate plan.Duration `json:"readLate,omitempty"`
	// Observed is what the series of the Plan's observers were meanwhile.
	Observed []Observed `json:"observed,omitempty"`
	// Disturbance is what kept threads from running that the window needed. It is nil where nothing that matters
	// did, or it can't be read.
	Disturbance *Disturbance `json:"disturbance,omitempty"`
	// Evidence is what else is needed to judge the window by another goal. It is nil where it was not kept.
	Evidence *Evidence `json:"evidence,omitempty"`
}

// Reset is how the device's tables were emptied before a trial.
type Reset struct {
	Action   string        `json:"action"` // what ran, or what was removed
	Duration plan.Duration `json:"duration"`
	// Forwards is how long after that marked frames were back in all directions. Learning frames went ahead of
	// them.
	Forwards plan.Duration `json:"forwards"`
}

// Decided is when and why a trial was ended early.
type Decided struct {
	// Duration is for how long frames had been sent when it was ended, Planned for how long they were to be sent.
	Duration plan.Duration `json:"duration"`
	Planned  plan.Duration `json:"planned"`
	// LossRatio is a share of the frames planned for the whole trial. More than that was lost already, in at least
	// one direction.
	LossRatio units.Ratio `json:"lossRatio"`
}

// Counts says that a window's figures may be used, because it has directions, and none is Invalid. Loss, however
// high, counts.
func (w Window) Counts() bool {
	counted := func(q Quality) bool { return q == Good || q == Short || q == Lossy }
	return counted(w.Quality) && len(w.Directions) > 0 && !slices.ContainsFunc(w.Directions,
		func(d Direction) bool { return !counted(d.Quality) && d.Quality != Unjudged })
}

// HasEdges says that frames were under way while counters were read at the window's edges, as where a load is held.
// A drained trial has no edges.
func (w Window) HasEdges() bool {
	return slices.ContainsFunc(w.Directions, func(d Direction) bool { return d.EdgeFrames > 0 })
}

// SaysNothing says that the window shows nothing about the device. One that is Invalid in one direction, but Lossy
// in another, is above the device's limit.
func (w Window) SaysNothing() bool {
	return w.Quality == Invalid && !slices.ContainsFunc(w.Directions,
		func(d Direction) bool { return d.Quality == Lossy })
}

// LostToBursts says that the window lost frames, but says nothing about the device, as a generator sent in bursts,
// or may have.
func (w Window) LostToBursts() bool {
	if len(w.Bursts) == 0 && w.Unwatched == 0 {
		return false
	}
	return slices.ContainsFunc(w.Directions, func(d Direction) bool {
		return d.Quality == Invalid &&
			d.LossRatioMin > 0
	})
}

// LostToMachine says that the window lost frames, but says nothing about the device, whose limit would have let
// them through, as the machine that plays the device lost them.
func (w Window) LostToMachine() bool {
	return slices.ContainsFunc(w.Directions, func(d Direction) bool { return d.MachineLost > 0 })
}

// LostToDisturbance says that the window lost frames, but says nothing about the device, as threads that carry
// frames waited for processors.
func (w Window) LostToDisturbance() bool {
	return slices.ContainsFunc(w.Directions, func(d Direction) bool {
		return d.Quality == Invalid && d.DisturbedFrames > 0 &&
			d.Sent.Packets-d.Returned.Packets-d.GeneratorDrops() > d.EdgeFrames
	})
}

// LostToLateCounters says that the window says nothing about the device, as its counters came too late.
func (w Window) LostToLateCounters() bool { return w.Quality == Invalid && w.ReadLate > 0 }

// HeldUp says that less was offered than asked for in some direction, as others had the processors of its senders.
func (w Window) HeldUp() bool {
	return slices.ContainsFunc(w.Directions, func(d Direction) bool { return d.HeldUp })
}

// Burst is a moment in which a generator's port sent clearly more than was due, because it had stood still and
// caught up, or sends unevenly. A device may lose such frames at any mean load.
type Burst struct {
	Generator string `json:"generator"`
	Link      string `json:"link"`
	// Start is the time since the window's start, Duration how long it took.
	Start    plan.Duration `json:"start"`
	Duration plan.Duration `json:"duration"`
	// Sent is how many frames left in that time, Due how many should have.
	Sent int64 `json:"sent"`
	Due  int64 `json:"due"`
	// Paused is for how long before that it had sent less than half of what was due.
	Paused plan.Duration `json:"paused,omitempty"`
	// Count is how many such moments the window had.
	Count int `json:"count"`
}

// Note is one line of the run's own trace, with what it decided, and why.
type Note struct {
	Time    plan.Duration `json:"time"`
	Message string        `json:"message"`
}
