package plan

import "github.com/linerate-dev/linerate/internal/host/credential"

// SitesVersion is the kind and version of the document Sites. A reader refuses others.
const SitesVersion = "linerate.dev/sites.v1alpha1"

// Sites is what is known only when the pods of a test run, which is where each generator of the Plan answers, and
// what lies behind its ports. The operator writes it beside the Plan. A repetition elsewhere has other Sites and
// the same Plan.
type Sites struct {
	Version string `json:"version"`
	// Key proves to linerate's servers in the attempt's pods that the runner is theirs. They have its verifier. The
	// key is nowhere else, and of no use after the attempt.
	Key        credential.Key `json:"key,omitzero"`
	Generators []Site         `json:"generators"`
	// AllowedServers are where generators that run already may be, as the operator's administrator lists them
	// (compile.ParseServerRanges). The runner connects to no other address, whatever a server's name resolves to by
	// then.
	AllowedServers []string `json:"allowedServers,omitempty"`
	// SharedPorts names the physical ports that several ends of the links share, as sentences for the Report. The
	// test allows that.
	SharedPorts []string `json:"sharedPorts,omitempty"`
	// Device is the device's pod. It is nil where the device isn't a pod.
	Device *Device `json:"device,omitempty"`
	// DeviceEnd is where the runner controls the device's own end of sessions, host:port. It is empty where the
	// device isn't an end.
	DeviceEnd string `json:"deviceEnd,omitempty"`
	// Vitals is where the vital signs of the device's node are served, host:port. It is empty for nowhere, and
	// NoVitals says why if an observer needs them.
	Vitals   string `json:"vitals,omitempty"`
	NoVitals string `json:"noVitals,omitempty"`
	// Collector is where the answers of sources over the network are served, which it asks for the test's
	// observers, host:port. It is empty for nowhere, and NoCollector says why if an observer needs it.
	Collector   string `json:"collector,omitempty"`
	NoCollector string `json:"noCollector,omitempty"`
	// Reset is where a container in the device's pod resets the device, host:port. It is empty where the device
	// can't be reset.
	Reset string `json:"reset,omitempty"`
}

// Site is where one generator is.
type Site struct {
	// Generator is its name in the Plan.
	Generator string `json:"generator"`
	// RPC is where it answers TRex's RPC, host:port.
	RPC string `json:"rpc"`
	// Heartbeat is where its launcher expects the runner's heartbeats, host:port. It is empty where requests over
	// RPC count as heartbeats.
	Heartbeat string `json:"heartbeat,omitempty"`
	// PortOfLink is the index of its port on each link that it is on.
	PortOfLink map[string]int `json:"portOfLink"`
	// NextHopMAC is the DUT's MAC address on a link, where it is known from the DUT's pod.
	NextHopMAC map[string]string `json:"nextHopMacAddress,omitempty"`
	// PhysicalPort is the node's port behind a link, if it can be shared. The operator keeps other tests off it.
	PhysicalPort map[string]string `json:"physicalPort,omitempty"`
	// Pod and Node say where it runs, and Containers which images run, for the Report.
	Pod        string      `json:"pod,omitempty"`
	Node       string      `json:"node,omitempty"`
	Containers []Container `json:"containers,omitempty"`
}
