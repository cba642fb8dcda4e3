package compile

import (
	"encoding/base64"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/document/stream"
)

// traced are the loads of profile PCAP: the capture's frames, those of who spoke first in the first direction, and the
// answers in the other one. With one direction, all go that way.
func (lo *loads) traced() map[string]load {
	path := specPath().Child("traffic", "pcap")
	directions := lo.directions.entries
	lo.checkTraced(path)
	if len(lo.errs) > 0 {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(lo.spec.PCAP.Data)
	if err != nil {
		lo.refuse(path.Child("data"), noValue, "no base64: write what linerate mix --pcap FILE prints")
		return nil
	}
	trace, err := profile.ReadTrace(data, len(directions) == 1)
	if err != nil {
		lo.refuse(path, noValue, err.Error())
		return nil
	}
	if len(directions) == 2 && !trace.HasBack() {
		lo.refusef(specPath().Child("traffic", "directions"), noValue, "no frame of the capture answers another one, so none "+
			"goes from %s to %s: set directions to [{from: %s, to: %s}]", directions[1].From, directions[1].To,
			directions[0].From, directions[0].To)
		return nil
	}
	loads := map[string]load{}
	for i, d := range directions {
		source, destination := lo.links.named(d.From), lo.links.named(d.To)
		spec := profile.TraceSpec{Back: i == 1, VLAN: source.vlan, Stamped: lo.stamps.stamped()}
		for f := range source.families() {
			spec.Sources = append(spec.Sources, source.families()[f].networks[0])
			spec.Destinations = append(spec.Destinations, lo.destination(destination, destination.families()[f], 0))
		}
		p, err := trace.Build(spec)
		if err != nil {
			lo.refuse(path, noValue, err.Error())
			return nil
		}
		if leak := foreign(p.Streams, append(spec.Sources, spec.Destinations...)); leak != "" {
			lo.refuse(path, noValue, leak)
			return nil
		}
		loads[string(d.From)] = load{mix: p.Mix, streams: [][]stream.Stream{p.Streams}, share: []int64{1}, shareOf: 1}
	}
	return loads
}

// checkTraced refuses what a capture can't be sent by.
func (lo *loads) checkTraced(path *field.Path) {
	directions := lo.directions.entries
	switch {
	case lo.spec.PCAP.Data == "":
		lo.refuse(path.Child("file"), lo.spec.PCAP.File, "files are read by linerate run alone, for a LoadTest: in a cluster "+
			"or a suite write data, which linerate mix --pcap FILE prints")
	case lo.replicas > 1:
		lo.refuse(specPath().Child("generator", "replicas"), lo.replicas,
			"a capture can't be divided: every replica would send the same flows; use 1")
	case lo.spec.IPv6Share != "":
		lo.refuse(specPath().Child("traffic", "ipv6Share"), lo.spec.IPv6Share, "the capture has its own share: remove "+
			"ipv6Share")
	case len(directions) > 2 || len(directions) == 2 && (directions[0].From != directions[1].To ||
		directions[0].To != directions[1].From):
		lo.refuse(specPath().Child("traffic", "directions"), noValue, "a capture goes between two links: use one "+
			"direction, or both ways between the same links")
	}
}

// foreign says which stream would leave the networks, which none does that linerate makes.
func foreign(streams []stream.Stream, networks []netip.Prefix) string {
	for _, s := range streams {
		for _, reached := range profile.Reach(s) {
			inside := false
			for _, n := range networks {
				inside = inside || contains(n, reached)
			}
			if !inside {
				return "a stream would send to or from " + reached.String() + ", outside the links' networks"
			}
		}
	}
	return ""
}
