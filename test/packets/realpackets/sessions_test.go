//go:build full

package realpackets

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// TestKnownAnswerOfSessions: what TCP carries through a device of 50 Mb/s of frames with FCS, by linerate run. One way that is 1448 of each 1518 bytes; both ways,
// acknowledgements of 70 bytes take their part, for one segment or for two. What is said to be the path's is within 2 % of that, and a lower bound is no more.
// All runs are played, and one of them at least has to find the path's limit.
func TestKnownAnswerOfSessions(t *testing.T) {
	const file = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: tcp}
spec:
  dut: {type: Reference, reference: {limit: {layer2BitsPerSecond: 50000000, queue: 50ms}}}
  generator: {engine: Software}
  links: [{name: west}, {name: east}]
  procedure: {type: ConstantLoad, constantLoad: {rate: Unlimited, warmupDuration: 2s, duration: 8s, window: 1s}}
`
	for name, c := range map[string]struct {
		traffic     string
		least, most float64
	}{
		"one way":   {"  traffic: {type: Sessions, directions: [{from: west, to: east}], sessions: {congestionControl: cubic}}\n", 0.98 * 50e6 * 1448 / 1518, 1.02 * 50e6 * 1448 / 1518},
		"both ways": {"  traffic: {type: Sessions, sessions: {congestionControl: cubic}}\n", 0.98 * 50e6 * 1448 / (1518 + 70), 1.02 * 50e6 * 1448 / (1518 + 35)},
	} {
		t.Run(name, func(t *testing.T) {
			const runs = 3
			found := 0
			for range runs {
				r := measure(t, file+c.traffic)
				if !r.Answer.Measured {
					t.Fatalf("%s: %s", r.Answer.Reason, r.Answer.EvidenceText())
				}
				for _, d := range r.Answer.Directions {
					if got, said := float64(d.Sessions.GoodputBitsPerSecond), r.Answer.Reason == report.PathLimited; said && got < c.least || got > c.most {
						t.Errorf("%s→%s: %s, %.2f Mb/s, want %.2f to %.2f", d.From, d.To, r.Answer.Reason, got/1e6, c.least/1e6, c.most/1e6)
					}
					t.Log(r.Answer.Reason, d.From, d.Reason)
				}
				if r.Answer.Reason == report.PathLimited {
					found++
				}
			}
			t.Logf("%d of %d runs found the path's limit", found, runs)
			if found == 0 {
				t.Error("every run was disturbed by other programs on this machine")
			}
		})
	}
}

// TestADeviceThatIsAnEnd: at a rate that any machine carries, what the device received and what it sent is what was asked for, and the page says who counted it.
func TestADeviceThatIsAnEnd(t *testing.T) {
	r := measure(t, `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: endpoint}
spec:
  dut: {type: Reference, role: Endpoint}
  links: [{name: west}]
  traffic: {type: Sessions, sessions: {application: Iperf3, parallel: 2}}
  procedure: {type: ConstantLoad, constantLoad: {rate: 20mbps, warmupDuration: 1s, duration: 5s, window: 1s}}
`)
	if r.Answer.Reason != report.TargetReached || len(r.Answer.Directions) != 2 {
		t.Fatalf("%s: %s", r.Answer.Reason, r.Answer.EvidenceText())
	}
	for i, is := range []string{report.Receiver, report.Sender} {
		d := r.Answer.Directions[i]
		if d.Sessions.Device == nil || d.Sessions.Device.Role != is || d.Sessions.GoodputBitsPerSecond < 19_800_000 || d.Sessions.GoodputBitsPerSecond > 20_400_000 {
			t.Errorf("%s→%s: %+v", d.From, d.To, d.Sessions)
		}
	}
}
