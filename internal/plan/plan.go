// Package plan is the Plan document: everything needed to run a measurement, and to repeat it. The compiler writes it, the runner
// reads it, the Report carries it. It holds no secret and no address that is found out only at run time.
package plan

import (
	"encoding/json"
	"net/netip"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/trex/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// Version and those below it are the document's kind and versions; a reader refuses others. A Plan is of the oldest version that can say it, so that a ramp's is carried out by whoever could carry it
// out before. Members that a reader doesn't know it ignores: a changed meaning changes the version.
const (
	Version           = "linerate.dev/plan.v1alpha1" // procedure.type is Ramp
	VersionOfUnion    = "linerate.dev/plan.v1alpha2" // any of the procedures
	VersionOfSessions = "linerate.dev/plan.v1alpha3" // traffic may be sessions, and a constant load unlimited
	VersionOfEach     = "linerate.dev/plan.v1alpha4" // a ramp may vary each direction by itself
	VersionOfReset    = "linerate.dev/plan.v1alpha5" // the device may be reset before each trial
	// VersionOfApplications: sessions may be of an application, over UDP, and held at a rate. Who knows none of that would measure all that TCP carries.
	VersionOfApplications = "linerate.dev/plan.v1alpha6"
	VersionOfLatency      = "linerate.dev/plan.v1alpha7" // latency may be measured after the procedure has its result
	VersionOfEndpoints    = "linerate.dev/plan.v1alpha8" // the device may be an end of sessions itself
)

// VersionOf is the version of a Plan.
func VersionOf(p *Plan) string {
	if p.DUT.Endpoint() {
		return VersionOfEndpoints
	}
	return VersionFor(p.Procedure, p.Sessions)
}

// VersionFor is the version of a Plan with this procedure, of sessions or, where those are nil, of frames, through a device.
func VersionFor(p Procedure, sessions *Sessions) string {
	switch {
	case p.Latency != nil:
		return VersionOfLatency
	case sessions != nil && (sessions.Application != "" || sessions.Protocol == UDP || sessions.BitsPerSecond(p) != 0):
		return VersionOfApplications
	case p.Reset != nil:
		return VersionOfReset
	case p.Each != nil:
		return VersionOfEach
	case sessions != nil || p.ConstantLoad != nil && p.ConstantLoad.Unlimited:
		return VersionOfSessions
	case p.Type == TypeRamp || p.Type == "":
		return Version
	}
	return VersionOfUnion
}

// Versions are all that this linerate reads, the newest first.
var Versions = []string{VersionOfEndpoints, VersionOfLatency, VersionOfApplications, VersionOfReset, VersionOfEach, VersionOfSessions, VersionOfUnion, Version}

// Readable says that this linerate reads Plans of the version.
func Readable(version string) bool {
	return slices.Contains(Versions, version)
}

// Plan is one measurement.
type Plan struct {
	Version string `json:"version"`
	Test    Test   `json:"test"`
	// Engine is the generator's kind: TRex, Software or External.
	Engine     string      `json:"engine"`
	DUT        DUT         `json:"dut"`
	Links      []Link      `json:"links"`
	Directions []Direction `json:"directions"`
	Generators []Generator `json:"generators"`
	// Sending is how the software engine is to send, as far as the test says it; nil: it doesn't. It is no part of the method: what sent, and how, is the environment's.
	Sending *Sending `json:"sending,omitempty"`
	// Sessions is what connections are like, where traffic is sessions; nil: it is frames.
	Sessions  *Sessions   `json:"sessions,omitempty"`
	Procedure Procedure   `json:"procedure"`
	Criteria  []Criterion `json:"criteria,omitempty"`
	// Observers read vital signs beside the traffic. They are no part of the method: a figure is the same whoever looks on.
	Observers []Observer `json:"observers,omitempty"`
	// Baseline names what relative criteria are to be compared with ("LoadTest vpp-main"); what it is worth is found out when the test is run.
	Baseline string `json:"baseline,omitempty"`
	// AllowDifferent is what of the baseline's environment may be another: Generator, Path, NIC, Driver, Node, Processor.
	AllowDifferent []string `json:"allowDifferent,omitempty"`
	// SharedPort: two ends of the links may be on one physical port, and share its bandwidth. Where they do, the result says so.
	SharedPort bool `json:"sharedPort,omitempty"`
	// ActiveDeadline bounds the whole run; 0 none.
	ActiveDeadline Duration `json:"activeDeadline,omitempty"`
}

// Observer is what is read beside the traffic, and whose that is.
type Observer struct {
	Name string `json:"name"`
	Of   string `json:"of"`   // whose
	Type string `json:"type"` // one of the types of observers
	// Every is how often somebody is asked over the network, and AveragedOver over how long it averages what it tells; 0: it isn't asked, or doesn't.
	Every        Duration `json:"every,omitempty"`
	AveragedOver Duration `json:"averagedOver,omitempty"`
	// Exactly one of these is set of an observer that asks somebody over the network, and none of others.
	Prometheus *PrometheusQuery `json:"prometheus,omitempty"`
	SNMP       *SNMPObject      `json:"snmp,omitempty"`
	Redfish    *RedfishChassis  `json:"redfish,omitempty"`
	VPP        *VPPStats        `json:"vpp,omitempty"`
}

// PrometheusQuery is a question to a Prometheus server. Secret names who may ask; the credentials themselves are in no document.
type PrometheusQuery struct {
	URL    string `json:"url"`
	Query  string `json:"query"`
	Unit   string `json:"unit"`
	Secret string `json:"secret,omitempty"`
}

// SNMPObject is an object of an SNMP agent's.
type SNMPObject struct {
	Address string `json:"address"` // host:port
	OID     string `json:"oid"`
	Unit    string `json:"unit"`
	Scale   string `json:"scale"` // decimal
	Secret  string `json:"secret,omitempty"`
}

// RedfishChassis is a chassis whose management controller speaks Redfish.
type RedfishChassis struct {
	URL     string `json:"url"`
	Chassis string `json:"chassis,omitempty"` // empty: the only one
	Secret  string `json:"secret"`
}

// VPPStats is a VPP that hands over its statistics by a socket on the runner's machine.
type VPPStats struct {
	Socket string `json:"socket"`
}

// What VPP counts of each of its nodes, and what follows from that in a window: clocks of a packet, and packets of a call.
const (
	VPPClocks       = "clocks"
	VPPVectors      = "vectors"
	VPPCalls        = "calls"
	ClocksPerPacket = "clocksPerPacket"
	VectorsPerCall  = "vectorsPerCall"
)

// Watts is the unit of power. Of an observer's series in it two more follow, by what was received in a window: WattsPerGbps, per Gb/s of layer 1 (of sessions of goodput), and
// JoulesPerPacket, per frame.
const (
	Watts           = "W"
	WattsPerGbps    = "wattsPerGbps"
	JoulesPerPacket = "joulesPerPacket"
)

// Asks says that the observer asks somebody, over the network or by a socket, with a period of its own.
func (o Observer) Asks() bool {
	return o.Prometheus != nil || o.SNMP != nil || o.Redfish != nil || o.VPP != nil
}

// Secret is the name of the credentials that it shows; empty: none.
func (o Observer) Secret() string {
	switch {
	case o.Prometheus != nil:
		return o.Prometheus.Secret
	case o.SNMP != nil:
		return o.SNMP.Secret
	case o.Redfish != nil:
		return o.Redfish.Secret
	}
	return ""
}

// longestIdle bounds for how long anybody waits after the traffic for what is idle then.
const longestIdle = time.Minute

// IdleTime is how long after the traffic each observer that asks somebody has a reading that is of no traffic; 0: none asks.
func (p *Plan) IdleTime() (longest time.Duration) {
	for _, o := range p.Asking() {
		longest = max(longest, o.AveragedOver.Std()+o.Every.Std()+time.Second) // the last for the answer
	}
	return min(longest, longestIdle)
}

// Asking are the observers that ask somebody over the network.
func (p *Plan) Asking() (all []Observer) {
	for _, o := range p.Observers {
		if o.Asks() {
			all = append(all, o)
		}
	}
	return all
}

// Observes says that an observer of a type reads along.
func (p *Plan) Observes(observerType string) bool {
	return slices.ContainsFunc(p.Observers, func(o Observer) bool { return o.Type == observerType })
}

// ObservesDevice says that an observer looks at the device's node.
func (p *Plan) ObservesDevice() bool {
	return slices.ContainsFunc(p.Observers, func(o Observer) bool { return !o.Asks() && (o.Of == OfDUT || o.Of == OfNode) })
}

// Whose vital signs observers read, and which.
const (
	OfGenerator       = "Generator"
	OfDUT             = "DUT"
	OfNode            = "Node" // each machine that generators or device are on
	OfLab             = "Lab"  // something beside them
	ObserveProcessors = "Processors"
	ObserveLimiter    = "Limiter"
	ObserveInterfaces = "Interfaces"
	ObservePrometheus = "Prometheus"
	ObserveSNMP       = "SNMP"
	ObserveRedfish    = "Redfish"
	ObserveVPP        = "VPP"
)

// Test names the run. Product and Loadtest are its row and column in a table of many ("VPP", "imix").
type Test struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	UID       string `json:"uid,omitempty"`
	Attempt   int    `json:"attempt"`
	Product   string `json:"product"`
	Loadtest  string `json:"loadtest"`
}

