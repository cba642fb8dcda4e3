package compile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// engineSpec is what an engine looks at when it refuses what it can't do, or says what its pods request.
type engineSpec struct {
	*refusals
	spec     *v1alpha1.LoadTestSpec
	device   *device
	links    *links
	sessions *sessionReader
	stamps   *stamps
}

// engine is what the compiler asks about an engine. Each engine has a file of its own, which says what it can't
// do, what its pods request, and where it answers if it runs already.
type engine interface {
	// runsAlready says that the generators run already, and are no pods of the test's own.
	runsAlready() bool
	// server is where a replica that runs already answers, host:port. With servers for each link it is the one of the
	// link. Empty means that linerate starts it.
	server(spec *v1alpha1.GeneratorSpec, replica int, link string) string
	// check refuses what the engine can't do wherever it runs. checkPods refuses what it can't do in pods, or what
	// would keep linerate from controlling it.
	check(es *engineSpec)
	checkPods(es *engineSpec)
	// resources are what each of its pods requests, on devices and on kernel interfaces, or refuses what can't be
	// requested.
	resources(es *engineSpec) (devices, kernel Resources)
	// sending is how the spec wants the engine to send, for the Plan. Nil means that the spec doesn't say, or that the
	// engine has no choice.
	sending(spec *v1alpha1.GeneratorSpec) *plan.Sending
	// timesSamplesOnly says that the engine measures the latency of latency streams only, which have a rate of
	// their own, and not of every frame.
	timesSamplesOnly() bool
	// drivesCards says that the engine drives network cards itself, by DPDK: its pods may have hugepages, and its ports
	// have a speed of their own.
	drivesCards() bool
	// whyNoInterfaceCounters is why an observer can't read the kernel's counters of the engine's interfaces. Empty
	// means that it can.
	whyNoInterfaceCounters() string
}

// inPods is what all engines have in common that linerate starts, in pods of the test's own or on one machine.
type inPods struct{}

func (inPods) runsAlready() bool                                  { return false }
func (inPods) server(*v1alpha1.GeneratorSpec, int, string) string { return "" }

func (inPods) sending(*v1alpha1.GeneratorSpec) *plan.Sending { return nil }
func (inPods) timesSamplesOnly() bool                        { return false }
func (inPods) drivesCards() bool                             { return false }

func (inPods) whyNoInterfaceCounters() string {
	return "no kernel counts this engine's frames: use engine Software, or remove this observer"
}

// engines are all engines, by what they send. No other place in this package lists them.
var engines = map[plan.Sender]engine{
	{Traffic: plan.TrafficFrames, Engine: plan.EngineTRex}:     trex{},
	{Traffic: plan.TrafficFrames, Engine: plan.EngineSoftware}: software{},

	{Traffic: plan.TrafficFrames, Engine: plan.EngineTRex, RunsAlready: true}:     servers{trex{}},
	{Traffic: plan.TrafficFrames, Engine: plan.EngineSoftware, RunsAlready: true}: servers{software{}},

	{Traffic: plan.TrafficSessions, Engine: plan.EngineSoftware}:                    sessions{},
	{Traffic: plan.TrafficSessions, Engine: plan.EngineSoftware, RunsAlready: true}: servers{sessions{}},
}

// SenderOf is what carries the load of a LoadTest. It equals its Plan's Sender.
func SenderOf(spec *v1alpha1.LoadTestSpec) plan.Sender {
	return plan.Sender{Traffic: cmp.Or(string(spec.Traffic.Type), plan.TrafficFrames),
		Engine: string(spec.Generator.Engine), RunsAlready: len(spec.Generator.Servers()) > 0}
}

// Senders are all keys of engines, sorted.
func Senders() []plan.Sender {
	return slices.SortedFunc(maps.Keys(engines), func(a, b plan.Sender) int {
		return cmp.Or(strings.Compare(a.Traffic, b.Traffic), strings.Compare(a.Engine, b.Engine),
			cmp.Compare(fmt.Sprint(a.RunsAlready), fmt.Sprint(b.RunsAlready)))
	})
}

// GeneratorsRunAlready says that a LoadTest's generators run already, and need no pods. It is false for an
// unknown engine.
func GeneratorsRunAlready(spec *v1alpha1.LoadTestSpec) bool {
	e, found := engines[SenderOf(spec)]
	return found && e.runsAlready()
}

// drivesCards says that a LoadTest's engine drives network cards itself. It is false for an unknown engine.
func drivesCards(spec *v1alpha1.LoadTestSpec) bool {
	e, found := engines[SenderOf(spec)]
	return found && e.drivesCards()
}

// chooseEngine finds the spec's engine and its kind of traffic. It refuses an engine that can't send this traffic, and
// both are nil then. It never takes another engine instead, which would measure something else.
func chooseEngine(r *refusals, spec *v1alpha1.LoadTestSpec) (engine, traffic) {
	sends := SenderOf(spec)
	e, found := engines[sends]
	if found {
		return e, kinds[sends.Traffic]
	}
	if _, found := engines[plan.Sender{Traffic: sends.Traffic, Engine: sends.Engine}]; found {
		r.refusef(specPath().Child("generator", "placement", "servers"), noValue,
			"no server that runs already sends traffic of type %s: remove servers", sends.Traffic)
		return nil, nil
	}
	var names []string
	for _, s := range Senders() {
		if s.Traffic == sends.Traffic && !s.RunsAlready {
			names = append(names, s.Engine)
		}
	}
	path := specPath().Child("generator", "engine")
	r.refusef(path, sends.Engine, "this linerate knows no such engine for traffic of type %s: use one of %s",
		sends.Traffic, strings.Join(names, ", "))
	return nil, nil
}
