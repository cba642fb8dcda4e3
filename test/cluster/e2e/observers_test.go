//go:build full

package e2e

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Observers of all that is there, and a load that is twice what the device forwards.
const (
	ofBoth = `
generator: {engine: Software, placement: {separateNodes: true}}
observers: [{name: cpu, observed: DUT, type: Processors}, {name: nodes, observed: Node, type: Processors}]
`
	ofReference = `
generator: {engine: Software, placement: {separateNodes: true}}
dut: {type: Reference, reference: {limit: {packetsPerSecond: 10000, burst: 10ms}}}
observers: [{name: cpu, observed: DUT, type: Processors}, {name: limit, observed: DUT, type: Limiter}, {name: nodes, observed: Node, type: Processors},
  {name: softirqs, observed: DUT, type: SoftIRQs}, {name: memory, observed: Node, type: Memory}, {name: device, observed: DUT, type: Interfaces}]
`
	ofMachines = `
generator: {engine: Software, placement: {separateNodes: true}}
observers: [{name: cpu, observed: DUT, type: Processors}, {name: nodes, observed: Node, type: Processors}, {name: softirqs, observed: DUT, type: SoftIRQs}, {name: load, observed: Node, type: Load},
  {name: frequencies, observed: DUT, type: Frequencies}, {name: temperatures, observed: DUT, type: Temperatures}]
`
	twice = "procedure: {type: ConstantLoad, constantLoad: {rate: 20kpps, warmupDuration: 1s, duration: 12s, window: 3s}}"
)

// TestObservers: in a cluster the device's node is read like the generators', and what its limit counts is what came back.
func TestObservers(t *testing.T) {
	t.Run("a Reference reports its node and its limit", func(t *testing.T) {
		s := begin(t)
		s.apply("reference", links, ofReference, twice, `criteria: [{name: limited, metric: Observed, observed: {observer: limit, series: passed}, min: "5000"}]`)
		test := s.complete("reference", patience)
		s.want(test, "Complete=True Measured", "Passed=True CriteriaMet")
		s.hasNone(test, lineratev1alpha1.RoleVitals)
		r := s.report(test)
		s.readsBothNodes(r)
		for _, w := range r.Windows {
			for _, d := range w.Directions {
				if of := d.From + "→" + d.To; w.Phase != report.WarmUp { // its edge is where traffic begins
					s.nearly(of+" passed", seenIn(w.Observed, "limit", "passed", of), float64(d.Received.PacketsPerSecond))
					s.nearly(of+" came to the device", seenIn(w.Observed, "device", "received", d.From), float64(d.Offered.PacketsPerSecond))
					s.nearly(of+" left the device", seenIn(w.Observed, "device", "sent", d.To), float64(d.Received.PacketsPerSecond))
					s.nearly(of+" dropped", seenIn(w.Observed, "limit", "dropped", of), float64(d.Offered.PacketsPerSecond-d.Received.PacketsPerSecond))
				}
			}
		}
		s.released("reference")
	})
	t.Run("a pod on the node of a user's device reports that node", func(t *testing.T) {
		s := begin(t)
		s.apply("router", links, router(10_000), ofMachines, twice)
		nodes := map[lineratev1alpha1.PodRole]string{}
		for _, p := range s.condition("router", "Complete=False Running").Status.Pods {
			nodes[p.Role] = p.Node
		}
		test := s.complete("router", patience)
		s.want(test, "Complete=True Measured")
		if nodes[lineratev1alpha1.RoleVitals] == "" || nodes[lineratev1alpha1.RoleVitals] != nodes[lineratev1alpha1.RoleDUT] {
			s.Errorf("pods were on %v: want one on the device's node", nodes)
		}
		s.readsBothNodes(s.report(test))
		s.released("router")
	})
	t.Run("beside sessions, too", func(t *testing.T) {
		s := begin(t)
		s.apply("sessions", links, tcp, "observers: [{name: cpu, observed: DUT, type: Processors}, {name: limit, observed: DUT, type: Limiter}, {name: nodes, observed: Node, type: Processors}]")
		test := s.complete("sessions", patience)
		s.want(test, "Complete=True Measured")
		for _, o := range s.report(test).Answer.Observed {
			if o.Missing != "" || o.Mean == nil {
				s.Errorf("%s %s of %s is missing: %s", o.Observer, o.Series, o.Subject, o.Missing)
			} else if o.Observer == "limit" || o.OfAll() {
				s.Logf("%s %s of %s: %.3f %s", o.Observer, o.Series, o.Subject, *o.Mean, o.Unit)
			}
		}
		s.released("sessions")
	})
	t.Run("the measurement goes on without it", func(t *testing.T) {
		s := begin(t)
		s.apply("lonely", links, router(10_000), ofBoth, twice)
		s.step("lonely", "Holding")
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "lonely-1-vitals"}}
		if err := lab.Client.Delete(s.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
			s.Fatal(err)
		}
		test := s.complete("lonely", patience)
		s.want(test, "Complete=True Measured")
		r := s.report(test)
		if len(r.Windows) != 5 || r.Ending != report.Completed {
			s.Errorf("%s after %d windows: want a second of warm-up and twelve in four", r.Ending, len(r.Windows))
		}
		last := r.Windows[len(r.Windows)-1]
		for _, o := range last.Observed {
			told := o.Observer == "nodes" && strings.HasPrefix(o.Subject, r.Generators[0].Node+" ")
			if (o.Missing == "") != told || !told && !strings.Contains(o.Missing, ":4504 did not answer: ") {
				s.Errorf("in the last window %s %s of %s: %q", o.Observer, o.Series, o.Subject, o.Missing)
			}
		}
		s.Log(last.Observed[0].Missing)
		s.released("lonely")
	})
}

