package v1alpha1

// DUTType is a kind of device under test.
//
// +kubebuilder:validation:Enum=Pod;Reference;Device;Loopback
type DUTType string

// The kinds of device under test.
const (
	// DUTPod is software in a pod of the test's own, made from the user's template.
	DUTPod DUTType = "Pod"
	// DUTReference is the built-in Linux forwarder, with an exact limit where one is wanted.
	DUTReference DUTType = "Reference"
	// DUTDevice is something that already forwards between the links: a physical box, or software that somebody
	// else set up.
	DUTDevice DUTType = "Device"
	// DUTLoopback is no device at all: the links are wired to each other, and the generator measures itself.
	DUTLoopback DUTType = "Loopback"
)

// DUTRole is what the device is to the traffic.
//
// +kubebuilder:validation:Enum=Forwarder;Endpoint
type DUTRole string

// The roles of a device.
const (
	// RoleForwarder is between the generators: traffic goes through it.
	RoleForwarder DUTRole = "Forwarder"
	// RoleEndpoint is an end of the sessions itself: traffic goes to it, or comes from it.
	RoleEndpoint DUTRole = "Endpoint"
)

// Forwarding is how a device forwards.
//
// +kubebuilder:validation:Enum=L3;L2;MACRewrite
type Forwarding string

// The ways of forwarding.
const (
	// ForwardingL3 routes: frames go to the device's MAC and come back from it, the TTL one lower.
	ForwardingL3 Forwarding = "L3"
	// ForwardingL2 bridges: frames go to the far generator port's MAC and come back unchanged.
	ForwardingL2 Forwarding = "L2"
	// ForwardingMACRewrite forwards with new MAC addresses, everything else unchanged.
	ForwardingMACRewrite Forwarding = "MACRewrite"
)

// FrameChange is something that a device does to frames besides forwarding them.
//
// +kubebuilder:validation:Enum=Addresses;Encapsulation;VLAN;Length
type FrameChange string

// What devices change of frames.
const (
	// ChangeAddresses translates IP addresses and ports, as NAT does.
	ChangeAddresses FrameChange = "Addresses"
	// ChangeEncapsulation wraps packets into others, as one end of a tunnel does.
	ChangeEncapsulation FrameChange = "Encapsulation"
	// ChangeVLAN puts on, takes off or replaces VLAN tags.
	ChangeVLAN FrameChange = "VLAN"
	// ChangeLength makes packets longer or shorter.
	ChangeLength FrameChange = "Length"
)

// DUTSpec is the device under test.
//
// +kubebuilder:validation:XValidation:rule="has(self.pod) == (self.type == 'Pod')",fieldPath=".pod",message="dut.type Pod needs pod.template; every other type forbids pod"
type DUTSpec struct {
	// type is Pod (software, in a cluster), Reference (the built-in Linux forwarder), Device (a box that already
	// forwards) or Loopback (no device: links wired to each other). Example: Reference.
	// +required
	Type DUTType `json:"type"`

	// role Endpoint makes it an end of Sessions: a Pod, a Reference, or a Device with endpoint. Default: Forwarder.
	// +optional
	Role DUTRole `json:"role,omitempty"`

	// endpoint is the server that runs on a Device of role Endpoint, anybody's. Example: {iperf3: "192.0.2.1:5201"}.
	// +optional
	Endpoint *EndpointSpec `json:"endpoint,omitempty"`

	// forwarding is L3 (a router), L2 (a bridge) or MACRewrite (new MACs, same TTL). Default: L3; of Loopback L2; of
	// reference.mode its own.
	// +optional
	Forwarding Forwarding `json:"forwarding,omitempty"`

	// pod is type Pod's software, required there. Its interfaces have the links' names. Its variables are the addresses
	// and routes to set, such as LINERATE_WEST_ADDRESS and LINERATE_WEST_ROUTES of link west (docs/my-device.md).
	// +optional
	Pod *DUTPodSpec `json:"pod,omitempty"`

	// node is where the DUT's pod runs. Example: dut-1.
	// +optional
	Node NodeName `json:"node,omitempty"`

	// setup runs first, such as to configure a device. If it fails, the test ends. It has template, command or both.
	// +optional
	Setup *HookSpec `json:"setup,omitempty"`

	// teardown runs last, however the test ended.
	// +optional
	Teardown *HookSpec `json:"teardown,omitempty"`

	// collect is kept with the Report, by linerate run alone.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Collect []Collection `json:"collect,omitempty"`

	// notes is anything that readers of the figures should know. Example: fan replaced.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Notes string `json:"notes,omitempty"`

	// price is a column in tables. Example: 149 USD.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[^[:cntrl:]]*$`
	Price string `json:"price,omitempty"`

	// disclosure is who has an interest in the result. Example: lent by its maker.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Disclosure string `json:"disclosure,omitempty"`

	// hops is how many routers a frame passes in a Pod or Device with forwarding L3. Default: 1. Example: 2.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	Hops int32 `json:"hops,omitempty"`

	// changes are what a Pod or Device does to frames besides forwarding. The path check learns how, and refuses all
	// else. NAT64 is [Addresses, Length]. Example: [Addresses].
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Changes []FrameChange `json:"changes,omitempty"`

	// readyDelay is how long it may take to forward, as a switch with spanning tree. Default: 0s. Example: 60s.
	// +optional
	ReadyDelay Duration `json:"readyDelay,omitempty"`

	// reference configures type Reference: by limit or mode. Default: the kernel routes (or bridges, by forwarding) all
	// that it can. A Loopback sends the mode's traffic.
	// +optional
	Reference *ReferenceSpec `json:"reference,omitempty"`
}

