package profile

import (
	"fmt"
	"net/netip"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// Kind is a kind of profile, as written in a LoadTest's traffic.profile.
type Kind string

// The kinds of profile.
const (
	IMIX      Kind = "IMIX"      // 28 frames of 64 bytes, 16 of 594, 4 of 1518
	FixedSize Kind = "FixedSize" // frames of one size
	Mix       Kind = "Mix"       // frames of given sizes in given proportions
	Streams   Kind = "Streams"   // TRex streams, sent as they are
)

// Field is a field in which flows differ, as written in a LoadTest's traffic.flows.fields.
type Field string

// The fields, in the order in which they are written into frames.
const (
	SourceAddress      Field = "SourceAddress"
	DestinationAddress Field = "DestinationAddress"
	SourcePort         Field = "SourcePort"
	DestinationPort    Field = "DestinationPort"
)

// Spec says what one replica sends in one direction.
type Spec struct {
	Kind      Kind
	FrameSize units.FrameSize // FixedSize only
	Mix       []MixEntry      // Mix only
	Streams   []byte          // Streams only, which ParseStreams reads
	// Flows say how many flows the direction has over all replicas, and in what they differ. Streams bring their own.
	Flows Flows
	// Stamped says that each frame's last bytes are to be a stamp, for which there has to be room.
	Stamped bool
	// VLAN is the tag's id, 1 to 4094, or 0 for untagged.
	VLAN uint16
	// Source and Destination are the networks that the frames come from and go to. Both are IPv4 or both IPv6,
	// which decides the frames' version. A zero Source and Destination are TRex's own, 16.0.0.0/24 and 48.0.0.0/24.
	Source, Destination netip.Prefix
	// SourcePort and DestinationPort are the UDP ports of the first flow. 0 is 53, or 1024 for one that varies.
	SourcePort, DestinationPort uint16
	// Replica is this replica's number, from 0, of Replicas. 0 Replicas are 1.
	Replica, Replicas int
}

// MixEntry is one size of a Mix. Weight is the number of its frames among all, at least 1.
type MixEntry struct {
	Size   units.FrameSize
	Weight int64
}

// Flows are the flows of a direction. A zero Count is 1.
type Flows struct {
	Count int64
	Vary  []Field
	// Apart has destination addresses as far apart as the network is wide, so that they meet all of a router's
	// routes. Otherwise, or at Random, they follow each other.
	Apart bool
	// Random draws each frame's flow. Otherwise flows take turns in their order.
	Random bool
}

// Profile is what a Spec comes to.
type Profile struct {
	// Streams are numbered from 1 in their order. Their rates say the proportion. The absolute rate is the engine's
	// to set.
	Streams []stream.Stream
	// Mix is the composition of the traffic whose rate the engine sets.
	Mix units.Traffic
	// Flows is how many of the direction's FlowsOf flows this replica plays, and so its share of the direction's
	// rate if all flows are to be equally fast. Both 0 where streams bring their own.
	Flows, FlowsOf int64
}

// Beside is the profile with another one's traffic beside its own, which has parts for each of p's frames' weight.
// The first profile is beside an empty one.
func (p Profile) Beside(o Profile, parts int64) Profile {
	gap := float64(len(p.Streams)) / 10
	for _, s := range o.Streams {
		s.Mode.Rate.Value *= float64(parts)
		s.ISG += gap
		p.Streams = append(p.Streams, s)
	}
	p.Mix = p.Mix.Add(units.Traffic{Packets: o.Mix.Packets * parts, Bytes: o.Mix.Bytes * parts})
	p.Flows += o.Flows
	p.FlowsOf += o.FlowsOf
	return p
}

// Build makes the streams of a profile. An error names what of the Spec is wrong and what would be right.
func Build(spec Spec) (Profile, error) {
	spec = spec.withDefaults()
	if spec.Replica < 0 || spec.Replica >= spec.Replicas {
		return Profile{}, fmt.Errorf("replica %d of %d doesn't exist: replicas are numbered from 0", spec.Replica,
			spec.Replicas)
	}
	if spec.VLAN > maxVLAN {
		return Profile{}, fmt.Errorf("vlan %d doesn't exist: use 1 to %d, or 0 for untagged", spec.VLAN, maxVLAN)
	}
	if spec.Kind == Streams {
		return buildStreams(spec)
	}
	sizes, err := spec.sizes()
	if err != nil {
		return Profile{}, err
	}
	flows, err := spec.flows()
	if err != nil {
		return Profile{}, err
	}
	return buildSizes(spec, sizes, flows)
}

func (s Spec) withDefaults() Spec {
	if !s.Source.IsValid() && !s.Destination.IsValid() {
		s.Source, s.Destination = netip.PrefixFrom(netip.AddrFrom4([4]byte{16}), 24),
			netip.PrefixFrom(netip.AddrFrom4([4]byte{48}), 24)
	}
	s.Replicas = max(s.Replicas, 1)
	s.Flows.Count = max(s.Flows.Count, 1)
	return s
}

// buildSizes makes one stream for each size, all with the same flows.
func buildSizes(spec Spec, sizes []MixEntry, flows flowSet) (Profile, error) {
	p := Profile{Flows: flows.count, FlowsOf: spec.Flows.Count}
	form := spec.form()
	for i, entry := range sizes {
		if err := form.holds(entry.Size, flows.balanceBytes()); err != nil {
			return Profile{}, err
		}
		if err := form.stampable(entry.Size); spec.Stamped && err != nil {
			return Profile{}, err
		}
		p.Streams = append(p.Streams, stream.Stream{
			Enabled: true, SelfStart: true, CoreID: -1, NextStreamID: -1,
			// a tenth of a microsecond apart, so that the sizes don't all start at the same instant
			ISG:    float64(i) / 10,
			Mode:   stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: float64(entry.Weight)}},
			Packet: stream.Packet{Binary: form.frame(entry.Size, flows)},
			VM:     form.program(flows),
		})
		p.Mix = p.Mix.Add(units.Traffic{Packets: entry.Weight, Bytes: entry.Weight * int64(entry.Size)})
	}
	return p, nil
}

