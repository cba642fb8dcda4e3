package manifests

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// engine is what pods need to know of the engine in them. Each engine has a file of its own.
type engine interface {
	// fill makes a generator's pod one of the engine's. It sets containers, rights, files, arguments, probes, and how
	// long the pod may take to end.
	fill(input Input, g plan.Generator, pod *corev1.Pod)
	// documents are the files of its pods, by their keys in the attempt's ConfigMap.
	documents(input Input) map[string]string
	// check says what it can't do on these networks, each with the way out.
	check(input Input) []error
	// busyCPUs are the CPUs that a pod with so many ports keeps busy if it shares CPUs with other pods.
	busyCPUs(ports, cores int64) resource.Quantity
	// ownsCPUs says that its threads poll devices all the time. On shared CPUs it would measure its neighbours.
	ownsCPUs() bool
	// asksSpeed says that it reads the speed of a node's interface that is moved into its pod.
	asksSpeed() bool
	// heartbeatPort is where its launcher expects the runner's heartbeats, without which it stops all traffic. 0
	// means that requests over RPC count as heartbeats.
	heartbeatPort() uint16
	// asksCallers says that it asks who calls it for the attempt's secret. One that can't has a NetworkPolicy that
	// admits its own test's runner alone.
	asksCallers() bool
}

// engines are those that run in pods. No other place in this package lists them.
var engines = map[plan.Sender]engine{
	{Traffic: plan.TrafficFrames, Engine: plan.EngineTRex}:     trex{},
	{Traffic: plan.TrafficFrames, Engine: plan.EngineSoftware}: software{},

	{Traffic: plan.TrafficSessions, Engine: plan.EngineSoftware}: sessions{},
}

// engineOf is the engine in a test's generator pods. False means that the test has no such pods, or the engine is
// unknown here.
func engineOf(test *v1alpha1.LoadTest) (engine, bool) {
	e, ok := engines[compile.SenderOf(&test.Spec)]
	return e, ok
}

// hasGeneratorPods says that the generators are pods of the test's own.
func hasGeneratorPods(input Input) bool { return !compile.GeneratorsRunAlready(&input.Test.Spec) }

// OwnsCPUs says that the test's generator pods need exclusive CPUs if they have devices.
func OwnsCPUs(test *v1alpha1.LoadTest) bool {
	e, ok := engineOf(test)
	return ok && e.ownsCPUs()
}

// checkEngine refuses what the engine can't do on these networks, and an engine whose pods this operator doesn't know.
func checkEngine(input Input) []error {
	if !hasGeneratorPods(input) {
		return nil
	}
	e, ok := engineOf(input.Test)
	if !ok {
		return []error{fmt.Errorf("spec.generator.engine %q: this operator doesn't know this engine's pods: use the "+
			"operator that accepted the test, or another engine", input.Test.Spec.Generator.Engine)}
	}
	return e.check(input)
}
