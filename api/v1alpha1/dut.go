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
	// DUTDevice is something that already forwards between the links: a physical box, or software that somebody else set up.
	DUTDevice DUTType = "Device"
	// DUTLoopback is no device at all: the links are wired to each other, and the generator measures itself.
	DUTLoopback DUTType = "Loopback"
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
// +kubebuilder:validation:XValidation:rule="has(self.pod) == (self.?type.orValue('unsaid') == 'Pod') || !has(self.type)",fieldPath=".pod",message="dut.type Pod needs pod.template; every other type forbids pod"
// +kubebuilder:validation:XValidation:rule="!has(self.reference) || self.?type.orValue('unsaid') in ['unsaid', 'Reference']",fieldPath=".reference",message="reference is for dut.type Reference only: remove it, or set type: Reference"
// +kubebuilder:validation:XValidation:rule="!has(self.forwarding) || self.forwarding == 'L2' || self.?type.orValue('unsaid') != 'Loopback'",fieldPath=".forwarding",message="a Loopback returns frames unchanged: leave forwarding out (or L2)"
type DUTSpec struct {
	// type is what is tested, and must be said: Pod (software in a pod, made from pod.template; in a cluster), Reference (the built-in
	// Linux forwarder), Device (what already forwards between the links) or Loopback (no device: the generator's own capacity).
	// +optional
	Type DUTType `json:"type,omitempty"`

	// forwarding is how the device forwards: L3 (default), L2 (default of Loopback) or MACRewrite. It decides where frames are
	// addressed, and what must come back before any load is sent.
	// +optional
	Forwarding Forwarding `json:"forwarding,omitempty"`

	// pod is the software under test, for type Pod.
	// +optional
	Pod *DUTPodSpec `json:"pod,omitempty"`

	// setup runs to its end before anything else of the test, such as what configures a physical device: a pod in a cluster, a program with
	// linerate run. If it fails, the test is over.
	// +optional
	Setup *HookSpec `json:"setup,omitempty"`

	// teardown runs to its end after the last frame, whatever became of the test: a pod in a cluster, a program with linerate run. It changes
	// no figure.
	// +optional
	Teardown *HookSpec `json:"teardown,omitempty"`

	// readyDelay is waited after the DUT is ready, before anything is sent to it: time for routes and neighbours. In a cluster only.
	// Example: 5s.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || duration(self) <= duration('1h')",message="readyDelay must be at most 1h"
	ReadyDelay Duration `json:"readyDelay,omitempty"`

	// reference configures the built-in forwarder.
	// +optional
	Reference *ReferenceSpec `json:"reference,omitempty"`
}

// DUTPodSpec is software under test in a pod. The links become interfaces of their names in it; LINERATE_* variables and
// /etc/linerate/links.json tell its containers of them.
type DUTPodSpec struct {
	// container is the name of the container that forwards: it gets the devices. Default: the first. Example: vpp.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Container string `json:"container,omitempty"`

	// template is the pod, in Kubernetes' form: metadata (labels, annotations) and spec. It is ready when Kubernetes says so: give the
	// container a readinessProbe. The links' networks and devices are added to it, and restartPolicy is Never. Its own networks can
	// stand in the annotation k8s.v1.cni.cncf.io/networks. Example: {spec: {containers: [{name: vpp, image: "registry.lab/vpp:25.10"}]}}.
	// +required
	Template Freeform `json:"template"`
}

// HookSpec is what runs to its end: in a cluster the pod, with linerate run the program. With both, one file serves both.
type HookSpec struct {
	// template is the pod, in the form of dut.pod.template. LINERATE_* variables and /etc/linerate/links.json tell it of the test and its
	// links. Exit code 0 is its success.
	// +optional
	Template Freeform `json:"template,omitempty"`

	// command is the program, which linerate run starts as the user, and no cluster does. LINERATE_TEST, LINERATE_FORWARDING and LINERATE_LINKS tell
	// it of the test. Exit code 0 is its success. No shell reads it. Example: [./configure-router.sh, up].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Command []CommandWord `json:"command,omitempty"`

	// deadline bounds it: what takes longer has failed. Example: 10m.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || (duration(self) >= duration('1s') && duration(self) <= duration('24h'))",message="deadline must be between 1s and 24h"
	Deadline Duration `json:"deadline,omitempty"`
}

// ReferenceSpec configures the built-in forwarder.
type ReferenceSpec struct {
	// limit is the most that it forwards, in each direction on its own. Without one it forwards what the machine can.
	// Example: {packetsPerSecond: 10000}.
	// +optional
	Limit *LimitSpec `json:"limit,omitempty"`
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
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || (duration(self) >= duration('1ms') && duration(self) <= duration('1s'))",message="burst must be between 1ms and 1s"
	Burst Duration `json:"burst,omitempty"`

	// queue is how much waits behind a limit in bits, as time at the limit: what a router's buffer holds. Only for traffic of type Sessions. Default: one frame.
	// Example: 50ms.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,6}([.][0-9]{1,9})?(ms|s|m|h))+$') || (duration(self) >= duration('1ms') && duration(self) <= duration('1s'))",message="queue must be between 1ms and 1s"
	Queue Duration `json:"queue,omitempty"`
}
