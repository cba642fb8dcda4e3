package compile

import (
	"fmt"
	"math/big"
	"net/netip"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/units"
)

// loads answer which streams each direction carries.
type loads struct {
	*refusals
	spec       v1alpha1.TrafficSpec
	procedure  v1alpha1.ProcedureType
	device     *device
	links      *links
	directions *directions
	stamps     *stamps
	replicas   int
	// dut is the Plan's device, once the links were read.
	dut plan.DUT
}

// read are every direction's streams, by the name of the sending link.
func (lo *loads) read() map[string]load {
	lo.checkStreams()
	loads := map[string]load{}
	if lo.spec.Profile == v1alpha1.ProfilePCAP {
		return lo.traced()
	}
	for _, d := range lo.directions.entries {
		if len(lo.errs) > 0 {
			return nil // the same profile fails in every direction
		}
		loads[string(d.From)] = lo.load(lo.links.named(d.From), lo.links.named(d.To))
	}
	return loads
}

// load makes a direction's streams. Each replica sends its own flows, from its network to its network on the far link,
// and has the same share of the rate as of the flows. So all flows are equally fast, and each arrives at the replica
// that sent it.
func (lo *loads) load(source, destination link) load {
	var l load
	l.shareOf = int64(1)
	flows := lo.flows()
	if lo.spec.Profile != v1alpha1.ProfileStreams {
		l.shareOf = flows.Count
	}
	shares := lo.familyShares(source)
	for r := range lo.replicas {
		var p profile.Profile
		count := part(flows.Count, r, lo.replicas)
		for i, share := range shares {
			spec, f := lo.profile(), source.families()[i]
			spec.VLAN, spec.Source, spec.Destination = source.vlan, f.networks[r],
				lo.destination(destination, destination.families()[i], r)
			spec.Flows = profile.Flows{Count: flowsOfFamily(count, shares, i), Vary: flows.Vary,
				Apart: lo.device.modeOfTraffic() != nil, Random: flows.Random}
			one, err := lo.build(spec)
			if err != nil {
				lo.errs = append(lo.errs, err...)
				return load{}
			}
			if spec.Kind == profile.Streams {
				lo.allowStreams(one.Streams)
			}
			p = p.Beside(one, share)
		}
		l.mix = p.Mix
		l.streams = append(l.streams, p.Streams)
		l.share = append(l.share, max(p.Flows, 1))
	}
	return l
}

// familyShares are the shares in which a link's families are sent, IPv4's first. Streams bring their own.
func (lo *loads) familyShares(source link) []int64 {
	if source.second == nil || lo.spec.Profile == v1alpha1.ProfileStreams {
		if lo.spec.IPv6Share != "" {
			lo.refuse(specPath().Child("traffic", "ipv6Share"), lo.spec.IPv6Share, "only traffic that linerate makes, "+
				"on links of both families, has such a share: give each link generator.ipv6Address, or leave ipv6Share out")
		}
		return []int64{1}
	}
	six := int64(50)
	if written := lo.spec.IPv6Share; written != "" {
		n, err := strconv.Atoi(strings.TrimSuffix(string(written), "%"))
		if err != nil || n < 1 || n > 99 {
			lo.refuse(specPath().Child("traffic", "ipv6Share"), written, "write whole percents from 1% to 99%; for all frames "+
				"of one family give the links addresses of that family alone")
			return []int64{1, 1}
		}
		six = int64(n)
	}
	common := new(big.Int).GCD(nil, nil, big.NewInt(six), big.NewInt(100)).Int64()
	return []int64{(100 - six) / common, six / common}
}

// flowsOfFamily is how many of a replica's flows are family i's: its share, and at least one of two or more.
func flowsOfFamily(count int64, shares []int64, i int) int64 {
	if len(shares) == 1 {
		return count
	}
	total := shares[0] + shares[1]
	second := min(max((count*shares[1]+total/2)/total, 1), count-1)
	return []int64{count - second, second}[i]
}

