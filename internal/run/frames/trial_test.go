package frames_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/tier"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// stopping has each trial but the warm-up end as soon as it is decided.
type stopping struct {
	runner.Driver
	world      *sim.World
	generators int // generators
	limit      units.Ratio
	// sends are the decided trials after which a generator still sent, took how long steps took, by window.
	sends []int
	took  []time.Duration
}

func (s *stopping) Measure(ctx context.Context, step procedure.Step) (*report.Window, error) {
	if step.Kind == procedure.Trial && step.Phase != report.WarmUp {
		step.StopAbove = &s.limit
	}
	began := time.Now()
	w, err := s.Driver.Measure(ctx, step)
	s.took = append(s.took, time.Since(began))
	if w != nil && w.Decided != nil && s.running() {
		s.sends = append(s.sends, len(s.took))
	}
	return w, err
}

func (s *stopping) running() bool {
	for g := range s.generators {
		if s.world.Generator(g).Running() {
			return true
		}
	}
	return false
}

// tried is a curve of trials of 60 s at 20, 16, 12 and 8 kpps through the scene's device of 10 kpps, each ended
// once more than that share of its frames is lost. The clean one ends the curve.
func tried(limit units.Ratio, options ...option) (*scenario, *stopping) {
	d := &stopping{limit: limit}
	s := scene(append([]option{frameLoss, func(s *scenario) {
		s.plan.Procedure.MaxLossRatio = limit
		s.plan.Procedure.FrameLoss.TrialDuration, s.plan.Procedure.FrameLoss.CleanTrials = seconds(60), 1
		s.driver = func(driver runner.Driver, world *sim.World) runner.Driver {
			d.Driver, d.world, d.generators = driver, world, len(s.world.Generators)
			return d
		}
	}}, options...)...)
	return s, d
}

func withoutWarmUp(s *scenario) { s.plan.Procedure.FrameLoss.WarmupDuration = 0 }

// trialsOf are the windows but the warm-up's.
func trialsOf(r *report.Report) []report.Window {
	return slices.DeleteFunc(slices.Clone(r.Windows), func(w report.Window) bool { return w.Phase != report.Trial })
}

