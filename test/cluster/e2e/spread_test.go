//go:build full

package e2e

import (
	"slices"
	"testing"
	"time"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
)

// apart keeps generator pods of a test off each other's nodes.
const apart = `
  pod:
    affinity:
      podAntiAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
        - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {linerate.dev/role: generator}}}
`

// TestSpread: generators on different nodes.
func TestSpread(t *testing.T) {
	t.Run("two replicas on two nodes share the load, and each gets its own share back", func(t *testing.T) {
		s := begin(t)
		s.apply("replicas", links, limited, quick, "generator:\n  engine: Software\n  replicas: 2"+apart)
		test := s.complete("replicas", patience)
		s.answers(test, 10_000)
		s.onDifferentNodes(test)
		s.shares(test)
	})
	t.Run("source and sink are on different nodes, and the answer is the same", func(t *testing.T) {
		s := begin(t)
		s.apply("per-link", links, limited, quick, "generator:\n  engine: Software\n  layout: PerLink"+apart)
		test := s.complete("per-link", patience)
		s.answers(test, 10_000)
		s.onDifferentNodes(test)
	})
}

// onDifferentNodes: its two generators were.
func (s *scene) onDifferentNodes(t *lineratev1alpha1.LoadTest) {
	s.Helper()
	var nodes []string
	for _, g := range s.report(t).Generators {
		nodes = append(nodes, g.Node)
	}
	slices.Sort(nodes)
	if !slices.Equal(nodes, []string{"node-1", "node-2"}) {
		s.Errorf("generators ran on %q, want node-1 and node-2", nodes)
	}
}

// shares: two generators offered the same, each got back what it sent, together they are the result, and it stands how much later one began.
func (s *scene) shares(t *lineratev1alpha1.LoadTest) {
	s.Helper()
	r := s.report(t).Answer
	if len(r.Generators) != 2 {
		s.Fatalf("shares of two generators are wanted, there are %+v", r.Generators)
	}
	var offered, received int64
	for _, g := range r.Generators {
		offered, received = offered+g.OfferedPacketsPerSecond, received+g.ReceivedPacketsPerSecond
		s.near(g.Name+" offered", g.OfferedPacketsPerSecond, r.Total.Offered.PacketsPerSecond/2)
		s.near(g.Name+" got back", g.ReceivedPacketsPerSecond, g.OfferedPacketsPerSecond)
		if skew := g.StartSkew.Std(); skew < 0 || skew > time.Second {
			s.Errorf("%s began %v after the first", g.Name, skew)
		}
	}
	s.near("offered by both", offered, r.Total.Offered.PacketsPerSecond)
	s.near("got back by both", received, r.Total.Received.PacketsPerSecond)
	skews := []int64{r.Generators[0].StartSkew.Std().Microseconds(), r.Generators[1].StartSkew.Std().Microseconds()}
	if slices.Min(skews) != 0 || slices.Max(skews) == 0 {
		s.Errorf("skews of %v µs: one generator began first, the other later", skews)
	}
}
