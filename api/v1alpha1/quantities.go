package v1alpha1

import "time"

// Duration is a time span as Go writes it: "500ms", "30s", "10m", "1h30m". It has a unit, and isn't negative. The
// compiler bounds it (docs/api.md says where).
//
// The digits are bounded so that whatever the schema lets in, time.ParseDuration can read.
//
// +kubebuilder:validation:Pattern=`^(\d{1,6}(\.\d{1,9})?(ms|s|m|h)){1,4}$`
type Duration string

// Std is the span as the standard library has it; an empty Duration is 0.
func (d Duration) Std() (time.Duration, error) {
	if d == "" {
		return 0, nil
	}
	return time.ParseDuration(string(d))
}

// Rate is a rate per direction, over all replicas, in TRex's notation. Its unit is packets per second (1kpps,
// 14.88mpps), layer-2 bits per second with FCS (10gbps), layer-1 bits per second with preamble and gap (10gbpsl1),
// or percent of the layer-1 line rate (95%).
//
// +kubebuilder:validation:Pattern=`^\d{1,12}(\.\d{1,6})?(%|[kmg]?(pps|bps|bpsl1))$`
type Rate string

// HeldRate is a Rate, or Unlimited: all that the ends of sessions can send.
//
// +kubebuilder:validation:Pattern=`^(Unlimited|\d{1,12}(\.\d{1,6})?(%|[kmg]?(pps|bps|bpsl1)))$`
type HeldRate string

// Unlimited is all that the ends of sessions can send.
const Unlimited HeldRate = "Unlimited"

// BitRate is a layer-1 line rate: 1gbps, 25gbps, 100mbps.
//
// +kubebuilder:validation:Pattern=`^\d{1,12}(\.\d{1,6})?[kmg]?bps$`
type BitRate string

// Share is a share of a whole, such as 0.1%.
//
// +kubebuilder:validation:Pattern=`^(\d{1,2}(\.\d{1,7})?|100)%$`
type Share string

// Threshold is what a figure is compared with, in the figure's unit: "150000", and "95%" where the figure is a share.
//
// +kubebuilder:validation:Pattern=`^\d{1,15}(\.\d{1,9})?%?$`
type Threshold string

// Address is an IPv4 or IPv6 address with the length of its network's prefix: 198.18.0.2/24, 2001:2::2/64.
//
// +kubebuilder:validation:MaxLength=43
// +kubebuilder:validation:Format=cidr
type Address string

// Network is an IPv4 or IPv6 network.
//
// +kubebuilder:validation:MaxLength=43
// +kubebuilder:validation:Format=cidr
type Network string

// LinkName is a link's name; it becomes an interface's name, so it is a DNS label of at most 13 characters.
//
// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]{0,11}[a-z0-9])?$`
type LinkName string