// Forwarding is how the DUT forwards: it decides where frames are addressed and what the path check expects to come back.
type Forwarding string

// The ways of forwarding. A Loopback forwards as L2: what comes back is what was sent.
const (
	L3         Forwarding = "L3"         // to the DUT's MAC; back with the DUT's MAC as source, the TTL one lower
	L2         Forwarding = "L2"         // to the far generator port's MAC; back unchanged
	MACRewrite Forwarding = "MACRewrite" // to the DUT's MAC; back with other MACs, the TTL unchanged
	// AsConfigured leaves addressing to the generator's own configuration: frames must come out of the right port once; their MACs and
	// TTL are told, not judged.
	AsConfigured Forwarding = "AsConfigured"
	// Nothing is forwarded: the device is an end of the traffic, on its one link.
	Nothing Forwarding = "Nothing"
)

// DeviceEnd is what directions call a device that is an end.
const DeviceEnd = "dut"

// DUT is the device under test.
type DUT struct {
	Type       string     `json:"type"` // Pod, Device, Reference, Loopback
	Forwarding Forwarding `json:"forwarding"`
	Reference  *Reference `json:"reference,omitempty"`
	// Setup and Teardown are the programs that linerate run starts before and after the run; nil: there is none, or pods do it.
	Setup    *Program `json:"setup,omitempty"`
	Teardown *Program `json:"teardown,omitempty"`
	// ResetCommand empties the device's tables where Procedure.Reset asks for it; none: the Reference does it itself.
	ResetCommand []string `json:"resetCommand,omitempty"`
}

