package frames_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/run/frames"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

// ends notes when each start's traffic would end by itself.
type ends struct {
	engine.Engine
	at []time.Time
}

func (e *ends) Start(ctx context.Context, loads []engine.PortLoad, lasts time.Duration) error {
	e.at = append(e.at, time.Now().Add(lasts))
	return e.Engine.Start(ctx, loads, lasts)
}

// Whatever becomes of the runner, traffic ends by when it was told to before the first frame: also what is held anew after a trial.
func TestRestartedHeldTrafficEndsAtTheAnnouncedTime(t *testing.T) {
	s := scene(asymmetric, eachDirection(units.One/10), func(s *scenario) { s.plan.Procedure.MaxLossRatio = 0 }, onGenerator(func(g *sim.Generator) { g.ReadTakes = 2 * time.Millisecond }))
	synctest.Test(t, func(t *testing.T) {
		g := &ends{Engine: sim.New(s.world).Generator(0)}
		driver := frames.New([]frames.Generator{{Name: s.plan.Generators[0].Name, Engine: g, PortOfLink: map[string]int{"west": 0, "east": 1}}}, s.frames)
		rep := runner.Run(t.Context(), &s.plan, driver, s.options)
		held := 0
		for _, at := range g.at {
			if at.After(g.at[0]) {
				t.Errorf("traffic was started that ends %s later than was told", at.Sub(g.at[0]))
			}
			if g.at[0].Sub(at) < time.Millisecond {
				held++
			}
		}
		if len(g.at) < 3 || held < 2 {
			t.Fatalf("%d starts, %d of them held: %s, %s", len(g.at), held, rep.Ending, rep.Message)
		}
	})
}
