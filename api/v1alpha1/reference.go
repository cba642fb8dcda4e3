package v1alpha1

// ReferenceSpec configures the built-in forwarder: by an exact limit, or as a real device that is made of Linux.
type ReferenceSpec struct {
	// limit is its most in each direction, packets or bits. Example: {packetsPerSecond: 10000}.
	// +optional
	Limit *LimitSpec `json:"limit,omitempty"`

	// mode makes it another device: one of these. Example: {router: {routes: 1000000}}.
	// +optional
	Mode *ModeSpec `json:"mode,omitempty"`

	// image has dpdk-testpmd (Userspace) or strongSwan (IPsec), which a cluster needs. Example:
	// registry.lab/testpmd:22.11.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[^ \t\n]+$`
	Image string `json:"image,omitempty"`
}

// ModeSpec is which device the Reference is: exactly one.
//
// +kubebuilder:validation:XValidation:rule="[has(self.router), has(self.bridge), has(self.filter), has(self.nat), has(self.xdp), has(self.tunnel), has(self.userspace)].filter(m, m).size() == 1",message="a device has one mode: set exactly one, such as mode: {router: {routes: 1000}}"
type ModeSpec struct {
	// router forwards by the kernel's routes.
	// +optional
	Router *RouterMode `json:"router,omitempty"`

	// bridge is the kernel's learning bridge.
	// +optional
	Bridge *BridgeMode `json:"bridge,omitempty"`

	// filter is a router with nftables rules.
	// +optional
	Filter *FilterMode `json:"filter,omitempty"`

	// nat is a router, with NAT of the first link.
	// +optional
	NAT *NATMode `json:"nat,omitempty"`

	// xdp is a router in eBPF, in the drivers.
	// +optional
	XDP *XDPMode `json:"xdp,omitempty"`

	// tunnel is two gateways, encrypted in between.
	// +optional
	Tunnel *TunnelMode `json:"tunnel,omitempty"`

	// userspace forwards in a program.
	// +optional
	Userspace *UserspaceMode `json:"userspace,omitempty"`
}

// RouterMode is a router of the kernel's.
type RouterMode struct {
	// routes is how many there are behind each link. Example: 1000000.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Routes int32 `json:"routes,omitempty"`
}

// BridgeMode is a bridge of the kernel's.
type BridgeMode struct{}

// FilterMode is a router with a packet filter.
type FilterMode struct {
	// rules is how many each frame passes. 0: an empty hook. Example: 1000.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100000
	Rules int32 `json:"rules"`

	// routes is as a router's.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Routes int32 `json:"routes,omitempty"`
}

// NATMode is a router that translates addresses.
type NATMode struct {
	// sessions are tracked beside the traffic's own. Example: 100000.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Sessions int32 `json:"sessions,omitempty"`
}

// XDPMode is a router in the drivers' receive path.
type XDPMode struct {
	// routes is as a router's.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Routes int32 `json:"routes,omitempty"`
}

// TunnelKind is what encrypts.
//
// +kubebuilder:validation:Enum=WireGuard;IPsec
type TunnelKind string

// The kinds of tunnel, both in user space.
const (
	TunnelWireGuard TunnelKind = "WireGuard"
	TunnelIPsec     TunnelKind = "IPsec"
)

// TunnelCipher is how a tunnel's packets are encrypted and authenticated.
//
// +kubebuilder:validation:Enum=AES-128-GCM;AES-256-GCM;AES-256-CBC-SHA-256;ChaCha20-Poly1305
type TunnelCipher string

// The ciphers. WireGuard has the last alone.
const (
	TunnelAES128GCM TunnelCipher = "AES-128-GCM"
	TunnelAES256GCM TunnelCipher = "AES-256-GCM"
	TunnelAES256CBC TunnelCipher = "AES-256-CBC-SHA-256"
	TunnelChaCha20  TunnelCipher = "ChaCha20-Poly1305"
)

// TunnelMode is two gateways of an encrypted tunnel.
type TunnelMode struct {
	// kind encrypts. Example: WireGuard.
	// +required
	Kind TunnelKind `json:"kind"`

	// cipher is IPsec's. Default: AES-256-GCM. WireGuard has ChaCha20-Poly1305.
	// +optional
	Cipher TunnelCipher `json:"cipher,omitempty"`

	// network is the cable's NetworkAttachmentDefinition, required in a cluster. Example: sriov-cable.
	// +optional
	Network NetworkName `json:"network,omitempty"`
}

// UserspaceKind is the program that forwards.
//
// +kubebuilder:validation:Enum=Testpmd
type UserspaceKind string

// UserspaceTestpmd is DPDK's testpmd.
const UserspaceTestpmd UserspaceKind = "Testpmd"

// UserspaceMode is a program that forwards.
type UserspaceMode struct {
	// kind is the program. Example: Testpmd.
	// +required
	Kind UserspaceKind `json:"kind"`
}

// LimitSpec is an exact limit of the built-in forwarder, per direction.
//
// +kubebuilder:validation:XValidation:rule="has(self.packetsPerSecond) != has(self.layer2BitsPerSecond)",message="a limit is either packetsPerSecond or layer2BitsPerSecond: set exactly one"
type LimitSpec struct {
	// packetsPerSecond is a limit. Example: 10000.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=500000000
	PacketsPerSecond int64 `json:"packetsPerSecond,omitempty"`

	// layer2BitsPerSecond limits bits of frames with FCS. Example: 100000000.
	// +optional
	// +kubebuilder:validation:Minimum=10000
	// +kubebuilder:validation:Maximum=1000000000000
	Layer2BitsPerSecond int64 `json:"layer2BitsPerSecond,omitempty"`

	// burst is how much unused rate is saved up.
	// +optional
	// +kubebuilder:default="10ms"
	Burst Duration `json:"burst,omitempty"`

	// queue waits behind a limit in bits, of Sessions or BackToBack. Default: one frame. Example: 50ms.
	// +optional
	Queue Duration `json:"queue,omitempty"`
}
