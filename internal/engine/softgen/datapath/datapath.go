package datapath

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// Options open a port.
type Options struct {
	Interface string
	// Cores is how many threads may send on this port, and on no other; 0 is 1, which ports share that send live frames where there are no more processors than ports.
	Cores int
	// CPUs are the processors to bind the sending threads to, one each in turn; none: the kernel's scheduler places them.
	CPUs []int
	// Plain keeps to AF_PACKET, as on machines that forbid AF_XDP and eBPF.
	Plain bool
	// Path is how to send; "" is PathAuto.
	Path Path
	// Batch is how many live frames the kernel sends as one batch, from 1 to MostBatch; 0 is 16. After a stall, up to two batches leave at once. A small batch sends evenly, a large one
	// keeps its rate on a busy machine.
	Batch int
	// ReceiveRing is the size in bytes of the ring that AF_PACKET receives into; 0 is 8 MiB. What it has no room for is a ReceiveError.
	ReceiveRing int
	// Receive is where frames are counted; Plain overrides it.
	Receive ReceivePath
	// Follow makes the kernel's counting program follow stamped frames itself, if there is one: it records each frame's order and latency, at any rate. Without it, stamps go to the engine one by one, through a ring that has room for some 40 000.
	Follow bool
}

// Path is a way to send.
type Path string

// The ways to send.
const (
	// PathAuto is the best way that works here: live frames over a virtual cable, if each sending thread has a processor and the run can be sent that way; else AF_XDP, or AF_PACKET where AF_XDP is forbidden. Info().Path says why a better way isn't used.
	PathAuto Path = "auto"
	// PathLive has the kernel make and pace frames (XDP's live frames). A run that can't be sent that way, such as one of bursts, is sent another way, and Info().Path says so while it runs.
	PathLive Path = "live"
	// PathXDP is AF_XDP in copy mode.
	PathXDP Path = "af_xdp"
	// PathZeroCopy is AF_XDP with frames that the card reads from the engine's memory, if its driver can; else it is PathXDP, and Info().Path says why. It hasn't been tested with a real card, so PathAuto doesn't choose it.
	PathZeroCopy Path = "zero_copy"
	// PathPacket is AF_PACKET.
	PathPacket Path = "af_packet"
)

// ReceivePath is where in the kernel frames are counted. If one doesn't work here, the next is used: XDP, traffic control, AF_PACKET. Info().Path says which, and why.
type ReceivePath string

const (
	// ReceiveTC counts at the traffic control hook, after the kernel has merged frames: for a merged buffer it knows the number of frames, but has only the last one's bytes.
	ReceiveTC ReceivePath = ""
	// ReceiveXDP counts in the network card's driver, before anything is merged.
	ReceiveXDP ReceivePath = "xdp"
)

// MostBatch is the largest batch: more at a time is more than a virtual cable takes.
const MostBatch = 64

// ReadPath reads the name of a path.
func ReadPath(text string) (Path, error) {
	switch p := Path(text); p {
	case "", PathAuto, PathLive, PathXDP, PathZeroCopy, PathPacket:
		return p, nil
	}
	return "", fmt.Errorf("%q is no way to send: use %s, %s, %s, %s or %s", text, PathAuto, PathLive, PathXDP, PathZeroCopy, PathPacket)
}

// Info describes a port. Speed is 0 where the interface has none.
type Info struct {
	Interface string
	Driver    string
	// NIC is the network card's PCI ids, Firmware its firmware; empty where there is no card, or its driver doesn't report them.
	NIC, Firmware string
	MAC           [6]byte
	MTU           int
	Speed         units.BitRate
	LinkUp        bool
	LinkFlaps     int64
	// Path says how frames are sent and received here, for people: "AF_XDP + eBPF".
	Path string
	// ReceiveDrops says whether the interface counts frames that it had no room for, PauseFrames whether pause frames are: "counted", "hidden", "unknown" or "none".
	ReceiveDrops, PauseFrames string
	// Untimed is why this port can't time every frame of a stream by stamps; empty: it can.
	Untimed string
	// ReceiveQueues is the number of receive queues; 0: the driver doesn't report it. With several, frames may be seen in another order than they arrived in.
	ReceiveQueues int
}

// Run is traffic to play: streams with their own ids, the factor on every non-latency stream's base rate, and how long.
type Run struct {
	Streams []RunStream
	Factor  float64
	// Duration ends the run by itself; 0 is endless.
	Duration time.Duration
	// Start is when the first packet leaves, on the clock of Now; zero: at once.
	Start time.Duration
	// NextHop is the destination MAC of streams that don't bring their own.
	NextHop [6]byte
}

// RunStream is a stream with the id that next_stream_id refers to.
type RunStream struct {
	ID     uint32
	Stream stream.Stream
}

