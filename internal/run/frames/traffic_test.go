package frames_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

// ends notes when each start's traffic would end by itself.
type ends struct {
	engine.Engine
	times []time.Time
}

func (e *ends) Start(ctx context.Context, loads []engine.PortLoad, lasts time.Duration) error {
	e.times = append(e.times, time.Now().Add(lasts))
	return e.Engine.Start(ctx, loads, lasts)
}

// Traffic ends at the time that was announced before the first frame, whatever becomes of the runner, also when it is
// started anew after a trial.
func TestRestartedHeldTrafficEndsAtTheAnnouncedTime(t *testing.T) {
	s := scene(asymmetric, eachDirection(units.One/10), func(s *scenario) { s.plan.Procedure.MaxLossRatio = 0 },
		onGenerator(func(g *sim.Generator) { g.ReadTakes = 2 * time.Millisecond }))
	synctest.Test(t, func(t *testing.T) {
		g := &ends{Engine: sim.New(s.world).Generator(0)}
		rep := s.runOn(t, g)
		restarts := 0
		for _, end := range g.times {
			if end.After(g.times[0]) {
				t.Errorf("traffic was started that ends %s later than was told", end.Sub(g.times[0]))
			}
			if g.times[0].Sub(end) < time.Millisecond {
				restarts++
			}
		}
		if len(g.times) < 3 || restarts < 2 {
			t.Fatalf("%d starts, %d of them held: %s, %s", len(g.times), restarts, rep.Ending, rep.Message)
		}
	})
}

// remarking is an engine that has something to say.
type remarking struct {
	engine.Engine
	words []string
}

func (r *remarking) Remarks() []string {
	words := r.words
	r.words = nil
	return words
}

func TestAGeneratorsRemarksAreInTheReport(t *testing.T) {
	s := scene()
	synctest.Test(t, func(t *testing.T) {
		e := &remarking{sim.New(s.world).Generator(0),
			[]string{"the server took longer than the 300ms until the common start"}}
		if lines := trace(s.runOn(t, e)); strings.Count(lines,
			"generator g0: the server took longer than the 300ms until the common start") != 1 {
			t.Errorf("it says\n%s", lines)
		}
	})
}

// resting has every fourth step begin from rest.
type resting struct {
	runner.Driver

	steps, rested int
}

func (r *resting) Measure(ctx context.Context, s procedure.Step) (*report.Window, error) {
	if r.steps++; r.steps%4 == 0 && s.Kind == procedure.Hold {
		s.Rested = true
		r.rested++
	}
	return r.Driver.Measure(ctx, s)
}

// stops is an engine whose stops are counted.
type stops struct {
	engine.Engine

	counted *int
}

func (s stops) Stop(ctx context.Context, ports []int) error {
	*s.counted++
	return s.Engine.Stop(ctx, ports)
}

// Traffic that rests stops, waits for the frames that the device holds, and begins anew. Its windows are the same.
func TestTrafficThatRestsIsStoppedAndBeginsAnew(t *testing.T) {
	counted := 0
	var driver *resting
	s := scene(onDevice(func(d *sim.Device) { d.Delay = 300 * time.Millisecond }))
	s.engine = func(_ int, e engine.Engine) engine.Engine { return stops{e, &counted} }
	s.driver = func(d runner.Driver, _ *sim.World) runner.Driver {
		driver = &resting{Driver: d}
		return driver
	}
	r := s.run(t)
	if r.Ending != report.Completed || !r.Answer.Saturated || !r.Answer.Confirmed {
		t.Fatalf("%s, %+v\n%s", r.Ending, r.Answer, trace(r))
	}
	for _, d := range r.Answer.Directions {
		if got := float64(d.Received.PacketsPerSecond); !isNear(got, 10_000, 10) {
			t.Errorf("%s: %.0f packets/s, and the device forwards 10 000", d.Name(), got)
		}
	}
	if driver.rested < 3 || counted != driver.rested+1 {
		t.Errorf("traffic rested %d times, and was stopped %d times, at the end included", driver.rested, counted)
	}
	for _, total := range r.Totals {
		if total.Sent.Packets == 0 || !total.Drained {
			t.Errorf("%s→%s: %+v", total.From, total.To, total)
		}
	}
}