// Endpoint says that the device is an end of the traffic itself.
func (d DUT) Endpoint() bool { return d.Forwarding == Nothing }

// Loopback says that there is no device: each generator's ports are cabled to each other, and it measures itself.
func (d DUT) Loopback() bool { return d.Type == "Loopback" }

// Program is what is run to its end, within a bound.
type Program struct {
	Command  []string `json:"command"`
	Deadline Duration `json:"deadline"`
}

// Reference is the built-in Linux forwarder; without a limit, as with any mode, it forwards what it can.
type Reference struct {
	Limit *Limit `json:"limit,omitempty"`
	// Mode is the real device that it is; nil: a plain forwarder.
	Mode *Mode `json:"mode,omitempty"`
}

// Link is one wire between the generators and the DUT.
type Link struct {
	Name string `json:"name"`
	// LineRate is the layer-1 bit rate that 100 % means; 0: the physical port's own speed.
	LineRate units.BitRate `json:"lineRateBitsPerSecond,omitempty"`
	DUT      DUTEnd        `json:"dut"`
}

// DUTEnd is the DUT's end of a link.
type DUTEnd struct {
	Addresses []netip.Prefix `json:"addresses,omitempty"`
	MAC       string         `json:"macAddress,omitempty"`
}

// Direction is traffic from one link to another, through the DUT. A link is the source of at most one direction and the destination
// of at most one, so that port counters are the direction's own.
type Direction struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Mix is the composition of the direction's traffic, for the arithmetic between packets and bits.
	Mix units.Traffic `json:"mix"`
}

