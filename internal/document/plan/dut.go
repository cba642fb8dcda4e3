package plan

import "slices"

// Forwarding is how the DUT forwards. It decides where frames are addressed and what the path check expects to come
// back.
type Forwarding string

// These are the ways of forwarding. A Loopback forwards as L2, so frames come back as they were sent.
const (
	L3         Forwarding = "L3"         // to the DUT's MAC, and back with the DUT's MAC as source, the TTL one lower
	L2         Forwarding = "L2"         // to the far generator port's MAC, and back unchanged
	MACRewrite Forwarding = "MACRewrite" // to the DUT's MAC, and back with other MACs, the TTL unchanged
	// AsConfigured leaves addressing to the generator's own configuration. Frames must come out of the right port
	// once. Their MACs and TTL are reported, not judged.
	AsConfigured Forwarding = "AsConfigured"
	// Nothing is forwarded. The device is an end of the traffic, on its one link.
	Nothing Forwarding = "Nothing"
)

// Change is something that a device does to frames besides forwarding them.
type Change string

// These are the changes that a device may be declared to make.
const (
	Addresses     Change = "Addresses"     // IP addresses and ports are translated
	Encapsulation Change = "Encapsulation" // packets are wrapped into others
	VLAN          Change = "VLAN"          // tags are put on, taken off or replaced
	Length        Change = "Length"        // packets are longer or shorter
)

// DeviceEnd is the name in directions of a device that is an end of sessions.
const DeviceEnd = "dut"

// DUT is the device under test.
type DUT struct {
	Type       string     `json:"type"` // Pod, Device, Reference, Loopback
	Forwarding Forwarding `json:"forwarding"`
	// Hops is how many routers the device is, one behind the other, or 0 for as many as its type has.
	Hops int `json:"hops,omitempty"`
	// Changes are what the device does to frames besides forwarding them. Frames may come back with other changes only
	// where it is nil and Forwarding is AsConfigured.
	Changes []Change `json:"changes,omitempty"`
	// ReadyDelay bounds how long the device may take until it answers and forwards. 0 is not longer than a device
	// needs that is up.
	ReadyDelay Duration   `json:"readyDelay,omitempty"`
	Reference  *Reference `json:"reference,omitempty"`
	// Server is the program that is the device's end of sessions, where it isn't linerate's. It is nil elsewhere.
	Server *Server `json:"server,omitempty"`
	// Setup and Teardown are the programs that linerate run starts before and after the run. They are nil where
	// there is none, or pods do it.
	Setup    *Program `json:"setup,omitempty"`
	Teardown *Program `json:"teardown,omitempty"`
	// Collect is what linerate run collects around the load.
	Collect []Collection `json:"collect,omitempty"`
	// Notes, Price and Disclosure are for readers of the figures.
	Notes      string `json:"notes,omitempty"`
	Price      string `json:"price,omitempty"`
	Disclosure string `json:"disclosure,omitempty"`
	// ResetCommand empties the device's tables where Procedure.Reset asks for it. Without one the Reference does it
	// itself.
	ResetCommand []string `json:"resetCommand,omitempty"`
}

// MayChange says that the device was declared to make this change.
func (d DUT) MayChange(c Change) bool { return slices.Contains(d.Changes, c) }

// Reshapes says that frames may come back longer or shorter than they were sent.
func (d DUT) Reshapes() bool {
	return d.Forwarding == AsConfigured || d.MayChange(Encapsulation) || d.MayChange(Length)
}

// Server is an iperf3 or iperf 2 server. Application is that of Sessions, and Address is host:port.
type Server struct {
	Application string `json:"application"`
	Address     string `json:"address"`
}

// Endpoint says that the device is itself an end of the traffic.
func (d DUT) Endpoint() bool { return d.Forwarding == Nothing }

// HasOurEnd says that the device is an end of the traffic by a program of linerate's.
func (d DUT) HasOurEnd() bool { return d.Endpoint() && d.Server == nil }

// Loopback says that there is no device. Each generator's ports are cabled to each other, and it measures itself.
func (d DUT) Loopback() bool { return d.Type == "Loopback" }

// Program is a command that runs to its end, within a deadline.
type Program struct {
	Command  []string `json:"command"`
	Deadline Duration `json:"deadline"`
}

// Collection is what a command prints, or files, to be kept with the Report. It has either Command or Paths.
type Collection struct {
	Name    string   `json:"name"`
	Command []string `json:"command,omitempty"`
	Paths   []string `json:"paths,omitempty"`
	When    []string `json:"when"` // CollectBefore, CollectDuring, CollectAfter
	Timeout Duration `json:"timeout"`
}

// When something is collected.
const (
	CollectBefore = "Before"
	CollectDuring = "During"
	CollectAfter  = "After"
)

// Reference is the built-in Linux forwarder. It forwards as much as it can, unless it has a limit.
type Reference struct {
	Limit *Limit `json:"limit,omitempty"`
	// Mode makes it a real device, such as a router or NAT. It is nil for a plain forwarder.
	Mode *Mode `json:"mode,omitempty"`
}