// Counters are cumulative since the port was opened; bytes include the FCS. ReceiveErrors are frames that reached the port and were
// not counted in Received because the engine, the kernel or the network card dropped them, or because they were not read in time. A buffer that the kernel has merged counts as the frames in it.
type Counters struct {
	// At is when Sent and Received were read, by the clock of Now, to within Uncertainty.
	At, Uncertainty time.Duration
	Sent, Received  units.Traffic
	// Strays are the part of Received that isn't traffic: ARP, neighbour discovery and the like, by which a device checks now and then whether its neighbour is still there.
	Strays                    units.Traffic
	SendErrors, ReceiveErrors int64
	// Damaged are frames that came with a wrong checksum or length: they are in neither Received nor ReceiveErrors.
	Damaged int64
	// SendDrops are frames of Sent that the driver took and did not send.
	SendDrops int64
	// QueueFull is how often a sending thread found its queue full and had to try again; nothing is lost by it.
	QueueFull int64
	// Kernel is the kernel's counters of the interface: all frames, also of other programs. A merged buffer counts as one frame there.
	Kernel KernelFrames
	// PeerFull are frames of Sent that found the receive queue of a veth's far end full: the device's loss, counted here.
	PeerFull   int64
	CPUPercent float64
	// Sending is how long the latest run took whose streams are all finite, from its first frame to its last; 0: there was none, or it isn't over.
	Sending time.Duration
	// Waited is for how long the sending threads were ready to run while others had the processors, all together, until just before the other counters were read, and Waiting how much that may be more by the
	// time these had been read.
	Waited, Waiting time.Duration
	// Behind is how many packets should have left by now and have not.
	Behind int64
}

// KernelFrames are an interface's own counters since it was opened; dropped frames found no room, or no receiver.
type KernelFrames struct{ Received, Sent, Dropped int64 }

// FlowCounters are one flow id's (TRex's pg_id) packets and bytes on one port.
type FlowCounters struct{ Sent, Received units.Traffic }

// Latency is what the receiver of a latency stream saw; durations as measured from the stamp in the frame.
type Latency struct {
	Received                        int64
	Min, Average, Max, Last, Jitter time.Duration
	Histogram                       map[time.Duration]int64 // log-decade lower bounds as TRex has them; 0: under 10 µs
	Dropped, OutOfOrder, Duplicate  int64
	SequenceTooHigh, SequenceTooLow int64
	// Stale frames came so late, behind more than 960 newer ones, that they may have come before. Only a program that follows stamped frames counts them apart.
	Stale int64
	// Merged frames came in buffers that the kernel had merged from several: they are in neither Received nor the times. Only a program that follows stamped frames counts them, and with XDP there are none.
	Merged int64
	// Uncounted are frames of Received that are in no bucket, as the ring was full before the flow had buckets: means include them, percentiles don't.
	Uncounted int64
	// Varied is the sum of the differences between successive frames' times, and Changes the number of differences: their mean is RFC 4689's jitter. Only a program that follows stamped frames counts them.
	Varied  time.Duration
	Changes int64
}

// Frame is a captured frame without FCS, and when it arrived on the clock of Now.
type Frame struct {
	At    time.Duration
	Sent  bool // captured on the way out
	Bytes []byte
}

// Port is one interface. Every method is safe for concurrent use. It opens on the interface in the calling thread's network namespace.
type Port interface {
	Info() Info
	// Check compiles the streams without sending: the errors that TRex gives at validate and start.
	Check(streams []RunStream) error
	// Start plays the run; it is refused while one is running.
	Start(run Run) error
	// SetFactor changes the running streams' rates without a gap.
	SetFactor(factor float64) error
	Pause() error
	Resume() error
	// Stop ends the run and returns when its last frame has left.
	Stop() error
	// Done is closed when the present run has ended, by itself or by Stop; nil without a run.
	Done() <-chan struct{}
	Counters() Counters
	// Flows returns the counters of the flow ids seen since the streams that carry them were started.
	Flows() map[uint32]FlowCounters
	Latency() map[uint32]Latency
	// Transits are the latencies of stamped frames, by flow id: all since the flow id was last forgotten, in fine buckets.
	Transits() map[uint32]transit.Histogram
	// ForgetFlows drops the counters of these flow ids.
	ForgetFlows(ids []uint32)
	// Inject sends frames as they are, once, gap apart.
	Inject(frames [][]byte, gap time.Duration) error
	// Answer makes the port answer ARP and neighbour solicitations for these addresses, and announces them; none: silent.
	Answer(local []netip.Addr, vlan uint16) error
	// Capture calls fn, from one goroutine, for each frame received (and sent by Inject) until stop is called.
	Capture(fn func(Frame)) (stop func(), err error)
	// SetPromiscuous: off, the port counts only frames for its own MAC, broadcast and multicast.
	SetPromiscuous(on bool) error
	Close() error
}
