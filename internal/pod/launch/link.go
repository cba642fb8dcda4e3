package launch

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/intake/yamltree"
	"github.com/linerate-dev/linerate/internal/units"
)

// Link is what the test wants on one of the generator's ports. Links come in the order of TRex's ports, from port 0.
type Link struct {
	Name string `json:"name"`
	// Network is the NetworkAttachmentDefinition, "namespace/name" or "name", empty where the interface isn't Multus'.
	Network string `json:"network,omitempty"`
	// Interface is its name in the pod, empty if it is the link's own.
	Interface string `json:"interface,omitempty"`
	// Resource is the device request of the network, "vendor.io/name". It finds the device where network-status
	// has no device-info.
	Resource string `json:"resource,omitempty"`
	// Address is the port's own, and Gateway the device under test's, which TRex resolves. Both are IPv4, as
	// TRex's file knows no other.
	Address netip.Prefix `json:"address,omitzero"`
	Gateway netip.Addr   `json:"gateway,omitzero"`
	// DestinationMAC is where frames go, if that is known already.
	DestinationMAC string `json:"destinationMAC,omitempty"`
	// LineRate is the layer-1 bit rate that 100 % means. Zero is the port's own.
	LineRate units.BitRate `json:"lineRateBitsPerSecond,omitempty"`
}

func (l Link) interfaceName() string { return cmp.Or(l.Interface, l.Name) }

// ParseLinks reads a links file, a YAML or JSON list of Link. Unknown fields are refused.
func ParseLinks(text []byte) ([]Link, error) {
	var links []Link
	if err := yamltree.Decode(text, &links, true); err != nil {
		return nil, fmt.Errorf("links file: %w", err)
	}
	return links, CheckLinks(links)
}

// ParseLink reads the short form "NAME=NETWORK", or "NAME" for an interface that no network is known of.
func ParseLink(text string) (Link, error) {
	name, network, _ := strings.Cut(text, "=")
	if name == "" {
		return Link{}, fmt.Errorf("link %q: must be NAME=NETWORK, such as west=lab/sriov-west", text)
	}
	return Link{Name: name, Network: network}, nil
}

// CheckLinks refuses links that no pod could satisfy.
func CheckLinks(links []Link) error {
	names := map[string]bool{}
	for i, l := range links {
		switch {
		case l.Name == "":
			return fmt.Errorf("link %d: has no name", i)
		case names[l.Name]:
			return fmt.Errorf("link %s: is named twice", l.Name)
		}
		names[l.Name] = true
		if l.DestinationMAC == "" {
			continue
		}
		if mac, err := net.ParseMAC(l.DestinationMAC); err != nil || len(mac) != 6 {
			return fmt.Errorf("link %s: destinationMAC %q: must be like 02:00:00:00:00:01", l.Name, l.DestinationMAC)
		}
	}
	return nil
}
