//go:build full

package e2e

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/report"
)

const tcp = `
traffic: {type: Sessions, sessions: {parallel: 4, congestionControl: cubic}}
generator: {engine: Software}
dut: {type: Reference, reference: {limit: {layer2BitsPerSecond: 50000000, queue: 50ms}}}
procedure: {type: ConstantLoad, constantLoad: {rate: Unlimited, warmupDuration: 2s, duration: 8s, window: 2s}}
criteria: [{name: some, metric: GoodputBitsPerSecond, min: "40000000"}, {name: more, metric: GoodputBitsPerSecond, max: "48700000"}]
`

// TestSessions: an end in a pod on each link measures what TCP carries through a device of 50 Mb/s: 44.7 to 47.6 Mb/s of payload each way, by how many segments are
// acknowledged at once.
func TestSessions(t *testing.T) {
	s := begin(t)
	s.apply("tcp", links, tcp)
	test := s.complete("tcp", patience)
	s.want(test, "Complete=True Measured", "Passed=True CriteriaMet")
	r := test.Status.Result
	if r == nil || r.Reason != string(report.PathLimited) || r.Saturated || r.Total == nil || r.Total.Sessions == nil || r.Total.Received.PacketsPerSecond != 0 {
		t.Fatalf("want goodput that the path limited, and no frames, got %+v", r)
	}
	for _, d := range r.Directions {
		t.Logf("%s→%s: %+v", d.From, d.To, *d.Sessions)
		if got := float64(d.Sessions.GoodputBitsPerSecond); got < 44.68e6 || got > 47.55e6 {
			t.Errorf("%s→%s: %.2f Mb/s", d.From, d.To, got/1e6)
		}
	}
	if !strings.Contains(test.Status.Summary, "bps goodput, ") {
		t.Errorf("the summary is %q", test.Status.Summary)
	}
	t.Log(test.Status.Summary)
	for _, p := range s.report(test).Path {
		t.Log(p.Message)
	}
	s.released("tcp")
}
