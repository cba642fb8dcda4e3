package compile_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// spread are the same load under both layouts.
func spread(t *testing.T, replicas, flows int, links string) (paired, perLink *plan.Plan) {
	t.Helper()
	server := newServer(t)
	spec := func(layout string) string {
		return fmt.Sprintf("  generator: {engine: Software, replicas: %d, layout: %s}\n  traffic: {flows: {count: "+
			"%d, fields: [SourceAddress, SourcePort]}}\n%s", replicas, layout, flows, links)
	}
	return compiled(t, admit(t, server, spec("Paired"))), compiled(t, admit(t, server, spec("PerLink")))
}

// How ports are spread over pods changes nothing of what is sent: the same ports have the same addresses,
// streams and shares.
func TestALayoutSpreadsTheSamePorts(t *testing.T) {
	for _, replicas := range []int{1, 2, 3, 7, 64} {
		for _, flows := range []int{64, 254, 1000} {
			t.Run(fmt.Sprintf("%d replicas, %d flows", replicas, flows), func(t *testing.T) {
				paired, perLink := spread(t, replicas, flows, links)
				var want, got []plan.GeneratorPort
				for _, g := range paired.Generators {
					want = append(want, g.Ports...)
				}
				for _, g := range perLink.Generators {
					got = append(got, g.Ports...)
				}
				if !reflect.DeepEqual(got, want) {
					t.Error("the ports differ between the layouts")
				}
				if !reflect.DeepEqual(perLink.Directions, paired.Directions) ||
					!reflect.DeepEqual(perLink.Links, paired.Links) {
					t.Error("directions or links differ between the layouts")
				}
			})
		}
	}
}

func TestSharesOfPodsPerLinkAreExact(t *testing.T) {
	for _, replicas := range []int{1, 2, 3, 7, 16, 64} {
		for _, flows := range []int{64, 254, 1000} {
			_, p := spread(t, replicas, flows, links)
			sum := map[string]int64{}
			for _, g := range p.Generators {
				port := g.Ports[0]
				if len(g.Ports) != 1 || port.ShareOf != int64(flows) || port.Share < 1 {
					t.Errorf("%s has %d ports, and share %d of %d, %d flows", g.Name, len(g.Ports), port.Share,
						port.ShareOf, flows)
				}
				sum[port.Link] += port.Share
			}
			if sum["west"] != int64(flows) || sum["east"] != int64(flows) || len(sum) != 2 {
				t.Errorf("%d replicas of %d flows send %v", replicas, flows, sum)
			}
		}
	}
}

func TestPodsPerLinkAreNamedAfterReplicaAndLink(t *testing.T) {
	_, p := spread(t, 2, 64, "  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]\n")
	want := map[string]string{"generator-0-west": "west", "generator-0-east": "east", "generator-1-west": "west",
		"generator-1-east": "east"}
	got := map[string]string{}
	for _, g := range p.Generators {
		got[g.Name] = g.Ports[0].Link
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAPodOnALinkThatSendsNothingHasNoStreams(t *testing.T) {
	p := compiled(t, admit(t, newServer(t), "  generator: {engine: Software, layout: PerLink}\n"+links+
		"  traffic: {directions: [{from: east, to: west}]}\n"))
	west, east := p.Generators[0].Ports[0], p.Generators[1].Ports[0]
	if west.Link != "west" || west.Streams != nil || west.Share != 0 || west.ShareOf != 1 {
		t.Errorf("%s has %d streams and share %d/%d", west.Link, len(west.Streams), west.Share, west.ShareOf)
	}
	if east.Link != "east" || len(east.Streams) != 3 || east.Share != 254 || east.ShareOf != 254 {
		t.Errorf("%s has %d streams and share %d/%d", east.Link, len(east.Streams), east.Share, east.ShareOf)
	}
}
