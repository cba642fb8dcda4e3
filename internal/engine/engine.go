package engine

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/host/signs"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// The ways in which a generator fails that the runner decides on.
var (
	// ErrLost means that the generator doesn't answer, or has restarted. Its counters are lost, and a missing answer
	// proves nothing.
	ErrLost = errors.New("generator lost")
	// ErrSilent means that the generator answered none of several requests, or not in time.
	ErrSilent = errors.New("it does not answer")
	// ErrEnded means that a port doesn't send any more, as its duration was over, or the generator stopped by itself
	// because it heard no client. The generator lives, with its counters.
	ErrEnded = fmt.Errorf("%w", ErrLost)
	// ErrTaken means that another client owns a port, or took it during the run.
	ErrTaken = errors.New("port is owned by someone else")
	// ErrTakenByLinerate is an ErrTaken whose owner is another run of linerate. One that was killed never gives
	// its ports back.
	ErrTakenByLinerate error = takenByLinerate{}
	// ErrIncompatible means that the server isn't a generator that linerate can drive, as its API version or its mode
	// is another one.
	ErrIncompatible = errors.New("incompatible generator")
	// ErrRefused means that the generator refused the request. The error has the generator's message.
	ErrRefused = errors.New("generator refused")
	// ErrTooLong means that a frame is longer than the port, or the far end of its cable, accepts.
	ErrTooLong = errors.New("frame too long")
	// ErrUnresolved means that nobody answered ARP or neighbour discovery for the next hop.
	ErrUnresolved = errors.New("next hop not resolved")
)

type takenByLinerate struct{}

func (takenByLinerate) Error() string { return "port belongs to another run of linerate" }

func (takenByLinerate) Unwrap() error { return ErrTaken }

// Engine is one traffic generator.
type Engine interface {
	// Describe says what generator this is and which ports it has.
	Describe(ctx context.Context) (Description, error)
	// Claim takes the ports and clears what an earlier client left on them: traffic, streams, service mode,
	// promiscuous mode, and flow control where the port can turn it off. With force Claim takes the ports from
	// another owner, without force that is ErrTaken.
	Claim(ctx context.Context, ports []int, force bool) error
	// Address gives a port its addresses and finds the next hop's MAC, by ARP or neighbour discovery unless
	// Addressing has it.
	Address(ctx context.Context, port int, a Addressing) (nextHop MAC, err error)
	// Load replaces the port's streams. Their rates are relative, and Start gives the absolute rate. Only the rates
	// of bursts (single_burst) are absolute, and Start's rate has to be their sum.
	Load(ctx context.Context, port int, streams []stream.Stream) error
	// Start starts all loads at one instant. After duration the generator stops by itself, even if its client has
	// died. A port that EndsLate may stop later, because it sends everything that it was asked for.
	Start(ctx context.Context, loads []PortLoad, duration time.Duration) error
	// Update changes the rate of running ports without a gap.
	Update(ctx context.Context, loads []PortLoad) error
	// Stop ends the traffic of the ports and returns when it has ended. It is idempotent.
	Stop(ctx context.Context, ports []int) error
	// Read takes one reading of the ports' counters. It is safe for concurrent use with every other method.
	Read(ctx context.Context, ports []int) (Reading, error)
	// Capture starts to keep what the ports receive (service mode). It is only for path checks, never under load.
	Capture(ctx context.Context, ports []int) (Capture, error)
	// Inject sends the frames (without FCS) once, as they are, out of an idle port.
	Inject(ctx context.Context, port int, frames [][]byte) error
	// Latency reads the latency streams' statistics by their flow id. The map is empty when no latency stream runs.
	Latency(ctx context.Context) (map[uint32]LatencyStats, error)
	// Release stops, clears and gives back the claimed ports.
	Release(ctx context.Context) error
	// Close gives up the connection. Stop and Release stop traffic, Close doesn't.
	Close() error
}

// Remarker is an Engine that may have remarks on calls that succeeded.
type Remarker interface {
	// Remarks are sentences about the calls since Remarks was called last.
	Remarks() []string
}

// EdgeReader is an Engine that can also read slower counters, which show whether the generator or something
// else lost frames. Between two calls of ReadEdge, Read returns the values of the last ReadEdge for these
// counters, or leaves them unknown.
type EdgeReader interface {
	// ReadEdge is Read with all counters of the ports.
	ReadEdge(ctx context.Context, ports []int) (Reading, error)
}

