package v1alpha1

// Engine is a kind of traffic generator.
//
// +kubebuilder:validation:Enum=Software;External
type Engine string

// The engines.
const (
	// EngineSoftware is linerate's own generator on Linux interfaces.
	EngineSoftware Engine = "Software"
	// EngineExternal is a TRex (stateless mode) that already runs somewhere.
	EngineExternal Engine = "External"
)

// GeneratorSpec is what sends and receives the traffic.
//
// +kubebuilder:validation:XValidation:rule="(self.engine == 'External') == has(self.external)",fieldPath=".external",message="engine External needs external.servers, such as [trex.lab:4501]; every other engine forbids external"
// +kubebuilder:validation:XValidation:rule="!has(self.external) || size(self.external.servers) == self.replicas",fieldPath=".replicas",message="with engine External replicas must be the number of external.servers"
type GeneratorSpec struct {
	// engine is the generator's kind: Software (linerate's own, on Linux interfaces) or External (a TRex that already runs).
	// +optional
	// +kubebuilder:default=Software
	Engine Engine `json:"engine,omitempty"`

	// replicas is how many generators share the load. Each has a port on every link, its own addresses and its own share of the flows.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Replicas int32 `json:"replicas,omitempty"`

	// external says where the generators of engine External are.
	// +optional
	External *ExternalSpec `json:"external,omitempty"`
}

// ExternalSpec says where TRex servers already run.
type ExternalSpec struct {
	// servers are the TRex servers, one per replica, as host:port; port 4501 where none is given. Port i of each server is wired to
	// link i. Example: [trex.lab:4501].
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(s, self.exists_one(t, t == s))",message="every server can be used once only"
	Servers []Server `json:"servers"`
}

// Server is a TRex server's RPC address: a host name or IP address, and a port where it isn't 4501.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=260
// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|[[][0-9a-fA-F:.]+[]])(:[1-9][0-9]{0,4})?$')",message="write a server as host or host:port, such as trex.lab:4501, 192.0.2.7 or [2001:db8::7]:4501"
type Server string
