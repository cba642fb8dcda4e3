package profile_test

import (
	"net/netip"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/profile"
)

// TestDestinationsApartMeetTheWholeNetwork: as far apart as the network is wide, each once, and in IPv6 with the
// same checksum.
func TestDestinationsApartMeetTheWholeNetwork(t *testing.T) {
	for name, c := range map[string]struct {
		source, destination string
		count               int64
		step                uint64
		span                uint64 // of destinations
	}{
		"a /8 for 1000 flows":      {"16.0.0.0/8", "48.0.0.0/8", 1000, 16777, 1000 * 16777},
		"as many as there is room": {"16.0.0.0/24", "48.0.0.0/24", 254, 1, 254},
		"IPv6":                     {"2001:2:0:1::/64", "2001:2:0:2::/64", 1000, 4294967, 1000 * 4294967},
	} {
		p, err := profile.Build(profile.Spec{
			Kind: profile.FixedSize, FrameSize: 128, Source: netip.MustParsePrefix(c.source), Destination: netip.MustParsePrefix(c.destination),
			Flows: profile.Flows{Count: c.count, Vary: []profile.Field{profile.SourceAddress, profile.DestinationAddress}, Apart: true},
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		moved := map[uint64]uint64{} // by step: what counts up less what counts down
		for _, i := range p.Streams[0].VM.Instructions {
			if i.Type != "flow_var" {
				continue
			}
			if i.Op == "inc" {
				moved[i.Step]++
			} else {
				moved[i.Step]--
			}
			if i.Name == "dst" && (i.Step != c.step || i.MaxValue-i.MinValue+1 != c.span) {
				t.Errorf("%s: a step of %d in %d values, want %d and %d", name, i.Step, i.MaxValue-i.MinValue+1, c.step, c.span)
			}
		}
		for step, more := range moved {
			if name == "IPv6" && more != 0 {
				t.Errorf("%s: at a step of %d nothing moves against a field, so that the checksum changes", name, step)
			}
		}
	}
}
