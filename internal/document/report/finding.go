package report

// Finding is a reason for the figure that the machine shows, in one sentence, and what to do about it. A finding never
// changes a figure or a verdict.
type Finding struct {
	Kind     FindingKind     `json:"kind"`
	Severity FindingSeverity `json:"severity"`
	Sentence string          `json:"sentence"`
	WayOut   string          `json:"wayOut"`
	// Evidence is what was read, a line each.
	Evidence []string `json:"evidence,omitempty"`
}

// FindingKind is what a finding is about.
type FindingKind string

// The kinds. docs/placement.md has the threshold of each.
const (
	FullProcessors   FindingKind = "FullProcessors"   // the processors that received frames were full
	SingleFlow       FindingKind = "SingleFlow"       // and the test has one flow, which no queue spreads
	BusyNeighbour    FindingKind = "BusyNeighbour"    // another program ran where frames were received
	SlowFrequency    FindingKind = "SlowFrequency"    // a governor keeps a full processor slow
	FramesMerged     FindingKind = "FramesMerged"     // receive offload merged frames
	ConnectionsFull  FindingKind = "ConnectionsFull"  // the connection table is full, or nearly
	SmallRing        FindingKind = "SmallRing"        // the card's ring lost frames of a processor that was not full
	SmallBacklog     FindingKind = "SmallBacklog"     // so did a processor's backlog
	NarrowPCIe       FindingKind = "NarrowPCIe"       // the card's PCIe link carries less than its port
	ProcessorFarAway FindingKind = "ProcessorFarAway" // frames were received on another NUMA node than the card's
)

// MostFindingsShown is how many findings a Report has at most.
const MostFindingsShown = 5

// FindingSeverity says how much a finding explains.
type FindingSeverity string

// The severities, from the gravest.
const (
	FindingFault   FindingSeverity = "Fault"   // frames were lost for it
	FindingWarning FindingSeverity = "Warning" // the figure is lower for it, and there is a way out
	FindingNote    FindingSeverity = "Note"    // what the figure is of
)
