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

// DUTSpec is the device under test.
//
// +kubebuilder:validation:XValidation:rule="has(self.pod) == (self.type == 'Pod')",fieldPath=".pod",message="dut.type Pod needs pod.template; every other type forbids pod"
// +kubebuilder:validation:XValidation:rule="!has(self.reference) || self.type == 'Reference' || (self.type == 'Loopback' && !has(self.reference.limit))",fieldPath=".reference",message="reference is for dut.type Reference (its mode also for Loopback, whose generators then send what they would send to that device): remove it, or set type: Reference"
type DUTSpec struct {
	// type is Pod (software in a pod, in a cluster), Reference (the built-in Linux forwarder), Device (what already
	// forwards between the links) or Loopback (no device: the generator itself is measured). Example: Reference.
	// +required
	Type DUTType `json:"type"`

	// role Endpoint makes the device an end of sessions, on the one link; directions call it dut. Default: Forwarder.
	// +optional
	Role DUTRole `json:"role,omitempty"`

	// forwarding is how the device forwards: L3 (default), L2 (default of Loopback) or MACRewrite. It decides how
	// frames are addressed, and what must come back.
	// +optional
	Forwarding Forwarding `json:"forwarding,omitempty"`

	// pod is the software under test, for type Pod. LINERATE_* variables and /etc/linerate/links.json tell its
	// containers of the links, which are interfaces of their names.
	// +optional
	Pod *DUTPodSpec `json:"pod,omitempty"`

	// setup runs to its end before all else, such as to configure a device. If it fails, the test ends.
	// +optional
	Setup *HookSpec `json:"setup,omitempty"`

	// teardown runs to its end after the last frame, however the test ended.
	// +optional
	Teardown *HookSpec `json:"teardown,omitempty"`

	// hops is how many routers are under test, one behind the other: each takes one from the TTL. With forwarding
	// L3 only. Example: 2.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	Hops int32 `json:"hops,omitempty"`

	// readyDelay is how long the device may take, once it is there, until it answers and forwards, such as a
	// switch with spanning tree. A cluster begins the test after it; the path is proven again and again until it
	// is over. Example: 60s.
	// +optional
	ReadyDelay Duration `json:"readyDelay,omitempty"`

	// reference configures the built-in forwarder. With Loopback, reference.mode names the device whose traffic
	// is sent.
	// +optional
	Reference *ReferenceSpec `json:"reference,omitempty"`
}

// DUTPodSpec is software under test in a pod. The links become interfaces of their names in it; LINERATE_*
// variables and /etc/linerate/links.json tell its containers of them.
type DUTPodSpec struct {
	// container is the container that forwards: it gets the devices. Default: the first. Example: vpp.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Container string `json:"container,omitempty"`

	// template is the pod: metadata (labels, annotations) and spec. Give the container a readinessProbe. The
	// links' networks and devices are added, to those of the annotation k8s.v1.cni.cncf.io/networks; restartPolicy
	// is Never. Example: {spec: {containers: [{name: vpp, image: "registry.lab/vpp:25.10"}]}}.
	// +required
	Template Freeform `json:"template"`
}

// HookSpec is what is run to its end: the pod in a cluster, the program with linerate run. A file with both can
// be used in either place.
type HookSpec struct {
	// template is the pod that a cluster runs; it gets the links as dut.pod does. Exit code 0 is success.
	// +optional
	Template Freeform `json:"template,omitempty"`

	// command is what linerate run starts, as the user, without a shell, with LINERATE_TEST, LINERATE_FORWARDING
	// and LINERATE_LINKS. Exit code 0 is success. Example: [./configure-router.sh, up].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Command []CommandWord `json:"command,omitempty"`

	// deadline is how long it may take: after that it has failed. Example: 10m.
	// +optional
	// +kubebuilder:default="10m"
	Deadline Duration `json:"deadline,omitempty"`
}

// ReferenceSpec configures the built-in forwarder: by an exact limit, or as a real device that is made of Linux.
type ReferenceSpec struct {
	// limit is the most it forwards in each direction. Default: what the machine can. Example:
	// {packetsPerSecond: 10000}.
	// +optional
	Limit *LimitSpec `json:"limit,omitempty"`

	// mode makes it a real device, and sets how that forwards. Example: {router: {routes: 1000000}}.
	// +optional
	Mode *ModeSpec `json:"mode,omitempty"`

	// image has the program that linerate's lacks, in a cluster: dpdk-testpmd for mode userspace, strongSwan for a
	// tunnel of kind IPsec. Example: registry.lab/testpmd:22.11.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[^ \t\n]+$`
	Image string `json:"image,omitempty"`
}

