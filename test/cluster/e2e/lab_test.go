package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
	"github.com/linerate-dev/linerate/test/rigs/statustest"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// swift finds a limit of some thousand packets/s in about 15 s. Its target doesn't depend on the limit.
const swift = `
procedure:
  ramp: {warmupDuration: 1s, targetRate: 30kpps, rampDuration: 6s, stepDuration: 500ms, settleDuration: 100ms, confirmDuration: 3s, holdDuration: 0s, stopAtSaturation: true}
`

// onScarce are wires on which only one test at a time finds functions.
const onScarce = `
links:
- {name: west, network: default/few, lineRate: 1gbps}
- {name: east, network: default/rare, lineRate: 1gbps}
`

// TestALab is what the gate plays in a cluster: a pod of each engine measures a router whose limit only the test knows, two tests want the same
// functions, and one of them loses its runner. All that it demands holds on a busy machine, too.
func TestALab(t *testing.T) {
	if err := lab.Cables(t.Context(), "trexwest", "trexeast"); err != nil {
		t.Fatal(err)
	}
	t.Run("a TRex pod measures a router", func(t *testing.T) {
		s, limit := begin(t), unknown()
		s.apply("trex", trexLinks, router(limit), swift, trexGenerator+"}")
		s.truth(s.complete("trex", patience), limit)
		s.released("trex")
	})
	t.Run("two tests take turns, and the one that loses its runner is measured again", func(t *testing.T) {
		s, limit := begin(t), unknown()
		s.apply("first", onScarce, router(limit), swift, demand("min", limit/2))
		s.condition("first", "Scheduled=True AllScheduled")
		s.apply("second", onScarce, router(limit), swift, demand("max", limit/2))
		s.condition("second", "Scheduled=False Queued")
		s.hasNoPods("second")
		first := s.complete("first", patience)
		s.truth(first, limit)
		s.passed(first, "True", limit/2)

		struck := s.killRunner("second")
		second := s.complete("second", 2*patience)
		s.quietOnce(struck)
		s.truth(second, limit)
		s.passed(second, "False", limit/2)
		if r := s.report(second); second.Status.Operator.LostRuns != 1 || !r.Started.After(struck) {
			s.Errorf("second lost %d runs, and its Report is of a run that began at %v; its runner was killed at %v", second.Status.Operator.LostRuns, r.Started, struck)
		}
		s.after(first, second)
		s.released("second")
		s.home()
	})
}

// demand is a criterion on packets/s.
func demand(bound string, packetsPerSecond int64) string {
	return fmt.Sprintf("criteria: [{name: demanded, metric: PacketsPerSecond, %s: %q}]", bound, fmt.Sprint(packetsPerSecond))
}

// truth holds a test's Report, and the figures in its status, to what the router forwards each way.
func (s *scene) truth(t *lineratev1alpha1.LoadTest, limit int64) {
	s.Helper()
	r := s.report(t)
	if r.Answer.Measured {
		s.want(t, "Accepted=", "Complete=True Measured", "Reconciling=", "Stalled=")
	} else { // which is the truth only where the windows say so
		s.want(t, "Accepted=", "Complete=True NotMeasured", "Stalled=True NotMeasured")
	}
	s.Logf("%s: %s", t.Name, r.Answer.EvidenceText())
	device := truth.Device{Limits: map[string]int64{truth.Direction("west", "east"): limit, truth.Direction("east", "west"): limit}, Burst: 20 * time.Millisecond, Stall: 50 * time.Millisecond}
	for _, fault := range device.Faults(r) {
		s.Error(fault)
	}
	claimed, measured := statustest.Received(t.Status.Result), make([]int64, len(r.Answer.Directions))
	for i, m := range r.Answer.Directions {
		measured[i] = m.Received.PacketsPerSecond
	}
	if !r.Answer.Measured { // its status may say what the router did not carry, and claims nothing that it did
		measured = make([]int64, len(claimed))
	}
	if !slices.Equal(claimed, measured) {
		s.Errorf("%s: the status claims %v packets/s, the Report %v", t.Name, claimed, measured)
	}
}

// passed: the demand is half of the limit, so a figure that is no less than that decides it, also as a lower bound. A smaller one decides nothing, and neither
// does one that a busy machine kept from being confirmed.
func (s *scene) passed(t *lineratev1alpha1.LoadTest, status string, demanded int64) {
	s.Helper()
	r := s.report(t)
	if !r.Answer.Measured || r.Unconfirmed() || slices.ContainsFunc(r.Answer.Directions, func(m report.Direction) bool { return m.Received.PacketsPerSecond < demanded }) {
		status = "Unknown"
	}
	reason := map[string]string{"True": "CriteriaMet", "False": "CriteriaNotMet", "Unknown": "Undecided"}[status]
	s.want(t, "Passed="+status+" "+reason)
}

// killRunner kills a test's runner while there is traffic, and says when.
func (s *scene) killRunner(name string) time.Time {
	s.Helper()
	s.await(name, "Running", patience, func(t *lineratev1alpha1.LoadTest) bool { return condition(t, "Complete") == "Complete=False Running" })
	s.loud()
	var pods corev1.PodList
	if err := lab.Client.List(s.Context(), &pods, client.InNamespace(rig.Namespace),
		client.MatchingLabels{lineratev1alpha1.LabelNamespace: s.namespace, lineratev1alpha1.LabelTest: name}); err != nil {
		s.Fatal(err)
	}
	if len(pods.Items) != 1 {
		s.Fatalf("%s has the runners %q, want one", name, names(&pods))
	}
	if left, err := lab.Kill(s.Context(), &pods.Items[0], "runner"); left != "" || err != nil {
		s.Fatalf("kill the runner of %s: %s %v", name, left, err)
	}
	return time.Now()
}

// quietOnce: after a runner is killed the wires fall silent in time, before the next run begins.
func (s *scene) quietOnce(struck time.Time) {
	s.Helper()
	quiet, found := s.wires.Quiet(struck, 700*time.Millisecond)
	if took := quiet.Sub(struck); !found || took > aftermath {
		s.Errorf("after the runner was killed the wires were quiet: %v, after %v; want it within %v", found, took, aftermath)
	}
	s.Logf("silent %v after the runner was killed", quiet.Sub(struck).Round(100*time.Millisecond))
}
