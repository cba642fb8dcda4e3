package compile

import (
	"maps"
	"slices"
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// An engine of unknown traffic would have no load, and traffic that no engine sends is never measured.
func TestEachKindOfTrafficIsInTheList(t *testing.T) {
	sent := map[string]bool{}
	for _, s := range Senders() {
		sent[s.Traffic] = true
	}
	if got, want := slices.Sorted(maps.Keys(kinds)), slices.Sorted(maps.Keys(sent)); !slices.Equal(got, want) {
		t.Errorf("kinds of traffic are %v, and engines send %v", got, want)
	}
}

func TestWhatDependsOnTheKindOfTraffic(t *testing.T) {
	for kind, want := range map[string]struct {
		throughput v1alpha1.Metric
		perLink    bool
	}{
		"":                   {v1alpha1.MetricPacketsPerSecond, false}, // a file that says nothing of traffic
		plan.TrafficFrames:   {v1alpha1.MetricPacketsPerSecond, false},
		plan.TrafficSessions: {v1alpha1.MetricGoodputBitsPerSecond, true},
		"Pigeons":            {v1alpha1.MetricPacketsPerSecond, false},
	} {
		spec := &v1alpha1.LoadTestSpec{Traffic: v1alpha1.TrafficSpec{Type: v1alpha1.TrafficType(kind)}}
		if got := ThroughputOf(kind); got != want.throughput {
			t.Errorf("%q is compared by %s, want %s", kind, got, want.throughput)
		}
		if PerLink(spec) != want.perLink || AlwaysPerLink(spec) != want.perLink {
			t.Errorf("%q has an end on each link: %v, %v, want %v", kind, PerLink(spec), AlwaysPerLink(spec),
				want.perLink)
		}
		if spec.Generator.Layout = v1alpha1.LayoutPerLink; !PerLink(spec) || AlwaysPerLink(spec) != want.perLink {
			t.Errorf("%q with layout PerLink: %v, and always so: %v", kind, PerLink(spec), AlwaysPerLink(spec))
		}
	}
}
