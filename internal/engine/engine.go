package engine

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/host/signs"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// The ways in which a generator fails that the runner decides on.
var (
	// ErrLost: the generator doesn't answer, or has restarted. Its counters are lost; no conclusion may be drawn from a missing answer.
	ErrLost = errors.New("generator lost")
	// ErrSilent: the generator didn't answer any of several requests, or not in time.
	ErrSilent = errors.New("it does not answer")
	// ErrTaken: another client owns a port, or took it during the run.
	ErrTaken = errors.New("port is owned by someone else")
	// ErrTakenByLinerate is an ErrTaken whose owner is another run of linerate. One that was killed never gives its ports back.
	ErrTakenByLinerate error = takenByLinerate{}
	// ErrIncompatible: what answers isn't a generator that linerate can drive (another API version, another mode).
	ErrIncompatible = errors.New("incompatible generator")
	// ErrRefused: the generator refused the request; the error has its message.
	ErrRefused = errors.New("generator refused")
	// ErrTooLong: a frame is longer than the port, or the far end of its cable, takes.
	ErrTooLong = errors.New("frame too long")
	// ErrUnresolved: there was no answer to ARP or neighbour discovery for the next hop.
	ErrUnresolved = errors.New("next hop not resolved")
)

type takenByLinerate struct{}

func (takenByLinerate) Error() string { return "port belongs to another run of linerate" }

func (takenByLinerate) Unwrap() error { return ErrTaken }

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
	// Start starts all loads at one instant, for duration: then the generator stops by itself, even if its client has died. A port that EndsLate may stop later: it sends all that it was asked for.
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

// Remarker is an Engine that may have remarks on calls that succeeded.
type Remarker interface {
	// Remarks are sentences about the calls since Remarks was called last.
	Remarks() []string
}

// EdgeReader is an Engine that can also read slower counters, which show whether the generator or something else lost frames. Between two calls of ReadEdge, Read
// returns the values of the last ReadEdge for these counters, or leaves them unknown.
type EdgeReader interface {
	// ReadEdge is Read with all counters of the ports.
	ReadEdge(ctx context.Context, ports []int) (Reading, error)
}

// Follower is an Engine that can time each frame of streams with stamps (stream.Flow.Stamped), on ports whose Untimed is empty.
type Follower interface {
	// Followed says what became of these flow ids' frames since their streams were loaded. A flow id whose frames never came may be missing.
	Followed(ctx context.Context, ids []uint32) (map[uint32]Followed, error)
}

