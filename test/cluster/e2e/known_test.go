//go:build full

package e2e

import "testing"

// TestKnownAnswers: devices whose limit is known, brought along in every way there is.
func TestKnownAnswers(t *testing.T) {
	t.Run("a Reference limited to 10 000 packets/s is measured as that", func(t *testing.T) {
		s := begin(t)
		s.apply("reference", links, limited, quick)
		s.answers(s.complete("reference", patience), 10_000)
	})
	t.Run("a router brought in an image is measured as what it forwards", func(t *testing.T) {
		s, limit := begin(t), unknown()
		s.apply("pod", links, router(limit), quick)
		s.answers(s.complete("pod", patience), limit)
	})
	t.Run("a device outside the cluster is measured as what it forwards", func(t *testing.T) {
		s, limit := begin(t), unknown()
		s.device(limit)
		s.apply("device", links, device, quick)
		s.answers(s.complete("device", patience), limit)
	})
	t.Run("an engine that already runs measures the same device", func(t *testing.T) {
		s, limit := begin(t), unknown()
		s.device(limit)
		server := s.generator("by-hand")
		s.apply("external", links, device, quick, "generator: {engine: Software, placement: {servers: [{address: "+server+"}]}}")
		s.answers(s.complete("external", patience), limit)
	})
	t.Run("without a device all that is sent comes back, and nothing is called a limit", func(t *testing.T) {
		s := begin(t)
		s.apply("loopback", `
dut: {type: Loopback}
links: [{name: west, network: default/west, lineRate: 1gbps}, {name: east, network: default/west, lineRate: 1gbps}]
procedure:
  ramp: {warmupDuration: 1s, targetRate: 3kpps, rampDuration: 3s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 3s, holdDuration: 0s}
`)
		test := s.complete("loopback", patience)
		s.want(test, "Complete=True Measured", "DUTReady=")
		if r := test.Status.Result; r == nil || r.Claim.Saturated || r.Reason != "TargetReached" {
			s.Fatalf("want the target reached, got %+v", r)
		}
		s.directions(test, 3_000)
	})
}
