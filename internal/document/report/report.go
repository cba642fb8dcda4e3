package report

import (
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
	// Profile is what the device's processors ran at the answer's load. It is nil where the Plan doesn't ask for it,
	// or there is no answer.
	Profile *Profile `json:"profile,omitempty"`
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
	// Findings are why the figure is what it is, the gravest first. They follow from Placement, Windows and Plan.
	Findings []Finding `json:"findings,omitempty"`
	// Placement is where the device received frames in the window that decided. It is nil where the device isn't on
	// this machine, or can't be read.
	Placement *Placement `json:"placement,omitempty"`
	Notes     []Note     `json:"notes,omitempty"`
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
	InTrains  Phase = "Train"    // trains of frames in one direction, which are timed
	AtLoad    Phase = "Latency"  // a trial whose frames' latency is measured, after the procedure had its result
	Profiled  Phase = "Profile"  // a trial at the answer's load, during which the device's processors were sampled
)

// The phases of a run after its traffic. No window belongs to them.
const (
	Draining Phase = "Draining" // the last frames are waited for
	Ended    Phase = "Ended"
)

// AfterAnswer says that the window is of no load that was judged. It was measured after the procedure had its answer,
// or is of trains, which have no load.
func (p Phase) AfterAnswer() bool { return p == AtLoad || p == Profiled || p == InTrains }

// AfterTraffic says that nothing more will be measured, as the Report is about to be written.
func (p Phase) AfterTraffic() bool { return p == Draining || p == Ended }

// Note is one line of the run's own trace, with what it decided, and why.
type Note struct {
	Time    plan.Duration `json:"time"`
	Message string        `json:"message"`
}
