package frames_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

// inTrains sends trains through a device that works so long on a frame of each direction.
func inTrains(world sim.Trains, options ...func(*plan.Trains)) option {
	return func(s *scenario) {
		p := plan.Trains{Directions: []string{"west→east", "east→west"}, Count: 60, SetUps: 6,
			Pause: plan.Duration(300 * time.Microsecond)}
		for _, o := range options {
			o(&p)
		}
		s.plan.Procedure = plan.Procedure{Type: plan.TypeTrains, Trains: &p}
		onGenerator(func(g *sim.Generator) { g.Trains = &world })(s)
	}
}

// followedByTrains has trains follow what the scenario measures.
func followedByTrains(world sim.Trains) option {
	return func(s *scenario) {
		first := s.plan.Procedure
		inTrains(world)(s)
		first.Trains, s.plan.Procedure = s.plan.Procedure.Trains, first
		s.plan.Procedure = first
	}
}

// The answer of a ramp stays as it is, and its sentence ends with the time per frame.
func TestTrainsFollowARamp(t *testing.T) {
	alone := scene().run(t)
	r := scene(followedByTrains(sim.Trains{Sending: 100, Service: []time.Duration{940, 1008}})).run(t)
	if r.Ending != report.Completed || r.Answer.Reason != alone.Answer.Reason || r.Answer.Claim != alone.Answer.Claim ||
		r.Answer.Directions[0].Received != alone.Answer.Directions[0].Received {
		t.Errorf("%s: %s, %+v", r.Ending, r.Message, r.Answer)
	}
	if diff := cmp.Diff(alone.Totals, r.Totals); diff != "" {
		t.Errorf("trains count in the totals: %s", diff)
	}
	if !strings.HasPrefix(r.Answer.Message, alone.Answer.Message) ||
		!strings.Contains(r.Answer.Message, " A frame takes 940.0 ns ") {
		t.Errorf("%q, without trains %q", r.Answer.Message, alone.Answer.Message)
	}
	found := map[string]float64{}
	for _, f := range figures.Of(r) {
		if f.Metric == procedure.TimePerFrame && f.Confirmed && f.Reason == report.TrainsMeasured {
			found[f.Direction] = math.Round(f.High.Float())
		}
	}
	if want := map[string]float64{"west→east": 940, "east→west": 1008, report.AllDirections: 1008}; !cmp.Equal(found, want) {
		t.Errorf("%v, want %v", found, want)
	}
}

// disturbed makes trains slower, most of them a little and some a lot.
func disturbed() func(int) time.Duration {
	random := rand.New(rand.NewPCG(3, 4))
	return func(int) time.Duration {
		late := 5 * random.ExpFloat64()
		if random.IntN(5) == 0 {
			late += 400 * random.ExpFloat64()
		}
		return time.Duration(late)
	}
}

func TestTrainsShowHowLongADeviceWorksOnAFrame(t *testing.T) {
	for name, c := range map[string]struct {
		trains  sim.Trains
		service [2]time.Duration
		frames  int
	}{
		"a fast device":     {sim.Trains{Sending: 100}, [2]time.Duration{500, 620}, 192},
		"a router":          {sim.Trains{Sending: 200, Ring: 256, Late: disturbed()}, [2]time.Duration{940, 1008}, 192},
		"a slow device":     {sim.Trains{Sending: 200, Ring: 4096}, [2]time.Duration{50_000, 14_647}, 1024},
		"a small ring":      {sim.Trains{Sending: 200, Ring: 128}, [2]time.Duration{940, 2324}, 96},
		"one that reorders": {sim.Trains{Sending: 200, Swaps: 3}, [2]time.Duration{940, 2324}, 192},
	} {
		t.Run(name, func(t *testing.T) {
			c.trains.Service = c.service[:]
			r := scene(inTrains(c.trains)).run(t)
			if r.Ending != report.Completed || r.Answer.Reason != report.TrainsMeasured || len(r.Windows) != 12 {
				t.Fatalf("%s: %s, %+v", r.Ending, r.Message, r.Answer)
			}
			found := 0
			for _, f := range figures.Of(r) {
				truth := float64(max(c.service[0], c.service[1]))
				switch f.Direction {
				case "west→east":
					truth = float64(c.service[0])
				case "east→west":
					truth = float64(c.service[1])
				}
				got, slack := (f.Low.Float()+f.High.Float())/2, max(0.02*truth, 20)
				if f.Metric != procedure.TimePerFrame || f.Unit != "ns" || math.Abs(got-truth) > slack ||
					f.Low.Float() <= 0 || f.High.Float()-f.Low.Float() > slack {
					t.Errorf("%s %s: %s to %s, want %.0f ns", f.Metric, f.Direction, f.Low, f.High, truth)
				}
				found++
			}
			if found != 3 {
				t.Errorf("%d figures", found)
			}
			if got := r.Windows[0].Directions[0].Trains.Frames; got != c.frames {
				t.Errorf("trains of %d frames, want %d", got, c.frames)
			}
			if got := figures.Summary(r); !strings.HasPrefix(got, "west→east: a frame takes ") || strings.Contains(got, "≤") {
				t.Errorf("%q", got)
			}
			t.Log(figures.Summary(r), r.Answer.Message)
		})
	}
}