// Follower is an Engine that can time each frame of streams with stamps (stream.Flow.Stamped), on ports whose
// Untimed is empty.
type Follower interface {
	// Followed says what became of these flow ids' frames since their streams were loaded. A flow id whose frames
	// never came may be missing.
	Followed(ctx context.Context, ids []uint32) (map[uint32]Followed, error)
}

// Sampler is an Engine that may report the latency of each frame of its latency streams (rule_type latency).
type Sampler interface {
	// Sampled says what became of these latency streams' frames since they were loaded, in whole microseconds,
	// rounded up. A stream whose frames never came may be missing.
	Sampled(ctx context.Context, ids []uint32) (map[uint32]Followed, error)
}

// Capture is a running capture.
type Capture interface {
	// Fetch returns the frames received since the last Fetch, in order of arrival. There may be none.
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
	// The generator's machine, where the generator reports it: the number of processors, the kernel's release, the
	// hypervisor ("none" on bare metal), the machine's settings, and the processors on which the generator may run.
	Processors                          int
	Kernel, Hypervisor, Tuning, Allowed string
	Ports                               []Port
}

// Port is one of a generator's ports.
type Port struct {
	Index  int
	Name   string // interface name or PCI address
	Driver string
	// NIC is the network card's model, Firmware its firmware. Both are empty where the generator doesn't report them.
	NIC, Firmware string
	// Path is how the port sends and receives, such as "sends by AF_XDP, receives by eBPF", if the generator reports
	// it.
	Path    string
	MAC     MAC
	Virtual bool          // the speed is not a physical one (veth, virtio, AF_PACKET)
	Speed   units.BitRate // layer-1 line rate as the port reports it, 0 if unknown
	LinkUp  bool
	Owner   string // "" free
	// FlowControl is the pause-frame state, "off", "on" or "unknown".
	FlowControl string
	// ReceiveDrops is the visibility of frames that reached the port and found no room. Where the port doesn't count
	// them, a frame that the generator lost looks like a frame that the device lost. PauseFrames is the visibility of
	// received pause frames. "" means VisibilityUnknown.
	ReceiveDrops, PauseFrames Visibility
	// Untimed is the reason why the port can't time every frame by stamps. It is empty where the port can.
	Untimed string
	// Untrained is the reason why the port can't send trains, or time their frames (TrainSender). It is empty where
	// the port can.
	Untrained string
	// Ring is how many frames the receive ring holds that the port's own frames arrive at: the peer's of a virtual
	// cable, else the port's own. It is 0 if unknown. A train that is longer may lose frames before the device.
	Ring int
	// ReceiveQueues is the number of the port's receive queues, 0 if unknown. With several queues, frames may be read
	// in another order than they arrived in.
	ReceiveQueues int
	// Cautions are sentences about what may keep the test's frames from the port, where the port itself doesn't show
	// it, such as what a physical port sets for a virtual function.
	Cautions []string
}

// Visibility says whether a port counts some event.
type Visibility string

// The visibilities.
const (
	Counted           Visibility = "counted" // it counts all of them
	Hidden            Visibility = "hidden"  // its driver doesn't count them
	VisibilityUnknown Visibility = "unknown" // it isn't known whether its driver counts them
	// Impossible events, such as pause frames on a virtual cable, can't happen.
	Impossible Visibility = "none"
)

// Addressing is a port's addresses on its link, and its next hop.
type Addressing struct {
	Local   []netip.Prefix // the port's own addresses, at most one IPv4 and one IPv6
	NextHop []netip.Addr   // the DUT's addresses, resolved if NextHopMAC is empty
	// NextHopMAC, if set, is used as it is, and nothing is resolved.
	NextHopMAC MAC
	VLAN       uint16 // 0 untagged
}

// PortLoad is a port's absolute load, in packets per second of all its (non-latency) streams together.
type PortLoad struct {
	Port int
	Rate units.PacketRate
}

