package plan

import (
	"net/netip"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// Sending is how the software engine sends.
type Sending struct {
	// Cores is how many threads may send on each port, or 0 where the test doesn't say.
	Cores int `json:"cores,omitempty"`
	// Path is one of the paths. It is empty where the test doesn't say.
	Path string `json:"path,omitempty"`
}

// The paths of the software engine that a test may ask for, as linerate generator --path has them.
const (
	PathLive     = "live"
	PathAFXDP    = "af_xdp"
	PathAFPacket = "af_packet"
)

// Generator is one replica, with a port on every link. Where replicas are spread over pods, it is one replica's
// port on one link.
type Generator struct {
	Name string `json:"name"`
	// Server is the RPC address, host:port, of a generator that already runs. It is empty where linerate starts the
	// generator.
	Server string          `json:"server,omitempty"`
	Ports  []GeneratorPort `json:"ports"`
}

// GeneratorPort is a replica's port on a link, with its addresses, the streams it sends (none where its link is no
// direction's source), and its exact share of the direction's rate, Share/ShareOf.
type GeneratorPort struct {
	Link      string          `json:"link"`
	Addresses []netip.Prefix  `json:"addresses,omitempty"`
	Networks  []netip.Prefix  `json:"networks,omitempty"` // routed to this port by the DUT
	VLAN      uint16          `json:"vlan,omitempty"`
	Share     int64           `json:"share"`
	ShareOf   int64           `json:"shareOf"`
	Streams   []stream.Stream `json:"streams,omitempty"`
}

// LargestFrame is the size of the largest frame that the generators send, in bytes without FCS. It is 0 for
// sessions, whose frames the kernels make.
func (p *Plan) LargestFrame() (bytes int) {
	for _, g := range p.Generators {
		for _, port := range g.Ports {
			for _, s := range port.Streams {
				bytes = max(bytes, len(s.Packet.Binary))
			}
		}
	}
	return bytes
}