// ModeSpec is which device the Reference is: exactly one.
//
// +kubebuilder:validation:XValidation:rule="[has(self.router), has(self.bridge), has(self.filter), has(self.nat), has(self.xdp), has(self.tunnel), has(self.userspace)].filter(m, m).size() == 1",message="a device has one mode: set exactly one, such as mode: {router: {routes: 1000}}"
type ModeSpec struct {
	// router forwards by the kernel's routing table.
	// +optional
	Router *RouterMode `json:"router,omitempty"`

	// bridge is the kernel's learning bridge.
	// +optional
	Bridge *BridgeMode `json:"bridge,omitempty"`

	// filter is a router that holds each frame against nftables rules.
	// +optional
	Filter *FilterMode `json:"filter,omitempty"`

	// nat is a router that translates the addresses behind the first link (nftables, conntrack).
	// +optional
	NAT *NATMode `json:"nat,omitempty"`

	// xdp is a router in the links' receive path (eBPF), by the kernel's routing table.
	// +optional
	XDP *XDPMode `json:"xdp,omitempty"`

	// tunnel is two gateways, one at each link, with an encrypted tunnel between.
	// +optional
	Tunnel *TunnelMode `json:"tunnel,omitempty"`

	// userspace forwards in a program, not in the kernel.
	// +optional
	Userspace *UserspaceMode `json:"userspace,omitempty"`
}

// RouterMode is a router of the kernel's.
type RouterMode struct {
	// routes is how many equally large routes lead to the networks behind each link; destinations are spread over
	// them. Example: 1000000.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Routes int32 `json:"routes,omitempty"`
}

// BridgeMode is a bridge of the kernel's.
type BridgeMode struct{}

// FilterMode is a router with a packet filter.
type FilterMode struct {
	// rules is how many rules each frame is held against; it matches none. 0: the filter's hook is there, and
	// empty. Example: 1000.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	Rules int32 `json:"rules"`

	// routes is as a router's. Example: 1000000.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Routes int32 `json:"routes,omitempty"`
}

// NATMode is a router that translates addresses.
type NATMode struct {
	// sessions is how many connections of silent hosts it tracks beside the traffic's (one for each flow).
	// Example: 100000.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Sessions int32 `json:"sessions,omitempty"`
}

// XDPMode is a router in the drivers' receive path.
type XDPMode struct {
	// routes is as a router's. Example: 1000000.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Routes int32 `json:"routes,omitempty"`
}

// TunnelKind is what encrypts.
//
// +kubebuilder:validation:Enum=WireGuard;IPsec
type TunnelKind string

// The kinds of tunnel, both in user space.
const (
	TunnelWireGuard TunnelKind = "WireGuard"
	TunnelIPsec     TunnelKind = "IPsec"
)

// TunnelCipher is how a tunnel's packets are encrypted and authenticated.
//
// +kubebuilder:validation:Enum=AES-128-GCM;AES-256-GCM;AES-256-CBC-SHA-256;ChaCha20-Poly1305
type TunnelCipher string

// The ciphers. WireGuard has the last alone.
const (
	TunnelAES128GCM TunnelCipher = "AES-128-GCM"
	TunnelAES256GCM TunnelCipher = "AES-256-GCM"
	TunnelAES256CBC TunnelCipher = "AES-256-CBC-SHA-256"
	TunnelChaCha20  TunnelCipher = "ChaCha20-Poly1305"
)

// TunnelMode is two gateways of an encrypted tunnel.
type TunnelMode struct {
	// kind is what encrypts: WireGuard or IPsec (strongSwan). Example: WireGuard.
	// +required
	Kind TunnelKind `json:"kind"`

	// cipher is the cipher. Default: AES-256-GCM, with WireGuard ChaCha20-Poly1305. Example: AES-128-GCM.
	// +optional
	Cipher TunnelCipher `json:"cipher,omitempty"`

	// network is the NetworkAttachmentDefinition of the cable between the gateways' pods. Needed in a cluster.
	// Example: sriov-cable.
	// +optional
	Network NetworkName `json:"network,omitempty"`
}

// UserspaceKind is the program that forwards.
//
// +kubebuilder:validation:Enum=Testpmd
type UserspaceKind string

// UserspaceTestpmd is DPDK's testpmd.
const UserspaceTestpmd UserspaceKind = "Testpmd"

// UserspaceMode is a program that forwards.
type UserspaceMode struct {
	// kind is the program. Example: Testpmd.
	// +required
	Kind UserspaceKind `json:"kind"`
}

// LimitSpec is an exact limit of the built-in forwarder, per direction.
//
// +kubebuilder:validation:XValidation:rule="has(self.packetsPerSecond) != has(self.layer2BitsPerSecond)",message="a limit is either packetsPerSecond or layer2BitsPerSecond: set exactly one"
type LimitSpec struct {
	// packetsPerSecond is the limit in packets per second. Example: 10000.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=500000000
	PacketsPerSecond int64 `json:"packetsPerSecond,omitempty"`

	// layer2BitsPerSecond is the limit in bits of frames with FCS per second. Example: 100000000.
	// +optional
	// +kubebuilder:validation:Minimum=10000
	// +kubebuilder:validation:Maximum=1000000000000
	Layer2BitsPerSecond int64 `json:"layer2BitsPerSecond,omitempty"`

	// burst is how much unused rate is saved up, as time at the limit. Example: 10ms.
	// +optional
	// +kubebuilder:default="10ms"
	Burst Duration `json:"burst,omitempty"`

	// queue is how much waits behind a limit in bits, as time at the limit, for traffic of type Sessions and
	// procedure BackToBack. Default: one frame. Example: 50ms.
	// +optional
	Queue Duration `json:"queue,omitempty"`
}
