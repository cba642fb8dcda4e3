package plan

import (
	"net/netip"

	"github.com/linerate-dev/linerate/internal/units"
)

// Link is one wire between the generators and the DUT.
type Link struct {
	Name string `json:"name"`
	// LineRate is the layer-1 bit rate that 100 % means. 0 is the physical port's own speed.
	LineRate units.BitRate `json:"lineRateBitsPerSecond,omitempty"`
	DUT      DUTEnd        `json:"dut"`
}

// DUTEnd is the DUT's end of a link.
type DUTEnd struct {
	Addresses []netip.Prefix `json:"addresses,omitempty"`
	MAC       string         `json:"macAddress,omitempty"`
	// SourceMACs are further addresses from which the DUT sends on the link.
	SourceMACs []string `json:"sourceMacAddresses,omitempty"`
}

// Direction is traffic from one link to another, through the DUT. A link is the source of at most one direction and
// the destination of at most one, so that port counters are the direction's own.
type Direction struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Mix is the composition of the direction's traffic, for the arithmetic between packets and bits.
	Mix units.Traffic `json:"mix"`
}

// Name is the direction for people, and in documents, such as "west→east".
func (d Direction) Name() string { return d.From + "→" + d.To }
