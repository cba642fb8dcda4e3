package v1alpha1

// PodRole is what a pod is for.
//
// +kubebuilder:validation:Enum=Generator;DUT;Vitals;Collector;Setup;Teardown;Runner
type PodRole string

// The roles.
const (
	RoleGenerator PodRole = "Generator"
	RoleDUT       PodRole = "DUT"
	RoleVitals    PodRole = "Vitals"
	RoleCollector PodRole = "Collector"
	RoleSetup     PodRole = "Setup"
	RoleTeardown  PodRole = "Teardown"
	RoleRunner    PodRole = "Runner"
)

// PodStatus is one pod of the test.
type PodStatus struct {
	// name is the pod's name.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// uid is the pod's UID, if ends may share ports.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`

	// namespace is where the pod is. Empty: the LoadTest's.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// role is what the pod is for.
	// +required
	Role PodRole `json:"role"`

	// node is where it runs.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`

	// state is the pod's, in a word. Example: Ready.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	State string `json:"state,omitempty"`

	// links are its interfaces on the test's links.
	// +optional
	// +listType=map
	// +listMapKey=link
	// +kubebuilder:validation:MaxItems=8
	Links []PodLink `json:"links,omitempty"`
}

// PodLink is a pod's interface on a link.
type PodLink struct {
	// link is the link's name.
	// +required
	// +kubebuilder:validation:MaxLength=13
	Link string `json:"link"`

	// device is the device behind it, where it has one. Example: 0000:03:02.1.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Device string `json:"device,omitempty"`

	// physicalPort is the node's port behind it, where others may share that port.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	PhysicalPort string `json:"physicalPort,omitempty"`
}
