// Package engine says what a traffic generator can do, in the words of the runner. internal/engine/stl implements it over TRex's RPC,
// for TRex and for the software engine alike; internal/engine/sim implements it in memory for tests.
//
// An Engine is one generator process with its ports. It is used by one goroutine at a time unless a method says otherwise. Every
// method honours its context's deadline and returns a wrapped, typed error; none retries what changed the generator's state, but for a common start that
// came too late, which is undone first.
package engine

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/linerate-dev/linerate/internal/signs"
	"github.com/linerate-dev/linerate/internal/transit"
	"github.com/linerate-dev/linerate/internal/trex/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// The ways in which a generator fails that the runner decides on.
var (
	// ErrLost: the generator does not answer, or a restarted one does. Its counters are gone; nothing may be concluded from silence.
	ErrLost = errors.New("generator lost")
	// ErrSilent: the generator did not answer as often as it was asked, or not in time.
	ErrSilent = errors.New("it does not answer")
	// ErrTaken: somebody else owns a port, or took it during the run.
	ErrTaken = errors.New("port is owned by someone else")
	// ErrIncompatible: what answers is not a generator that we can drive (another API version, another mode).
	ErrIncompatible = errors.New("incompatible generator")
	// ErrRefused: the generator understood and said no; the message carries its words.
	ErrRefused = errors.New("generator refused")
	// ErrUnresolved: nobody answered for the next hop's address.
	ErrUnresolved = errors.New("next hop not resolved")
)

// Engine is one traffic generator.
type Engine interface {
	// Describe says what generator this is and which ports it has.
	Describe(ctx context.Context) (Description, error)
	// Claim takes the ports and clears what an earlier client left on them: traffic stopped, streams removed, service mode off,
	// flow control off where the port can, promiscuous off. With force it takes them from another owner; else that is ErrTaken.
	Claim(ctx context.Context, ports []int, force bool) error
	// Address gives a port its addresses and finds the next hop's MAC, by ARP or neighbour discovery unless Addressing has it.
	Address(ctx context.Context, port int, a Addressing) (nextHop MAC, err error)
	// Load replaces the port's streams. Their rates are relative, and Start gives the absolute one; but those of bursts (single_burst) are absolute, and Start's is to be their sum.
	Load(ctx context.Context, port int, streams []stream.Stream) error
	// Start sets all loads going at one instant, for at most duration: the generator stops by itself then, whatever becomes of us.
	Start(ctx context.Context, loads []PortLoad, duration time.Duration) error
	// Update changes the rate of running ports without a gap.
	Update(ctx context.Context, loads []PortLoad) error
	// Stop ends the traffic of the ports and returns when it has ended. It is idempotent.
	Stop(ctx context.Context, ports []int) error
	// Read takes one reading of the ports' counters. It is safe for concurrent use with every other method.
	Read(ctx context.Context, ports []int) (Reading, error)
	// Capture starts to keep what the ports receive (service mode); only for path checks, never under load.
	Capture(ctx context.Context, ports []int) (Capture, error)
	// Inject sends the frames (without FCS) once, as they are, out of an idle port.
	Inject(ctx context.Context, port int, frames [][]byte) error
	// Latency reads the latency streams' statistics by their flow id; none running: an empty map.
	Latency(ctx context.Context) (map[uint32]LatencyStats, error)
	// Release stops, clears and gives back the claimed ports.
	Release(ctx context.Context) error
	// Close gives up the connection. It does not stop traffic: Stop and Release do.
	Close() error
}

// Remarker is an Engine that may have to say something of calls that went well.
type Remarker interface {
	// Remarks are sentences on the calls since it was asked for last.
	Remarks() []string
}

// EdgeReader is an Engine whose ports tell more when they are asked for it, which takes them longer: whose doing it was that frames are missing. Between two readings at edges Read
// says of that what the last one of these said, or less.
type EdgeReader interface {
	// ReadEdge is Read with everything that ports can tell.
	ReadEdge(ctx context.Context, ports []int) (Reading, error)
}

