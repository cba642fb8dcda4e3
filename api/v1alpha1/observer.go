package v1alpha1

// ObserverOf is whose vital sign an observer reads.
//
// +kubebuilder:validation:Enum=Generator;DUT;Node
type ObserverOf string

// Whose vital sign it reads.
const (
	// ObserverOfGenerator is the machines that the generators run on.
	ObserverOfGenerator ObserverOf = "Generator"
	// ObserverOfDUT is the device under test, or the machine that it runs on.
	ObserverOfDUT ObserverOf = "DUT"
	// ObserverOfNode is each machine that the generators or the device run on, once.
	ObserverOfNode ObserverOf = "Node"
)

// ObserverType is what an observer reads.
//
// +kubebuilder:validation:Enum=Processors;Limiter;Interfaces;Memory;Load;SoftIRQs;Frequencies;Temperatures
type ObserverType string

// What an observer reads.
const (
	// ObserverProcessors is how each processor of the machine spends its time: busy, softirq, and stolen by the host of a virtual machine.
	ObserverProcessors ObserverType = "Processors"
	// ObserverLimiter is what the built-in Reference's limit passes and drops, in each direction.
	ObserverLimiter ObserverType = "Limiter"
	// ObserverInterfaces is what the kernels of the generators' machines, or the built-in Reference's, count of the interfaces on links.
	ObserverInterfaces ObserverType = "Interfaces"
	// ObserverMemory is how much of the machine's memory is used, and how much is available to programs.
	ObserverMemory ObserverType = "Memory"
	// ObserverLoad is how many of the machine's threads ran or waited to, on average of 1, 5 and 15 minutes.
	ObserverLoad ObserverType = "Load"
	// ObserverSoftIRQs is what the machine's processors did in softirqs, in which Linux receives and sends frames: time, runs, frames, drops and squeezes.
	ObserverSoftIRQs ObserverType = "SoftIRQs"
	// ObserverFrequencies is how fast each processor of the machine runs.
	ObserverFrequencies ObserverType = "Frequencies"
	// ObserverTemperatures is what the machine's hwmon sensors measure, when a held window is over.
	ObserverTemperatures ObserverType = "Temperatures"
)

// Observer reads a vital sign beside the traffic: its values are in the Report, over time and in each window.
//
// +kubebuilder:validation:XValidation:rule="self.type != 'Limiter' || self.of == 'DUT'",fieldPath=".of",message="a Limiter is the built-in Reference's: say of: DUT"
// +kubebuilder:validation:XValidation:rule="self.type != 'Interfaces' || self.of != 'Node'",fieldPath=".of",message="interfaces are read on the links of a test: say of: Generator, or of: DUT for those of the built-in Reference"
type Observer struct {
	// name identifies the observer in the Report. Example: cpu.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="an observer's name is made of lower-case letters, digits and dashes, such as cpu"
	Name string `json:"name"`

	// of is whose vital sign it is: the Generator's, the DUT's, or that of each Node (machine) that either is on. (Not "on", which YAML 1.1 takes for true.)
	// +required
	Of ObserverOf `json:"of"`

	// type is what it reads: Processors, SoftIRQs, Memory, Load, Frequencies or Temperatures of a machine, Interfaces on links, or the Reference's Limiter.
	// +required
	Type ObserverType `json:"type"`
}