// Reading is one reading of counters with the time at which they were read. Counters are cumulative from an
// unknown start and only differences mean something.
type Reading struct {
	// Instant is when the counters were read. It is by the generator's clock where the generator has one, otherwise
	// the middle of the request by the runner's clock.
	Instant time.Duration
	// Uncertainty is half of the time span in which the counters may have been read. Where Instant is by the runner's
	// clock, that span is the whole request.
	Uncertainty time.Duration
	Ports       map[int]PortCounters
	// CPUPercent is the load of the busiest sending core, as the generator reports it, -1 if unknown.
	CPUPercent float64
	// QueueFull counts retries on a full transmit queue.
	QueueFull int64
	Stolen    Stolen
	// Processors are the times of the processors of the generator's machine.
	Processors Processors
	// Signs are the vital signs of the generator's machine, of the types in RequestedSigns. Their times are by the
	// generator's clock.
	Signs          []signs.Reading
	RequestedSigns []string
}

// Stolen is the time in which the generator's processors were ready to run but the host of its virtual machine
// ran others instead, averaged over them. Only differences mean something.
type Stolen struct {
	Time time.Duration
	// Instant is when Time was read, by the generator's clock, less often than other counters. It is 0 where the
	// generator doesn't report it.
	Instant time.Duration
}

// Processors are how each processor of a generator's machine spent its time since the machine started. Only
// differences mean something.
type Processors struct {
	List []Processor
	// Instant is when the times were read, by the generator's clock, less often than other counters. It is 0 where
	// the generator doesn't report them.
	Instant time.Duration
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
	// Strays are received frames that aren't the test's traffic, above all ARP and neighbour discovery. They are in
	// Received, too. CountsStrays says whether the port counts them separately.
	Strays       units.Traffic
	CountsStrays bool
	SendErrors   int64 // frames that did not leave, or not whole (oerrors)
	// SendDrops are frames that are, or may be, counted in Sent but did not leave. They are missing at the far end,
	// and never reached the device.
	SendDrops int64
	// ReceiveErrors are frames that reached the port and that the generator dropped, mostly for lack of buffers. They
	// include damaged frames where the port can't count those separately.
	ReceiveErrors int64
	// Damaged are frames that arrived with a wrong checksum or length. The device, or the cable to it, damaged them.
	Damaged     int64
	LinkUp      bool
	LinkFlaps   int64 // link changes since Claim
	PauseFrames int64 // received, -1 if unknown
	// PauseFramesSent are pause frames by which the port held the device up, as the port had no room, -1 if unknown.
	PauseFramesSent int64
	// Kernel has the kernel's counters of the port's interface, with all frames. HasKernel says whether the generator
	// reports them.
	Kernel    KernelCounters
	HasKernel bool
	// Sending is how long the latest run of finite streams took, from its first frame to its last. It is 0 where
	// there was no such run, or the port doesn't report it.
	Sending time.Duration
	// RunDuration is how long the latest start makes the port send, if the port keeps to its schedule, 0 if unknown.
	// EndsLate says whether a late schedule also ends late, as TRex's does. Otherwise the port ends by the clock.
	RunDuration time.Duration
	EndsLate    bool
	// Paced means that the port never catches up in a burst after a delay.
	Paced bool
	// Waited is how long all of the port's sending threads together were ready to run while others had the
	// processors, until just before the other counters were read. Waiting is by how much Waited may have grown by the
	// time these had been read. Both are 0 where no thread waited, or the generator doesn't report it.
	Waited, Waiting time.Duration
}

// KernelCounters are the frames that the kernel counted on an interface since the generator opened it. Dropped
// frames found no room, or no receiver.
type KernelCounters struct {
	Received, Sent, Dropped int64
}

// CapturedFrame is a frame as received, without FCS.
type CapturedFrame struct {
	Port    int
	Instant time.Duration
	Bytes   []byte
}

// Followed says what became of a stream's frames that each carry a number and the time at which they were sent.
// Only differences mean something.
type Followed struct {
	// Received frames arrived and were timed. Of these, Duplicates had arrived before, Late ones arrived behind a
	// frame that was sent later, and Stale ones arrived so late that they may be either.
	Received, Duplicates, Late, Stale int64
	// Merged frames arrived and weren't timed, as the kernel had merged several into one buffer.
	Merged int64
	// Uncounted frames arrived and were timed, but aren't in Transits, as the engine had no room for their times.
	Uncounted int64
	// Varied is the sum of the differences between the latencies of successive frames in a stream. Changes is the
	// number of these differences.
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