// Sampler is an Engine that may report the latency of each frame of its latency streams (rule_type latency).
type Sampler interface {
	// Sampled says what became of these latency streams' frames since they were loaded, in whole microseconds, rounded up. A stream whose frames never came may be missing.
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

// Description is a generator's description of itself.
type Description struct {
	Product   string // "TRex v3.08", "linerate software engine v0.1.0"
	Server    string // host:port
	Hostname  string
	CPUModel  string
	CoreCount int
	// Processors, Kernel, Hypervisor, Tuning and Allowed describe its machine, where the generator reports them: the number of processors, the kernel's release, the hypervisor ("none" on bare metal), the machine's settings, and the processors on which the
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
	// NIC is the network card's model, Firmware its firmware; empty where the generator doesn't report them.
	NIC, Firmware string
	// Path is how the port sends and receives, if the generator reports it: "sends by AF_XDP, receives by eBPF".
	Path    string
	MAC     MAC
	Virtual bool          // the speed is not a physical one (veth, virtio, AF_PACKET)
	Speed   units.BitRate // layer-1 line rate as the port reports it; 0 unknown
	LinkUp  bool
	Owner   string // "" free
	// FlowControl is the pause-frame state: "off", "on", or "unknown".
	FlowControl string
	// ReceiveDrops says whether the port counts frames that reached it and found no room: if it doesn't, a frame that the generator lost looks like one that the
	// device lost. PauseFrames says the same for received pause frames; "" means VisibilityUnknown.
	ReceiveDrops, PauseFrames Visibility
	// Untimed is why the port can't time every frame by stamps; empty: it can.
	Untimed string
	// ReceiveQueues is the number of the port's receive queues: with several, frames may be seen in another order than they arrived in. 0: unknown.
	ReceiveQueues int
}

// Visibility says whether a port counts some event.
type Visibility string

// The visibilities.
const (
	Counted           Visibility = "counted" // it counts all of them
	Hidden            Visibility = "hidden"  // its driver doesn't count them
	VisibilityUnknown Visibility = "unknown" // it isn't known whether its driver counts them
	// Impossible: they can't happen, such as pause frames on a virtual cable.
	Impossible Visibility = "none"
)

// Addressing is a port's addresses on its link, and its next hop.
type Addressing struct {
	Local   []netip.Prefix // ours: at most one IPv4 and one IPv6
	NextHop []netip.Addr   // the DUT's addresses, resolved if NextHopMAC is empty
	// NextHopMAC, if set, is used as it is, and nothing is resolved.
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
	// At is when the counters were read: by the generator's clock where it has one, otherwise the middle of the request by the runner's clock.
	At time.Duration
	// Uncertainty is half of the time span in which the counters may have been read: of the whole request, where At is by the runner's clock.
	Uncertainty time.Duration
	Ports       map[int]PortCounters
	// CPUPercent is the load of the busiest sending core, as the generator reports it; -1 unknown.
	CPUPercent float64
	// QueueFull counts retries on a full transmit queue.
	QueueFull int64
	Stolen    Stolen
	// Processors are the times of the processors of the generator's machine.
	Processors Processors
	// Signs are the vital signs of the generator's machine, of the types that it was Asked for; their times are by the generator's clock.
	Signs []signs.Reading
	Asked []string
}

// Stolen is the time in which the generator's processors were ready to run but the host of its virtual machine ran others instead, averaged over
// them. Only differences mean something.
type Stolen struct {
	Time time.Duration
	// At is when it was read, by the generator's clock: less often than other counters. 0: the generator doesn't report it.
	At time.Duration
}

// Processors are how each processor of a generator's machine spent its time since the machine started. Only differences mean something.
type Processors struct {
	Each []Processor
	// At is when they were read, by the generator's clock: less often than other counters. 0: the generator doesn't report them.
	At time.Duration
}

// Processor is the time of one processor.
type Processor struct {
	Number int
	// Busy is all time that wasn't idle, with softirqs and without stolen time.
	Busy, SoftIRQ, Stolen, Idle time.Duration
}

// PortCounters are a port's raw counters, FCS included in bytes.
type PortCounters struct {
	Sent     units.Traffic
	Received units.Traffic
	// Strays are received frames that aren't the test's traffic, above all ARP and neighbour discovery; they are in Received, too. StraysTold: the port counts them apart.
	Strays     units.Traffic
	StraysTold bool
	SendErrors int64 // frames that did not leave, or not whole (oerrors)
	// SendDrops are frames that are, or may be, counted in Sent but did not leave: they are missing at the far end, and never reached the device.
	SendDrops int64
	// ReceiveErrors are frames that reached the port and were dropped by the generator, for lack of buffers mostly. Damaged ones are among them where the port can't tell them apart.
	ReceiveErrors int64
	// Damaged are frames that arrived with a wrong checksum or length: the device, or the cable to it, damaged them.
	Damaged     int64
	LinkUp      bool
	LinkFlaps   int64 // link changes seen since Claim
	PauseFrames int64 // received; -1 unknown
	// PauseFramesSent are pause frames by which the port held the device up, as it had no room; -1 unknown.
	PauseFramesSent int64
	// Kernel is the kernel's counters of the port's interface, with all frames; KernelTold: the generator reports them.
	Kernel     KernelCounters
	KernelTold bool
	// Sending is how long the latest run of finite streams took, from its first frame to its last; 0: there was none, or the port doesn't report it.
	Sending time.Duration
	// Lasts is for how long the latest start makes the port send, if it keeps to its schedule; 0: the engine doesn't know. EndsLate: where the schedule is late, its end is, too, as that of TRex; else it ends by
	// the clock.
	Lasts    time.Duration
	EndsLate bool
	// Paced: after a delay, the port never catches up in a burst.
	Paced bool
	// Waited is for how long the port's sending threads were ready to run while others had the processors, all together, until just before the other counters were read, and Waiting how much that may
	// be more by the time these had been read. 0: they didn't wait, or the generator doesn't report it.
	Waited, Waiting time.Duration
}

// KernelCounters are the frames that the kernel counted on an interface since the generator opened it. Dropped frames found no room, or no receiver.
type KernelCounters struct {
	Received, Sent, Dropped int64
}

// CapturedFrame is a frame as received, without FCS.
type CapturedFrame struct {
	Port  int
	At    time.Duration
	Bytes []byte
}

// Followed says what became of a stream's frames that each carry a number and the time at which they were sent. Only differences mean something.
type Followed struct {
	// Received frames arrived and were timed. Of these, Duplicates had arrived before, Late ones arrived behind a frame that was sent later, and Stale ones arrived so late that they may be either.
	Received, Duplicates, Late, Stale int64
	// Merged frames arrived and weren't timed, as the kernel had merged several into one buffer.
	Merged int64
	// Uncounted frames arrived and were timed, but aren't in Transits: the engine had no room for their times.
	Uncounted int64
	// Varied is the sum of the differences between the latencies of successive frames in a stream; Changes is how many differences it has.
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