// Name is the direction for people, and in documents: "west→east".
func (d Direction) Name() string { return d.From + "→" + d.To }

// Sending is how the software engine sends.
type Sending struct {
	// Cores is how many threads may send on each port; 0: nobody says.
	Cores int `json:"cores,omitempty"`
	// Path is live, af_xdp or af_packet, as linerate generator --path has it; empty: nobody says.
	Path string `json:"path,omitempty"`
}

// Generator is one replica, with a port on every link; or, where replicas are spread over pods, one replica's port on one link.
type Generator struct {
	Name string `json:"name"`
	// Server is the RPC address, host:port, of a generator that already runs; empty where it is ours to start.
	Server string          `json:"server,omitempty"`
	Ports  []GeneratorPort `json:"ports"`
}

// GeneratorPort is a replica's port on a link: its addresses, the streams it sends (none where its link is no direction's source),
// and its exact share of the direction's rate, Share/ShareOf.
type GeneratorPort struct {
	Link      string          `json:"link"`
	Addresses []netip.Prefix  `json:"addresses,omitempty"`
	Networks  []netip.Prefix  `json:"networks,omitempty"` // routed to this port by the DUT
	VLAN      uint16          `json:"vlan,omitempty"`
	Share     int64           `json:"share"`
	ShareOf   int64           `json:"shareOf"`
	Streams   []stream.Stream `json:"streams,omitempty"`
}

// LargestFrame is the size of the largest frame that the generators send, in bytes without FCS; 0 of sessions, whose frames are the kernels' affair.
func (p *Plan) LargestFrame() (bytes int) {
	for _, g := range p.Generators {
		for _, port := range g.Ports {
			for _, s := range port.Streams {
				bytes = max(bytes, len(s.Packet.Binary))
			}
		}
	}
	return bytes
}

// The protocols of sessions, and the applications that speak them.
const (
	TCP               = "TCP"
	UDP               = "UDP"
	ApplicationIperf3 = "iperf3"
	ApplicationIperf2 = "iperf2"
)

// Sessions are bulk transfers in each direction, between a program at each link. Their frames are the kernels' affair.
type Sessions struct {
	Protocol string `json:"protocol"` // TCP or UDP
	// Application is what the programs speak: iperf3, or iperf2, which is that program; empty: linerate's own transfer over TCP.
	Application string `json:"application,omitempty"`
	// Parallel is how many connections each direction has.
	Parallel int `json:"parallel"`
	// WindowBytes is the size of each connection's buffers at either end; 0: the kernels' own, which grow as they see fit.
	WindowBytes int64 `json:"windowBytes,omitempty"`
	// MessageBytes is how much is written, and read, at a time.
	MessageBytes int64 `json:"messageBytes"`
	// CongestionControl is Linux' name of it; empty: the ends' own choice.
	CongestionControl string `json:"congestionControl,omitempty"`
}

// BitsPerSecond is the payload that all connections of a direction are to carry together, in a constant load; 0: all that they can. A rate in packets is of datagrams.
func (s *Sessions) BitsPerSecond(p Procedure) int64 {
	if p.ConstantLoad == nil || p.ConstantLoad.Unlimited {
		return 0
	}
	const one = 1_000_000 // of a rate's Micros
	rate := p.ConstantLoad.Rate
	if rate.Kind == units.Packets {
		return rate.Micros / one * 8 * s.MessageBytes
	}
	return rate.Micros / one
}

