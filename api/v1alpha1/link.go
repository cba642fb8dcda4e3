package v1alpha1

// LinkSpec is one wire.
type LinkSpec struct {
	// name is its interfaces' too: at most 13 lower-case letters, digits and dashes. Example: west.
	// +required
	Name LinkName `json:"name"`

	// network is the link's NetworkAttachmentDefinition, NAME or NAMESPACE/NAME. Required in a cluster, where an end is
	// a pod. Example: sriov-west.
	// +optional
	Network NetworkName `json:"network,omitempty"`

	// lineRate is 100 %. Rates in percent, the default, need it on each link with engine Software, but for type Device.
	// Default: the port's speed. Example: 25gbps.
	// +optional
	LineRate BitRate `json:"lineRate,omitempty"`

	// vlan is the frames' tag. Example: 100.
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
	// address is the first replica's, with prefix length. Default of link I, from 0: 198.18.I.2/24, or
	// 2001:2:0:I::2/64. Example: 198.18.0.2/24.
	// +optional
	Address Address `json:"address,omitempty"`

	// ipv6Address is a second address, for traffic of both families. Default, with networks of both:
	// 2001:2:0:I::2/64. Example: 2001:2::2/64.
	// +optional
	IPv6Address Address `json:"ipv6Address,omitempty"`

	// networks are where flows come from and go to; the device must route them to address. Replicas divide one, else
	// each has its own. Default of replica R: 16.0.R.0/24 on the first link, 48.0.R.0/24 on the second.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Networks []Network `json:"networks,omitempty"`
}

// DUTEnd is the device's end of a link.
type DUTEnd struct {
	// network is the DUT's, if another. Example: lab/sriov-west-netdev.
	// +optional
	Network NetworkName `json:"network,omitempty"`

	// address is the next hop, with prefix length, in generator.address' network. Default of link I, from 0:
	// 198.18.I.1/24, or 2001:2:0:I::1/64. Example: 198.18.0.1/24.
	// +optional
	Address Address `json:"address,omitempty"`

	// ipv6Address is the next hop of IPv6 beside IPv4. Default: 2001:2:0:I::1/64. Example: 2001:2::1/64.
	// +optional
	IPv6Address Address `json:"ipv6Address,omitempty"`

	// macAddress is the device's, if ARP and ND don't find it. Example: 02:00:5e:00:53:01.
	// +optional
	MACAddress MAC `json:"macAddress,omitempty"`

	// sourceMACs also send on this link, as a VRRP router's own does. Example: [02:00:5e:00:53:07].
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	SourceMACs []MAC `json:"sourceMACs,omitempty"`
}

// MAC is an Ethernet address of one device.
//
// +kubebuilder:validation:Pattern=`^[0-9a-fA-F][02468aceACE](:[0-9a-fA-F]{2}){5}$`
type MAC string

// NetworkName names a NetworkAttachmentDefinition: NAME, or NAMESPACE/NAME.
//
// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/)?[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`
type NetworkName string
