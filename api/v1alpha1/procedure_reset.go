package v1alpha1

// ResetSpec is how the device's tables are emptied before each trial. The Reference knows how to: reset: {} is enough.
type ResetSpec struct {
	// command is run without a shell; exit code 0 is its success. With dut.type Pod it runs in a container beside
	// the one that forwards, with Device where linerate run does. Example: [ip, neigh, flush, all].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Command []CommandWord `json:"command,omitempty"`

	// image has the command, with dut.type Pod. Default: that of the container that forwards. Example:
	// "registry.lab/tools:1".
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[^ \t\n]+$`
	Image string `json:"image,omitempty"`

	// timeout bounds the command, and then the wait until the device forwards. If either takes longer, the run
	// ends. Example: 10s.
	// +optional
	// +kubebuilder:default="30s"
	Timeout Duration `json:"timeout,omitempty"`
}

// CommandWord is a program's name or one of its arguments.
//
// +kubebuilder:validation:MaxLength=1024
type CommandWord string