// buildStreams checks that the streams can stand for a steady load in this place, and passes them on.
func buildStreams(spec Spec) (Profile, error) {
	streams, err := ParseStreams(spec.Streams)
	if err != nil {
		return Profile{}, err
	}
	if spec.Replicas > 1 {
		return Profile{}, fmt.Errorf("profile %s can't be divided among %d replicas, which would all send the same flows: use 1 replica", Streams, spec.Replicas)
	}
	var found Faults
	for i, s := range streams {
		if tag := vlanOf(s.Packet.Binary); tag != spec.VLAN {
			found = append(found, fmt.Errorf("streams[%d].packet.binary: the frame has VLAN %d and the link %d (0: untagged): give both the same", i, tag, spec.VLAN))
		}
		if err := checkProvable(s); err != nil {
			found = append(found, fmt.Errorf("streams[%d].%w", i, err))
		}
	}
	if len(found) > 0 {
		return Profile{}, found
	}
	mix, err := MixOf(streams)
	if err != nil {
		return Profile{}, err
	}
	return Profile{Streams: streams, Mix: mix}, nil
}

// checkProvable refuses a stream whose path can't be proven. Only IPv4 and IPv6 frames come out of a device as what
// they were, and all of a stream must go the same way.
func checkProvable(s stream.Stream) error {
	if index, field := WritesHeader(s); index >= 0 {
		return fmt.Errorf("vm.instructions[%d].pkt_offset: the program writes %s, and the path is proven for one: take the instruction out", index, field)
	}
	ip, kind := networkOf(s.Packet.Binary)
	switch {
	case kind == etherIPv4 && len(s.Packet.Binary) >= ip+ipv4Bytes, kind == etherIPv6 && len(s.Packet.Binary) >= ip+
		ipv6Bytes:
		return nil
	case kind == etherIPv4, kind == etherIPv6:
		return fmt.Errorf("packet.binary: the frame ends within its IP header, and the path can't be proven for such: give the whole header, or leave the stream out")
	}
	return fmt.Errorf("packet.binary: the frame's type %#04x is neither IPv4 nor IPv6, and the path can't be proven for others: leave the stream out", kind)
}