// A sender that is slower than the device shows only what the device surely reaches.
func TestASlowSendersTrainsAreAnUpperBound(t *testing.T) {
	for name, c := range map[string]struct {
		trains sim.Trains
		detail report.Detail
	}{
		"slower than the device": {sim.Trains{Sending: 1100}, report.SenderSetPace},
		"without a clock":        {sim.Trains{Sending: 200, Untimed: true}, report.SenderUntimed},
	} {
		t.Run(name, func(t *testing.T) {
			c.trains.Service = []time.Duration{940, 940}
			r := scene(inTrains(c.trains)).run(t)
			if r.Answer.Cause.Detail != c.detail || !strings.Contains(figures.Summary(r), "≤ ") ||
				!strings.HasPrefix(r.Answer.Message, "Upper bound: ") {
				t.Errorf("%s; %s; %+v", figures.Summary(r), r.Answer.Message, r.Answer.Cause)
			}
			for _, f := range figures.Of(r) {
				if f.Low != "0" || f.High.Float() < 940 {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// Trains that are too long for the ring lose frames, and the run says what to do.
func TestTrainsThatLoseFramesShowNothing(t *testing.T) {
	r := scene(inTrains(sim.Trains{Sending: 10, Ring: 0, Service: []time.Duration{940, 940}},
		func(p *plan.Trains) { p.Frames = 300 }), onGenerator(func(g *sim.Generator) {
		g.Trains.Ring = 200
	})).run(t)
	if r.Ending != report.Failed || !strings.Contains(r.Message, "procedure.trains.frames is 300, and the ports' receive "+
		"rings hold 200 frames: set it to 150 or less") {
		t.Errorf("%s: %s", r.Ending, r.Message)
	}
}

// withoutTrains hides that an engine can send trains.
type withoutTrains struct{ engine.Engine }

func TestAnEngineWithoutTrainsIsRefused(t *testing.T) {
	service := sim.Trains{Service: []time.Duration{940, 940}}
	for name, c := range map[string]struct {
		scene *scenario
		want  string
	}{
		"no sender": {scene(inTrains(service), func(s *scenario) {
			s.engine = func(_ int, e engine.Engine) engine.Engine { return withoutTrains{e} }
		}), "procedure.type: trains west→east: generator g0 (simulated generator) can't send trains of frames: use " +
			"generator.engine: Software"},
		"no port": {scene(inTrains(service), onGenerator(func(g *sim.Generator) { g.Untrained = "its driver has no XDP" })),
			"trains west→east: port west of generator g0 can't: its driver has no XDP"},
		"two generators": {scene(inTrains(service), replicas(2)), "use one generator with a port on each link"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := c.scene.run(t); r.Ending != report.Failed || !strings.Contains(r.Message, c.want) {
				t.Errorf("%s: %s", r.Ending, r.Message)
			}
		})
	}
}
