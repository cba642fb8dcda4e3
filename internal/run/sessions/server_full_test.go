//go:build full

package sessions

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// The six loads of examples/suites/servers.yaml, to Debian's servers behind a limit: each is measured whole, and no way
// carries more than the limit.
func TestSixLoadsToTwoServers(t *testing.T) {
	type options = []func(*plan.Plan, []End)
	window := func(bytes int64) func(*plan.Plan, []End) {
		return func(p *plan.Plan, _ []End) { p.Sessions.WindowBytes = bytes }
	}
	for _, server := range []struct {
		name    string
		options options
	}{{"iperf3", nil}, {"iperf2", options{byIperf2}}} {
		for _, load := range []struct {
			name    string
			options options
		}{
			{"tcp", options{oneStream}}, {"tcp-64k", options{oneStream, window(64 << 10)}},
			{"tcp-128k", options{oneStream, window(128 << 10)}}, {"tcp-both", options{bothWays}},
			{"udp", options{oneStream, overUDP}}, {"udp-both", options{oneStream, overUDP, bothWays}},
		} {
			t.Run(server.name+" "+load.name, func(t *testing.T) {
				s := newServerRig(t, append(append(options{}, server.options...), load.options...)...)
				s.start(t)
				s.plan.Procedure.ConstantLoad.Window = plan.Duration(3 * time.Second)
				if s.plan.Sessions.Protocol == plan.UDP {
					setRate(s.plan, 1e9)
				}
				rep := s.measured(t)
				if len(rep.Answer.Directions) != len(s.plan.Directions) {
					t.Fatalf("%d directions", len(rep.Answer.Directions))
				}
				for _, d := range rep.Answer.Directions {
					if bits := d.Sessions.GoodputBitsPerSecond; bits <= 0 || bits > s.bits {
						t.Errorf("%s to %s: %d bit/s through %d", d.From, d.To, bits, s.bits)
					}
				}
			})
		}
	}
}
