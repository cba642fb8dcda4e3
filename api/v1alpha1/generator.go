package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// Engine is a kind of traffic generator.
//
// +kubebuilder:validation:Enum=TRex;Software
type Engine string

// The engines.
const (
	// EngineTRex is TRex in stateless mode.
	EngineTRex Engine = "TRex"
	// EngineSoftware is linerate's own generator on Linux interfaces.
	EngineSoftware Engine = "Software"
)

// Layout is how a generator's ports are spread over pods.
//
// +kubebuilder:validation:Enum=Paired;PerLink
type Layout string

// The layouts.
const (
	// LayoutPaired gives each replica one pod with a port on every link.
	LayoutPaired Layout = "Paired"
	// LayoutPerLink gives each replica a pod per link, so that source and sink are different machines; nothing
	// that needs one clock for both can be measured then.
	LayoutPerLink Layout = "PerLink"
)

// GeneratorSpec is what sends and receives the traffic.
//
// +kubebuilder:validation:XValidation:rule="has(self.trex) == (self.engine == 'TRex' && !self.?placement.servers.hasValue())",fieldPath=".trex",message="engine TRex needs trex.image, such as registry.lab/trex:3.08, unless placement.servers run already; every other engine forbids trex"
// +kubebuilder:validation:XValidation:rule="!has(self.software) || self.engine == 'Software'",fieldPath=".software",message="software configures engine Software: set engine: Software, or remove software"
type GeneratorSpec struct {
	// engine is TRex or Software (linerate's own). Both run in the test's pods, of which TRex's need trex.image, or
	// already (placement.servers). Example: Software.
	// +required
	Engine Engine `json:"engine"`

	// replicas is how many generators share the load, each with a port on every link.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Replicas int32 `json:"replicas,omitempty"`

	// layout is Paired (default: each replica is one pod, with a port on every link) or PerLink (a pod for each link).
	// +optional
	Layout Layout `json:"layout,omitempty"`

	// coresPerPortPair is how many CPUs send and receive for each pair of ports; a pod requests two more, rounded
	// up to an even number, as exclusive CPUs. Default: 4 with TRex on devices; else one thread on shared CPUs.
	// TRex on kernel interfaces has 1. With linerate run: threads that may send on each port. Example: 4.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	CoresPerPortPair int32 `json:"coresPerPortPair,omitempty"`

	// memory is what each generator pod requests, without hugepages. Default (least): 4Gi (1Gi) with TRex, 512Mi
	// (128Mi) with Software. Example: 4Gi.
	// +optional
	Memory Quantity `json:"memory,omitempty"`

	// hugepages are what each TRex pod requests. Default: 4Gi in pages of 1Gi; none on kernel interfaces.
	// Example: {pageSize: 1Gi, total: 4Gi}.
	// +optional
	Hugepages *HugepagesSpec `json:"hugepages,omitempty"`

	// trex configures engine TRex.
	// +optional
	TRex *TRexSpec `json:"trex,omitempty"`

	// software configures engine Software.
	// +optional
	Software *SoftwareSpec `json:"software,omitempty"`

	// placement says where generator pods may run, or which generators run already.
	// +optional
	Placement *PlacementSpec `json:"placement,omitempty"`

	// pod is added to each generator pod.
	// +optional
	Pod *GeneratorPodSpec `json:"pod,omitempty"`
}

// Servers are the generators that run already. Without any, linerate starts them.
func (g *GeneratorSpec) Servers() []GeneratorServer {
	if g.Placement == nil {
		return nil
	}
	return g.Placement.Servers
}

// Quantity is an amount of memory as Kubernetes writes it: 512Mi, 4Gi.
//
// +kubebuilder:validation:Pattern=`^[1-9][0-9]{0,11}(Ki|Mi|Gi|Ti)$`
type Quantity string

