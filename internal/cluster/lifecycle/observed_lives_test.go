package lifecycle_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// observed is a device of the user's, on whose node an observer looks.
const observed = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: seen}
spec:
  dut:
    type: Pod
    pod: {template: {spec: {containers: [{name: vpp, image: "lab/vpp:25.10"}]}}}
  links:
  - {name: west, network: west, lineRate: 25gbps}
  - {name: east, network: east, lineRate: 25gbps}
  observers: [{name: cpu, observed: DUT, type: Processors}]
`

// toVitals brings a test to where the pod that tells of the device's node was made.
func (w *world) toVitals() {
	w.t.Helper()
	w.settle()
	w.schedule()
	w.settle()
	w.run()
	w.settle()
}

// observedLives are those of tests with observers. A missing observer never ends a test.
func observedLives() []life {
	return []life{
		{"the device's node is observed", observed, func(w *world) {
			w.toVitals()
			r := w.toRun()
			w.measure(r)
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"nobody starts beside the device", observed, func(w *world) {
			w.toVitals()
			w.pass(time.Minute)
			r := w.runner()
			w.settle()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"the API server wants nobody beside the device", observed, func(w *world) {
			w.unmade = &lifecycle.Refusal{Pod: "seen-1-vitals", Message: "exceeded quota: bench"}
			w.toVitals()
			r := w.runner()
			w.settle()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"somebody else's pod has the name of who observes the device", observed, func(w *world) {
			w.settle()
			w.schedule()
			w.settle()
			w.foreign = []string{"Pod/seen-1-vitals"}
			w.run()
			w.settle()
			r := w.runner()
			w.settle()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"nobody starts beside the device until the scheduling deadline", withLines(observed, "schedulingDeadline: 1m"),
			func(w *world) {
				w.settle()
				w.schedule()
				w.settle()
				w.pass(50 * time.Second)
				w.run()
				w.settle()
				w.pass(time.Minute)
				r := w.runner()
				w.settle()
				w.finish(r, report.Completed)
				w.settle()
			}},
		{"the device's node has no room for who observes it", observed, func(w *world) {
			w.toVitals()
			w.schedule()
			p := w.pod("seen-1-vitals")
			p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "OutOfcpu", "Pod was rejected"
			w.settle()
			r := w.runner()
			w.settle()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"who observes the device is gone in the run", observed, func(w *world) {
			w.toVitals()
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.vanish("seen-1-vitals")
			w.pass(2 * time.Minute)
			w.finish(r, report.Completed)
			w.settle()
		}},
	}
}

// powered is a device outside the cluster, whose power an observer asks for.
const powered = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: watts}
spec:
  dut: {type: Device}
  links:
  - {name: west, network: west, lineRate: 25gbps}
  - {name: east, network: east, lineRate: 25gbps}
  observers: [{name: power, observed: Lab, type: Redfish, redfish: {url: "https://bmc.lab", secretName: bmc}}]
`

func TestTheRunnerIsToldWhereTheCollectorIsOrWhyNobodyAsks(t *testing.T) {
	for name, c := range map[string]struct {
		act     func(*world)
		address string
		reason  string
	}{
		"a pod that is ready": {func(w *world) { w.schedule(); w.run() }, ":4504", ""},
		"a pod that failed": {func(w *world) {
			w.schedule()
			w.ends("watts-1-collector", 2, "--observers: unexpected end of JSON input")
		}, "", "pod watts-1-collector, which was to ask others over the network for observers, was not ready when " +
			"the run began (Failed): container collector ended with exit code 2: --observers: unexpected end of JSON " +
			"input"},
		"a pod that somebody deleted": {func(w *world) { w.vanish("watts-1-collector") }, "",
			"pod watts-1-collector, which was to ask others over the network for observers, was deleted by somebody " +
				"else"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, powered)
			w.toVitals()
			if w.pod("watts-1-collector") == nil || w.pod("watts-1-vitals") != nil {
				t.Fatal("who asks over the network is made, and nobody else")
			}
			c.act(w)
			sites := w.sites()
			if address := sites.Collector; (address == "") != (c.address == "") ||
				!strings.HasSuffix(address, c.address) || sites.NoCollector != c.reason {
				t.Errorf("%+v, %q", sites.Collector, sites.NoCollector)
			}
		})
	}
}

