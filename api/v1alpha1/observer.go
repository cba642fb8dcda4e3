package v1alpha1

// ObserverOf is whose vital sign an observer reads.
//
// +kubebuilder:validation:Enum=Generator;DUT;Node;Lab
type ObserverOf string

// Whose vital sign it reads.
const (
	// ObserverOfGenerator is the machines that the generators run on.
	ObserverOfGenerator ObserverOf = "Generator"
	// ObserverOfDUT is the device under test, or the machine that it runs on.
	ObserverOfDUT ObserverOf = "DUT"
	// ObserverOfNode is each machine that the generators or the device run on, once.
	ObserverOfNode ObserverOf = "Node"
	// ObserverOfLab is something else in the lab, such as a power strip.
	ObserverOfLab ObserverOf = "Lab"
)

// ObserverType is what an observer reads.
//
// +kubebuilder:validation:Enum=Processors;Limiter;Interfaces;Memory;Load;SoftIRQs;Frequencies;Temperatures;Prometheus;SNMP;Redfish;SSH;IPMI;VPP
type ObserverType string

// What an observer reads.
const (
	// ObserverProcessors is how each processor of the machine spends its time: busy, softirq, and stolen by the
	// host of a virtual machine.
	ObserverProcessors ObserverType = "Processors"
	// ObserverLimiter is what the built-in Reference's limit passes and drops, in each direction.
	ObserverLimiter ObserverType = "Limiter"
	// ObserverInterfaces is what the kernels of the generators' machines, or the built-in Reference's, count of
	// the interfaces on links.
	ObserverInterfaces ObserverType = "Interfaces"
	// ObserverMemory is how much of the machine's memory is used, and how much is available to programs.
	ObserverMemory ObserverType = "Memory"
	// ObserverLoad is how many of the machine's threads ran or waited to, on average of 1, 5 and 15 minutes.
	ObserverLoad ObserverType = "Load"
	// ObserverSoftIRQs is what the machine's processors did in softirqs, in which Linux receives and sends frames:
	// time, runs, frames, drops and squeezes.
	ObserverSoftIRQs ObserverType = "SoftIRQs"
	// ObserverFrequencies is how fast each processor of the machine runs.
	ObserverFrequencies ObserverType = "Frequencies"
	// ObserverTemperatures is what the machine's hwmon sensors measure, when a held window is over.
	ObserverTemperatures ObserverType = "Temperatures"
	// ObserverPrometheus is what a Prometheus server answers to a query.
	ObserverPrometheus ObserverType = "Prometheus"
	// ObserverSNMP is a number that an SNMP agent reports, such as a power strip's or a switch's.
	ObserverSNMP ObserverType = "SNMP"
	// ObserverRedfish is the power and the temperatures of a chassis, as its management controller reports them.
	ObserverRedfish ObserverType = "Redfish"
	// ObserverSSH is a number that a command prints on a machine that is reached by SSH.
	ObserverSSH ObserverType = "SSH"
	// ObserverIPMI is a sensor, or the power, of a management controller that speaks IPMI 2.0.
	ObserverIPMI ObserverType = "IPMI"
	// ObserverVPP is what VPP counts of its nodes: clocks, packets and calls.
	ObserverVPP ObserverType = "VPP"
)

// Observer reads a vital sign.
//
// +kubebuilder:validation:XValidation:rule="has(self.prometheus) == (self.type == 'Prometheus') && has(self.snmp) == (self.type == 'SNMP') && has(self.redfish) == (self.type == 'Redfish') && has(self.ssh) == (self.type == 'SSH') && has(self.ipmi) == (self.type == 'IPMI') && (!has(self.vpp) || self.type == 'VPP')",message="prometheus, snmp, redfish, ssh, ipmi and vpp are each for the type of their name, which all but VPP need"
type Observer struct {
	// name identifies it in the Report. Example: cpu.
	// +required
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`
	Name string `json:"name"`

	// observed is the Generator, the DUT, each Node of these, or the Lab (asked over the network). Limiter and VPP are
	// the DUT's.
	// +required
	Observed ObserverOf `json:"observed"`

	// type is what is read, or who is asked: VPP; or Prometheus, SNMP, Redfish, SSH and IPMI, each with its member.
	// +required
	Type ObserverType `json:"type"`

	// interval is how often it asks; a window needs four readings. Default: 5s. Example: 10s.
	// +optional
	Interval Duration `json:"interval,omitempty"`

	// averagingTime is that of the source, which has to fit into a window. Default: 0s. Example: 30s.
	// +optional
	AveragingTime Duration `json:"averagingTime,omitempty"`

	// prometheus is for type Prometheus.
	// +optional
	Prometheus *PrometheusQuery `json:"prometheus,omitempty"`

	// snmp is for type SNMP.
	// +optional
	SNMP *SNMPObject `json:"snmp,omitempty"`

	// redfish is for type Redfish.
	// +optional
	Redfish *RedfishChassis `json:"redfish,omitempty"`

	// ssh is for type SSH.
	// +optional
	SSH *SSHCommand `json:"ssh,omitempty"`

	// ipmi is for type IPMI.
	// +optional
	IPMI *IPMISensor `json:"ipmi,omitempty"`

	// vpp is for type VPP.
	// +optional
	VPP *VPPStats `json:"vpp,omitempty"`
}

// VPPStats is a VPP on the machine of linerate run.
type VPPStats struct {
	// socket has VPP's statistics. Default: /run/vpp/stats.sock.
	// +optional
	// +kubebuilder:validation:MaxLength=107
	// +kubebuilder:validation:Pattern=`^/`
	Socket string `json:"socket,omitempty"`
}

// PrometheusQuery is a question to a Prometheus server, or to what speaks its HTTP API.
type PrometheusQuery struct {
	// url has no /api/v1. Example: http://prometheus.lab:9090.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^https?://[^/@?# ]+(/[^@?# ]*)?$`
	URL string `json:"url"`

	// query is in PromQL, with 16 series at most. Example: node_hwmon_power_average_watt{instance="dut"}.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Query string `json:"query"`

	// unit W gives power, too. Example: W.
	// +required
	Unit ObservedUnit `json:"unit"`

	// secretName has username and password, or token.
	// +optional
	SecretName ObserverSecretName `json:"secretName,omitempty"`
}

