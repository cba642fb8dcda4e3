package v1alpha1

// LinkSpec is one wire between the generators and the device under test.
type LinkSpec struct {
	// name identifies the link, and names its interfaces. Example: west.
	// +required
	Name LinkName `json:"name"`

	// network is the NetworkAttachmentDefinition of the link's pods, as NAME or NAMESPACE/NAME; its annotation
	// k8s.v1.cni.cncf.io/resourceName gives the device request. Links may share one. Needed where pods have the link.
	// Example: sriov-west.
	// +optional
	Network NetworkName `json:"network,omitempty"`

	// lineRate is what 100 % means: the layer-1 rate; what is asked in % is of the slower link of a direction.
	// Default: the port's speed; needed where it has none (veth, virtio, AF_PACKET). Example: 25gbps.
	// +optional
	LineRate BitRate `json:"lineRate,omitempty"`

	// vlan is the VLAN tag of frames on this link. Default: untagged. Example: 100.
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
	// address is the first replica's, with its prefix length; later replicas have the next ones. Default on link I
	// (from 0): 198.18.I.2/24, or 2001:2:0:I::2/64 if any of its addresses is IPv6. Example: 198.18.0.2/24.
	// +optional
	Address Address `json:"address,omitempty"`

	// networks are where this end's flows come from and go to; the device must route them to address. One is
	// divided between the replicas, else each has its own. Default of replica R: 16.0.R.0/24 on the first link,
	// 48.0.R.0/24 on the second, 16.1.R.0/24 on the third and so on; on link I 2001:2:0:XXYY::/64 (XX = I + 1, YY
	// = R) if any of its addresses is IPv6. Example: [16.0.0.0/24].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Networks []Network `json:"networks,omitempty"`
}

// DUTEnd is the device's end of a link.
type DUTEnd struct {
	// network is the NetworkAttachmentDefinition of the DUT's end. Default: the link's. Example: lab/sriov-west-netdev.
	// +optional
	Network NetworkName `json:"network,omitempty"`

	// address is the device's, with its prefix length: the generator's next hop. Default on link I (from 0):
	// 198.18.I.1/24, or 2001:2:0:I::1/64 if any of its addresses is IPv6. Example: 198.18.0.1/24.
	// +optional
	Address Address `json:"address,omitempty"`

	// macAddress is the device's, where ARP or ND for address doesn't find it. Example: 02:00:5e:00:53:01.
	// +optional
	MACAddress MAC `json:"macAddress,omitempty"`

	// sourceMACs are further addresses from which the device sends on this link, as a VRRP router has its own
	// beside the gateway's. Example: [02:00:5e:00:53:07].
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