func TestATrialEndsOnceItIsDecided(t *testing.T) {
	tier.Plain(t)
	slow := func(g *sim.Generator) { g.ReadTakes = 40 * time.Millisecond }
	late := func(g *sim.Generator) { g.StartTakes = 300 * time.Millisecond }
	for name, c := range map[string]struct {
		limit   units.Ratio
		options []option
		bound   time.Duration // of which the load of 20 kpps is decided, as half of it is lost
	}{
		"at the first lost frame":                        {0, nil, 650 * time.Millisecond},
		"without a trial that showed what is on its way": {0, []option{withoutWarmUp}, 1900 * time.Millisecond},
		"at more than half a percent of 60 s":            {units.One / 200, nil, 1400 * time.Millisecond},
		"of two generators":                              {0, []option{replicas(2)}, 650 * time.Millisecond},
		"of a generator slow to read":                    {0, []option{onGenerator(slow)}, 1100 * time.Millisecond},
		"of one whose start is appointed ahead":          {0, []option{onGenerator(late)}, 850 * time.Millisecond},
		"of one that is read more often": {0, []option{func(s *scenario) { s.frames.PaceEvery = 0 }},
			650 * time.Millisecond},
		"of a device that delays": {0,
			[]option{onDevice(func(d *sim.Device) { d.Delay = 500 * time.Millisecond })}, 3500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			s, d := tried(c.limit, c.options...)
			r := s.run(t)
			trials := trialsOf(r)
			if r.Ending != report.Completed || len(trials) != 4 || len(d.sends) > 0 {
				t.Fatalf("%s: %s, %d trials, generators still sent after %v\n%s", r.Ending, r.Message, len(trials),
					d.sends, trace(r))
			}
			if decided := trials[0].Decided; decided == nil || decided.Duration.Std() > c.bound {
				t.Errorf("half of the frames were lost, and the trial was decided after %+v, want within %s", decided,
					c.bound)
			}
			for i, w := range trials[:3] {
				if w.Quality != report.Lossy || w.Decided == nil || w.Decided.Planned != seconds(60) ||
					w.Decided.Duration != w.Duration || w.Duration >= seconds(60) || w.Decided.LossRatio != c.limit {
					t.Fatalf("trial %d is %s, ended %+v, %s long: %s", i+1, w.Quality, w.Decided, w.Duration.Std(),
						w.Reason)
				}
				if overhead := d.took[w.Number-1] - w.Duration.Std(); overhead > 2500*time.Millisecond {
					t.Errorf("trial %d: %s passed besides the %s for which it was sent", i+1, overhead,
						w.Duration.Std())
				}
				for k, m := range w.Directions {
					offered := float64(m.Offered.PacketsPerSecond)
					if !isNear(offered, float64(m.Intended.PacketsPerSecond), 12) ||
						!isNear(float64(m.Sent.Packets), offered*w.Duration.Std().Seconds(), 12) {
						t.Errorf("trial %d, %s: %d sent in %s, which is %d/s of %d/s asked for", i+1, m.Name(),
							m.Sent.Packets, w.Duration.Std(), m.Offered.PacketsPerSecond, m.Intended.PacketsPerSecond)
					}
					truth := 1 - 10_000/float64(m.Intended.PacketsPerSecond)
					leastLoss := measure.LeastLossOfPlanned(w, k)
					if leastLoss.Float() > truth || m.Quality == report.Lossy && leastLoss < c.limit {
						t.Errorf("trial %d, %s: at least %s of what was planned is lost, and the device loses %.4f of "+
							"it", i+1, m.Name(), leastLoss, truth)
					}
				}
			}
			if clean := trials[3]; clean.Decided != nil || clean.Quality != report.Good ||
				clean.Duration != seconds(60) {
				t.Errorf("the clean trial was ended after %s: %+v, %s", clean.Duration.Std(), clean.Decided,
					clean.Reason)
			}
		})
	}
}

// Frames that are on their way for longer than anybody could know end one trial, which then shows nothing. The next
// ones wait for longer.
func TestFramesThatComeBackAreNotLost(t *testing.T) {
	s, d := tried(0, withoutWarmUp, deviceLimit(0), onDevice(func(d *sim.Device) { d.Delay = 1200 * time.Millisecond }))
	r := s.run(t)
	ended := 0
	for _, w := range r.Windows {
		if w.Quality == report.Lossy || slices.ContainsFunc(w.Directions,
			func(m report.Direction) bool { return m.Sent != m.Returned }) {
			t.Errorf("window %d is %s: %s", w.Number, w.Quality, w.Reason)
		}
		if w.Decided != nil {
			ended++
			if w.Quality != report.Invalid || !strings.Contains(w.Reason, "seemed lost") {
				t.Errorf("window %d is %s: %s", w.Number, w.Quality, w.Reason)
			}
		}
	}
	if latest := r.Windows[len(r.Windows)-1]; ended != 1 || len(d.sends) > 0 || latest.Quality != report.Good ||
		latest.Duration != seconds(60) {
		t.Errorf("%d trials were ended; the last is %s\n%s", ended, latest.Reason, trace(r))
	}
}

