package main

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/engine/softgen/fieldengine"
	"github.com/linerate-dev/linerate/internal/units"
)

// sizes are what a kind of traffic is made of, in bytes on the wire.
func sizes(spec string) (profile.Spec, error) {
	if spec == "IMIX" {
		return profile.Spec{Kind: profile.IMIX}, nil
	}
	var size int
	if _, err := fmt.Sscan(spec, &size); err != nil {
		return profile.Spec{}, fmt.Errorf("frames of %q bytes: use a number, or IMIX", spec)
	}
	return profile.Spec{Kind: profile.FixedSize, FrameSize: units.FrameSize(size)}, nil
}

// streams are a load's streams as in a LoadTest: UDP over IPv4, with a source address for each flow. The rate
// is that of all together.
func (l load) streams(reverse bool, packetsPerSecond float64) ([]datapath.RunStream, error) {
	spec, err := sizes(l.size)
	if err != nil {
		return nil, err
	}
	spec.Source, spec.Destination = netip.MustParsePrefix("16.0.0.0/8"), netip.MustParsePrefix("48.0.0.0/8")
	if reverse {
		spec.Source, spec.Destination = spec.Destination, spec.Source
	}
	spec.Flows = profile.Flows{Count: l.flows, Vary: []profile.Field{profile.SourceAddress}}
	p, err := profile.Build(spec)
	if err != nil {
		return nil, err
	}
	var run []datapath.RunStream
	for i, s := range p.Streams {
		s.Mode.Rate.Value *= packetsPerSecond / float64(p.Mix.Packets)
		if l.marks != unmarked {
			s.FlowStats = stream.Flow{Enabled: true, StreamID: uint32(i + 1), RuleType: string(l.marks)}
		}
		run = append(run, datapath.RunStream{ID: uint32(i + 1), Stream: s})
	}
	return run, nil
}

// readyFlows is how many flows' frames a tool may have in memory, made beforehand.
const readyFlows = 256

// prepared are the frames of a load in the order in which a tool is to send them again and again, without FCS:
// sizes in their proportion and mixed, each with all of its flows. Above 256 flows they are those of each 256th
// flow: the last byte of the source address is the tool's to count.
func (l load) prepared(source, destination net.HardwareAddr) ([][]byte, error) {
	run, err := l.streams(false, 1)
	if err != nil {
		return nil, err
	}
	step := uint64(1)
	if l.flows > readyFlows {
		step = readyFlows
	}
	var programs []*fieldengine.Program
	for _, stream := range run {
		p, err := fieldengine.Compile(stream.Stream.Packet.Binary, stream.Stream.VM, 0)
		if err != nil {
			return nil, err
		}
		programs = append(programs, p)
	}
	order := interleaved(run)
	sent := make([]uint64, len(programs))
	var frames [][]byte
	for range uint64(l.flows) / step {
		for _, i := range order {
			f := programs[i].Template()
			f = f[:programs[i].Frame(sent[i]*step, f)]
			sent[i]++
			copy(f, destination)
			copy(f[6:], source)
			frames = append(frames, f)
		}
	}
	return frames, nil
}

// interleaved are the streams' indices in the order of their next frames: those of the least common proportion,
// evenly mixed.
func interleaved(run []datapath.RunStream) (order []int) {
	slowest := run[0].Stream.Mode.Rate.Value
	for _, s := range run {
		slowest = min(slowest, s.Stream.Mode.Rate.Value)
	}
	for i, s := range run {
		weight := int(s.Stream.Mode.Rate.Value/slowest + 0.5)
		for range weight {
			order = append(order, i)
		}
	}
	owed, rest := make([]float64, len(run)), len(order)
	shares := make([]float64, len(run))
	for _, i := range order {
		shares[i] += 1 / float64(rest)
	}
	for position := range order {
		next := 0
		for i := range owed {
			if owed[i] += shares[i]; owed[i] > owed[next]+1e-9 {
				next = i
			}
		}
		owed[next]--
		order[position] = next
	}
	return order
}

// Where an IPv4 frame without a VLAN tag has its header, its checksum, and the last byte of its source address.
const (
	ipv4At          = 14
	ipv4ChecksumAt  = 24
	ipv4LastAt      = 33
	sourceLastAt    = 29
	templateHeadEnd = 42 // the payload is behind, and the same everywhere
)

// trafgenConfig are those frames as trafgen reads them. What it has to count itself it counts, with the
// header's checksum.
func trafgenConfig(frames [][]byte, flows int64) string {
	var b strings.Builder
	for _, f := range frames {
		b.WriteString("{ ")
		for i := 0; i < templateHeadEnd; i++ {
			switch {
			case flows > readyFlows && i == sourceLastAt:
				b.WriteString("dinc(0, 255, 1), ")
			case flows > readyFlows && i == ipv4ChecksumAt:
				fmt.Fprintf(&b, "csumip(%d, %d), ", ipv4At, ipv4LastAt)
				i++
			default:
				fmt.Fprintf(&b, "0x%02x, ", f[i])
			}
		}
		fmt.Fprintf(&b, "fill(0x%02x, %d) }\n", f[templateHeadEnd], len(f)-templateHeadEnd)
	}
	return b.String()
}
