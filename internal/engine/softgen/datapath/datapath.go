package datapath

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// Options says how a port sends and receives.
type Options struct {
	Interface string
	// Cores is how many threads may send on this port and on no other port. 0 means 1 thread, which ports that
	// send live frames share if there are no more processors than ports.
	Cores int
	// CPUs are the processors that the sending threads are bound to, one each in turn. Without CPUs, the kernel's
	// scheduler places the threads.
	CPUs []int
	// Plain restricts the port to AF_PACKET, for machines that forbid AF_XDP and eBPF.
	Plain bool
	// Path is how the port sends. An empty path means PathAuto.
	Path Path
	// Batch is how many live frames the kernel sends as one batch, from 1 to MostBatch. 0 means 16. After a stall, up
	// to two batches leave at once. A small batch sends evenly, and a large one keeps its rate on a busy machine.
	Batch int
	// ReceiveRing is the size in bytes of the ring that AF_PACKET receives into. 0 means 8 MiB. A frame without
	// room in the ring is a ReceiveError.
	ReceiveRing int
	// Receive is where frames are counted. Plain overrides it.
	Receive ReceivePath
	// Follow makes the kernel's counting program follow stamped frames itself, if there is such a program. The
	// program records each frame's order and latency at any rate. Without Follow, stamps go to the engine one by
	// one, through a ring with room for some 40 000.
	Follow bool
}

// Path is a way to send.
type Path string

// The ways to send.
const (
	// PathAuto chooses the best way that works here. Live frames are used over a virtual cable if each sending
	// thread has a processor and the kernel can carry the run. Otherwise AF_XDP is used, or AF_PACKET where AF_XDP
	// is forbidden. Info().Path says why a better way isn't used.
	PathAuto Path = "auto"
	// PathLive has the kernel make and pace frames (XDP's live frames). A run that live frames can't carry, such
	// as one of bursts, is sent another way, and Info().Path says so while the run lasts.
	PathLive Path = "live"
	// PathXDP is AF_XDP in copy mode.
	PathXDP Path = "af_xdp"
	// PathZeroCopy is AF_XDP with frames that the card reads from the engine's memory. If the card's driver can't
	// do that, PathXDP is used, and Info().Path says why. PathAuto doesn't choose zero copy, because it hasn't
	// been tested with a real card.
	PathZeroCopy Path = "zero_copy"
	// PathPacket is AF_PACKET.
	PathPacket Path = "af_packet"
)

// ReceivePath is where in the kernel frames are counted. If one place doesn't work here, the next of XDP,
// traffic control and AF_PACKET is used. Info().Path says which place is used, and why.
type ReceivePath string

const (
	// ReceiveTC counts at the traffic control hook, after the kernel has merged frames. For a merged buffer it
	// knows the number of frames, but has only the last frame's bytes.
	ReceiveTC ReceivePath = ""
	// ReceiveXDP counts in the network card's driver, before anything is merged.
	ReceiveXDP ReceivePath = "xdp"
)

// MostBatch is the largest batch. A virtual cable takes no more frames at a time.
const MostBatch = 64

// ReadPath reads the name of a path.
func ReadPath(text string) (Path, error) {
	switch p := Path(text); p {
	case "", PathAuto, PathLive, PathXDP, PathZeroCopy, PathPacket:
		return p, nil
	}
	return "", fmt.Errorf("%q is no way to send: use %s, %s, %s, %s or %s", text, PathAuto, PathLive, PathXDP,
		PathZeroCopy, PathPacket)
}

// Info describes a port. Speed is 0 where the interface has none.
type Info struct {
	Interface string
	Driver    string
	// NIC is the network card's PCI ids, and Firmware is its firmware. Both are empty where there is no card, or
	// where its driver doesn't report them.
	NIC, Firmware string
	MAC           [6]byte
	MTU           int
	Speed         units.BitRate
	LinkUp        bool
	LinkFlaps     int64
	// Path says for people how frames are sent and received here, such as "AF_XDP + eBPF".
	Path string
	// ReceiveDrops says whether the interface counts frames that it had no room for. PauseFrames says whether it
	// counts pause frames. Both are "counted", "hidden", "unknown" or "none".
	ReceiveDrops, PauseFrames string
	// Untimed is why this port can't time every frame of a stream by stamps. It is empty for a port that can.
	Untimed string
	// ReceiveQueues is the number of receive queues, or 0 if the driver doesn't report it. With several queues,
	// frames may be seen in another order than they arrived in.
	ReceiveQueues int
	// Ring is how many frames the receive ring holds that this port's frames arrive at. On a virtual cable that is the
	// far end's, elsewhere this port's own stands for it. It is 0 if unknown.
	Ring int
	// Cautions are sentences about what may keep the test's frames from this port.
	Cautions []string
}

// Run is traffic to play.
type Run struct {
	Streams []RunStream
	Factor  float64
	// Duration ends the run by itself. 0 means an endless run.
	Duration time.Duration
	// Start is when the first packet leaves, on the clock of Now. Zero means at once.
	Start time.Duration
	// NextHop is the destination MAC of streams that don't bring their own.
	NextHop [6]byte
}

// RunStream is a stream with the id that next_stream_id refers to.
type RunStream struct {
	ID     uint32
	Stream stream.Stream
}