// hasNone fails where the test had a pod of a role.
func (s *scene) hasNone(t *lineratev1alpha1.LoadTest, role lineratev1alpha1.PodRole) {
	s.Helper()
	for _, p := range t.Status.Pods {
		if p.Role == role {
			s.Errorf("pod %s was made, and isn't needed", p.Name)
		}
	}
}

// lacksSensors: of processors' frequencies and of temperatures most virtual machines tell nothing, and the Report says so of the machine.
func lacksSensors(observer, missing string) bool {
	return slices.Contains([]string{"frequencies", "temperatures"}, observer) && strings.Contains(missing, "this machine")
}

// readsBothNodes: every series was read in every window and idle, unless the machine has none, and both nodes are named.
func (s *scene) readsBothNodes(r *report.Report) {
	s.Helper()
	if len(r.Windows) < 3 {
		s.Fatalf("%d windows: %s", len(r.Windows), r.Message)
	}
	for _, o := range r.Observations {
		if lacksSensors(o.Observer, o.Missing) {
			s.Logf("%s of %s: %s", o.Observer, o.Observed, o.Missing)
		} else if o.Missing != "" || len(o.Series) == 0 {
			s.Errorf("%s of %s: %d series, missing: %s", o.Observer, o.Observed, len(o.Series), o.Missing)
		}
		for _, v := range o.Series {
			if v.Missing != "" || v.IdleBefore == nil || v.IdleAfter == nil || len(v.Samples) < 5 {
				s.Errorf("%s %s of %s: %d samples, idle before %v and after %v, missing: %s", o.Observer, v.Name, v.Subject, len(v.Samples), v.IdleBefore, v.IdleAfter, v.Missing)
				continue
			}
			if v.OfAll() || o.Type == "Limiter" {
				s.Logf("%s %s of %s: %d samples, idle %.3f before and %.3f after", o.Observer, v.Name, v.Subject, len(v.Samples), *v.IdleBefore, *v.IdleAfter)
			}
		}
	}
	var named []string
	for _, w := range r.Windows {
		for _, o := range w.Observed {
			switch {
			case lacksSensors(o.Observer, o.Missing):
				continue
			case w.Phase == report.WarmUp && strings.HasPrefix(o.Missing, "it was not read within the window"):
				continue // a level is read about once in the second that a warm-up takes
			case o.Missing != "" || o.Mean == nil:
				s.Errorf("window %d: %s %s of %s is missing: %s", w.Number, o.Observer, o.Series, o.Subject, o.Missing)
				continue
			case o.Over.Std() < w.Duration.Std()-600*time.Millisecond || o.Over.Std() > w.Duration.Std()+600*time.Millisecond:
				s.Errorf("window %d of %s: %s of %s is over %s", w.Number, w.Duration.Std(), o.Series, o.Subject, o.Over.Std())
			}
			if o.OfAll() && o.Series == "busy" {
				s.Logf("window %d: %s busy of %s: %.3f of a processor", w.Number, o.Observer, o.Subject, *o.Mean)
			}
			if o.OfAll() && o.Observer == "nodes" {
				named = append(named, o.Subject)
			}
		}
	}
	slices.Sort(named)
	if got := slices.Compact(named); !slices.Equal(got, []string{"node-1 " + report.AllProcessors, "node-2 " + report.AllProcessors}) {
		s.Errorf("the nodes are %q", got)
	}
}

// nearly: within 10 %, as the two are not of quite the same time, and a busy machine's generator doesn't send at one rate.
func (s *scene) nearly(what string, got, want float64) {
	s.Helper()
	if off := math.Abs(got-want) / cmp.Or(want, 1); !(off < 0.1) {
		s.Errorf("%s: %.0f, want %.0f", what, got, want)
	} else {
		s.Logf("%s: %.0f, and %.0f were counted by the generators", what, got, want)
	}
}
