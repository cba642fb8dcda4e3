package realpackets

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// sceneTest is a test of a device of some thousand packets/s. It doesn't depend on the limit.
const sceneTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: scene}
spec:
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: IMIX, directions: %s}
  criteria: [{name: demanded, metric: PacketsPerSecond, %s: "%d"}]
  procedure: %s
`

// The scene's procedures: a search that takes about 15 s, and loads that are given, 8 s of traffic altogether.
const (
	sceneRamp     = "{ramp: {warmupDuration: 1s, targetRate: 25kpps, rampDuration: 6s, stepDuration: 500ms, settleDuration: 100ms, confirmDuration: 3s, holdDuration: 0s, stopAtSaturation: true}}"
	sceneCurve    = "{type: FrameLoss, frameLoss: {maxRate: 24kpps, minRate: 1kpps, step: 11500pps, warmupDuration: 500ms, trialDuration: 1s}}"
	sceneHeld     = "{type: ConstantLoad, constantLoad: {rate: 12kpps, warmupDuration: 500ms, duration: 2s, window: 1s}}"
	sceneOverload = "{type: MaximumOfferedLoad, maximumOfferedLoad: {rate: 20kpps, warmupDuration: 0s, trialDuration: 1s, trials: 2}}"
)

// saved is how much of its unused rate the scene's device saves up: if the machine lets the generator wait that long, no frame is lost.
const saved = 20 * time.Millisecond

// TestScene is what the gate measures with real packets: routers whose limits only the test knows. All that it demands holds on a busy machine, too,
// so they are measured at the same time: that many packets take little processor time.
func TestScene(t *testing.T) {
	beside(t)
	limit := 4_000 + rand.Int64N(5_001)
	t.Run("one way, through a device that forwards half as much the other way", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, limit, limit/2)
		code, r := s.measure(t, sceneRamp, "[{from: west, to: east}]", "min", limit/2)
		s.tellsTheTruth(t, r, truth.Device{Limits: map[string]int64{"west→east": limit}, Burst: saved})
		decided(t, r, code, "min", limit/2)
	})
	t.Run("both ways, and the demand isn't met", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, limit, limit)
		code, r := s.measure(t, sceneRamp, "[{from: west, to: east}, {from: east, to: west}]", "max", limit/2)
		s.tellsTheTruth(t, r, truth.Device{Limits: map[string]int64{"west→east": limit, "east→west": limit}, Burst: saved})
		decided(t, r, code, "max", limit/2)
	})
	t.Run("loads that are given, through a device that forwards half as much the other way", func(t *testing.T) {
		t.Parallel()
		s, both := newScene(t, limit, limit/2), "[{from: west, to: east}, {from: east, to: west}]"
		device := truth.Device{Limits: map[string]int64{"west→east": limit, "east→west": limit / 2}, Burst: saved}
		for _, c := range []struct{ procedure, bound string }{{sceneCurve, "min"}, {sceneHeld, "max"}, {sceneOverload, "min"}} {
			code, r := s.measure(t, c.procedure, both, c.bound, limit/4)
			s.tellsTheTruth(t, r, device)
			decided(t, r, code, c.bound, limit/4)
		}
	})
}

// scene is a rig whose device counts by itself.
type scene struct {
	*rig
	before []crossed
}

// crossed is what crossed a port of the device, by its kernel.
type crossed struct{ in, out int64 }

// newScene is a router that forwards so many packets/s of what enters it on west, and on east.
func newScene(t *testing.T, west, east int64) *scene {
	t.Helper()
	s := &scene{rig: newRig(t, 2)}
	s.route(t)
	s.limitEach(t, saved, west, east)
	return s
}

// measure runs the scene's LoadTest, and returns the exit code and the Report.
func (s *scene) measure(t *testing.T, procedure, directions, bound string, demanded int64) (int, *report.Report) {
	t.Helper()
	s.before = s.crossed(t)
	got := s.call(t, "run", writeFile(t, "scene.yaml", fmt.Sprintf(sceneTest, directions, bound, demanded, procedure)), "-o", "json", "--save", "", "--ports", s.portList())
	var r report.Report
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatalf("exit code %d, no report: %v\nstderr:\n%s", got.code, err, got.stderr)
	}
	t.Logf("%s %s", r.Message, r.Answer.EvidenceText())
	return got.code, &r
}

// tellsTheTruth holds the Report's figures to the device's limits, and its counters to those of the device's kernel.
func (s *scene) tellsTheTruth(t *testing.T, r *report.Report, d truth.Device) {
	t.Helper()
	for _, fault := range d.Faults(r) {
		t.Error(fault)
	}
	after, ports := s.crossed(t), map[string]int{"west": 0, "east": 1}
	for _, total := range r.Totals {
		from, to := ports[total.From], ports[total.To]
		numbered := numberedOf(r, total.From, total.To)
		same(t, total.From+" sent", total.Sent.Packets+int64(numbered.Sent), after[from].in-s.before[from].in)
		same(t, total.To+" got back", total.Returned.Packets+total.ReceiveErrors+int64(numbered.Received), after[to].out-s.before[to].out)
		if !total.Drained || total.Sent.Packets == 0 {
			t.Errorf("%s→%s: %+v, want frames, and all of them awaited", total.From, total.To, total)
		}
	}
	if len(r.Totals) != len(d.Limits) {
		t.Errorf("%d totals, want %d", len(r.Totals), len(d.Limits))
	}
}

// beyondLoad is how many frames cross a port that are no load: address resolution, and the marked frames that prove the path.
const beyondLoad = 64

// numberedOf are the numbered frames of a direction, which cross the device before any load.
func numberedOf(r *report.Report, from, to string) report.Repeats {
	for _, p := range r.Path {
		if p.From == from && p.To == to && p.Repeats != nil {
			return *p.Repeats
		}
	}
	return report.Repeats{}
}

// same: what the Report counted is what the device's kernel did.
func same(t *testing.T, what string, counted, crossed int64) {
	t.Helper()
	if more := crossed - counted; more < 0 || more > beyondLoad {
		t.Errorf("%s %d frames by the Report, and %d crossed the device's port", what, counted, crossed)
	}
}

// decided: the demand is at most half of what the device forwards, so a figure that is no less than that decides it, also as a lower bound. A smaller lower bound
// decides nothing. Where the machine stood still for half of the time, less may have come back of a load that was given: then the verdict follows that.
func decided(t *testing.T, r *report.Report, code int, bound string, demanded int64) {
	t.Helper()
	less := func(m report.Direction) bool { return m.Received.PacketsPerSecond < demanded }
	some, all := slices.ContainsFunc(r.Answer.Directions, less), !slices.ContainsFunc(r.Answer.Directions, func(m report.Direction) bool { return !less(m) })
	outcome, exit := report.Undecided, report.ExitNotMeasured
	switch {
	case !r.Answer.Measured || r.Unconfirmed():
	case bound == "min" && !some:
		outcome, exit = report.Passed, report.ExitOK
	case bound == "max" && !all:
		outcome, exit = report.DidFail, report.ExitFailed
	case r.Answer.LowerBound() || r.Answer.Saturated:
	case bound == "min":
		outcome, exit = report.DidFail, report.ExitFailed
	default:
		outcome, exit = report.Passed, report.ExitOK
	}
	if r.Verdict.Outcome != outcome || code != exit {
		t.Errorf("the verdict is %+v and the exit code %d, want %s and %d", r.Verdict, code, outcome, exit)
	}
}

// crossed reads the counters of the device's ports.
func (r *rig) crossed(t *testing.T) (out []crossed) {
	t.Helper()
	in(t, r.device, func() error {
		for i := range r.ports {
			link, err := netlink.LinkByName(fmt.Sprintf("d%d", i))
			if err != nil {
				return err
			}
			out = append(out, crossed{in: int64(link.Attrs().Statistics.RxPackets), out: int64(link.Attrs().Statistics.TxPackets)})
		}
		return nil
	})
	return out
}
