package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// functions is a test on virtual functions, with one generator.
var functions = strings.Replace(devices, "replicas: 2, ", "", 1)

// ports are the physical ports of the generator and of the device, west and east each.
type ports struct{ generator, dut [2]string }

// separatePorts has a port for each end.
var separatePorts = ports{[2]string{"0000:3b:00.0", "0000:3b:00.1"}, [2]string{"0000:5e:00.0", "0000:5e:00.1"}}

// attach lets Multus tell what pods got, and their init containers which physical ports that is of.
func (w *world) attach(placed ports) {
	w.t.Helper()
	for i := range w.Pods {
		p := &w.Pods[i]
		devicePorts, container := placed.dut, "linerate-links"
		switch p.Labels[v1alpha1.LabelRole] {
		case "generator":
			devicePorts, container = placed.generator, "linerate-ports"
		case "dut":
		default:
			continue
		}
		p.Annotations["k8s.v1.cni.cncf.io/network-status"] = `[{"name":"bench/sriov-west","interface":"west"},{"name":"bench/sriov-east","interface":"east"}]`
		data, err := json.Marshal(map[string]any{"version": "linerate.dev/ports.v1alpha1", "links": []map[string]any{
			{"link": "west", "port": devicePorts[0], "shared": devicePorts[0] != ""},
			{"link": "east", "port": devicePorts[1], "shared": devicePorts[1] != ""},
		}})
		if err != nil {
			w.t.Fatal(err)
		}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: container, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Message: string(data)}}}}
	}
}

// place brings a test's pods to where they are ready, on ports.
func (w *world) place(placed ports) {
	w.t.Helper()
	w.settle()
	w.schedule()
	w.attach(placed)
	w.settle()
	w.run()
	w.settle()
}

// runOn brings a test to where its runner runs.
func (w *world) runOn(placed ports) string {
	w.t.Helper()
	w.place(placed)
	r := w.runner()
	w.settle()
	return r
}

// claimOn is the claim of another test on a port.
func (w *world) claimOn(node, port string) *lifecycle.PortClaim {
	w.uid++
	w.portClaims = append(w.portClaims, lifecycle.PortClaim{
		Port: lifecycle.Port{Node: node, Name: port}, Lease: "linerate-system/linerate-wire-" + port, Exists: true,
		Pods: 2,
		Holder: lifecycle.Holder{Namespace: "bench", Name: "other", UID: types.UID(fmt.Sprintf("other-%d", w.uid)),
			Attempt: 1},
	})
	return &w.portClaims[len(w.portClaims)-1]
}

// letGo lets all other tests give back what they hold.
func (w *world) letGo() {
	w.portClaims = slices.DeleteFunc(w.portClaims, func(h lifecycle.PortClaim) bool { return h.Holder.Name == "other" })
}

// claimPorts claims ports as a decision has it, and says whether it got all.
func (w *world) claimPorts(takes []lifecycle.PortRequest) bool {
	for _, t := range takes {
		w.creates++
		if t.Replaces != nil {
			w.deletes++
			w.releasePort(*t.Replaces)
		}
		if slices.ContainsFunc(w.portClaims, func(h lifecycle.PortClaim) bool { return h.Port == t.Port }) {
			w.fail("%s is taken, which is somebody's already", t.Port)
		}
		w.portClaims = append(w.portClaims, lifecycle.PortClaim{Port: t.Port, Holder: t.Holder, Senders: t.Senders,
			Lease: "linerate-system/linerate-wire-" + t.Port.Name, UID: w.newUID(), Exists: true})
	}
	return len(takes) > 0
}

func (w *world) releasePort(hold lifecycle.PortClaim) {
	w.portClaims = slices.DeleteFunc(w.portClaims, func(h lifecycle.PortClaim) bool { return h.Port == hold.Port })
}

// portActions is what a decision does with ports, for the trace.
func portActions(d lifecycle.Decision) (actions []string) {
	for _, t := range d.ClaimPorts {
		sign := "+"
		if t.Replaces != nil {
			sign = "±"
		}
		actions = append(actions, sign+"Wire/"+t.Port.Node+"/"+t.Port.Name)
	}
	for _, h := range d.ReleasePorts {
		actions = append(actions, "-Wire/"+h.Port.Node+"/"+h.Port.Name)
	}
	return actions
}

// checkPorts fails where a runner lacks the ports of its pods.
func (w *world) checkPorts() {
	w.t.Helper()
	if w.meddled || w.test == nil || len(w.Jobs) == 0 || w.test.Status.CompletionTime != nil {
		return
	}
	for _, port := range lifecycle.PortsOf(w.test.Status.Pods) {
		if !slices.ContainsFunc(w.portClaims,
			func(h lifecycle.PortClaim) bool { return h.Port == port && h.Holder.UID == w.test.UID }) {
			w.fail("the runner's Job is there, and %s isn't the test's", port)
		}
	}
}

