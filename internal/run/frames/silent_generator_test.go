package frames_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// heard is a generator that remembers when a reading began that it never answered, and when it was first stopped after
// that.
type heard struct {
	engine.Engine
	unanswered *time.Time // of the other generator
	stopped    time.Time
}

func (h *heard) Stop(ctx context.Context, ports []int) error {
	if !h.unanswered.IsZero() && h.stopped.IsZero() {
		h.stopped = time.Now()
	}
	return h.Engine.Stop(ctx, ports)
}

// silent is a generator that notes the last moment at which it answered anything.
type silent struct {
	engine.Engine
	answered, fell *time.Time
}

func (s *silent) Read(ctx context.Context, ports []int) (engine.Reading, error) {
	r, err := s.Engine.Read(ctx, ports)
	switch {
	case err == nil:
		*s.answered = time.Now()
	case s.fell.IsZero():
		*s.fell = *s.answered
	}
	return r, err
}

// A host whose generator falls silent may be lost or only busy, and is awaited for half a minute. The other host sent
// for as long.
func TestTheOthersStopTenSecondsAfterAGeneratorFellSilent(t *testing.T) {
	tier.Plain(t)
	for name, procedure := range eachProcedure {
		for fate, late := range map[string]sim.Generator{
			"for good": {Faults: []sim.Fault{{Offset: 7 * time.Second, Kind: sim.Stall}}},
			"for 25 s": {Late: []sim.Lateness{{Offset: 7 * time.Second, Duration: 25 * time.Second}}},
		} {
			t.Run(name+" "+fate, func(t *testing.T) {
				var answered, fell time.Time
				other := &heard{unanswered: &fell}
				s := scene(procedure, replicas(2), func(s *scenario) {
					s.world.Generators[1].Faults, s.world.Generators[1].Late = late.Faults, late.Late
					s.absent = []int{1}
					s.engine = func(g int, e engine.Engine) engine.Engine {
						if g == 1 {
							return &silent{e, &answered, &fell}
						}
						other.Engine = e
						return other
					}
				})
				r := s.run(t)
				if fell.IsZero() || other.stopped.IsZero() {
					t.Fatalf("silent since %v, stopped at %v: %s", fell, other.stopped, r.Message)
				}
				if took := other.stopped.Sub(fell); took > 10*time.Second {
					t.Errorf("the other generator was stopped %v after the last answer, want within 10 s", took)
				}
				switch lost := r.Ending == report.GeneratorLost; {
				case fate == "for good" && (!lost || !strings.Contains(r.Message, "g1")):
					t.Errorf("%s: %s, want the lost generator's name", r.Ending, r.Message)
				case fate != "for good" && lost:
					t.Errorf("a generator that answers after 25 s is lost: %s", r.Message)
				}
			})
		}
	}
}