// Counters are cumulative since the port was opened. Bytes include the FCS. ReceiveErrors are frames that
// reached the port and were not counted in Received, because the engine, the kernel or the network card dropped
// them, or because they were not read in time. A buffer that the kernel has merged counts as the frames in it.
type Counters struct {
	// ReadAt is when Sent and Received were read, by the clock of Now, to within Uncertainty.
	ReadAt, Uncertainty time.Duration
	Sent, Received      units.Traffic
	// Strays are the part of Received that isn't traffic, such as ARP and neighbour discovery, by which a device
	// checks now and then whether its neighbour is still there.
	Strays                    units.Traffic
	SendErrors, ReceiveErrors int64
	// Damaged are frames that came with a wrong checksum or length. They are in neither Received nor ReceiveErrors.
	Damaged int64
	// SendDrops are frames of Sent that the driver took and did not send.
	SendDrops int64
	// QueueFull is how often a sending thread found its queue full and had to try again. No frame is lost by that.
	QueueFull int64
	// Kernel is the kernel's count of all frames on the interface, those of other programs included. A merged
	// buffer counts as one frame there.
	Kernel KernelFrames
	// PeerFull are frames of Sent that found the receive queue of a veth's far end full. They are the device's
	// loss, counted here.
	PeerFull   int64
	CPUPercent float64
	// Sending is how long the latest run of finite streams took, from its first frame to its last. It is 0 if
	// there was no such run, or if the run isn't over.
	Sending time.Duration
	// Waited is for how long all sending threads together were ready to run while others had the processors, until
	// just before the other counters were read. Waiting is how much more it may be by the time these had been read.
	Waited, Waiting time.Duration
	// Behind is how many packets should have left by now and have not left.
	Behind int64
}

// KernelFrames are an interface's own counters since the port was opened. Dropped frames found no room, or no receiver.
type KernelFrames struct{ Received, Sent, Dropped int64 }

// FlowCounters are one flow id's (TRex's pg_id) packets and bytes on one port.
type FlowCounters struct{ Sent, Received units.Traffic }

// Latency is what the receiver of a latency stream saw. Durations are measured from the stamp in the frame.
type Latency struct {
	Received                          int64
	Min, Average, Max, Latest, Jitter time.Duration
	Histogram                         map[time.Duration]int64 // by TRex's lower bounds; 0 is under 10 µs
	Dropped, OutOfOrder, Duplicate    int64
	SequenceTooHigh, SequenceTooLow   int64
	// Stale frames came behind more than 960 newer ones, so late that they may have come before. Only a program
	// that follows stamped frames counts stale ones.
	Stale int64
	// Merged frames came in buffers that the kernel had merged from several frames. They are in neither Received
	// nor the times. Only a program that follows stamped frames counts them, and XDP sees none.
	Merged int64
	// Uncounted are frames of Received that are in no bucket, because the ring was full before the flow had
	// buckets. Means include them, and percentiles don't.
	Uncounted int64
	// Varied is the sum of the differences between successive frames' times, and Changes is the number of
	// differences. Their quotient is RFC 4689's jitter. Only a program that follows stamped frames counts them.
	Varied  time.Duration
	Changes int64
}

// Frame is a captured frame without FCS. Time is when it was captured, on the clock of Now.
type Frame struct {
	Time  time.Duration
	Sent  bool // captured on the way out
	Bytes []byte
}

// Port is one interface in the network namespace of the thread that opened it. Every method is safe for concurrent use.
type Port interface {
	Info() Info
	// Check compiles the streams without sending, and returns the errors that TRex gives at validate and start.
	Check(streams []RunStream) error
	// Start plays the run. It is refused while another run plays.
	Start(run Run) error
	// SetFactor changes the running streams' rates without a gap.
	SetFactor(factor float64) error
	Pause() error
	Resume() error
	// Stop ends the run and returns when its last frame has left.
	Stop() error
	// SendTrains begins to send trains, as a run that ends by itself. It is refused while another run plays.
	SendTrains(t Trains) error
	// TrainSendings are how long each train took that left in the latest run, from its first frame's departure to its
	// last one's, once that run has ended.
	TrainSendings() []time.Duration
	// RecordTrains begins to record when the frames of these trains arrive, until the record is closed. A port keeps
	// one record at a time.
	RecordTrains(t Trains) (TrainRecord, error)
	// Done is closed when the present run has ended, by itself or by Stop. It is nil without a run.
	Done() <-chan struct{}
	Counters() Counters
	// Flows returns the counters of the flow ids seen since the streams that carry them were started.
	Flows() map[uint32]FlowCounters
	Latency() map[uint32]Latency
	// Transits returns the latencies of stamped frames by flow id, in fine buckets, since the last ForgetFlows of the
	// flow id.
	Transits() map[uint32]transit.Histogram
	// ForgetFlows drops the counters of these flow ids.
	ForgetFlows(ids []uint32)
	// Inject sends each frame once, unchanged, with the gap between frames.
	Inject(frames [][]byte, gap time.Duration) error
	// Answer announces these addresses, and makes the port answer ARP and neighbour solicitations for them.
	// Without addresses the port is silent.
	Answer(local []netip.Addr, vlan uint16) error
	// Capture calls fn from one goroutine for each frame received (and sent by Inject) until stop is called.
	Capture(fn func(Frame)) (stop func(), err error)
	// SetPromiscuous(false) makes the port count only frames for its own MAC, broadcast and multicast.
	SetPromiscuous(enabled bool) error
	Close() error
}
