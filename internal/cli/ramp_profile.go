package cli

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/profile"
)

// shippedProfiles are those of TRex's own profiles that are built in.
const shippedProfiles = "imix, udp_1pkt_simple or udp_1pkt_simple_bdir"

// lanes are the streams that ports 0 and 1 send; a port without streams only receives.
type lanes struct {
	label string
	sides [2]profile.Profile
}

// rampTraffic reads the profile from a file of streams, or by the names of those that TRex ships, where no file has this name: what is in a file is sent, and nothing in its place. Streams from a file
// go out of both ports.
func rampTraffic(name string) (lanes, error) {
	label := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".py"), ".json")
	_, missing := os.Stat(name)
	shipped := name == label || name == label+".py"
	switch {
	case missing == nil && strings.HasSuffix(name, ".py"):
		return lanes{}, fmt.Errorf("--profile %s: this file is a program that only TRex's own client can run: export its streams as JSON, or write %s for the profile of this name that TRex ships, where there is one (%s)",
			name, label, shippedProfiles)
	case missing == nil: // streams
	case shipped && label == "imix":
		return builtIn(label, profile.Spec{Kind: profile.IMIX, Flows: profile.Flows{Count: 254, Vary: []profile.Field{profile.SourceAddress, profile.DestinationAddress}}}, true)
	case shipped && label == "udp_1pkt_simple":
		return builtIn("64b", profile.Spec{Kind: profile.FixedSize, FrameSize: 64}, false)
	case shipped && label == "udp_1pkt_simple_bdir":
		return builtIn("64b", profile.Spec{Kind: profile.FixedSize, FrameSize: 64}, true)
	case strings.HasSuffix(name, ".py"):
		return lanes{}, fmt.Errorf("--profile %s: there is no such file, and none of this name that TRex ships: use %s, or export its streams as JSON and give that file", name, shippedProfiles)
	}
	text, err := intake.TextFile(name, profile.MaxText)
	if err != nil {
		return lanes{}, fmt.Errorf("--profile: %w", err)
	}
	l, err := builtIn(label, profile.Spec{Kind: profile.Streams, Streams: text}, true)
	if err != nil {
		return lanes{}, fmt.Errorf("--profile %s: %w", name, err)
	}
	return l, nil
}

func builtIn(label string, spec profile.Spec, both bool) (lanes, error) {
	l := lanes{label: label}
	west, east := netip.MustParsePrefix("16.0.0.0/24"), netip.MustParsePrefix("48.0.0.0/24")
	spec.Source, spec.Destination = west, east
	var err error
	if l.sides[0], err = profile.Build(spec); err != nil || !both {
		return l, err
	}
	spec.Source, spec.Destination = east, west
	l.sides[1], err = profile.Build(spec)
	return l, err
}
