package cli

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/profile"
)

// shippedProfiles are the profiles of TRex that are built in.
const shippedProfiles = "imix, udp_1pkt_simple or udp_1pkt_simple_bdir"

// lanes are the streams that ports 0 and 1 send. A port without streams only receives.
type lanes struct {
	label string
	sides [2]profile.Profile
}

// rampTraffic reads the profile from a file of streams, or has the library of a TRex folder make the streams of a
// Python file. If no file has this name, it may be the name of a profile that TRex ships. Both ports send the streams
// of a file.
func rampTraffic(ctx context.Context, name, trexFolder string) (lanes, error) {
	label := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".py"), ".json")
	_, missing := os.Stat(name)
	shipped := name == label || name == label+".py"
	switch {
	case missing == nil && strings.HasSuffix(name, ".py"):
		return pythonLanes(ctx, label, name, trexFolder)
	case missing == nil: // streams
	case shipped && label == "imix":
		flows := profile.Flows{Count: 254, Vary: []profile.Field{profile.SourceAddress, profile.DestinationAddress}}
		return buildLanes(label, profile.Spec{Kind: profile.IMIX, Flows: flows}, true)
	case shipped && label == "udp_1pkt_simple":
		return buildLanes("64b", profile.Spec{Kind: profile.FixedSize, FrameSize: 64}, false)
	case shipped && label == "udp_1pkt_simple_bdir":
		return buildLanes("64b", profile.Spec{Kind: profile.FixedSize, FrameSize: 64}, true)
	case strings.HasSuffix(name, ".py"):
		return lanes{}, fmt.Errorf("--profile %s: there is no such file, and none of this name that TRex ships: use "+
			"%s, or export its streams as JSON and give that file", name, shippedProfiles)
	}
	text, err := intake.TextFile(name, profile.MaxText)
	if err != nil {
		return lanes{}, fmt.Errorf("--profile: %w", err)
	}
	l, err := buildLanes(label, profile.Spec{Kind: profile.Streams, Streams: text}, true)
	if err != nil {
		return lanes{}, fmt.Errorf("--profile %s: %w", name, err)
	}
	return l, nil
}

// pythonLanes are the streams that TRex's library makes of a profile for each of both ports.
func pythonLanes(ctx context.Context, label, name, trexFolder string) (lanes, error) {
	if trexFolder == "" {
		return lanes{}, fmt.Errorf("--profile %s: this file is a program that only TRex's own library can run: give "+
			"TRex's folder as --trex-dir, export the streams as JSON, or write %s for the profile of this name that TRex "+
			"ships, where there is one (%s)",
			name, label, shippedProfiles)
	}
	ports, err := pythonStreams(ctx, trexFolder, name)
	if err != nil {
		return lanes{}, fmt.Errorf("--profile: %w", err)
	}
	l := lanes{label: label}
	for port, text := range ports {
		if string(text) == "[]" {
			continue // this port only receives
		}
		if l.sides[port], err = profile.Build(profile.Spec{Kind: profile.Streams, Streams: text}); err != nil {
			return lanes{}, fmt.Errorf("--profile %s: port %d: %w", name, port, err)
		}
	}
	if len(l.sides[0].Streams) == 0 {
		return lanes{}, fmt.Errorf("--profile %s: it has no streams for port 0 (direction 0)", name)
	}
	return l, nil
}

// buildLanes builds the streams of port 0, and of port 1 if the profile is bidirectional.
func buildLanes(label string, spec profile.Spec, bidirectional bool) (lanes, error) {
	l := lanes{label: label}
	west, east := netip.MustParsePrefix("16.0.0.0/24"), netip.MustParsePrefix("48.0.0.0/24")
	spec.Source, spec.Destination = west, east
	var err error
	if l.sides[0], err = profile.Build(spec); err != nil || !bidirectional {
		return l, err
	}
	spec.Source, spec.Destination = east, west
	l.sides[1], err = profile.Build(spec)
	return l, err
}
