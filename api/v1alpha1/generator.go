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
	// DefaultEngine is that of a test that says nothing of its generator.
	DefaultEngine = EngineSoftware
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
type GeneratorSpec struct {
	// engine is TRex (with trex.image or placement.servers) or Software (linerate's own).
	// +required
	Engine Engine `json:"engine"`

	// replicas share the load on every link.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Replicas int32 `json:"replicas,omitempty"`

	// layout is Paired (default: a pod for each replica) or PerLink (a pod for each link).
	// +optional
	Layout Layout `json:"layout,omitempty"`

	// coresPerPortPair are CPUs of each pair of ports; a pod requests two more. Default: 4 with TRex on devices.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	CoresPerPortPair int32 `json:"coresPerPortPair,omitempty"`

	// memory is each pod's, without hugepages. Default: 4Gi with TRex, 512Mi with Software.
	// +optional
	Memory Quantity `json:"memory,omitempty"`

	// hugepages are each TRex pod's. Default: {pageSize: 1Gi, total: 4Gi}.
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
	// pageSize is the nodes'.
	// +required
	// +kubebuilder:validation:Enum="2Mi";"1Gi"
	PageSize Quantity `json:"pageSize"`

	// total is a multiple of pageSize. Example: 4Gi.
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

	// directory is TRex's in the image. Default: searched for. Example: /opt/trex.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^/`
	Directory string `json:"directory,omitempty"`

	// args are added to the server's; linerate's own are refused. Example: [--no-hw-flow-stat].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=256
	Args []string `json:"args,omitempty"`

	// config is merged over TRex's configuration file. Example: {rx_desc: 4096}.
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
	// path is Live (by the kernel), AFXDP or AFPacket. Default: the fastest. Example: AFXDP.
	// +optional
	Path SendingPath `json:"path,omitempty"`
}

// PlacementSpec says where generators run.
type PlacementSpec struct {
	// separateNodes keeps them off the DUT's node.
	// +optional
	SeparateNodes bool `json:"separateNodes,omitempty"`

	// nodes places generator pods by generator. Example: {generator-0: gen-1}.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Nodes map[string]NodeName `json:"nodes,omitempty"`

	// servers run already: TRex, or linerate generator. Set replicas to their number (on each link, if they have one).
	// Example: [{address: trex.lab}].
	// +optional
	// +listType=map
	// +listMapKey=address
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Servers []GeneratorServer `json:"servers,omitempty"`
}

// NodeName is a node's name.
//
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
type NodeName string

// GeneratorServer is a generator that runs already.
type GeneratorServer struct {
	// address is HOST or HOST:PORT. Default port: 4501. Example: trex.lab:4501.
	// +required
	Address ServerAddress `json:"address"`

	// link is the one that its port is wired to, if each link has a server of its own. Default: it has a port on every
	// link, in their order. Example: west.
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
	// labels are the pod's. Example: {team: datapath}.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are the pod's. Example: {a: b}.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Annotations map[string]string `json:"annotations,omitempty"`

	// nodeSelector is the node's labels. Example: {lab/role: generator}.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations are the pod's. Example: [{key: lab/role, operator: Exists}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []Toleration `json:"tolerations,omitempty"`

	// affinity is the pod's.
	// +optional
	Affinity Freeform `json:"affinity,omitempty"`

	// runtimeClassName is the pod's. Example: performance.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	RuntimeClassName string `json:"runtimeClassName,omitempty"`

	// priorityClassName is the pod's. Example: lab-night.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// imagePullSecrets are Secrets, as [{name: a}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	ImagePullSecrets []SecretName `json:"imagePullSecrets,omitempty"`
}

// Toleration is a pod's.
type Toleration struct {
	// +optional
	Key string `json:"key,omitempty"`
	// operator is Exists or Equal.
	// +optional
	Operator corev1.TolerationOperator `json:"operator,omitempty"`
	// +optional
	Value string `json:"value,omitempty"`
	// +optional
	Effect corev1.TaintEffect `json:"effect,omitempty"`
	// +optional
	TolerationSeconds *int64 `json:"tolerationSeconds,omitempty"`
}

// SecretName names a Secret of the namespace.
type SecretName struct {
	// +optional
	Name string `json:"name,omitempty"`
}

// PodTolerations are the tolerations as a pod has them.
func (p *GeneratorPodSpec) PodTolerations() (tolerations []corev1.Toleration) {
	for _, t := range p.Tolerations {
		tolerations = append(tolerations, corev1.Toleration(t))
	}
	return tolerations
}

// PodPullSecrets are the Secrets with which a pod's images are pulled, as a pod has them.
func (p *GeneratorPodSpec) PodPullSecrets() (secrets []corev1.LocalObjectReference) {
	for _, s := range p.ImagePullSecrets {
		secrets = append(secrets, corev1.LocalObjectReference(s))
	}
	return secrets
}
