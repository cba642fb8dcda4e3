package plan

import "net/netip"

// The kinds of tunnel.
const (
	TunnelWireGuard = "WireGuard"
	TunnelIPsec     = "IPsec"
)

// The ciphers of a tunnel. WireGuard has only CipherChaCha20, and its Plan doesn't name it.
const (
	CipherAES128GCM = "AES-128-GCM"
	CipherAES256GCM = "AES-256-GCM"
	CipherAES256CBC = "AES-256-CBC-SHA-256"
	CipherChaCha20  = "ChaCha20-Poly1305"
)

// LargestOfIPsec is the largest IP packet, in bytes, that strongSwan's plugin kernel-libipsec carries, as it reads
// no more than that of a packet.
const LargestOfIPsec = 1400

// TunnelMode is two gateways with an encrypted tunnel between them.
type TunnelMode struct {
	Kind   string `json:"kind"`
	Cipher string `json:"cipher,omitempty"` // of IPsec
	// FarLink is the link behind the second gateway.
	FarLink string `json:"farLink"`
}

// Gateway is the index of the gateway that has a link, 0 or 1.
func (t *TunnelMode) Gateway(link string) int {
	if link == t.FarLink {
		return 1
	}
	return 0
}

// TunnelCable is a gateway's interface on the cable between the two. TunnelRoom is how many bytes encryption adds
// to a packet there, by the headers of IPv4, UDP and its own, padding and its tag.
const (
	TunnelCable = "tunnel.out"
	TunnelRoom  = 100
)

// OnTunnelCable is a gateway's address on the cable.
func OnTunnelCable(gateway int) netip.Prefix {
	a := BetweenTunnel.Addr().As4()
	a[3] += byte(gateway + 1)
	return netip.PrefixFrom(netip.AddrFrom4(a), BetweenTunnel.Bits())
}

// TunnelGateway is what one of the two gateways is given that are pods. It holds no key, as each gateway makes its
// own (tunnel.GatewayInPod).
type TunnelGateway struct {
	Kind   string `json:"kind"`
	Cipher string `json:"cipher,omitempty"` // of IPsec
	// Local is the gateway's own address on the cable, and Peer the other gateway's.
	Local netip.Prefix `json:"local"`
	Peer  netip.Addr   `json:"peer"`
	// Connects says that this gateway connects to the other one, which listens.
	Connects bool `json:"connects,omitempty"`
	MTU      int  `json:"mtu"`
	// LocalNetworks are the networks behind this gateway, PeerNetworks those behind the other one.
	LocalNetworks []netip.Prefix `json:"localNetworks,omitempty"`
	PeerNetworks  []netip.Prefix `json:"peerNetworks"`
}
