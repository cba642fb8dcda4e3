package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
	"github.com/linerate-dev/linerate/test/rigs/statustest"
)

const (
	// limited is the built-in forwarder with a limit of 10 000 packets/s in each direction. What it saves up is as much as a busy machine
	// may make a generator late, and in the 5 s of a confirmation no more than 0.4 %.
	limited = `
dut: {type: Reference, reference: {limit: {packetsPerSecond: 10000, burst: 20ms}}}
`
	device = `
dut: {type: Device}
`
	// patience is for a whole test, on a machine that does much else.
	patience = 3 * time.Minute
)

// unknown is a limit that only the device knows.
func unknown() int64 { return 6_000 + rand.Int64N(9_001) }

// router is a DUT of one's own, as examples/router has it, with a limit of its own.
func router(packetsPerSecond int64) string {
	return fmt.Sprintf(`
dut:
  type: Pod
  pod:
    template:
      spec:
        containers:
        - name: router
          image: %s
          imagePullPolicy: Never
          args: [-limit, "%d"]
          securityContext: {capabilities: {add: [NET_ADMIN]}}
          readinessProbe: {exec: {command: [/router, -ready]}, periodSeconds: 1}
          resources: {requests: {cpu: 100m}}
`, rig.Router, packetsPerSecond)
}

// answers: each direction was measured as so many packets/s, within 1 %. Where their limits are alike and one load is looked for, chance decides whether the last lossy window showed
// the loss of both: the other direction is a lower bound then, as near. So are both
// where a busy machine kept what lies above the last clean load from being judged.
func (s *scene) answers(t *lineratev1alpha1.LoadTest, packetsPerSecond int64) {
	s.Helper()
	s.want(t, "Accepted=", "Complete=True Measured", "Passed=Unknown NoCriteria", "Reconciling=", "Stalled=")
	r := t.Status.Result
	if r == nil || !r.Claim.Confirmed || (!r.Claim.Saturated || r.Reason != "LossAboveLimit") && !slices.Contains([]string{"OtherDirection", "Inconclusive"}, r.Reason) {
		s.Fatalf("%s: want a confirmed limit or bound, got %+v", t.Name, r)
	}
	s.directions(t, packetsPerSecond)
}

// directions: so many packets/s came back in each, within 1 %.
func (s *scene) directions(t *lineratev1alpha1.LoadTest, packetsPerSecond int64) {
	s.Helper()
	each := statustest.Each(t.Status.Result, lineratev1alpha1.MetricPacketsPerSecond)
	if len(each) == 0 {
		s.Errorf("%s: the result has no direction", t.Name)
	}
	for _, f := range each {
		s.near(fmt.Sprintf("%s %s→%s", t.Name, f.Direction.From, f.Direction.To), statustest.Low(&f), packetsPerSecond)
	}
}

// near: within 1 %.
func (s *scene) near(what string, got, want int64) {
	s.Helper()
	off := 100 * float64(got-want) / float64(want)
	s.Logf("%s: %d packets/s, %+.2f %% off %d", what, got, off, want)
	if off > 1 || off < -1 {
		s.Errorf("%s: %d packets/s, %.2f %% off %d", what, got, off, want)
	}
}