// portLives are on physical ports that others may be on, too.
func portLives() []life {
	return []life{
		{"measured on virtual functions", functions, func(w *world) {
			r := w.runOn(separatePorts)
			w.measure(r)
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"port held for a while", functions, func(w *world) {
			w.claimOn("rack-1", "0000:3b:00.1")
			w.place(separatePorts)
			w.pass(time.Minute)
			w.letGo()
			w.settle()
			r := w.runner()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"port held for long", functions, func(w *world) {
			w.claimOn("rack-1", "0000:3b:00.1")
			w.place(separatePorts)
			w.pass(3 * time.Minute)
			w.pass(time.Hour)
			w.letGo()
			r := w.runOn(separatePorts)
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"port held by a test that is gone", functions, func(w *world) {
			h := w.claimOn("rack-2", "0000:5e:00.0")
			h.Exists = false
			w.place(separatePorts) // its pods are still there
			h.Pods = 0
			w.settle()
			r := w.runner()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"port that an older test is waiting for", functions, func(w *world) {
			w.olderWaiters = []lifecycle.Waiter{{Namespace: "bench", Name: "older",
				Ports: []lifecycle.Port{{Node: "rack-1", Name: "0000:3b:00.0"}}}}
			w.place(separatePorts)
			w.olderWaiters = nil
			w.pass(10 * time.Second)
			r := w.runner()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"lease deleted by a hand in the run", functions, func(w *world) {
			r := w.runOn(separatePorts)
			w.progress(r, "Ramping", 30)
			w.settle()
			w.portClaims, w.meddled = nil, true
			w.settle()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"both links on one port", functions, func(w *world) {
			w.place(ports{[2]string{"0000:3b:00.0", "0000:3b:00.0"}, separatePorts.dut})
		}},
		{"both links on one port and allowed", withLines(functions, "sharedPort: Allowed"), func(w *world) {
			r := w.runOn(ports{[2]string{"0000:3b:00.0", "0000:3b:00.0"}, separatePorts.dut})
			w.finish(r, report.Completed)
			w.Report.Answer.SharedPorts = []string{"port 0000:3b:00.0 of node rack-1 is behind link west of pod " +
				"vpp-1-generator-0, link east of pod vpp-1-generator-0"}
			w.settle()
		}},
		{"a device that its node gave to another pod", functions, func(w *world) {
			w.settle()
			w.schedule()
			w.attach(separatePorts)
			for i := range w.Pods {
				w.Pods[i].Status.ContainerStatuses = append(w.Pods[i].Status.ContainerStatuses,
					corev1.ContainerStatus{Name: "any", AllocatedResourcesStatus: []corev1.ResourceStatus{
						{Name: "intel.com/west", Resources: []corev1.ResourceHealth{{ResourceID: "0000:3b:02.7"}}}}})
				for c := range w.Pods[i].Status.InitContainerStatuses {
					message := &w.Pods[i].Status.InitContainerStatuses[c].State.Terminated.Message
					*message = strings.Replace(*message, `"link":"west"`, `"link":"west","device":"0000:3b:02.0"`, 1)
				}
			}
			w.settle()
			w.run()
			w.settle()
		}},
		{"suspended on a port", functions, func(w *world) {
			r := w.runOn(separatePorts)
			w.progress(r, "Ramping", 30)
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
			w.pass(2 * time.Minute)
		}},
		{"generators kept on a port", withLines(functions, "podRetention: OnFailure"), func(w *world) {
			r := w.runOn(separatePorts)
			w.finish(r, report.PathNotProven)
			w.settle()
			w.pass(2 * time.Minute)
		}},
	}
}

// A test in a namespace that the operator doesn't look after (any more) never ends as far as it can see. A test that
// waits says that nobody sees it, and the way out.
func TestAPortOfATestThatNobodySeesIsToldOf(t *testing.T) {
	for _, unseen := range []bool{false, true} {
		w := newWorld(t, functions)
		h := w.claimOn("rack-1", "0000:3b:00.1")
		h.Holder.Namespace, h.Unseen = "left", unseen
		w.place(separatePorts)
		words := fmt.Sprint(w.test.Status.Conditions)
		if !strings.Contains(words, "PortHeld") ||
			strings.Contains(words, "goes on by itself when that one is over") == unseen ||
			strings.Contains(words, "kubectl linerate doctor") != unseen {
			t.Errorf("unseen %v: it is told %s", unseen, words)
		}
	}
}

// Tenants share ports, and don't learn what others call their tests.
func TestTestsOfOtherNamespacesAreNotNamed(t *testing.T) {
	for namespace, named := range map[string]bool{"bench": true, "secret": false} {
		w := newWorld(t, functions)
		h := w.claimOn("rack-1", "0000:3b:00.1")
		h.Holder.Namespace, h.Holder.Name = namespace, "turbo"
		w.place(separatePorts)
		words := fmt.Sprint(w.test.Status.Conditions, w.trace)
		if !strings.Contains(words, "PortHeld") || strings.Contains(words, "turbo") != named ||
			strings.Contains(words, "a test of another namespace") == named {
			t.Errorf("of a test in namespace %s it is told %s", namespace, words)
		}
	}
}
