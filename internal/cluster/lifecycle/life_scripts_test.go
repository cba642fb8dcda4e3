package lifecycle_test

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

const hooks = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: hooked}
spec:
  dut:
    type: Device
    setup: {deadline: 5m, template: {spec: {containers: [{name: setup, image: "lab/setup:1"}]}}}
    teardown: {deadline: 2m, template: {spec: {containers: [{name: teardown, image: "lab/teardown:1"}]}}}
    readyDelay: 30s
  links:
  - {name: west, network: west, lineRate: 1gbps, dut: {address: 198.18.0.1/24}}
  - {name: east, network: east, lineRate: 1gbps, dut: {address: 198.18.1.1/24}}
`

const devices = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: vpp}
spec:
  generator: {engine: TRex, replicas: 2, trex: {image: "lab/trex:3.08"}}
  dut:
    type: Pod
    pod: {template: {spec: {containers: [{name: vpp, image: "lab/vpp:25.10"}]}}}
  links:
  - {name: west, network: sriov-west, lineRate: 25gbps}
  - {name: east, network: sriov-east, lineRate: 25gbps}
`

var quota = lifecycle.Refusal{Pod: "first-1-dut", Message: "exceeded quota: bench"}

const external = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: external}
spec:
  generator: {engine: TRex, placement: {servers: [{address: "trex.lab:4501"}]}}
  dut: {type: Device}
  links:
  - {name: west, lineRate: 25gbps, dut: {address: 198.18.0.1/24}}
  - {name: east, lineRate: 25gbps, dut: {address: 198.18.1.1/24}}
`

// lives are whole lives, each of which ends at rest.
func lives() []life {
	return slices.Concat(goodLives(), badLives(), waitingLives(), portLives(), silentLives(), queueLives(),
		kueueLives(), observedLives(), tunnelLives(), reportLives())
}

// configMaps is how many of the test's ConfigMaps there are.
func (w *world) configMaps() (n int) {
	for name, exists := range w.Present {
		if exists && strings.HasPrefix(name, "ConfigMap/") {
			n++
		}
	}
	return n
}

// edit changes the spec, as a person does.
func (w *world) edit(change func(*v1alpha1.LoadTestSpec)) {
	change(&w.test.Spec)
	w.test.Generation++
}

// setUp brings a test with hooks to where its runner runs.
func (w *world) setUp() string {
	w.t.Helper()
	w.settle()
	w.hook("hooked-1-setup", 0, "")
	w.schedule()
	w.settle()
	w.run()
	w.settle()
	w.pass(30 * time.Second)
	r := w.runner()
	w.settle()
	return r
}

// dieBeforeStatus is a pass of an operator that dies before it writes the status.
func (w *world) dieBeforeStatus() {
	outer := w.mischief
	remaining := 2 // a deletion of the Job, one of the pods
	w.mischief = func() bool { remaining--; return remaining < 0 }
	w.reconcile()
	w.mischief = outer
}

// hook lets a setup or teardown pod run to its end.
func (w *world) hook(name string, code int32, words string) {
	w.t.Helper()
	w.schedule()
	w.run()
	w.settle()
	w.ends(name, code, words)
	w.settle()
}

// loseGenerator lets a generator's pod vanish in a phase, with a runner that hangs in it.
func (w *world) loseGenerator(phase string) {
	r := w.toRun()
	w.progress(r, phase, 30)
	w.settle()
	w.vanish("first-1-generator-0")
	w.pass(2 * time.Minute)
}

// unschedulable lets the scheduler say that it finds no node for any pod.
func (w *world) unschedulable(words string) {
	for i := range w.Pods {
		p := &w.Pods[i]
		set(p, corev1.PodScheduled, corev1.ConditionFalse, w.clock)
		p.Status.Conditions[len(p.Status.Conditions)-1].Reason = corev1.PodReasonUnschedulable
		p.Status.Conditions[len(p.Status.Conditions)-1].Message = words
	}
}