// What the generator, the way in which it sends, or other people's work can explain ends no trial.
func TestOnlyTheDevicesLossEndsATrial(t *testing.T) {
	tier.Plain(t)
	for name, c := range map[string]struct {
		options []option
		want    report.Quality // of trials at 8 kpps, which the device carries
	}{
		"frames that the generator drops": {[]option{deviceLimit(0),
			onGenerator(func(g *sim.Generator) { g.ReceiveDrops = units.One / 10 })}, report.Invalid},
		"a generator too slow for the load": {[]option{deviceLimit(5 * kpps),
			onGenerator(func(g *sim.Generator) { g.MaxRate = 6 * kpps })}, report.Lossy},
		"processors that others had": {[]option{deviceLimit(0), disturbedBy(neighbour{0, time.Hour, 0.3})},
			report.Invalid},
		"a generator that sends in bursts": {[]option{restlessly(8*time.Second, 40*ms, 60*ms),
			onDevice(func(d *sim.Device) { d.Burst = 2 * time.Millisecond })}, report.Invalid},
		"a path that falls silent, as a slow one would": {[]option{deviceLimit(0), onDevice(func(d *sim.Device) {
			d.Trouble = sim.Trouble{Begin: 20 * time.Second, End: time.Hour, Loss: units.One}
		})}, report.Lossy},
		"a link that was down for a moment": {[]option{fault(0, sim.Flap, 3)}, report.Invalid},
		"a Reference that was held up itself": {[]option{reference(10_000),
			onDevice(func(d *sim.Device) { d.Loss = units.One / 100 })}, report.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := tried(0, append([]option{func(s *scenario) {
				s.plan.Procedure.FrameLoss.MaxRate, s.plan.Procedure.FrameLoss.MinRate = unitstest.Rate("8kpps"),
					unitstest.Rate("8kpps")
			}}, c.options...)...)
			r := s.run(t)
			for _, w := range trialsOf(r) {
				if whole := w.Duration == seconds(60) || w.Evidence.Fault != ""; w.Decided != nil || !whole {
					t.Errorf("window %d was ended after %s: %s: %s", w.Number, w.Duration.Std(), w.Quality, w.Reason)
				}
			}
			if first := trialsOf(r)[0]; first.Quality != c.want {
				t.Errorf("the trial is %s: %s", first.Quality, first.Reason)
			}
		})
	}
}

// A machine is asked within a trial only when it is about to be ended, and a device that loses more than a
// disturbance explains is judged all the same.
func TestADisturbedTrialIsDecidedByWhatTheDisturbanceDoesNotExplain(t *testing.T) {
	tier.Plain(t)
	s, _ := tried(0, disturbedBy(neighbour{0, time.Hour, 0.1}))
	r := s.run(t)
	if w := trialsOf(r)[0]; w.Decided == nil || w.Quality != report.Lossy {
		t.Errorf("half of the frames are lost where others had a tenth of a processor: %s: %s", w.Quality, w.Reason)
	}
	s, _ = tried(0, deviceLimit(0))
	asked := 0
	s.frames.Machine = neighbour{}.read
	read := s.frames.Machine
	s.frames.Machine = func(ctx context.Context) (reading machine.Reading, err error) { asked++; return read(ctx) }
	r = s.run(t)
	if limit := 2*len(r.Windows) + 1; asked > limit {
		t.Errorf("where nothing is lost the machine was asked %d times, want at most %d", asked, limit)
	}
}

// stopFails is an engine whose first Stop in a trial goes wrong.
type stopFails struct {
	engine.Engine
	stop  func(context.Context) error
	calls int
}

func (e *stopFails) Stop(ctx context.Context, ports []int) error {
	if e.calls++; e.calls == 1 {
		return e.stop(ctx)
	}
	return e.Engine.Stop(ctx, ports)
}

// Whatever goes wrong while a decided trial is stopped, nothing is left running that can be reached, and what
// was read of it says nothing.
func TestADecidedTrialThatCannotBeStopped(t *testing.T) {
	for name, c := range map[string]struct {
		stop   func(cancel context.CancelFunc) func(context.Context) error
		ending report.Ending
	}{
		"as the run is cancelled meanwhile": {func(cancel context.CancelFunc) func(context.Context) error {
			return func(ctx context.Context) error { cancel(); <-ctx.Done(); return context.Cause(ctx) }
		}, report.Interrupted},
		"as a generator is lost": {func(context.CancelFunc) func(context.Context) error {
			return func(context.Context) error { return engine.ErrLost }
		}, report.GeneratorLost},
		"as a generator does not answer": {func(context.CancelFunc) func(context.Context) error {
			return func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		}, report.GeneratorLost},
		"as a generator refuses": {func(context.CancelFunc) func(context.Context) error {
			return func(context.Context) error { return errors.New("busy") }
		}, report.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			var cancel context.CancelFunc
			s, _ := tried(0, replicas(2), func(s *scenario) {
				s.ctx = func(ctx context.Context) context.Context { ctx, cancel = context.WithCancel(ctx); return ctx }
				s.engine = func(g int, e engine.Engine) engine.Engine {
					if g != 1 {
						return e
					}
					return &stopFails{Engine: e, stop: func(ctx context.Context) error { return c.stop(cancel)(ctx) }}
				}
			})
			r := s.run(t) // which looks for generators that still send
			latest := r.Windows[len(r.Windows)-1]
			if r.Ending != c.ending || latest.Quality != report.Invalid || latest.Decided != nil ||
				!strings.Contains(latest.Reason, "cut short after") {
				t.Errorf("%s: %s; the last window is %s: %s", r.Ending, r.Message, latest.Quality, latest.Reason)
			}
		})
	}
}

