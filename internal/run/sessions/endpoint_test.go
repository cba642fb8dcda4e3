package sessions

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// newEndpointRig is an end and a device that is the other end, with a cable between them.
func newEndpointRig(t *testing.T, options ...func(*plan.Plan, []End)) *rig {
	t.Helper()
	r := &rig{dut: netnstest.New(t)}
	endAddress, device := netip.MustParsePrefix("198.18.0.2/24"), netip.MustParsePrefix("198.18.0.1/24")
	r.plan = &plan.Plan{
		Version: plan.Version, Engine: "Software", DUT: plan.DUT{Type: "Reference", Forwarding: plan.Nothing},
		Links: []plan.Link{{Name: "west", DUT: plan.DUTEnd{Addresses: []netip.Prefix{device}}}},
		Sessions: &plan.Sessions{Protocol: plan.TCP, Application: plan.ApplicationIperf3, Parallel: 2,
			MessageBytes: 128 << 10},
		Directions: []plan.Direction{{From: "west", To: plan.DeviceEnd}, {From: plan.DeviceEnd, To: "west"}},
		Generators: []plan.Generator{{Name: "generator-0",
			Ports: []plan.GeneratorPort{{Link: "west", Addresses: []netip.Prefix{endAddress}, ShareOf: 1}}}},
		Procedure: plan.Procedure{Type: plan.TypeConstantLoad, ConstantLoad: &plan.ConstantLoad{Unlimited: true,
			WarmupDuration: plan.Duration(500 * time.Millisecond),
			Duration:       plan.Duration(time.Second), Window: plan.Duration(time.Second)}},
	}
	r.ends = []End{{Link: "west", Interface: "west", Namespace: netnstest.New(t), Product: "linerate sessions"},
		{Link: plan.DeviceEnd, Interface: "west", Namespace: r.dut, Product: "linerate sessions"}}
	cable(t, r.ends[0].Namespace, r.dut, "west", net.HardwareAddr{2, 0x6c, 0x72, 0, 0, 2},
		net.HardwareAddr{2, 0x6c, 0x72, 0, 0, 1})
	r.places = []Place{{Link: "west"}, {Link: plan.DeviceEnd}}
	for _, o := range options {
		o(r.plan, r.ends)
	}
	r.serve(t)
	return r
}

// The device's own end counts no more than its kernel received. Each direction says which end the device is.
func TestADeviceThatIsAnEnd(t *testing.T) {
	r := newEndpointRig(t)
	rep := runner.Run(t.Context(), r.plan, New(r.places, Options{}), runner.Options{Producer: "test"})
	if rep.Ending != report.Completed || !rep.Answer.Measured || len(rep.Path) != 2 {
		t.Fatalf("%s: %s; %s; path %+v", rep.Ending, rep.Message, rep.Answer.EvidenceText(), rep.Path)
	}
	received, sent := r.counters(t, "west")
	for i, want := range []struct {
		role     string
		maxBytes int64
	}{{report.Receiver, received.Bytes}, {report.Sender, sent.Bytes}} {
		d := rep.Answer.Directions[i].Sessions
		if d.Device == nil || d.Device.Role != want.role || d.ReceivedBytes <= 0 || d.ReceivedBytes > want.maxBytes {
			t.Errorf("%s: %+v; the device's kernel counted %d bytes", want.role, d, want.maxBytes)
		}
		if p := rep.Path[i]; !p.Proven || !strings.Contains(p.Message, "TTL 64, which was 64") {
			t.Errorf("the path: %+v", p)
		}
	}
	noted := false
	for _, n := range rep.Notes {
		noted = noted || strings.HasPrefix(n.Message, "the device's own end is linerate sessions on interface west")
	}
	if len(rep.Generators) != 1 || len(rep.Generators[0].Ports) != 1 || !noted {
		t.Errorf("generators %+v, notes %+v", rep.Generators, rep.Notes)
	}
}