// The types of procedure.
const (
	TypeRamp               = "Ramp"
	TypeConstantLoad       = "ConstantLoad"
	TypeFrameLoss          = "FrameLoss"
	TypeMaximumOfferedLoad = "MaximumOfferedLoad"
	TypeSearch             = "Search"
	TypeBackToBack         = "BackToBack"
	TypeSoak               = "Soak"
)

// Procedure is how the load is varied. Of the members named for a type, the type's is set.
type Procedure struct {
	Type               string              `json:"type"`
	Ramp               Ramp                `json:"ramp,omitzero"`
	ConstantLoad       *ConstantLoad       `json:"constantLoad,omitempty"`
	FrameLoss          *FrameLoss          `json:"frameLoss,omitempty"`
	MaximumOfferedLoad *MaximumOfferedLoad `json:"maximumOfferedLoad,omitempty"`
	Search             *Search             `json:"search,omitempty"`
	BackToBack         *BackToBack         `json:"backToBack,omitempty"`
	Soak               *Soak               `json:"soak,omitempty"`
	// Each varies one direction after another, of a ramp; nil: all directions climb together.
	Each *Each `json:"each,omitempty"`
	// Reset has the device's tables emptied before each trial, by its own reset or DUT.ResetCommand; nil: nothing is done between trials.
	Reset *Reset `json:"reset,omitempty"`
	// Latency is measured once the procedure has its result; nil: it isn't.
	Latency      *Latency    `json:"latency,omitempty"`
	MaxLossRatio units.Ratio `json:"maxLossRatio"`
}

// Reset is how long emptying the device's tables may take, and then the device until it forwards again. What empties them is the device's.
type Reset struct {
	Timeout Duration `json:"timeout,omitzero"`
}

// Latency is at which loads latency is measured, by a trial at each.
type Latency struct {
	// At are the loads, as shares of the rate that the procedure found or held; 0: single frames.
	At []units.Ratio `json:"at"`
	// Of names the goal of a search whose rate that is; empty: the procedure has no goals.
	Of            string   `json:"of,omitempty"`
	TrialDuration Duration `json:"trialDuration"`
}

// Confirmation is how long an answer is held before it counts as confirmed; 0: there is nothing to confirm.
func (p Procedure) Confirmation() time.Duration { return p.Ramp.ConfirmDuration.Std() }

// MarshalJSON writes a ramp with all its fields, also where they are zero: the method's hash is of them.
func (p Procedure) MarshalJSON() ([]byte, error) {
	if p.Type == TypeRamp || p.Type == "" {
		return json.Marshal(struct {
			Type         string      `json:"type"`
			Ramp         Ramp        `json:"ramp"`
			Each         *Each       `json:"each,omitempty"`
			Latency      *Latency    `json:"latency,omitempty"`
			MaxLossRatio units.Ratio `json:"maxLossRatio"`
		}{p.Type, p.Ramp, p.Each, p.Latency, p.MaxLossRatio})
	}
	type plain Procedure
	return json.Marshal(plain(p))
}

// Ramp is the staircase: warm-up, steps to the target, refinement below saturation, confirmation, hold.
type Ramp struct {
	WarmupRate       units.Rate  `json:"warmupRate"`
	WarmupDuration   Duration    `json:"warmupDuration"`
	TargetRate       units.Rate  `json:"targetRate"`
	RampDuration     Duration    `json:"rampDuration"`
	StepDuration     Duration    `json:"stepDuration"`
	Settle           Duration    `json:"settle"`
	RefineTo         units.Ratio `json:"refineTo"` // width of the last bracket relative to its upper end; 0: no refinement
	ConfirmDuration  Duration    `json:"confirmDuration"`
	HoldDuration     Duration    `json:"holdDuration"`
	StopAtSaturation bool        `json:"stopAtSaturation"`
}

