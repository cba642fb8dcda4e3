//go:build full

package e2e

import (
	"strings"
	"testing"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/statustest"
)

const tcp = `
traffic: {type: Sessions, sessions: {parallel: 4, congestionControl: cubic}}
generator: {engine: Software}
dut: {type: Reference, reference: {limit: {layer2BitsPerSecond: 50000000, queue: 50ms}}}
procedure: {type: ConstantLoad, constantLoad: {rate: Unlimited, warmupDuration: 2s, duration: 8s, window: 2s}}
criteria: [{name: some, metric: GoodputBitsPerSecond, min: "20000000"}]
`

// TestSessions: an end in a pod on each link measures what TCP carries through a device of 50 Mb/s: 44.7 to 47.6 Mb/s of payload each way, by how many segments are
// acknowledged at once; or less, where pods had to wait for the node's processors, which is said.
func TestSessions(t *testing.T) {
	s := begin(t)
	s.apply("tcp", links, tcp)
	test := s.complete("tcp", patience)
	s.want(test, "Complete=True Measured", "Passed=True CriteriaMet")
	r := test.Status.Result
	if r == nil || r.Claim.Saturated || statustest.Total(r, lineratev1alpha1.MetricGoodputBitsPerSecond) == nil || statustest.Total(r, lineratev1alpha1.MetricPacketsPerSecond) != nil {
		t.Fatalf("want goodput, and no frames, got %+v", r)
	}
	whole := s.report(test)
	path := r.Reason == string(report.PathLimited)
	if !path && !strings.Contains(whole.Answer.EvidenceText(), "waited for processors") && !strings.Contains(whole.Answer.EvidenceText(), "had nothing to send") {
		t.Errorf("neither the path limited them, nor is it said that the ends lacked processors: %s: %s", r.Reason, whole.Answer.EvidenceText())
	}
	for _, f := range statustest.Each(r, lineratev1alpha1.MetricGoodputBitsPerSecond) {
		d := f.Direction
		if got := float64(statustest.Low(&f)); path && got < 44.68e6 || got > 47.55e6 {
			t.Errorf("%s→%s: %s, %.2f Mb/s", d.From, d.To, r.Reason, got/1e6)
		}
	}
	if !strings.Contains(test.Status.Summary, "b/s goodput, ") {
		t.Errorf("the summary is %q", test.Status.Summary)
	}
	t.Log(test.Status.Summary)
	for _, p := range whole.Path {
		t.Log(p.Message)
	}
	s.released("tcp")
}
