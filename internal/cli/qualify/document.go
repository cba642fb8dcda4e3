package qualify

import (
	"github.com/linerate-dev/linerate/internal/cli/kubectl/doctor"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/ethtool"
)

// Version is the kind and version of the document.
const Version = "linerate.dev/qualification.v1alpha1"

// Document is a qualification of two ports. It has no MAC, serial number, address or name of the machine, so that it
// can be given to others.
type Document struct {
	Version  string `json:"version"`
	Producer string `json:"producer"`
	report.Lines
	Machine    Machine     `json:"machine"`
	Ports      []Port      `json:"ports"`
	Directions []Direction `json:"directions,omitempty"`
	// Findings are all weaknesses, the gravest first.
	Findings []doctor.Finding `json:"findings"`
}

// Machine is the machine that has the ports.
type Machine struct {
	CPUModel   string `json:"cpuModel,omitempty"`
	Processors int    `json:"processors"`
	Kernel     string `json:"kernel"`
	Hypervisor string `json:"hypervisor,omitempty"`
	// Governors are the frequency governors of the processors, each once.
	Governors []string `json:"governors,omitempty"`
	// OnBattery says that a battery feeds the machine.
	OnBattery bool `json:"onBattery,omitempty"`
	// BalancesInterrupts says that irqbalance runs.
	BalancesInterrupts bool  `json:"balancesInterrupts,omitempty"`
	Clock              Clock `json:"clock"`
}

// Clock is the machine's clock, by which frames are paced and timed.
type Clock struct {
	Source string `json:"source,omitempty"`
	// ReadNanoseconds is how long it takes to read it: the least of many readings.
	ReadNanoseconds int64 `json:"readNanoseconds"`
}

// Port is one of the two ports.
type Port struct {
	Name   string `json:"name"`
	Driver string `json:"driver"`
	// Card are its PCI ids. It is empty for an interface without a card.
	Card            string `json:"card,omitempty"`
	Firmware        string `json:"firmware,omitempty"`
	VirtualFunction bool   `json:"virtualFunction,omitempty"`
	// NUMANode is -1 where the machine doesn't say.
	NUMANode int `json:"numaNode"`
	MTU      int `json:"mtu"`
	// SpeedMbps is 0 where the driver reports no speed.
	SpeedMbps       int64           `json:"speedMbps"`
	HalfDuplex      bool            `json:"halfDuplex,omitempty"`
	Autonegotiation bool            `json:"autonegotiation,omitempty"`
	Medium          string          `json:"medium,omitempty"`
	ErrorCorrection string          `json:"errorCorrection,omitempty"`
	Module          *ethtool.Module `json:"module,omitempty"`
	ReceiveQueues   int             `json:"receiveQueues"`
	SendQueues      int             `json:"sendQueues"`
	ReceiveRing     int             `json:"receiveRing"`
	MostReceiveRing int             `json:"mostReceiveRing"`
	SendRing        int             `json:"sendRing"`
	// Coalescing is in ethtool's words. It is empty where the driver doesn't say.
	Coalescing string   `json:"coalescing,omitempty"`
	Offloads   []string `json:"offloads,omitempty"`
	// PauseFrames says that the port sends or obeys them.
	PauseFrames bool `json:"pauseFrames,omitempty"`
	// Stamps is which received frames the card's clock stamps.
	Stamps string `json:"stamps,omitempty"`
	// FarInterrupts says that processors of another NUMA node handle its interrupts.
	FarInterrupts bool `json:"farInterrupts,omitempty"`
	// ReceiveDrops is what linerate's table of drivers says: counted, hidden or unknown.
	ReceiveDrops string `json:"receiveDrops"`
	// Leftovers is what others left on the port, such as "an XDP program".
	Leftovers []Leftover `json:"leftovers,omitempty"`
}

// Leftover is something that others left on a port, and the command that removes it.
type Leftover struct {
	What   string `json:"what"`
	Remedy string `json:"remedy"`
}

// Direction is what was measured from one port to the other.
type Direction struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Paths are the ways to send.
	Paths []Path `json:"paths,omitempty"`
	// Clean is the highest load that was found to lose no frame. It is absent where each load lost some.
	Clean    *Clean    `json:"clean,omitempty"`
	Overload *Overload `json:"overload,omitempty"`
	Answer   *Answer   `json:"answer,omitempty"`
}

// Path is one way to send, at full speed with 64-byte frames and one thread.
type Path struct {
	// Name is the value of --path.
	Name string `json:"name"`
	// Refused is why the path isn't to be had here. Then there are no rates.
	Refused                  string `json:"refused,omitempty"`
	SentPacketsPerSecond     int64  `json:"sentPacketsPerSecond"`
	ReceivedPacketsPerSecond int64  `json:"receivedPacketsPerSecond"`
	// NeedsProgram says that the path works only while an XDP program is on the sending port.
	NeedsProgram bool `json:"needsProgram,omitempty"`
}

// Clean is a load that lost no frame.
type Clean struct {
	Path             string `json:"path"`
	PacketsPerSecond int64  `json:"packetsPerSecond"`
	Frames           int64  `json:"frames"`
}

// Overload is what became of a known number of frames that the receiver was too slow for.
type Overload struct {
	Sent     int64 `json:"sent"`
	Received int64 `json:"received"`
	// Lost frames are those of Sent that aren't in Received.
	Lost int64 `json:"lost"`
	// CountedByReceiver and CountedBySender are the part of Lost that the ports' counters show.
	CountedByReceiver int64 `json:"countedByReceiver"`
	CountedBySender   int64 `json:"countedBySender"`
	// Hidden frames are those of Lost that no counter shows that linerate reads.
	Hidden int64 `json:"hidden"`
	// Counters of the receiver's driver that grew by about what is hidden: linerate doesn't read them.
	Counters []string `json:"counters,omitempty"`
}

// Answer is how a limit was read that was drawn at random and put into the path.
type Answer struct {
	// LimitPacketsPerSecond is the limit. The reading didn't know it.
	LimitPacketsPerSecond int64 `json:"limitPacketsPerSecond"`
	// OfferedPacketsPerSecond is the load by which the limit was read.
	OfferedPacketsPerSecond int64 `json:"offeredPacketsPerSecond"`
	ReadPacketsPerSecond    int64 `json:"readPacketsPerSecond"`
	// ErrorPercent is how far the reading is from the limit.
	ErrorPercent float64 `json:"errorPercent"`
	// LostBelow of SentBelow frames were lost at 99 % of the reading, and LostAbove of SentAbove at 101 %.
	SentBelow int64 `json:"sentBelow"`
	LostBelow int64 `json:"lostBelow"`
	SentAbove int64 `json:"sentAbove"`
	LostAbove int64 `json:"lostAbove"`
}
