package verify

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/units"
)

// subject is a Report that is verified.
type subject struct {
	*report.Report
	// recomputed is the Report as its counters give it, first its windows, then result, figures and verdict.
	recomputed report.Report
	rules      procedure.Procedure
	// steps are what the procedure asked for, one for each window up to the first that doesn't match its step.
	// There are none where windows are missing. next is the step after the last window, or nil where some window
	// doesn't match its step.
	steps []procedure.Step
	next  *procedure.Step
	// full and warmUp are each direction's rate at a load of 1, and in the warm-up. They are nil where a line rate
	// is unknown.
	full, warmUp []units.PacketRate
}

// newSubject recomputes the windows, and replays the procedure along with them.
func newSubject(r *report.Report) *subject {
	s := &subject{Report: r, recomputed: *r, rules: procedures.New(r.Plan.Procedure)}
	s.full, s.warmUp = ratesOf(r, s.rules.Rates())
	s.recomputed.Windows = slices.Clone(r.Windows)
	setup, goal, following := setupOf(r), measure.Goal{MaxLossRatio: r.Plan.Procedure.MaxLossRatio}, s.whole()
	for i := range r.Windows {
		w := &s.recomputed.Windows[i]
		var intended []units.PacketRate
		if following {
			step := s.rules.Next(s.recomputed.Windows[:i])
			s.steps = append(s.steps, step)
			if following = s.follows(i, step); following {
				w.Number, w.Phase, w.Load, w.Varied = i+1, step.Phase, s.load(i), step.Varied
				intended = s.intended(step)
			}
		}
		*w = setup.Recount(*w, intended, goal)
	}
	if following {
		next := s.rules.Next(s.recomputed.Windows)
		s.next = &next
	}
	return s
}

// follows says whether window i matches a step by phase and load or, whatever the window says about these, by the
// rates that were asked for.
func (s *subject) follows(i int, step procedure.Step) bool {
	w := s.Windows[i]
	if step.End {
		return false
	}
	if w.Phase == step.Phase && w.Varied == step.Varied && w.Load == s.load(i) {
		return true
	}
	for n, rate := range s.intended(step) {
		if measure.FlowOf(rate, s.Plan.Directions[n].Mix) != w.Directions[n].Intended {
			return false
		}
	}
	return s.full != nil
}

// intended is what each direction is asked to send in a step, or nil where that is unknown.
func (s *subject) intended(step procedure.Step) []units.PacketRate {
	if s.full == nil {
		return nil
	}
	return step.Intended(s.full, s.warmUp)
}

// whole says that no window was left out.
func (s *subject) whole() bool { return s.Thinned == nil || len(s.Windows) >= s.Thinned.Windows }

// setupOf is how a Report's windows were measured, apart from their counters.
func setupOf(r *report.Report) measure.Setup {
	s := measure.Setup{Limit: r.Plan.DUT.KnownLimit(), SharesKernel: r.Plan.DUT.SharesGeneratorsKernel()}
	for _, g := range r.Generators {
		s.Generators = append(s.Generators, g.Name)
	}
	rates := r.RateOfEachLink()
	for _, d := range r.Plan.Directions {
		m := measure.Direction{From: d.From, To: d.To, Mix: d.Mix, LineRate: rates[d.To],
			Reshapes: r.Plan.DUT.Reshapes()}
		for _, g := range r.Plan.Generators {
			for _, p := range g.Ports {
				if p.Link == d.From && len(p.Streams) > 0 {
					pair := measure.Pair{Share: p.Share}
					pair.Streams, pair.Extra = measure.PaceOf(p.Streams)
					m.Pairs, m.Sizes = append(m.Pairs, pair), measure.SizesOf(p.Streams, m.Sizes)
				}
			}
		}
		for _, silence := range r.Silence {
			if silence.Link == d.To {
				m.AddSilence(silence.Received, silence.Duration.Std())
			}
		}
		s.Directions = append(s.Directions, m)
	}
	return s
}

// ratesOf is each direction's rate at a load of 1, and in the warm-up. It is nil where traffic is sessions, or a
// line rate that they depend on is unknown.
func ratesOf(r *report.Report, rates procedure.Rates) (full, warmUp []units.PacketRate) {
	if r.Plan.Sessions != nil {
		return nil, nil
	}
	line := r.RateOfEachLink()
	for _, d := range r.Plan.Directions {
		slower := line[d.From]
		if rate := line[d.To]; rate > 0 && (slower == 0 || rate < slower) {
			slower = rate
		}
		rates := rates.Of(d.Name())
		rate, err := rates.Full.PacketRateOf(d.Mix, slower)
		if err != nil {
			return nil, nil
		}
		warm := rate
		if rates.WarmUp.Field != "" {
			if warm, err = rates.WarmUp.PacketRateOf(d.Mix, slower); err != nil {
				return nil, nil
			}
		}
		full, warmUp = append(full, rate), append(warmUp, warm)
	}
	return full, warmUp
}
