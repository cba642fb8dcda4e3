package plan

import (
	"slices"
	"time"
)

// Observer is a vital sign that is read beside the traffic, and whose it is.
type Observer struct {
	Name     string `json:"name"`
	Observed string `json:"observed"` // whose
	Type     string `json:"type"`     // one of the types of observers
	// Interval is how often the source is asked, and AveragingTime over how long it averages a reading. They are 0
	// where no source is asked, or it doesn't average.
	Interval      Duration `json:"interval,omitempty"`
	AveragingTime Duration `json:"averagingTime,omitempty"`
	// Exactly one of these is set for an observer that asks a source (Asks), and none for others.
	Prometheus *PrometheusQuery `json:"prometheus,omitempty"`
	SNMP       *SNMPObject      `json:"snmp,omitempty"`
	Redfish    *RedfishChassis  `json:"redfish,omitempty"`
	SSH        *SSHCommand      `json:"ssh,omitempty"`
	IPMI       *IPMISensor      `json:"ipmi,omitempty"`
	VPP        *VPPStats        `json:"vpp,omitempty"`
}

// PrometheusQuery is a query to a Prometheus server. Secret names the credentials, which are in no document themselves.
type PrometheusQuery struct {
	URL    string `json:"url"`
	Query  string `json:"query"`
	Unit   string `json:"unit"`
	Secret string `json:"secret,omitempty"`
}

// SNMPObject is an object of an SNMP agent's.
type SNMPObject struct {
	Address string `json:"address"` // host:port
	OID     string `json:"oid"`
	Unit    string `json:"unit"`
	Scale   string `json:"scale"` // decimal
	Secret  string `json:"secret,omitempty"`
}

// RedfishChassis is a chassis whose management controller speaks Redfish.
type RedfishChassis struct {
	URL     string `json:"url"`
	Chassis string `json:"chassis,omitempty"` // empty for the only one
	Secret  string `json:"secret"`
}

// SSHCommand is a command that prints a number on a machine that is reached by SSH.
type SSHCommand struct {
	Address string `json:"address"` // host:port
	Command string `json:"command"`
	Unit    string `json:"unit"`
	Secret  string `json:"secret"`
}

// IPMISensor is a sensor of a management controller that speaks IPMI 2.0.
type IPMISensor struct {
	Address string `json:"address"`          // host:port
	Sensor  string `json:"sensor,omitempty"` // empty for the power by DCMI
	Unit    string `json:"unit"`
	Secret  string `json:"secret"`
}

// VPPStats is a VPP whose statistics are read from a socket on the runner's machine.
type VPPStats struct {
	Socket string `json:"socket"`
}

// Whose vital signs observers read (Of…), and what they read (Observe…).
const (
	OfGenerator       = "Generator"
	OfDUT             = "DUT"
	OfNode            = "Node" // each machine that generators or device are on
	OfLab             = "Lab"  // something else in the lab
	ObserveProcessors = "Processors"
	ObserveLimiter    = "Limiter"
	ObserveInterfaces = "Interfaces"
	ObservePrometheus = "Prometheus"
	ObserveSNMP       = "SNMP"
	ObserveRedfish    = "Redfish"
	ObserveSSH        = "SSH"
	ObserveIPMI       = "IPMI"
	ObserveVPP        = "VPP"
)

// These are the counters of each of VPP's nodes, and what follows from them in a window, which is clocks per
// packet, and packets per call.
const (
	VPPClocks       = "clocks"
	VPPVectors      = "vectors"
	VPPCalls        = "calls"
	ClocksPerPacket = "clocksPerPacket"
	VectorsPerCall  = "vectorsPerCall"
)

// Watts is the unit of power. From a series in watts two more follow, by what was received in a window.
// WattsPerGbps is per Gb/s of layer 1 (for sessions of goodput), and JoulesPerPacket per frame.
const (
	Watts           = "W"
	WattsPerGbps    = "wattsPerGbps"
	JoulesPerPacket = "joulesPerPacket"
)

// Asks says that the observer asks a source, over the network or by a socket, at its own period.
func (o Observer) Asks() bool {
	return o.Prometheus != nil || o.SNMP != nil || o.Redfish != nil || o.SSH != nil || o.IPMI != nil || o.VPP != nil
}

// Secret is the name of the credentials that the source is asked with, or empty for none.
func (o Observer) Secret() string {
	switch {
	case o.Prometheus != nil:
		return o.Prometheus.Secret
	case o.SNMP != nil:
		return o.SNMP.Secret
	case o.Redfish != nil:
		return o.Redfish.Secret
	case o.SSH != nil:
		return o.SSH.Secret
	case o.IPMI != nil:
		return o.IPMI.Secret
	}
	return ""
}

// Source is what the observer asks: a server's address, or a socket.
func (o Observer) Source() string {
	switch {
	case o.Prometheus != nil:
		return o.Prometheus.URL
	case o.SNMP != nil:
		return o.SNMP.Address
	case o.Redfish != nil:
		return o.Redfish.URL
	case o.SSH != nil:
		return o.SSH.Address
	case o.IPMI != nil:
		return o.IPMI.Address
	case o.VPP != nil:
		return o.VPP.Socket
	}
	return o.Name
}

// longestIdle bounds IdleTime.
const longestIdle = time.Minute

// IdleTime is how long after the traffic to wait so that each asking observer has a reading without traffic. It is
// 0 where no observer asks.
func (p *Plan) IdleTime() (longest time.Duration) {
	for _, o := range p.Asking() {
		longest = max(longest, o.AveragingTime.Std()+o.Interval.Std()+time.Second) // a second for the answer
	}
	return min(longest, longestIdle)
}

// Asking are the observers that ask a source.
func (p *Plan) Asking() (observers []Observer) {
	for _, o := range p.Observers {
		if o.Asks() {
			observers = append(observers, o)
		}
	}
	return observers
}

// Observes says that the Plan has an observer of a type.
func (p *Plan) Observes(observerType string) bool {
	return slices.ContainsFunc(p.Observers, func(o Observer) bool { return o.Type == observerType })
}

// ObservesDevice says that an observer reads the device or its node.
func (p *Plan) ObservesDevice() bool {
	return slices.ContainsFunc(p.Observers, func(o Observer) bool {
		return !o.Asks() &&
			(o.Observed == OfDUT || o.Observed == OfNode)
	})
}
