package v1alpha1

// ResetSpec is how the device's tables are emptied before each trial. The Reference knows how to: reset: {} is enough.
type ResetSpec struct {
	// command has no shell; 0 is success. A Reference takes none. Example: [conntrack, -F].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Command []CommandWord `json:"command,omitempty"`

	// image has the command, for a Pod. Default: the forwarding container's. Example: "registry.lab/tools:1".
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[^ \t\n]+$`
	Image string `json:"image,omitempty"`

	// timeout is the command's, and then the wait's until the device forwards.
	// +optional
	// +kubebuilder:default="30s"
	Timeout Duration `json:"timeout,omitempty"`
}

// CommandWord is a word.
//
// +kubebuilder:validation:MaxLength=1024
type CommandWord string
