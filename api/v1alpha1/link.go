package v1alpha1

// LinkSpec is one wire between the generators and the device under test.
type LinkSpec struct {
	// name identifies the link, and becomes the name of interfaces on it. Example: west.
	// +required
	Name LinkName `json:"name"`

	// network is the NetworkAttachmentDefinition that attaches pods to the link, as NAME or NAMESPACE/NAME. Its annotation
	// k8s.v1.cni.cncf.io/resourceName gives the device request. Needed in a cluster wherever a pod has an end on the link. Example: sriov-west.
	// +optional
	Network NetworkName `json:"network,omitempty"`

	// lineRate is what 100 % means: the link's layer-1 rate (of a direction, the slower of its two links'). Needed where the port has no physical speed (veth, virtio, AF_PACKET). Default: the port's own. Example: 25gbps.
	// +optional
	LineRate BitRate `json:"lineRate,omitempty"`

	// vlan is the VLAN tag that frames carry on this link; without it they are untagged. Example: 100.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4094
	VLAN int32 `json:"vlan,omitempty"`

	// generator is the generator's end of the link.
	// +optional
	Generator *GeneratorEnd `json:"generator,omitempty"`

	// dut is the device's end of the link.
	// +optional
	DUT *DUTEnd `json:"dut,omitempty"`
}

// GeneratorEnd is the generator's end of a link.
type GeneratorEnd struct {
	// address is the first replica's address with its prefix length; replica r has the r-th address after it. Default: 198.18.I.2/24
	// on link I (counted from 0), or 2001:2:0:I::2/64 where the link has any IPv6 address. Example: 198.18.0.2/24.
	// +optional
	Address Address `json:"address,omitempty"`

	// networks are where this end's flows come from and go to; the device must route them to address. One network is divided between the replicas; else there is one for each. Default: for replica R 16.0.R.0/24 on the first link, 48.0.R.0/24 on the second, 16.1.R.0/24 on the third; with any IPv6 address on link I (from 0) 2001:2:0:XXYY::/64, XX = I + 1, YY = R. Example: [16.0.0.0/24].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Networks []Network `json:"networks,omitempty"`
}

// DUTEnd is the device's end of a link.
type DUTEnd struct {
	// network is the NetworkAttachmentDefinition of the DUT's end, such as other virtual functions of the same wire with another driver. Default: the link's network. Example: lab/sriov-west-netdev.
	// +optional
	Network NetworkName `json:"network,omitempty"`

	// address is the device's address with its prefix length, in generator.address' network: the generator's next hop. Default:
	// 198.18.I.1/24 on link I (counted from 0), or 2001:2:0:I::1/64 where the link has any IPv6 address. Example: 198.18.0.1/24.
	// +optional
	Address Address `json:"address,omitempty"`

	// macAddress is the device's MAC address where it can't be found out by asking for address. Example: 02:00:5e:00:53:01.
	// +optional
	// +kubebuilder:validation:MaxLength=17
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9a-fA-F][02468aceACE](:[0-9a-fA-F]{2}){5}$')",message="write one device's MAC address (no group address) as six pairs of hexadecimal digits, such as 02:00:5e:00:53:01"
	MACAddress string `json:"macAddress,omitempty"`
}

// NetworkName names a NetworkAttachmentDefinition: NAME, or NAMESPACE/NAME.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=317
// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/)?[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$')",message="write a network as the name of a NetworkAttachmentDefinition, with its namespace where it isn't the test's: sriov-west or lab/sriov-west"
type NetworkName string
