package frames_test

import (
	"context"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

func onRamp(change func(*plan.Ramp)) option {
	return func(s *scenario) { change(&s.plan.Procedure.Ramp) }
}

// onDevice changes how the device treats every direction.
func onDevice(change func(*sim.Device)) option {
	return func(s *scenario) {
		for i := range s.world.Directions {
			change(&s.world.Directions[i].Device)
		}
	}
}

func onGenerator(change func(*sim.Generator)) option {
	return func(s *scenario) {
		for i := range s.world.Generators {
			change(&s.world.Generators[i])
		}
	}
}

func deviceLimit(r units.PacketRate) option { return onDevice(func(d *sim.Device) { d.Limit = r }) }

func target(r string) option { return onRamp(func(p *plan.Ramp) { p.TargetRate = unitstest.Rate(r) }) }

func toTheTop(s *scenario) { s.plan.Procedure.Ramp.StopAtSaturation = false }

func hold(n float64) option { return onRamp(func(r *plan.Ramp) { r.HoldDuration = seconds(n) }) }

func replicas(n int) option {
	return func(s *scenario) { s.world.Generators = make([]sim.Generator, n) }
}

// fault happens to generator g at a moment after traffic started.
func fault(g int, kind sim.FaultKind, moment float64) option {
	return func(s *scenario) {
		s.world.Generators[g].Faults = append(s.world.Generators[g].Faults,
			sim.Fault{Kind: kind, Offset: time.Duration(moment * float64(time.Second))})
	}
}

// trouble makes every direction lose a fifth between two moments.
func trouble(start, end float64) option {
	return onDevice(func(d *sim.Device) {
		d.Trouble = sim.Trouble{Begin: time.Duration(start * float64(time.Second)),
			End: time.Duration(end * float64(time.Second)), Loss: units.One / 5}
	})
}

func unreachable(g int) option { return func(s *scenario) { s.absent = append(s.absent, g) } }

func forwarding(f plan.Forwarding) option {
	return func(s *scenario) {
		s.plan.DUT.Forwarding = f
		onDevice(func(d *sim.Device) { d.Forwarding = string(f) })(s)
	}
}

func background(r units.PacketRate) option {
	return func(s *scenario) { s.world.Links[1].Background = r }
}

func criterion(c plan.Criterion) option {
	return func(s *scenario) { s.plan.Criteria = append(s.plan.Criteria, c) }
}

// interrupted ends the run's context at a moment after its start.
func interrupted(moment float64) option {
	return func(s *scenario) {
		s.ctx = func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Duration(moment*float64(time.Second)), cancel)
			return ctx
		}
	}
}

// reference makes the device one whose limit is known, whatever it does.
func reference(packetsPerSecond int64) option {
	return func(s *scenario) {
		s.plan.DUT.Type = "Reference"
		s.plan.DUT.Reference = &plan.Reference{Limit: &plan.Limit{PacketsPerSecond: packetsPerSecond,
			Burst: plan.Duration(10 * time.Millisecond)}}
	}
}
