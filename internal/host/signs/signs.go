package signs

import "time"

// The types, by the names that observers have them by.
const (
	Memory       = "Memory"
	Load         = "Load"
	SoftIRQs     = "SoftIRQs"
	Frequencies  = "Frequencies"
	Temperatures = "Temperatures"
	// Interfaces are those of a device on the links of a test.
	Interfaces = "Interfaces"
)

// Reading is what was read on a machine of one type of vital signs.
type Reading struct {
	Type string `json:"type"`
	// At is when it began to read it, by the machine's own clock, in nanoseconds.
	At time.Duration `json:"at"`
	// Took is how long that took.
	Took   time.Duration `json:"took,omitempty"`
	Values []Value       `json:"values,omitempty"`
	// Missing says why there is no value.
	Missing string `json:"missing,omitempty"`
}

// Value is a series' value.
type Value struct {
	Series string `json:"series"`
	// Part is whose it is of the machine's parts: "processor 1", "coretemp Package id 0"; empty: the machine's.
	Part   string  `json:"of,omitempty"`
	Number float64 `json:"number"`
	// Step is by how much a coarse counter grows; 0: it is exact.
	Step float64 `json:"step,omitempty"`
	// Missing says why there is no number of this one.
	Missing string `json:"missing,omitempty"`
}

// OfAllProcessors is the Of of a value that is of all of a machine's processors together, added up; ofProcessor begins that of one.
const OfAllProcessors = "all processors"

// MostEach is of how many processors each has values of its own; of a machine with more there are those of all together.
const MostEach = 8

// Series is one that a type has.
type Series struct {
	Name, Unit string
	Counter    bool // its differences mean something; else it is a level
	// OfAll says that there is one of all of a machine's processors together.
	OfAll bool
}

// Kind is what there is to know of a type.
type Kind struct {
	Series []Series
	// What it is of a machine, as in "doesn't tell of its memory".
	What string
	// Interval is how often it is read at most.
	Interval time.Duration
	// Intrusive says that reading it takes something from a device on that machine: processors are interrupted, or cards asked. It is not read while the device is judged.
	Intrusive bool
}

// often is for what changes within a window, seldom for what doesn't.
const (
	frequent = 100 * time.Millisecond
	seldom   = 250 * time.Millisecond
)

// Kinds are all types.
var Kinds = map[string]Kind{
	Memory: {What: "memory", Interval: frequent, Series: []Series{{Name: "used", Unit: "bytes"}, {Name: "available", Unit: "bytes"}}},
	Load:   {What: "load", Interval: seldom, Series: []Series{{Name: "load1", Unit: "threads"}, {Name: "load5", Unit: "threads"}, {Name: "load15", Unit: "threads"}}},
	SoftIRQs: {What: "softirqs", Interval: frequent, Series: []Series{
		{Name: "time", Unit: "s", Counter: true, OfAll: true},
		{Name: "netRx", Unit: "softirqs", Counter: true, OfAll: true},
		{Name: "netTx", Unit: "softirqs", Counter: true, OfAll: true},
		{Name: "processed", Unit: "packets", Counter: true, OfAll: true},
		{Name: "dropped", Unit: "packets", Counter: true, OfAll: true},
		{Name: "squeezed", Unit: "times", Counter: true, OfAll: true},
	}},
	Frequencies: {What: "processors' frequencies", Interval: seldom, Series: []Series{
		{Name: "frequency", Unit: "Hz"}, {Name: "lowest", Unit: "Hz"}, {Name: "mean", Unit: "Hz"}, {Name: "highest", Unit: "Hz"},
	}},
	Temperatures: {What: "temperatures", Interval: seldom, Intrusive: true, Series: []Series{{Name: "highest", Unit: "Celsius"}, {Name: "temperature", Unit: "Celsius"}}},
	Interfaces: {What: "interfaces", Interval: frequent, Series: []Series{
		{Name: "received", Unit: "packets", Counter: true}, {Name: "sent", Unit: "packets", Counter: true},
		{Name: "dropped", Unit: "packets", Counter: true}, {Name: "errors", Unit: "packets", Counter: true},
	}},
}

// Find is a type's series of that name.
func (k Kind) Find(name string) (Series, bool) {
	for _, s := range k.Series {
		if s.Name == name {
			return s, true
		}
	}
	return Series{}, false
}