// part is the r-th of n nearly equal parts of count. The parts add up to count.
func part(count int64, r, n int) int64 {
	upTo := func(r int) int64 { return count * int64(r) / int64(n) }
	return upTo(r+1) - upTo(r)
}

// build makes a profile, or says which field prevents that.
func (lo *loads) build(spec profile.Spec) (profile.Profile, field.ErrorList) {
	path := specPath().Child("traffic")
	if spec.Flows.Count < 1 {
		least := lo.replicas * len(lo.links.entries[0].families())
		return profile.Profile{}, field.ErrorList{field.Invalid(path.Child("flows", "count"), lo.flows().Count,
			fmt.Sprintf("%d replicas need at least one flow each, and of both families two: raise flows.count to %d or "+
				"more", lo.replicas, least))}
	}
	p, err := profile.Build(spec)
	if err == nil {
		return p, nil
	}
	if _, err := profile.Build(withFlowsThatFit(spec)); err != nil {
		return profile.Profile{}, lo.blameFrames(err)
	}
	return profile.Profile{}, field.ErrorList{field.Invalid(path.Child("flows"), noValue, err.Error())}
}

// withFlowsThatFit replaces a spec's flows by flows that always fit. If the spec still can't be built, its flows aren't
// the reason.
func withFlowsThatFit(spec profile.Spec) profile.Spec {
	wide := func(p netip.Prefix) netip.Prefix { return netip.PrefixFrom(p.Addr(), p.Addr().BitLen()/2).Masked() }
	spec.Source, spec.Destination = wide(spec.Source), wide(spec.Destination)
	spec.Flows.Count, spec.Flows.Random = min(spec.Flows.Count, 2), false
	return spec
}

// blameFrames says which field makes frames impossible.
func (lo *loads) blameFrames(err error) field.ErrorList {
	t, path := lo.spec, specPath().Child("traffic")
	switch t.Profile {
	case v1alpha1.ProfileFixedSize:
		return field.ErrorList{field.Invalid(path.Child("frameSize"), t.FrameSize, err.Error())}
	case v1alpha1.ProfileMix:
		if t.Genome != "" {
			path = path.Child("genome")
			return field.ErrorList{field.Invalid(path, t.Genome, err.Error())}
		}
		return field.ErrorList{field.Invalid(path.Child("mix"), noValue, err.Error())}
	case v1alpha1.ProfileStreams:
		return blameStreams(err)
	default:
		return field.ErrorList{field.Invalid(path.Child("profile"), t.Profile,
			err.Error()+" (profile Mix has sizes of your own)")}
	}
}

// profile is what all replicas have in common.
func (lo *loads) profile() profile.Spec {
	t := lo.spec
	spec := profile.Spec{Kind: profile.Kind(t.Profile), FrameSize: units.FrameSize(t.FrameSize),
		Stamped: lo.stamps.stamped()}
	for _, entry := range t.Mix {
		spec.Mix = append(spec.Mix, profile.MixEntry{Size: units.FrameSize(entry.FrameSize),
			Weight: int64(entry.Weight)})
	}
	if t.Genome != "" {
		spec.Mix = profile.ReadGenome(t.Genome)
	}
	if t.Streams != nil {
		spec.Streams = []byte(t.Streams.JSON)
	}
	return spec
}

// flows are the direction's flows over all replicas. They are the schema's defaults where the spec says nothing.
func (lo *loads) flows() profile.Flows {
	spec := lo.spec.Flows
	if spec == nil {
		return profile.Flows{Count: lo.device.flowsByDefault(), Vary: []profile.Field{profile.SourceAddress,
			profile.DestinationAddress}}
	}
	flows := profile.Flows{Count: spec.Count, Random: spec.Order == v1alpha1.FlowsRandom}
	if len(spec.Fields) == 0 {
		flows.Vary = []profile.Field{profile.DestinationAddress}
		if !flows.Random {
			flows.Vary = []profile.Field{profile.SourceAddress, profile.DestinationAddress}
		}
	}
	for _, f := range spec.Fields {
		flows.Vary = append(flows.Vary, profile.Field(f))
	}
	return flows
}
