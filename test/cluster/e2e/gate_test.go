//go:build full

package e2e

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/hack/image/pack"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Two releases of a router: the new one lost 60 %, which shows on a machine however busy it is.
const (
	oldRelease = "example.com/linerate/router:1.4"
	newRelease = "example.com/linerate/router:1.5"
)

// TestTheGatesOfTheExamples runs the commands of each CI example as they stand there, those in its comments, too, with the rights of examples/ci/rbac.yaml. What
// the first one measures the others take up, as jobs of one commit do.
func TestTheGatesOfTheExamples(t *testing.T) {
	s := begin(t)
	s.loadRelease(oldRelease, "5000")
	s.loadRelease(newRelease, "2000")
	p := s.pipeline()
	t.Run("GitHub Actions", func(t *testing.T) {
		failed := p.github(t)
		if failed != report.ExitFailed {
			t.Errorf("the job ended with %d, want %d", failed, report.ExitFailed)
		}
		p.has(t, "summary.md", "### ❌ linerate: Failed", "Router", "change")
		p.has(t, "gate.xml", "<failure")
		if gate := p.gate(t, "gate.json"); gate.Outcome != report.DidFail || len(gate.Rows) != 1 {
			t.Errorf("it says %+v", gate)
		}
	})
	t.Run("GitLab CI", func(t *testing.T) {
		if code := p.gitlab(t); code != report.ExitFailed {
			t.Errorf("the job ended with %d, want %d", code, report.ExitFailed)
		}
		p.has(t, "gate.xml", "<failure")
		p.has(t, "gate.md", "### ❌")
		p.has(t, "gate.html", "</html>")
	})
	t.Run("a CronJob", func(t *testing.T) { p.nightly(t) })
	var suites lineratev1alpha1.LoadTestSuiteList
	if err := lab.Client.List(t.Context(), &suites, client.InNamespace(s.namespace)); err != nil || len(suites.Items) != 1 {
		t.Errorf("there are %d suites (%v), want the one that all of them took up", len(suites.Items), err)
	}
	t.Run("with a release that didn't change, while the operator is killed", func(t *testing.T) { p.unchanged(t) })
	t.Run("with a generator that is too weak to decide", func(t *testing.T) { p.weak(t) })
}

// unchanged gates the new release against what was measured of it above, and kills the operator in the middle: the gate passes, and what was measured before
// and what is measured meanwhile is measured once.
func (p *pipeline) unchanged(t *testing.T) {
	t.Helper()
	before := p.measuredTests()
	names := slices.Sorted(maps.Keys(before))
	i := slices.IndexFunc(names, func(name string) bool { return strings.HasSuffix(name, "-candidate-r1") })
	if i < 0 {
		t.Fatalf("measured are %q, want the new release among them", names)
	}
	ended := p.starts(t, `kubectl linerate gate -f loadtests/router.yaml -n "$NAMESPACE" --image "example.com/router=$IMAGE" --baseline loadtest/`+names[i]+
		" --allow-different Node -o text,junit=unchanged.xml,json=unchanged.json", append(p.variables(), "export KUBECONFIG="+p.kubeconfig)...)
	p.until("it is being measured", func() bool { return p.measuring() == 1 })
	p.killOperator()
	if code := ended(); code != report.ExitOK {
		t.Errorf("the gate ended with %d, want %d", code, report.ExitOK)
	}
	p.has(t, "unchanged.xml", "<testsuite")
	gate := p.gate(t, "unchanged.json")
	if len(gate.Rows) != 1 || gate.Outcome != report.Passed || gate.ExitCode != report.ExitOK {
		t.Fatalf("it says %+v", gate)
	}
	if row := gate.Rows[0]; row.Message != "" || row.Baseline == nil || row.Baseline.Figures == nil || row.Candidate.Figures == nil || row.Candidate.Figures.Runs != 1 || len(row.Candidate.Repeated) != 0 {
		t.Errorf("its row is %+v, want one run beside the baseline, and no word of what happened", row)
	}
	after := p.measuredTests()
	if len(after) != len(before)+1 || p.tests() != len(after) {
		t.Errorf("of %d tests %q are measured, want one more than %q", p.tests(), slices.Sorted(maps.Keys(after)), names)
	}
	for name, was := range before {
		if after[name] != was {
			t.Errorf("%s was measured as %s before the operator was killed, and is %s now", name, was, after[name])
		}
	}
	if n := p.having(func(t *lineratev1alpha1.LoadTest) bool {
		return t.Status.Attempt != 1 || t.Status.Operator.LostRuns != 0
	}); n != 0 {
		t.Errorf("%d tests were attempted again", n)
	}
}

// weakTest demands more of a device than the generator can send, and less than the device forwards.
const weakTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: weak-64b}
spec:
  generator: {engine: Software, placement: {servers: [{address: SERVER}]}}
  dut: {type: Device}
  links: [{name: west, network: default/west, lineRate: 1gbps}, {name: east, network: default/east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64}
  procedure:
    ramp: {warmupDuration: 0s, targetRate: 6kpps, rampDuration: 3s, stepDuration: 1s, settleDuration: 300ms, precision: 5%, confirmDuration: 1s, holdDuration: 0s, stopAtSaturation: true}
    maxLossRatio: 5%
  criteria: [{name: fast, metric: PacketsPerSecond, min: "4000"}]
  activeDeadline: 2m
`

// weak is a gate whose generator sends 2 000 packets/s at most, through a device that forwards 8 000: it is undecided whether the limit is 4 000.
func (p *pipeline) weak(t *testing.T) {
	t.Helper()
	p.device(8000)
	p.write("weak.yaml", strings.Replace(weakTest, "SERVER", p.generator("by-hand", "--max-rate", "2kpps"), 1))
	code := p.script(t, "kubectl linerate gate -f weak.yaml -n "+p.namespace+" -o json=weak.json", "export KUBECONFIG="+p.kubeconfig)
	if code != report.ExitNotMeasured {
		t.Errorf("the gate ended with %d, want %d", code, report.ExitNotMeasured)
	}
	p.has(t, "weak.json", `"outcome": "Undecided"`, "lower bound only: the generator was too weak")
}

// loadRelease gives the nodes an image of the router that forwards so much.
func (s *scene) loadRelease(image, limit string) {
	s.Helper()
	files := map[string]string{"/router": filepath.Join(lab.Programs, "router")}
	if err := lab.Load(s.Context(), image, files, pack.Config{Entrypoint: []string{"/router", "-limit", limit}}); err != nil {
		s.Fatal(err)
	}
}

// gate is the document that a gate wrote.
func (p *pipeline) gate(t *testing.T, name string) (gate report.Gate) {
	t.Helper()
	if err := json.Unmarshal(p.file(t, name), &gate); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return gate
}