// Follower is an Engine that may time each frame of streams with stamps (stream.Flow.Stamped), on ports that say so.
type Follower interface {
	// Followed says what became of these flow ids' frames since their streams were loaded. One whose frames never came may be missing.
	Followed(ctx context.Context, ids []uint32) (map[uint32]Followed, error)
}

// Sampler is an Engine whose latency streams (rule_type latency) may tell how long each of their frames took.
type Sampler interface {
	// Sampled says what became of these latency streams' frames since they were loaded, in whole microseconds, rounded up. One whose frames never came may be missing.
	Sampled(ctx context.Context, ids []uint32) (map[uint32]Followed, error)
}

// Capture is a running capture.
type Capture interface {
	// Fetch returns the frames received since the last Fetch, in order of arrival; it may be empty.
	Fetch(ctx context.Context) ([]CapturedFrame, error)
	// Close ends the capture and service mode.
	Close(ctx context.Context) error
}

// MAC is an Ethernet address in its usual lower-case notation ("02:00:00:00:00:01").
type MAC string

// Description is what a generator says of itself.
type Description struct {
	Product   string // "TRex v3.08", "linerate software engine v0.1.0"
	Server    string // host:port
	Hostname  string
	CPUModel  string
	CoreCount int
	// Processors, Kernel, Hypervisor, Tuning and Allowed are of its machine, where it says them: how many, the release, whose ("none" on bare metal), how it is set up, and on which processors the
	// generator may run.
	Processors                          int
	Kernel, Hypervisor, Tuning, Allowed string
	Ports                               []Port
}

// Port is one of a generator's ports.
type Port struct {
	Index  int
	Name   string // interface name or PCI address
	Driver string
	// NIC is the network card's model, Firmware what runs on it; empty where the generator doesn't say.
	NIC, Firmware string
	// Path is how the port sends and receives, where it says so: "sends by AF_XDP, receives by eBPF".
	Path    string
	MAC     MAC
	Virtual bool          // the speed is not a physical one (veth, virtio, AF_PACKET)
	Speed   units.BitRate // layer-1 line rate as the port says it; 0 unknown
	LinkUp  bool
	Owner   string // "" free
	// FlowControl is the pause-frame state: "off", "on", or "unknown" where the port can't say.
	FlowControl string
	// ReceiveDrops says whether the port tells of frames that reached it and that it had no room for: where it doesn't, a frame that the generator lost is missing like one that the
	// device lost. PauseFrames says the same of pause frames that it received; "" is as good as VisibilityUnknown.
	ReceiveDrops, PauseFrames Visibility
	// Untimed is why the port doesn't follow stamps of every frame; empty: it does.
	Untimed string
	// ReceiveQueues is how many queues it receives by: frames of several may be seen in another order than they came in. 0: nobody knows.
	ReceiveQueues int
}

// Visibility is whether a port tells of something.
type Visibility string

// The visibilities.
const (
	Counted           Visibility = "counted" // it counts all that it sees
	Hidden            Visibility = "hidden"  // its driver counts none
	VisibilityUnknown Visibility = "unknown" // nobody knows whether its driver does
	// Impossible: there is none to count, as of pause frames on a virtual cable.
	Impossible Visibility = "none"
)

// Addressing is a port's side of its link.
type Addressing struct {
	Local   []netip.Prefix // ours: at most one IPv4 and one IPv6
	NextHop []netip.Addr   // the DUT's addresses, resolved if NextHopMAC is empty
	// NextHopMAC, where given, is used as it is and nothing is resolved.
	NextHopMAC MAC
	VLAN       uint16 // 0 untagged
}

// PortLoad is a port's absolute load: packets per second of all its (non-latency) streams together.
type PortLoad struct {
	Port int
	Rate units.PacketRate
}

