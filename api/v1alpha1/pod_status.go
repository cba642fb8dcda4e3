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

	// uid is the pod's UID, as the operator observed it.
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

	// state is the pod's state in a word. Example: Ready.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	State string `json:"state,omitempty"`

	// links are its interfaces on the test's links.
	// +optional
	// +listType=map
	// +listMapKey=link
	// +kubebuilder:validation:MaxItems=8
	Links []PodLink `json:"links,omitempty"`

	// containers are those of the device's pod, then its init containers.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Containers []PodContainer `json:"containers,omitempty"`
}

// PodContainer is what a container of the device's pod runs: the evidence of which device was measured.
type PodContainer struct {
	// name is the container's name.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// image is what the pod asks for. Example: lab/vpp:25.10.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Image string `json:"image,omitempty"`

	// imageID is the image that runs, with its digest. Example: docker.io/lab/vpp@sha256:9f86d081….
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	ImageID string `json:"imageID,omitempty"`
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

	// macAddress is its MAC address.
	// +optional
	// +kubebuilder:validation:MaxLength=17
	MACAddress string `json:"macAddress,omitempty"`

	// physicalPort is the node's port behind it, where other interfaces may share that port. Example: 0000:03:00.0.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	PhysicalPort string `json:"physicalPort,omitempty"`
}