// SNMPObject is an object of an SNMP agent's.
type SNMPObject struct {
	// address is a host or host:port. Example: pdu.lab.
	// +required
	// +kubebuilder:validation:MaxLength=260
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|[[][0-9a-fA-F:.]+[]])(:[1-9][0-9]{0,4})?$`
	Address string `json:"address"`

	// oid is in numbers; a table's has its row. Example: 1.3.6.1.4.1.318.1.1.12.1.16.0.
	// +required
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^[.]?[0-2]([.][0-9]{1,10})+$`
	OID string `json:"oid"`

	// unit is the number's. Example: W.
	// +required
	Unit ObservedUnit `json:"unit"`

	// scale multiplies the number. Example: "0.1".
	// +optional
	// +kubebuilder:default="1"
	// +kubebuilder:validation:Pattern=`^-?[0-9]{1,9}([.][0-9]{1,9})?$`
	Scale string `json:"scale,omitempty"`

	// secretName has community, or version 3's user. Default: public.
	// +optional
	SecretName ObserverSecretName `json:"secretName,omitempty"`
}

// RedfishChassis is a chassis whose management controller speaks Redfish.
type RedfishChassis struct {
	// url has no /redfish. Example: https://bmc.lab.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^https?://[^/@?# ]+/?$`
	URL string `json:"url"`

	// chassis is an Id, or the only one. Example: "1".
	// +optional
	// +kubebuilder:validation:Pattern=`^[-._~A-Za-z0-9]{1,128}$`
	Chassis string `json:"chassis,omitempty"`

	// secretName has username and password (docs/observers.md).
	// +required
	SecretName ObserverSecretName `json:"secretName"`
}

// SSHCommand is a command on another machine.
type SSHCommand struct {
	// address is a host or host:port. Example: fw.lab.
	// +required
	// +kubebuilder:validation:MaxLength=260
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|[[][0-9a-fA-F:.]+[]])(:[1-9][0-9]{0,4})?$`
	Address string `json:"address"`

	// command prints one number. Example: sysctl -n hw.temperature.CPU.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Command string `json:"command"`

	// unit is the number's. Example: °C.
	// +required
	Unit ObservedUnit `json:"unit"`

	// secretName has username, known_hosts, and ssh-privatekey or password.
	// +required
	SecretName ObserverSecretName `json:"secretName"`
}

// IPMISensor is a sensor of a management controller.
type IPMISensor struct {
	// address is a host or host:port. Example: bmc.lab.
	// +required
	// +kubebuilder:validation:MaxLength=260
	// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|[[][0-9a-fA-F:.]+[]])(:[1-9][0-9]{0,4})?$`
	Address string `json:"address"`

	// sensor is its name. Default: the power by DCMI. Example: CPU Temp.
	// +optional
	// +kubebuilder:validation:Pattern=`^[ -~]{1,64}$`
	Sensor string `json:"sensor,omitempty"`

	// unit is a sensor's. Default: W. Example: °C.
	// +optional
	Unit ObservedUnit `json:"unit,omitempty"`

	// secretName has username and password.
	// +required
	SecretName ObserverSecretName `json:"secretName"`
}

// ObservedUnit is the unit of a reading over the network.
//
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:Pattern=`^[^ [:cntrl:]]([^[:cntrl:]]*[^ [:cntrl:]])?$`
type ObservedUnit string

// ObserverSecretName names a Secret of the test's namespace.
//
// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$`
type ObserverSecretName string
