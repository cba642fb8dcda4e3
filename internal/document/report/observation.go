package report

import (
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// VitalKind says what a series' values mean.
type VitalKind string

// The kinds.
const (
	// Counter only grows. Its differences mean something, by the time that they took.
	Counter VitalKind = "Counter"
	// Gauge is a level, such as a temperature.
	Gauge VitalKind = "Gauge"
)

// Observation is what one of the Plan's observers read.
type Observation struct {
	Observer string `json:"observer"` // its name
	Observed string `json:"observed"` // Generator, DUT, Node or Lab
	Type     string `json:"type"`
	// Missing says why nothing was read. It is empty where something was.
	Missing string      `json:"missing,omitempty"`
	Series  []VitalSign `json:"series,omitempty"`
}

// VitalSign is one of an observer's series over time.
type VitalSign struct {
	Name    string    `json:"name"`    // "busy"
	Subject string    `json:"subject"` // whose, such as "processor 1" or "west→east"
	Unit    string    `json:"unit"`    // of its values, such as "s" or "packets"
	Kind    VitalKind `json:"kind"`
	// Step is by how much values grow at least, of a counter that is coarser than its unit, or 0 for an exact one.
	Step float64 `json:"step,omitempty"`
	// IdleBefore and IdleAfter are what it was without any traffic, before and after it, as a counter's rate or a
	// gauge's value. They are nil where nobody read it then.
	IdleBefore *float64 `json:"idleBefore,omitempty"`
	IdleAfter  *float64 `json:"idleAfter,omitempty"`
	// Samples are about one a second, for graphs.
	Samples []VitalSample `json:"samples,omitempty"`
	// Missing says why there is no sample of it, where the observer has other series that were read. It is empty
	// where there is one.
	Missing string `json:"missing,omitempty"`
}

// VitalSample is a value and the time that it is of, since Report.Started.
type VitalSample struct {
	Time  plan.Duration `json:"time"`
	Value float64       `json:"value"`
	// Age is how old the value was when the source over the network told it, as far as the source says. Time is
	// before that already.
	Age plan.Duration `json:"age,omitempty"`
}

// AllProcessors ends the subject of a series that is of all of a machine's processors together, added up.
const AllProcessors = "all processors"

// OfAll says that the series is of all of a machine's processors together, which are no one of them.
func (o Observed) OfAll() bool { return strings.HasSuffix(o.Subject, AllProcessors) }

// OfAll says that the series is of all of a machine's processors together.
func (s VitalSign) OfAll() bool { return strings.HasSuffix(s.Subject, AllProcessors) }

// Observed is what a series was in a window, or in several together.
type Observed struct {
	Observer string `json:"observer"`
	Series   string `json:"series"`
	Subject  string `json:"subject"`
	// Unit is a counter's per second ("s/s" is the share of a processor), or a gauge's.
	Unit string `json:"unit"`
	// Mean is a counter's rate, or a gauge's mean. Min and Max are a gauge's. They are nil where it is missing. Of
	// several windows together Mean is weighted by Over, and Min and Max are the least and the most in any of them,
	// of a counter of the windows' rates.
	Mean *float64 `json:"mean,omitempty"`
	Min  *float64 `json:"min,omitempty"`
	Max  *float64 `json:"max,omitempty"`
	// Over is the time between the samples that a counter's rate is of, which are read near the window's edges. Of
	// a gauge it is the window, within which all its samples are, and of one that is asked for over the network the
	// time from which on it was steady.
	Over plan.Duration `json:"over,omitempty"`
	// Unsure is by how much the values may be off, as a counter grows in steps, or was read at some moment of a
	// known stretch. It is 0 where they are exact for the time that they are of.
	Unsure float64 `json:"unsure,omitempty"`
	// Missing says why there is no value. It is empty where there is one.
	Missing string `json:"missing,omitempty"`
}

// VPPNode is one of VPP's nodes, and the observer that tells of it.
type VPPNode struct{ Observer, Name string }

// ClocksPerPacket is what a packet took of each of VPP's nodes in the result's windows. It is empty where nobody
// observed any.
func (r Answer) ClocksPerPacket() map[VPPNode]float64 { return r.perNode(plan.ClocksPerPacket) }

// VectorsPerCall is how many packets each of VPP's nodes had at a time in the result's windows.
func (r Answer) VectorsPerCall() map[VPPNode]float64 { return r.perNode(plan.VectorsPerCall) }

func (r Answer) perNode(series string) map[VPPNode]float64 {
	clocks := map[VPPNode]float64{}
	for _, o := range r.Observed {
		if o.Series == series && o.Mean != nil {
			clocks[VPPNode{o.Observer, o.Subject}] = *o.Mean
		}
	}
	return clocks
}