// EndpointSpec is a server of one protocol.
//
// +kubebuilder:validation:XValidation:rule="has(self.iperf3) != has(self.iperf2)",message="name one server: iperf3 or iperf2, such as iperf3: 192.0.2.1:5201"
type EndpointSpec struct {
	// iperf3 is an iperf3 server. Default port: 5201. Example: "192.0.2.1:5201".
	// +optional
	Iperf3 ServerAddress `json:"iperf3,omitempty"`

	// iperf2 is an iperf 2 server, of the sessions' protocol. Default port: 5001. Example: "192.0.2.1:5001".
	// +optional
	Iperf2 ServerAddress `json:"iperf2,omitempty"`
}

// DUTPodSpec is software under test in a pod. The links become interfaces of their names in it; LINERATE_*
// variables and /etc/linerate/links.json tell its containers of them.
type DUTPodSpec struct {
	// container forwards, and gets the devices. Default: the first. Example: vpp.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Container string `json:"container,omitempty"`

	// template is the pod: metadata and spec. The test starts when it is Ready. A readinessProbe is optional, and best
	// waits until it forwards. Networks, devices and variables are added. Example: {spec: {containers: [{name: vpp,
	// image: "registry.lab/vpp:25.10"}]}}.
	// +required
	Template Freeform `json:"template"`
}

// HookSpec is what is run to its end: the pod in a cluster, the program with linerate run. A file with both can
// be used in either place.
type HookSpec struct {
	// template is the pod that a cluster runs, with the links' interfaces. Exit code 0 is success.
	// +optional
	Template Freeform `json:"template,omitempty"`

	// command is what linerate run starts, without a shell. Example: [./configure-router.sh, up].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Command []CommandWord `json:"command,omitempty"`

	// deadline is how long it may take.
	// +optional
	// +kubebuilder:default="10m"
	Deadline Duration `json:"deadline,omitempty"`
}

// CollectionTime is when something is collected.
//
// +kubebuilder:validation:Enum=Before;During;After
type CollectionTime string

// When something is collected.
const (
	CollectBefore CollectionTime = "Before" // after dut.setup, before anything is sent
	CollectDuring CollectionTime = "During" // once, while a load is held after the warm-up
	CollectAfter  CollectionTime = "After"  // when nothing is sent any more, before dut.teardown
)

// Collection is what a command prints, or files of the machine of linerate run.
//
// +kubebuilder:validation:XValidation:rule="has(self.command) != has(self.paths)",message="collect a command's output or files: set either command or paths"
type Collection struct {
	// name stands in the Report. Example: rules.
	// +required
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`
	Name string `json:"name"`

	// command has no shell. Example: [ssh, fw, pfctl, -sr].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Command []CommandWord `json:"command,omitempty"`

	// paths are files. Example: [/proc/interrupts].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Paths []CollectedPath `json:"paths,omitempty"`

	// when is Before, During (within windows) or After the load.
	// +optional
	// +listType=atomic
	// +kubebuilder:default={Before,After}
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=3
	When []CollectionTime `json:"when,omitempty"`

	// timeout is the command's.
	// +optional
	// +kubebuilder:default="30s"
	Timeout Duration `json:"timeout,omitempty"`
}

// CollectedPath is a file's path.
//
// +kubebuilder:validation:MaxLength=512
// +kubebuilder:validation:Pattern=`^/[^[:cntrl:]]*$`
type CollectedPath string