// sites are the Sites in the runner's Plan.
func (w *world) sites() (found plan.Sites) {
	w.t.Helper()
	_, d := w.decide()
	for _, o := range d.Create {
		if c, ok := o.(*corev1.ConfigMap); ok && c.Name == manifests.PlanName(w.test, 1) {
			if err := json.Unmarshal(c.BinaryData[delivery.KeySites], &found); err != nil {
				w.t.Fatal(err)
			}
			return found
		}
	}
	w.t.Fatalf("the decision %s (%s) makes no runner", d.Rule, d.Message)
	return found
}

func TestTheRunnerIsToldWhereTheDevicesNodeTellsOrWhyNowhere(t *testing.T) {
	for name, c := range map[string]struct {
		act     func(*world)
		address string
		reason  string
	}{
		"a pod that is ready": {func(w *world) { w.schedule(); w.run() }, ":4504", ""},
		"a pod without a node, for half a minute": {func(w *world) {
			w.unschedulable("0/2 nodes are available: 2 Insufficient cpu.")
			w.clock = w.clock.Add(30 * time.Second)
		}, "",
			"pod seen-1-vitals, which was to report the vital signs of the device's node, was not ready when the run " +
				"began (Unscheduled): pod seen-1-vitals finds no node: 0/2 nodes are available: 2 Insufficient cpu"},
		"a pod that failed": {func(w *world) {
			w.schedule()
			w.ends("seen-1-vitals", 3, "serve vital signs at 10.0.0.7:4504: address in use")
		}, "",
			"pod seen-1-vitals, which was to report the vital signs of the device's node, was not ready when the run " +
				"began (Failed): container vitals ended with exit code 3: serve vital signs at 10.0.0.7:4504: " +
				"address in " +
				"use"},
		"a pod that somebody deleted": {func(w *world) { w.vanish("seen-1-vitals") }, "",
			"pod seen-1-vitals, which was to report the vital signs of the device's node, was deleted by somebody " +
				"else"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, observed)
			w.toVitals()
			if w.pod("seen-1-vitals") == nil {
				t.Fatal("there is no such pod")
			}
			c.act(w)
			sites := w.sites()
			if !strings.HasSuffix(sites.Vitals, c.address) || sites.Vitals == "" && c.address != "" ||
				sites.NoVitals != c.reason {
				t.Errorf("%q, %q", sites.Vitals, sites.NoVitals)
			}
		})
	}
	t.Run("a pod whose name is somebody else's", func(t *testing.T) {
		w := newWorld(t, observed)
		w.settle()
		w.schedule()
		w.settle()
		w.foreign = []string{"Pod/seen-1-vitals"}
		w.run()
		const want = "the API server refused pod seen-1-vitals, which was to report the vital signs of the device's " +
			"node: a pod of that name exists, and doesn't belong to this LoadTest"
		if got := w.sites().NoVitals; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
	t.Run("a pod that the API server refuses", func(t *testing.T) {
		w := newWorld(t, observed)
		w.unmade = &lifecycle.Refusal{Pod: "seen-1-vitals", Message: "exceeded quota: bench"}
		w.settle()
		w.schedule()
		w.settle()
		w.run()
		if got, want := w.sites().NoVitals, "the API server refused pod seen-1-vitals, which was to report the vital "+
			"signs of the device's node: exceeded quota: bench"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

func TestARunWaitsForWhoTellsOfTheDevicesNode(t *testing.T) {
	w := newWorld(t, observed)
	w.toVitals()
	w.schedule()
	_, d := w.decide()
	want := "pod seen-1-vitals, which reports the vital signs of the device's node, isn't ready yet (Starting); the " +
		"run begins without it at "
	if d.Rule != "unobserved" || !strings.HasPrefix(d.Message, want) || d.RequeueAt.After(w.clock.Add(30*time.Second)) {
		t.Errorf("%s: %s, due at %s", d.Rule, d.Message, d.RequeueAt)
	}
	w.clock = w.clock.Add(30 * time.Second)
	if _, d := w.decide(); d.Rule != "runNeeded" {
		t.Errorf("half a minute later %s: %s", d.Rule, d.Message)
	}
}

func TestWhoTellsOfTheDevicesNodeAsksForThatNode(t *testing.T) {
	w := newWorld(t, observed)
	w.toVitals()
	node := w.mustPod("seen-1-dut").Spec.NodeName
	terms := w.mustPod("seen-1-vitals").Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	want := []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name",
		Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}}
	if diff := cmp.Diff(want, terms); diff != "" || node == "" {
		t.Errorf("the device is on node %q, and it asks for\n%s", node, diff)
	}
}
