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
	// Part is the part of the machine that the value is of, such as "processor 1" or "coretemp Package id 0". It is
	// empty for the whole machine.
	Part   string  `json:"of,omitempty"`
	Number float64 `json:"number"`
	// Step is by how much a coarse counter grows, or 0 for an exact one.
	Step float64 `json:"step,omitempty"`
	// Missing says why there is no number of this one.
	Missing string `json:"missing,omitempty"`
}

// OfAllProcessors is the Part of a sum over all of a machine's processors.
const OfAllProcessors = "all processors"

// MostEach is up to how many processors each have values of their own. A larger machine has only their sums.
const MostEach = 8

// Series is one that a type has.
type Series struct {
	Name, Unit string
	Counter    bool // a counter, of which differences mean something, and otherwise a level
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
	// Intrusive says that a reading takes something from a device on that machine, because it interrupts processors
	// or asks cards. An intrusive type is not read while the device is judged.
	Intrusive bool
}

// often is for what changes within a window, seldom for what doesn't.
const (
	frequent = 100 * time.Millisecond
	seldom   = 250 * time.Millisecond
)

// Kinds are all types.
var Kinds = map[string]Kind{
	Memory: {What: "memory", Interval: frequent, Series: []Series{{Name: "used", Unit: "bytes"},
		{Name: "available", Unit: "bytes"}}},
	Load: {What: "load", Interval: seldom, Series: []Series{{Name: "load1", Unit: "threads"},
		{Name: "load5", Unit: "threads"}, {Name: "load15", Unit: "threads"}}},
	SoftIRQs: {What: "softirqs", Interval: frequent, Series: []Series{
		{Name: "time", Unit: "s", Counter: true, OfAll: true},
		{Name: "netRx", Unit: "softirqs", Counter: true, OfAll: true},
		{Name: "netTx", Unit: "softirqs", Counter: true, OfAll: true},
		{Name: "processed", Unit: "packets", Counter: true, OfAll: true},
		{Name: "dropped", Unit: "packets", Counter: true, OfAll: true},
		{Name: "squeezed", Unit: "times", Counter: true, OfAll: true},
	}},
	Frequencies: {What: "processors' frequencies", Interval: seldom, Series: []Series{
		{Name: "frequency", Unit: "Hz"}, {Name: "lowest", Unit: "Hz"}, {Name: "mean", Unit: "Hz"},
		{Name: "highest", Unit: "Hz"},
	}},
	Temperatures: {What: "temperatures", Interval: seldom, Intrusive: true,
		Series: []Series{{Name: "highest", Unit: "Celsius"}, {Name: "temperature", Unit: "Celsius"}}},
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