// Each is a ramp of each direction by itself, one after another, while the others are held.
type Each struct {
	// Directions are those of the Plan, "west→east", in its order: a procedure is told nothing else of a Plan.
	Directions []string `json:"directions"`
	// OthersAt is what the directions that don't vary are held at, as a share of the target; 0: nothing is sent in them.
	OthersAt units.Ratio `json:"othersAt"`
}

// ConstantLoad holds one rate, and judges each window of it apart: what disturbs one doesn't void the others.
type ConstantLoad struct {
	Rate units.Rate `json:"rate,omitzero"`
	// Unlimited is instead of Rate: all that the ends of sessions can send, as far as congestion control lets them.
	Unlimited      bool     `json:"unlimited,omitempty"`
	WarmupDuration Duration `json:"warmupDuration"` // at the rate itself, before the first window, not judged
	Duration       Duration `json:"duration"`       // of all windows together
	Window         Duration `json:"window"`
}

// FrameLoss is RFC 2544 section 26.3: finite trials from the highest load down, and the share of frames lost at each.
type FrameLoss struct {
	From           units.Rate `json:"from"`
	To             units.Rate `json:"to"`
	Step           units.Rate `json:"step"`
	WarmupDuration Duration   `json:"warmupDuration"` // a trial at To, not judged
	TrialDuration  Duration   `json:"trialDuration"`
	// StopAfterClean ends the descent after so many successive trials without loss; 0: it goes down to To.
	StopAfterClean int `json:"stopAfterClean,omitempty"`
}

// MaximumOfferedLoad is RFC 2285's forwarding rate at maximum offered load: finite trials at all that the line carries, of which the generators may reach less.
type MaximumOfferedLoad struct {
	Rate           units.Rate `json:"rate"`
	WarmupDuration Duration   `json:"warmupDuration"` // a trial at the same rate, not judged
	TrialDuration  Duration   `json:"trialDuration"`
	Trials         int        `json:"trials"`
}

// BackToBack is RFC 9004's back-to-back frames: the longest burst without loss, searched for several times, and a trial at the same rate before.
type BackToBack struct {
	Rate           units.Rate  `json:"rate"`
	WarmupDuration Duration    `json:"warmupDuration"` // a trial at the same rate, not judged
	TrialDuration  Duration    `json:"trialDuration"`
	Throughput     units.Rate  `json:"throughput,omitzero"` // of each direction, in packets per second; zero: the trial shows how fast the device forwards
	Longest        Duration    `json:"longest"`             // of a burst, at the rate that generators reach
	Resolution     units.Ratio `json:"resolution"`          // of the lengths with and without loss in the end, relative to the first
	Repetitions    int         `json:"repetitions"`         // of the search
}

// Soak is draft-vpolak-bmwg-plrsearch: an estimate of the load at which LossRatio of the frames is lost on average, by trials of growing length.
type Soak struct {
	LossRatio      units.Ratio `json:"lossRatio"`
	Duration       Duration    `json:"duration"` // of all trials together
	FirstTrial     Duration    `json:"firstTrial"`
	TrialGrowth    Duration    `json:"trialGrowth"` // from trial to trial
	MinRate        units.Rate  `json:"minRate"`
	MaxRate        units.Rate  `json:"maxRate"`
	WarmupDuration Duration    `json:"warmupDuration"` // a trial at MinRate, not judged
}

// FramesWithoutLoss is how many frames without a loss show, with 95 %, that less than one of so many is lost, in multiples of that loss ratio's inverse: e⁻³ < 5 %.
const FramesWithoutLoss = 3

// Needed is how many frames it takes to say anything of the loss ratio.
func (s Soak) Needed() int64 {
	return (FramesWithoutLoss*int64(units.One) + int64(s.LossRatio) - 1) / max(1, int64(s.LossRatio))
}

