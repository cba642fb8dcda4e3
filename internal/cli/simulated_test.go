package cli

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/run/frames"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

// simulated is a site in memory: a generator that does all that it is asked, and a device with the limit of the
// plan's Reference. In a bubble of testing/synctest a run there takes milliseconds, and says the same each
// time.
type simulated struct{ plan *plan.Plan }

func (s simulated) sharedPorts() []string { return nil }

func (s simulated) start(context.Context, io.Writer, bool) (runner.Driver, func(), error) {
	world := sim.Config{Now: time.Now, Generators: []sim.Generator{{}}}
	ports := map[string]int{}
	for i, l := range s.plan.Links {
		world.Links, ports[l.Name] = append(world.Links, sim.Link{Name: l.Name, Speed: l.LineRate}), i
	}
	for _, d := range s.plan.Directions {
		world.Directions = append(world.Directions, sim.Direction{From: ports[d.From], To: ports[d.To], Mix: d.Mix,
			Device: deviceOf(s.plan)})
	}
	simulation := sim.New(world)
	generator := frames.Generator{Name: s.plan.Generators[0].Name, Engine: simulation.Generator(0), PortOfLink: ports}
	options := frames.Options{Reset: resetCommand(s.plan)}
	if s.plan.DUT.Reference != nil {
		options.Reset = func(context.Context) (string, error) { simulation.Reset(); return "removed all", nil }
	}
	return frames.New([]frames.Generator{generator}, options), func() {}, nil
}

func deviceOf(p *plan.Plan) sim.Device {
	if p.DUT.Reference == nil || p.DUT.Reference.Limit == nil {
		return sim.Device{}
	}
	limit := p.DUT.Reference.Limit
	return sim.Device{Limit: units.PacketRate(limit.PacketsPerSecond) * units.PacketPerSecond, Burst: limit.Depth()}
}

// simulatedRoot is linerate whose verbs run and replay send nothing.
func simulatedRoot(t *testing.T, s Streams) *cobra.Command {
	t.Helper()
	root := newRoot(s)
	sites := func(p *plan.Plan) (site, error) { return simulated{p}, nil }
	for _, simulatedVerb := range []*cobra.Command{newRunIn(s, sites), newReplayIn(s, sites)} {
		verbs := root.Commands()
		index := slices.IndexFunc(verbs, func(c *cobra.Command) bool { return c.Name() == simulatedVerb.Name() })
		if index < 0 {
			t.Fatalf("linerate has no verb %s", simulatedVerb.Name())
		}
		simulatedVerb.GroupID = verbs[index].GroupID
		root.RemoveCommand(verbs[index])
		root.AddCommand(simulatedVerb)
	}
	return root
}
