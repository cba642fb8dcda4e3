package plan

import (
	"slices"
	"time"
)

// Observer is what is read beside the traffic, and whose that is.
type Observer struct {
	Name string `json:"name"`
	Of   string `json:"of"`   // whose
	Type string `json:"type"` // one of the types of observers
	// Every is how often somebody is asked over the network, and AveragedOver over how long it averages what it tells; 0: it isn't asked, or doesn't.
	Every        Duration `json:"every,omitempty"`
	AveragedOver Duration `json:"averagedOver,omitempty"`
	// Exactly one of these is set of an observer that asks somebody over the network, and none of others.
	Prometheus *PrometheusQuery `json:"prometheus,omitempty"`
	SNMP       *SNMPObject      `json:"snmp,omitempty"`
	Redfish    *RedfishChassis  `json:"redfish,omitempty"`
	VPP        *VPPStats        `json:"vpp,omitempty"`
}

// PrometheusQuery is a question to a Prometheus server. Secret names who may ask; the credentials themselves are in no document.
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
	Chassis string `json:"chassis,omitempty"` // empty: the only one
	Secret  string `json:"secret"`
}

// VPPStats is a VPP that hands over its statistics by a socket on the runner's machine.
type VPPStats struct {
	Socket string `json:"socket"`
}

// Whose vital signs observers read, and which.
const (
	OfGenerator       = "Generator"
	OfDUT             = "DUT"
	OfNode            = "Node" // each machine that generators or device are on
	OfLab             = "Lab"  // something beside them
	ObserveProcessors = "Processors"
	ObserveLimiter    = "Limiter"
	ObserveInterfaces = "Interfaces"
	ObservePrometheus = "Prometheus"
	ObserveSNMP       = "SNMP"
	ObserveRedfish    = "Redfish"
	ObserveVPP        = "VPP"
)

// What VPP counts of each of its nodes, and what follows from that in a window: clocks of a packet, and packets of a call.
const (
	VPPClocks       = "clocks"
	VPPVectors      = "vectors"
	VPPCalls        = "calls"
	ClocksPerPacket = "clocksPerPacket"
	VectorsPerCall  = "vectorsPerCall"
)

// Watts is the unit of power. Of an observer's series in it two more follow, by what was received in a window: WattsPerGbps, per Gb/s of layer 1 (of sessions of goodput), and
// JoulesPerPacket, per frame.
const (
	Watts           = "W"
	WattsPerGbps    = "wattsPerGbps"
	JoulesPerPacket = "joulesPerPacket"
)

// Asks says that the observer asks somebody, over the network or by a socket, with a period of its own.
func (o Observer) Asks() bool {
	return o.Prometheus != nil || o.SNMP != nil || o.Redfish != nil || o.VPP != nil
}

// Secret is the name of the credentials that it shows; empty: none.
func (o Observer) Secret() string {
	switch {
	case o.Prometheus != nil:
		return o.Prometheus.Secret
	case o.SNMP != nil:
		return o.SNMP.Secret
	case o.Redfish != nil:
		return o.Redfish.Secret
	}
	return ""
}

// longestIdle bounds for how long anybody waits after the traffic for what is idle then.
const longestIdle = time.Minute

// IdleTime is how long after the traffic each observer that asks somebody has a reading that is of no traffic; 0: none asks.
func (p *Plan) IdleTime() (longest time.Duration) {
	for _, o := range p.Asking() {
		longest = max(longest, o.AveragedOver.Std()+o.Every.Std()+time.Second) // the last for the answer
	}
	return min(longest, longestIdle)
}

// Asking are the observers that ask somebody over the network.
func (p *Plan) Asking() (all []Observer) {
	for _, o := range p.Observers {
		if o.Asks() {
			all = append(all, o)
		}
	}
	return all
}

// Observes says that an observer of a type reads along.
func (p *Plan) Observes(observerType string) bool {
	return slices.ContainsFunc(p.Observers, func(o Observer) bool { return o.Type == observerType })
}

// ObservesDevice says that an observer looks at the device's node.
func (p *Plan) ObservesDevice() bool {
	return slices.ContainsFunc(p.Observers, func(o Observer) bool { return !o.Asks() && (o.Of == OfDUT || o.Of == OfNode) })
}