// HugepagesSpec is an amount of huge pages of one size.
type HugepagesSpec struct {
	// pageSize is the size of each page, as the nodes have them.
	// +required
	// +kubebuilder:validation:Enum="2Mi";"1Gi"
	PageSize Quantity `json:"pageSize"`

	// total is what each pod requests: a multiple of pageSize, at least 1Gi. Example: 4Gi.
	// +required
	Total Quantity `json:"total"`
}

// TRexSpec configures engine TRex.
type TRexSpec struct {
	// image holds TRex (docs/trex.md). Example: registry.lab/trex:3.08.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[^ \t\n]+$`
	Image string `json:"image"`

	// directory is TRex's folder in the image. Default: it is searched for. Example: /opt/trex.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^/`
	Directory string `json:"directory,omitempty"`

	// args are added to those of TRex's server; linerate's own (-i, -c, --cfg and the like) are refused. Example:
	// [--no-hw-flow-stat].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=256
	Args []string `json:"args,omitempty"`

	// config is merged over TRex's configuration file; ports, cores and the RPC's port are linerate's. Example:
	// {rx_desc: 4096}.
	// +optional
	Config Freeform `json:"config,omitempty"`
}

// SendingPath is how the software engine sends.
//
// +kubebuilder:validation:Enum=Live;AFXDP;AFPacket
type SendingPath string

// The paths.
const (
	// PathLive has the kernel make and pace the frames.
	PathLive SendingPath = "Live"
	// PathAFXDP hands frames to the driver past the kernel's protocols.
	PathAFXDP SendingPath = "AFXDP"
	// PathAFPacket hands them to the kernel.
	PathAFPacket SendingPath = "AFPacket"
)

// SoftwareSpec configures engine Software.
type SoftwareSpec struct {
	// path is how it sends: Live (by the kernel), AFXDP or AFPacket; where the machine can't, the test ends.
	// Default: the fastest it has, or linerate run's --path. Example: AFXDP.
	// +optional
	Path SendingPath `json:"path,omitempty"`
}

// PlacementSpec says where generators run.
type PlacementSpec struct {
	// separateNodes keeps generator pods off the node of the DUT's pod.
	// +optional
	SeparateNodes bool `json:"separateNodes,omitempty"`

	// servers are generators that run already, one for each replica: TRex in stateless mode, or linerate generator.
	// Example: [{address: trex.lab}].
	// +optional
	// +listType=map
	// +listMapKey=address
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Servers []GeneratorServer `json:"servers,omitempty"`
}

// GeneratorServer is a generator that runs already.
type GeneratorServer struct {
	// address is where it answers, as host:port (default 4501). Example: trex.lab:4501.
	// +required
	Address ServerAddress `json:"address"`

	// link is the link of its first port; then each link has such servers, one for each replica. Default: port I is
	// on link I (from 0). Example: west.
	// +optional
	Link LinkName `json:"link,omitempty"`
}

// ServerAddress is a host name or IP address, with or without a port.
//
// +kubebuilder:validation:MaxLength=260
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|[[][0-9a-fA-F:.]+[]])(:[1-9][0-9]{0,4})?$`
type ServerAddress string

// GeneratorPodSpec is added to each generator pod. Its containers are linerate's own.
type GeneratorPodSpec struct {
	// labels are added to the pod's, but none of linerate.dev, nor app.kubernetes.io/managed-by. Example: {team:
	// datapath}.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the pod's, but none of linerate.dev, nor Multus' networks. Example:
	// {cpu-load-balancing.crio.io: disable}.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Annotations map[string]string `json:"annotations,omitempty"`

	// nodeSelector is the labels that a node must have. Example: {lab/role: generator}.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations let the pod onto tainted nodes. Example: [{key: lab/role, operator: Exists}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity is the pod's; placement.separateNodes is added to it.
	// +optional
	Affinity Freeform `json:"affinity,omitempty"`

	// runtimeClassName is the pod's RuntimeClass. Example: performance.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	RuntimeClassName string `json:"runtimeClassName,omitempty"`

	// priorityClassName is the pod's PriorityClass. Example: lab-night.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// imagePullSecrets are Secrets of the namespace. Example: [{name: registry-lab}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
}
