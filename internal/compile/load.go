package compile

import (
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/units"
)

// loads are every direction's streams, by the name of the sending link.
func (c *compiler) loads() map[string]load {
	c.checkStreams()
	loads := map[string]load{}
	for _, d := range c.directions {
		if len(c.errs) > 0 {
			return nil // the same profile fails in every direction
		}
		loads[string(d.From)] = c.load(c.link(d.From), c.link(d.To))
	}
	return loads
}

// load makes a direction's streams. Each replica sends its own flows, from its network to its network on the far link, and has the same share of the
// rate as of the flows: so all flows are equally fast, and each arrives at the replica that sent it.
func (c *compiler) load(from, to link) load {
	var l load
	l.shareOf = int64(1)
	flows := c.flows()
	if c.spec.Traffic.Profile != v1alpha1.ProfileStreams {
		l.shareOf = flows.Count
	}
	for r := range c.replicas() {
		spec := c.profile()
		spec.VLAN, spec.Source, spec.Destination = from.vlan, from.networks[r], c.destination(to, r)
		spec.Flows = profile.Flows{Count: part(flows.Count, r, c.replicas()), Vary: flows.Vary, Apart: c.modeOfTraffic() != nil, Random: flows.Random}
		p, err := c.build(spec)
		if err != nil {
			c.errs = append(c.errs, err...)
			return load{}
		}
		if spec.Kind == profile.Streams {
			c.allowStreams(p.Streams)
		}
		l.mix = p.Mix
		l.streams = append(l.streams, p.Streams)
		l.share = append(l.share, max(p.Flows, 1))
	}
	return l
}

// part is the r-th of n nearly equal parts of count; the parts add up to count.
func part(count int64, r, n int) int64 {
	upTo := func(r int) int64 { return count * int64(r) / int64(n) }
	return upTo(r+1) - upTo(r)
}

// build makes a profile, or says which field prevents that.
func (c *compiler) build(spec profile.Spec) (profile.Profile, field.ErrorList) {
	path := specPath().Child("traffic")
	if spec.Flows.Count < 1 {
		return profile.Profile{}, field.ErrorList{field.Invalid(path.Child("flows", "count"), c.flows().Count,
			fmt.Sprintf("%d replicas need at least one flow each: raise flows.count to %d or more", c.replicas(), c.replicas()))}
	}
	p, err := profile.Build(spec)
	if err == nil {
		return p, nil
	}
	if _, err := profile.Build(withFlowsThatFit(spec)); err != nil {
		return profile.Profile{}, c.blameFrames(err)
	}
	return profile.Profile{}, field.ErrorList{field.Invalid(path.Child("flows"), field.OmitValueType{}, err.Error())}
}

// withFlowsThatFit replaces a spec's flows by flows that always fit: if it still can't be built, its flows aren't the reason.
func withFlowsThatFit(spec profile.Spec) profile.Spec {
	wide := func(p netip.Prefix) netip.Prefix { return netip.PrefixFrom(p.Addr(), p.Addr().BitLen()/2).Masked() }
	spec.Source, spec.Destination = wide(spec.Source), wide(spec.Destination)
	spec.Flows.Count, spec.Flows.Random = min(spec.Flows.Count, 2), false
	return spec
}

// blameFrames says which field makes frames impossible.
func (c *compiler) blameFrames(err error) field.ErrorList {
	t, path := c.spec.Traffic, specPath().Child("traffic")
	switch t.Profile {
	case v1alpha1.ProfileFixedSize:
		return field.ErrorList{field.Invalid(path.Child("frameSize"), t.FrameSize, err.Error())}
	case v1alpha1.ProfileMix:
		return field.ErrorList{field.Invalid(path.Child("mix"), field.OmitValueType{}, err.Error())}
	case v1alpha1.ProfileStreams:
		return blameStreams(err)
	default:
		return field.ErrorList{field.Invalid(path.Child("profile"), t.Profile, err.Error()+" (profile Mix has sizes of your own)")}
	}
}

// profile is what all replicas have in common.
func (c *compiler) profile() profile.Spec {
	t := c.spec.Traffic
	spec := profile.Spec{Kind: profile.Kind(t.Profile), FrameSize: units.FrameSize(t.FrameSize), Stamped: c.stamped()}
	for _, entry := range t.Mix {
		spec.Mix = append(spec.Mix, profile.MixEntry{Size: units.FrameSize(entry.FrameSize), Weight: int64(entry.Weight)})
	}
	if t.Streams != nil {
		spec.Streams = []byte(t.Streams.JSON)
	}
	return spec
}

// flows are the direction's flows over all replicas: those of the schema's defaults where the spec says nothing.
func (c *compiler) flows() profile.Flows {
	in := c.spec.Traffic.Flows
	if in == nil {
		return profile.Flows{Count: c.flowsByDefault(), Vary: []profile.Field{profile.SourceAddress, profile.DestinationAddress}}
	}
	flows := profile.Flows{Count: in.Count, Random: in.Order == v1alpha1.FlowsRandom}
	for _, f := range in.Vary {
		flows.Vary = append(flows.Vary, profile.Field(f))
	}
	return flows
}