// Reading is one reading of counters with the time at which they were read. Counters are cumulative from an unknown start and only
// differences mean something.
type Reading struct {
	// At is the reading's own time: the generator's clock where it has one, else the middle of the request on ours.
	At time.Duration
	// Uncertainty is half the time in which the counters may have been read: all of the request where At is ours.
	Uncertainty time.Duration
	Ports       map[int]PortCounters
	// CPUPercent is the busiest sending core's use, as the generator says it; -1 unknown.
	CPUPercent float64
	// QueueFull counts retries on a full transmit queue.
	QueueFull int64
	Stolen    Stolen
	// Processors are those of the generator's machine.
	Processors Processors
	// Signs are what the generator's machine tells of itself besides, of what was asked for; times are the generator's clock.
	Signs []signs.Reading
}

// Stolen is the time that the host of a generator's virtual machine gave to others when one of the generator's processors wanted to run, on average of
// them. Only differences mean something.
type Stolen struct {
	Time time.Duration
	// At is when it was read, on the generator's clock: less often than other counters. 0: the generator doesn't say it.
	At time.Duration
}

// Processors are how each processor of a generator's machine spent its time since the machine started. Only differences mean something.
type Processors struct {
	Each []Processor
	// At is when they were read, on the generator's clock: less often than other counters. 0: the generator doesn't say it.
	At time.Duration
}

// Processor is one of them.
type Processor struct {
	Number int
	// Busy is all that wasn't idle, softirqs included and what was stolen excluded.
	Busy, SoftIRQ, Stolen, Idle time.Duration
}

// PortCounters are a port's raw counters, FCS included in bytes.
type PortCounters struct {
	Sent     units.Traffic
	Received units.Traffic
	// Strays are frames of Received that keep the link up and are nobody's traffic, ARP and neighbour discovery above all; StraysTold: the port tells them apart.
	Strays     units.Traffic
	StraysTold bool
	SendErrors int64 // frames that did not leave, or not whole (oerrors)
	// SendDrops are frames that Sent has, or may have, and that did not leave: they are missing at the far end, and the device never had them.
	SendDrops int64
	// ReceiveErrors are frames that reached the port and were dropped by the generator, for lack of buffers mostly. Damaged ones are among them where the port can't tell them apart.
	ReceiveErrors int64
	// Damaged are frames that came broken, with a wrong checksum or length: the device, or the cable to it, did that.
	Damaged     int64
	LinkUp      bool
	LinkFlaps   int64 // link changes seen since Claim
	PauseFrames int64 // received; -1 unknown
	// PauseFramesSent held the device up, as the port had no room; -1 unknown.
	PauseFramesSent int64
	// Kernel is what the machine's kernel counts of the port's interface, all frames included; KernelTold: the generator says it.
	Kernel     KernelCounters
	KernelTold bool
	// Sending is how long the latest run of finite streams took, from its first frame to its last; 0: there was none, or the port doesn't tell it.
	Sending time.Duration
	// Paced: whatever holds the port up, it never makes up for it in a burst.
	Paced bool
}

// KernelCounters are frames, as an interface's own counters have them since the generator opened it. Dropped ones found no room, or nobody who wanted them.
type KernelCounters struct {
	Received, Sent, Dropped int64
}

// CapturedFrame is a frame as received, without FCS.
type CapturedFrame struct {
	Port  int
	At    time.Duration
	Bytes []byte
}

// Followed is what became of a stream's frames that each bear their number and when they were sent. Only differences mean something.
type Followed struct {
	// Received are those that came and were timed. Of them Duplicates had come before, Late ones came behind a later one, and of Stale ones, which came later than that, nobody knows which.
	Received, Duplicates, Late, Stale int64
	// Merged came, and were not timed, as the kernel had made one buffer of several.
	Merged int64
	// Uncounted came and were timed, and are not in Transits: the engine had no room for their times.
	Uncounted int64
	// Varied are the differences of Changes pairs of times that followed each other in a stream, added up.
	Varied   time.Duration
	Changes  int64
	Transits transit.Histogram
}

// LatencyStats is what a latency stream's receiver saw.
type LatencyStats struct {
	Sent, Received                  int64
	Min, Average, Max, Jitter       time.Duration
	Histogram                       map[time.Duration]int64 // lower bound → packets
	Dropped, OutOfOrder, Duplicate  int64
	SequenceTooHigh, SequenceTooLow int64
}
