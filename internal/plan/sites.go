package plan

// SitesVersion is the kind and version of the document Sites; a reader refuses others.
const SitesVersion = "linerate.dev/sites.v1alpha1"

// Sites is what is found out only when the pods of a test run: where each generator of the Plan answers, and what lies behind its ports.
// The operator writes it beside the Plan; repeating the run elsewhere needs other sites and the same Plan.
type Sites struct {
	Version    string `json:"version"`
	Generators []Site `json:"generators"`
	// SharedPorts are the physical ports that several ends of the links are on, as sentences: the test allows it, and its Report says so.
	SharedPorts []string `json:"sharedPorts,omitempty"`
	// Device is the device's pod; nil: the device is none.
	Device *Device `json:"device,omitempty"`
	// DeviceEnd is where the device's own end of sessions is driven, host:port; empty: the device is none.
	DeviceEnd string `json:"deviceEnd,omitempty"`
	// Vitals is where the device's node tells its vital signs, host:port; empty: nobody does, and NoVitals says why where that is to be told.
	Vitals   string `json:"vitals,omitempty"`
	NoVitals string `json:"noVitals,omitempty"`
	// Collector asks over the network for the test's observers; nil: nobody does, and NoCollector says why where somebody was to.
	Collector   *CollectorSite `json:"collector,omitempty"`
	NoCollector string         `json:"noCollector,omitempty"`
	// Reset is where the device's reset is asked for; nil: nobody is there to ask.
	Reset *ResetSite `json:"reset,omitempty"`
}

// ResetSite is who resets the device: a container in its pod.
type ResetSite struct {
	Address string `json:"address"` // host:port
	// Token is what the asker shows. It keeps other pods of the pods' network from resetting a device while it is measured; who reads the device's pod has it.
	Token string `json:"token"`
}

// CollectorSite is where the collector tells what it was told.
type CollectorSite struct {
	Address string `json:"address"` // host:port
	// Token is what the asker shows: what a lab's machines tell is for the test alone.
	Token string `json:"token"`
}

// Site is where one generator is.
type Site struct {
	// Generator is its name in the Plan.
	Generator string `json:"generator"`
	// RPC is where it answers TRex's RPC, host:port.
	RPC string `json:"rpc"`
	// Heartbeat is where its launcher wants the runner's beats, host:port; empty where requests over RPC are beats enough.
	Heartbeat string `json:"heartbeat,omitempty"`
	// PortOfLink is the index of its port on each link that it is on.
	PortOfLink map[string]int `json:"portOfLink"`
	// NextHopMAC is the DUT's MAC address on a link, where it is known from the DUT's pod.
	NextHopMAC map[string]string `json:"nextHopMacAddress,omitempty"`
	// PhysicalPort is the node's port behind a link, where that may be shared and the operator knows it: it keeps other tests off.
	PhysicalPort map[string]string `json:"physicalPort,omitempty"`
	// Pod and Node say where it runs, for the Report, and Containers which images it was given.
	Pod        string      `json:"pod,omitempty"`
	Node       string      `json:"node,omitempty"`
	Containers []Container `json:"containers,omitempty"`
}