// Search finds, for each of several goals, the highest load that meets it: finite trials, as draft-ietf-bmwg-mlrsearch has them or decided sooner.
type Search struct {
	Classification string     `json:"classification"` // one of the classifications
	Preset         string     `json:"preset,omitempty"`
	MinRate        units.Rate `json:"minRate"`
	MaxRate        units.Rate `json:"maxRate"`
	WarmupDuration Duration   `json:"warmupDuration"` // a trial at MinRate, not judged
	// Goals are what loads must meet; the result's own figures are the first goal's.
	Goals []Goal `json:"goals"`
}

// Goal is what a load must meet, in trials that last FinalTrialDuration, of DurationSum together: at most ExceedRatio of them lose more than LossRatio.
type Goal struct {
	Name               string      `json:"name"`
	LossRatio          units.Ratio `json:"lossRatio"` // of the worst direction
	FinalTrialDuration Duration    `json:"finalTrialDuration"`
	DurationSum        Duration    `json:"durationSum"`
	ExceedRatio        units.Ratio `json:"exceedRatio"`
	Width              units.Ratio `json:"width"` // of the bounds in the end, relative to the upper one
}

// How a search's trials decide whether a load meets a goal.
const (
	ClassifyRFC9971    = "RFC9971"
	ClassifySequential = "Sequential"
)

// Criterion is one demand on the result: absolute, by Min and Max, decimal strings in the metric's unit; or relative, by MaxRegression.
type Criterion struct {
	Name      string `json:"name"`
	Metric    string `json:"metric"`    // LineRatePercent, PacketsPerSecond, Layer1BitsPerSecond, Layer2BitsPerSecond, LossRatio, ...; Observed
	Direction string `json:"direction"` // Each, Total
	// Goal names the goal of a search whose figure is judged; empty: that of the first one, or the procedure has no goals.
	Goal string `json:"goal,omitempty"`
	// Statistic is what of several runs it speaks of: Median, Worst, Spread; empty: the median, which doesn't pass where many runs lie far from it, on the side that misses.
	Statistic string `json:"statistic,omitempty"`
	Min       string `json:"min,omitempty"`
	Max       string `json:"max,omitempty"`
	// MaxRegression is the share by which the figure may be less than the baseline's; nil: the criterion is absolute.
	MaxRegression *units.Ratio `json:"maxRegression,omitempty"`
	// AssumedSpread is the standard deviation of runs, as a share, that is vouched for where the runs are too few to show it; 0: nobody does.
	AssumedSpread units.Ratio `json:"assumedSpread,omitempty"`
	// Latency is which frames a metric of latency is of; nil: the metric is another.
	Latency *LatencyFigure `json:"latency,omitempty"`
	// Observed is what metric Observed judges, in the unit of that series; nil: the metric is another.
	Observed *ObservedSeries `json:"observed,omitempty"`
}

// LatencyFigure is which frames a criterion of latency speaks of.
type LatencyFigure struct {
	At        units.Ratio `json:"at"`                  // one of the loads of Procedure.Latency
	FrameSize int64       `json:"frameSize,omitempty"` // in bytes, FCS included; 0: each size
}

// ObservedSeries is the vital sign that a criterion of metric Observed speaks of.
type ObservedSeries struct {
	Observer  string `json:"observer"`  // its name
	Series    string `json:"series"`    // "busy"
	Of        string `json:"of"`        // Each, All
	Statistic string `json:"statistic"` // Mean, Max
}

// Which series a criterion speaks of, and which number of them.
const (
	ObservedEach = "Each" // each processor's or direction's
	ObservedAll  = "All"  // that of all of a machine's processors together
	ObservedMean = "Mean" // over all windows of the answer
	ObservedMax  = "Max"  // the most in any of them
)

// What of several runs a criterion speaks of.
const (
	MedianOfRuns = "Median" // alone, however far single runs lie from it
	WorstOfRuns  = "Worst"  // each run must meet it
	SpreadOfRuns = "Spread" // their standard deviation, in percent of their median; Max bounds it
)

// Relative says whether the criterion compares with a baseline.
func (c Criterion) Relative() bool { return c.MaxRegression != nil }