// At whatever moment a run is interrupted, also while a decided trial is being stopped or drained, nothing is
// left running.
func TestAnInterruptionAroundADecidedTrialLeavesNothingBehind(t *testing.T) {
	tier.Plain(t)
	for moment := 5.0; moment < 8; moment += 0.031 {
		s, _ := tried(0, replicas(2), onGenerator(func(g *sim.Generator) { g.ReadTakes = 5 * time.Millisecond }),
			interrupted(moment))
		if r := s.run(t); r.Ending != report.Interrupted {
			t.Fatalf("interrupted after %.2f s: %s: %s", moment, r.Ending, r.Message)
		}
	}
}

// With any device, path and generator, a decided trial is of a load that loses more than the limit, and at least as
// much as the window says. A load that the device carries goes to its end.
func TestPropertyATrialIsDecidedRightly(t *testing.T) {
	tier.Plain(t)
	decided := 0
	for seed := range uint64(tier.Times(20, 60)) {
		rnd := rand.New(rand.NewPCG(seed, 31))
		limit := 4000 + rnd.Float64()*14_000
		threshold := []units.Ratio{0, units.One / 1000, units.One / 50}[rnd.IntN(3)]
		loss := []units.Ratio{0, units.One / 10_000, units.One / 100}[rnd.IntN(3)]
		delay := []time.Duration{0, 20 * time.Millisecond, 300 * time.Millisecond, 700 * time.Millisecond}[rnd.IntN(4)]
		readTakes, burst := time.Duration(rnd.IntN(5000))*time.Microsecond, time.Duration(rnd.IntN(20))*time.Millisecond
		s, d := tried(threshold, replicas(1+rnd.IntN(3)),
			deviceLimit(units.PacketRate(limit*float64(units.PacketPerSecond))),
			onDevice(func(d *sim.Device) { d.Delay, d.Loss, d.Burst = delay, loss, burst }),
			onGenerator(func(g *sim.Generator) { g.ReadTakes, g.Paced = readTakes, rnd.IntN(2) == 0 }),
			func(s *scenario) { s.plan.Procedure.FrameLoss.TrialDuration = seconds(float64(2 + rnd.IntN(30))) })
		r := s.run(t)
		if len(d.sends) > 0 {
			t.Fatalf("seed %d: generators still sent after windows %v", seed, d.sends)
		}
		for _, w := range trialsOf(r) {
			for i, m := range w.Directions {
				truth := 1 - min(1, limit/float64(m.Intended.PacketsPerSecond))*(1-loss.Float())
				smallest := measure.LeastLossOfPlanned(w, i).Float()
				switch {
				case w.Quality == report.Invalid:
					t.Errorf("seed %d: window %d, delay %s: %s", seed, w.Number, delay, w.Reason)
				case w.Decided != nil && (smallest > truth*1.0001+1e-9 || m.Quality == report.Lossy &&
					!measure.SurelyAbove(w, i, threshold)):
					t.Errorf("seed %d: window %d: %.6f of the planned frames are lost at least, and the device loses "+
						"%.6f: %s", seed, w.Number, smallest, truth, m.Reason)
				case w.Decided != nil:
					decided++
				case truth == 0 && m.Quality == report.Lossy:
					t.Errorf("seed %d: window %d: %s", seed, w.Number, m.Reason)
				}
			}
		}
	}
	if decided < tier.Times(30, 100) {
		t.Errorf("%d directions of decided trials, so these scenes prove little", decided)
	}
}

