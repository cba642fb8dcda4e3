package compile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
)

// engine is what compiling asks of what sends. Each is in a file of its own, which says what the engine can't do, what its pods request, and where it answers
// if it runs already.
type engine interface {
	// elsewhere says that the generators run already, and are no pods of the test's own.
	elsewhere() bool
	// server is where a replica answers that runs elsewhere, host:port; empty: it is ours to start.
	server(c *compiler, replica int) string
	// check refuses what of the test the engine can't do wherever it runs, checkPods what it can't do in pods, or what would take it out of linerate's hands.
	check(c *compiler)
	checkPods(c *compiler)
	// resources are what each of its pods requests, on devices and on kernel interfaces, or refuses what can't be requested.
	resources(c *compiler) (devices, kernel Resources)
	// sending is what of the spec says how it sends, for the Plan; nil: nothing, or nobody can say it.
	sending(c *compiler) *plan.Sending
	// samples says that the engine times frames of latency streams alone, which have a rate of their own.
	samples() bool
	// uncounted is why no kernel's counters of its interfaces are told; empty: they are.
	uncounted() string
}

// inPods is what all engines have in common that run in pods of the test's own, or are started on one machine.
type inPods struct{}

func (inPods) elsewhere() bool              { return false }
func (inPods) server(*compiler, int) string { return "" }

func (inPods) sending(*compiler) *plan.Sending { return nil }
func (inPods) samples() bool                   { return false }

func (inPods) uncounted() string {
	return "no kernel counts this engine's frames: use engine Software, or remove this observer"
}

// engines are all that a LoadTest can be measured with. It is the one place here that knows which there are.
var engines = map[plan.Sender]engine{
	{Traffic: plan.TrafficFrames, Engine: plan.EngineTRex}:     trex{},
	{Traffic: plan.TrafficFrames, Engine: plan.EngineSoftware}: software{},
	{Traffic: plan.TrafficFrames, Engine: plan.EngineExternal}: external{},

	{Traffic: plan.TrafficSessions, Engine: plan.EngineSoftware}: sessions{},
}

// Sends is what carries the load of a LoadTest: its Plan says the same (plan.Plan.Sends).
func Sends(spec *v1alpha1.LoadTestSpec) plan.Sender {
	return plan.Sender{Traffic: cmp.Or(string(spec.Traffic.Type), plan.TrafficFrames), Engine: string(spec.Generator.Engine)}
}

// Senders are all that can carry a LoadTest's load, in order.
func Senders() []plan.Sender {
	return slices.SortedFunc(maps.Keys(engines), func(a, b plan.Sender) int {
		return cmp.Or(strings.Compare(a.Traffic, b.Traffic), strings.Compare(a.Engine, b.Engine))
	})
}

// Elsewhere says that a LoadTest's generators run already: it needs no pods for them. Of an engine that isn't known here nobody can say that.
func Elsewhere(spec *v1alpha1.LoadTestSpec) bool {
	e, known := engines[Sends(spec)]
	return known && e.elsewhere()
}

// choose finds the spec's engine, or refuses one that can't send this traffic: another engine in its place would measure something else than was asked for.
func (c *compiler) choose() {
	sends := Sends(c.spec)
	e, known := engines[sends]
	if known {
		c.engine, c.traffic = e, kinds[sends.Traffic]
		return
	}
	var can []string
	for _, s := range Senders() {
		if s.Traffic == sends.Traffic {
			can = append(can, s.Engine)
		}
	}
	path := specPath().Child("generator", "engine")
	c.errs = append(c.errs, field.Invalid(path, sends.Engine, fmt.Sprintf("this linerate knows no such engine for traffic of type %s: use one of %s", sends.Traffic, strings.Join(can, ", "))))
}
