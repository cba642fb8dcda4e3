package report

import "github.com/linerate-dev/linerate/internal/document/plan"

// Placement is where a device on this machine received its frames in one window, as its kernel counts it: by which
// queues, and on which processors. Counters are differences between two readings around the window.
type Placement struct {
	Window int `json:"window"`
	// Over is the time between the readings, which is Judged, the window, and a little before and after it.
	Over   plan.Duration `json:"over"`
	Judged plan.Duration `json:"judged"`
	// Processors are all of the machine's. Frames of other namespaces count, too, as the kernel counts them together.
	Processors []PlacedProcessor `json:"processors,omitempty"`
	Links      []PlacedLink      `json:"links,omitempty"`
	// Connections is the device's connection table. It is nil where the device has none.
	Connections *ConnectionTable `json:"connections,omitempty"`
}

// PlacedProcessor is what a processor did meanwhile.
type PlacedProcessor struct {
	Number int `json:"number"`
	// Frames is how many frames protocols received on it, after receive packet steering (softnet_stat's first column).
	// Dropped is how many its backlog had no room for. Squeezed is how often it left frames waiting.
	Frames   int64 `json:"frames"`
	Dropped  int64 `json:"dropped,omitempty"`
	Squeezed int64 `json:"squeezed,omitempty"`
	// These are to a hundredth of a second. Stolen is what the host of a virtual machine took.
	Busy    plan.Duration `json:"busy"`
	SoftIRQ plan.Duration `json:"softirq,omitempty"`
	Stolen  plan.Duration `json:"stolen,omitempty"`
	Idle    plan.Duration `json:"idle"`
	// Others is how long programs of one thread ran on it that are neither generator nor device, Process the longest of
	// them. Where threads of larger programs ran is unknown.
	Others  plan.Duration `json:"others,omitempty"`
	Process string        `json:"process,omitempty"`
	// NUMANode is -1 where it is unknown.
	NUMANode int `json:"numaNode"`
	// Governor sets its frequency by FrequencyDriver. The frequency was read at the window's end.
	Governor        string `json:"governor,omitempty"`
	FrequencyDriver string `json:"frequencyDriver,omitempty"`
	FrequencyHz     int64  `json:"frequencyHertz,omitempty"`
	MostFrequencyHz int64  `json:"mostFrequencyHertz,omitempty"`
}

// PlacedLink is the device's interface on a link.
type PlacedLink struct {
	Link      string `json:"link"`
	Interface string `json:"interface"`
	Driver    string `json:"driver,omitempty"`
	// Received frames and their bytes, and Missed, for which the card's ring had no room.
	Received      int64 `json:"received"`
	ReceivedBytes int64 `json:"receivedBytes"`
	Missed        int64 `json:"missed,omitempty"`
	// Ring is how many frames wait in the card's memory, of MostRing. They are 0 where the driver doesn't say.
	Ring     int `json:"ring,omitempty"`
	MostRing int `json:"mostRing,omitempty"`
	// SpeedMbps is 0 where there is none.
	SpeedMbps int64 `json:"speedMbps,omitempty"`
	// NUMANode is -1 for none.
	NUMANode int `json:"numaNode"`
	// Merges are the receive offloads that merge frames, by ethtool's names.
	Merges []string `json:"merges,omitempty"`
	// XDP says that a program sees frames before the kernel's protocols do.
	XDP  bool      `json:"xdp,omitempty"`
	PCIe *PCIeLink `json:"pcie,omitempty"`
	// MostQueues is how many receive queues the driver can have, 0 for unknown.
	MostQueues int           `json:"mostQueues,omitempty"`
	Queues     []PlacedQueue `json:"queues,omitempty"`
	// HashKey is the key by which the card hashes flows to queues.
	HashKey string `json:"hashKey,omitempty"`
}

// PCIeLink is a card's connection, as it was negotiated and at most.
type PCIeLink struct {
	Lanes                      int     `json:"lanes"`
	MostLanes                  int     `json:"mostLanes,omitempty"`
	GigatransfersPerSecond     float64 `json:"gigatransfersPerSecond"`
	MostGigatransfersPerSecond float64 `json:"mostGigatransfersPerSecond,omitempty"`
}

// Polling is who takes frames from a receive queue.
type Polling string

// The kinds.
const (
	ByInterrupt Polling = "Interrupt" // the processor that gets the queue's interrupt
	ByThread    Polling = "Thread"    // a kernel thread (threaded NAPI)
	BySender    Polling = "Sender"    // the processor that sent the frame, on a virtual cable without NAPI
	ByUnknown   Polling = ""
)

// PlacedQueue is a receive queue, and the send queue of the same number.
type PlacedQueue struct {
	Number int `json:"number"`
	// Frames is what the queue received. It is nil where the driver doesn't count by queue.
	Frames *int64 `json:"frames,omitempty"`
	// Polling is who takes frames from it, Processor where that ran, and Allowed the processors where it may. Processor
	// is nil where the kernel doesn't tell.
	Polling   Polling `json:"polling,omitempty"`
	Processor *int    `json:"processor,omitempty"`
	Allowed   string  `json:"allowed,omitempty"`
	// RPS are the processors that rps_cpus hands frames on to, such as "2-3". It is empty for none.
	RPS string `json:"rps,omitempty"`
	// XPS are the processors that send by the send queue (xps_cpus). It is empty for none.
	XPS string `json:"xps,omitempty"`
	// HashEntries is how many entries of the card's indirection table name the queue.
	HashEntries int `json:"hashEntries,omitempty"`
}

// ConnectionTable is the kernel's of tracked connections (conntrack), at the window's end.
type ConnectionTable struct {
	Entries int64 `json:"entries"`
	Most    int64 `json:"most"`
	// Dropped is how many packets or older connections were dropped meanwhile because it was full.
	Dropped int64 `json:"dropped,omitempty"`
}

// Mbps is what the link carries in one direction, without its packets' headers: 8 of 10 bits up to 5 GT/s, then 128 of
// 130.
func (p PCIeLink) Mbps() float64 {
	coded := 128.0 / 130
	if p.GigatransfersPerSecond <= 5 {
		coded = 0.8
	}
	return 1000 * float64(p.Lanes) * p.GigatransfersPerSecond * coded
}