// paused is an engine behind a device that holds all frames between two moments since the world began, and then
// lets them go at once.
type paused struct {
	engine.Engine
	start, end time.Duration
	withheld   map[int]units.Traffic
}

func (e *paused) Read(ctx context.Context, ports []int) (engine.Reading, error) {
	r, err := e.Engine.Read(ctx, ports)
	if elapsed := time.Since(epoch); err == nil && elapsed >= e.start && elapsed < e.end {
		for port, c := range r.Ports {
			if _, ok := e.withheld[port]; !ok {
				e.withheld[port] = c.Received
			}
			c.Received = e.withheld[port]
			r.Ports[port] = c
		}
	}
	return r, err
}

// A device that holds frames for a moment and then forwards them loses none, whenever that is and however long.
func TestAPauseOfTheDeviceIsNotLoss(t *testing.T) {
	tier.Plain(t)
	for k := range 60 {
		start, lasts := 8*time.Second+time.Duration(k)*37*time.Millisecond, time.Duration(50+41*k)*time.Millisecond
		s, _ := tried(0, deviceLimit(0), func(s *scenario) {
			s.plan.Procedure.FrameLoss.MaxRate, s.plan.Procedure.FrameLoss.MinRate = unitstest.Rate("8kpps"),
				unitstest.Rate("8kpps")
			s.engine = func(_ int, e engine.Engine) engine.Engine {
				return &paused{Engine: e, start: start, end: start + lasts, withheld: map[int]units.Traffic{}}
			}
		})
		for _, w := range trialsOf(s.run(t)) {
			if w.Quality != report.Good || w.Decided != nil {
				t.Errorf("frames were held for %s from %s on; window %d is %s: %s", lasts, start, w.Number, w.Quality,
					w.Reason)
			}
		}
	}
}

// A drain ends soon where nothing is missing, and lasts as long as ever where anything is, or where somebody
// else's frames may stand for some.
func TestADrainIsShortWhereNothingIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		option option
		want   time.Duration
	}{
		"all came back": {deviceLimit(0), allBackPoll},
		"all came back a little later": {onDevice(func(d *sim.Device) {
			d.Limit, d.Delay = 0, 100*time.Millisecond
		}), 200*time.Millisecond + allBackPoll},
		"some are lost": {onDevice(func(d *sim.Device) {
			d.Limit, d.Loss = 0, units.One/1000
		}), 200 * time.Millisecond},
		"the generator dropped some": {
			onGenerator(func(g *sim.Generator) { g.ReceiveDrops = units.One / 1000 }), allBackPoll},
		"it sent less than was planned": {
			onGenerator(func(g *sim.Generator) { g.MaxRate = 7900 * units.PacketPerSecond }), 200 * ms},
		"others send, too": {background(3 * units.PacketPerSecond), 200 * ms},
		"its ports began later, and still send": {
			onGenerator(func(g *sim.Generator) { g.StartTakes = 100 * ms }), 200*ms + allBackPoll},
		"so late that it ends in the last drain": {
			onGenerator(func(g *sim.Generator) { g.StartTakes = 300 * ms }), 400*ms + allBackPoll},
	} {
		t.Run(name, func(t *testing.T) {
			s, d := tried(units.One, c.option, func(s *scenario) {
				s.plan.Procedure.FrameLoss.MaxRate, s.plan.Procedure.FrameLoss.MinRate = unitstest.Rate("8kpps"),
					unitstest.Rate("8kpps")
			})
			w := trialsOf(s.run(t))[0]
			if drained := d.took[w.Number-1] - time.Minute; drained != c.want {
				t.Errorf("drained for %s, want %s; %s: %s", drained, c.want, w.Quality, w.Reason)
			}
		})
	}
}

// allBackPoll is for how long counters stand still where nothing is missing.
const allBackPoll = 50 * time.Millisecond
