package cli

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/linerate-dev/linerate/internal/profile"
)

// lanes are the streams that ports 0 and 1 send; a port without streams only receives.
type lanes struct {
	label string
	sides [2]profile.Profile
}

// rampTraffic reads the profile by the names of those that TRex ships, or from a file of streams. Streams from a file go out of both ports.
func rampTraffic(name string) (lanes, error) {
	label := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".py"), ".json")
	switch filepath.Base(name) {
	case "imix.py":
		return builtIn(label, profile.Spec{Kind: profile.IMIX, Flows: profile.Flows{Count: 254, Vary: []profile.Field{profile.SourceAddress, profile.DestinationAddress}}}, true)
	case "udp_1pkt_simple.py":
		return builtIn("64b", profile.Spec{Kind: profile.FixedSize, FrameSize: 64}, false)
	case "udp_1pkt_simple_bdir.py":
		return builtIn("64b", profile.Spec{Kind: profile.FixedSize, FrameSize: 64}, true)
	}
	if strings.HasSuffix(name, ".py") {
		return lanes{}, fmt.Errorf("--profile %s: this Python profile is a program that only TRex's own client can run: use imix.py, udp_1pkt_simple.py or udp_1pkt_simple_bdir.py, or export its streams as JSON", name)
	}
	text, err := os.ReadFile(name)
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
