package latency_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/latency"
	"github.com/linerate-dev/linerate/internal/units"
)

// found is a procedure of one step, with an answer at a load; 0: with none. With goals it is theirs, by name.
type found struct {
	procedure.Procedure
	load  units.Ratio
	goals map[string]units.Ratio
}

func (f found) Next(history []report.Window) procedure.Step {
	if len(history) > 0 {
		return procedure.Step{End: true, Reason: "it is found"}
	}
	return procedure.Step{Kind: procedure.Hold, Phase: report.Hold, Load: f.load}
}

func (f found) Conclude(history []report.Window) procedure.Conclusion {
	c := procedure.Conclusion{Window: procedure.NoWindow, Finished: len(history) > 0}
	if len(history) > 0 && f.load > 0 {
		c.Window = 0
	}
	for name, load := range f.goals {
		g := procedure.GoalConclusion{Name: name, Conclusion: procedure.Unanswered()}
		if load > 0 {
			g.Window = slices.IndexFunc(history, func(w report.Window) bool { return w.Load == load })
		}
		c.Goals = append(c.Goals, g)
	}
	return c
}

func (f found) Bound() procedure.Bound { return procedure.Bound{Steps: 1, Time: time.Second} }
func (f found) Usual() time.Duration   { return time.Second }

func (f found) Remaining(history []report.Window) time.Duration {
	return time.Duration(1-len(history)) * time.Second
}

var answer = report.Window{Number: 1, Phase: report.Hold, Load: units.One / 2, Quality: report.Good,
	Directions: []report.Direction{{Quality: report.Good}}}

// trial is a window of latency.
func trial(q report.Quality) report.Window {
	return report.Window{Phase: report.AtLoad, Quality: q, Reason: "so it was",
		Directions: []report.Direction{{Quality: q}}}
}

var loads = plan.Latency{Loads: []units.Ratio{0, units.One / 2, units.One}, TrialDuration: plan.Duration(10 * time.Second)}

// Each load once, as a share of what was found, single frames first; a trial that says nothing is made anew, twice at
// most.
func TestTrialsFollowTheResult(t *testing.T) {
	a := latency.New(loads, found{load: units.One / 2})
	history := []report.Window{answer}
	for i, c := range []struct {
		load, singleFrames units.Ratio
		came               report.Quality
		number             int
	}{
		{0, units.One / 2, report.Good, 1},
		{units.One / 4, 0, report.Invalid, 2},
		{units.One / 4, 0, report.Lossy, 2},
		{units.One / 2, 0, report.Invalid, 3},
		{units.One / 2, 0, report.Invalid, 3},
		{units.One / 2, 0, report.Invalid, 3},
	} {
		s := a.Next(history)
		if s.End || s.Kind != procedure.Trial || s.Phase != report.AtLoad || s.Load != c.load ||
			s.SingleFrames != c.singleFrames || s.Number != c.number || s.Total != 3 || s.Judge != 10*time.Second {
			t.Fatalf("trial %d: %+v", i, s)
		}
		history = append(history, trial(c.came))
	}
	if s := a.Next(history); !s.End {
		t.Errorf("%+v", s)
	}
	c := a.Conclude(history)
	want := []procedure.LoadTrial{{LatencyLoad: &loads.Loads[0], Window: 1, Void: procedure.NoWindow},
		{LatencyLoad: &loads.Loads[1], Window: 3, Void: 2}, {LatencyLoad: &loads.Loads[2], Window: procedure.NoWindow, Void: 6}}
	if !cmp.Equal(c.Loads, want) || !c.Finished || c.Window != 0 {
		t.Errorf("%+v", c)
	}
	if c := a.Conclude(history[:2]); c.Finished || c.Loads[1].Window != procedure.NoWindow ||
		c.Loads[1].Void != procedure.NoWindow {
		t.Errorf("after the first trial: %+v", c)
	}
	if got := a.Remaining(history[:2]); got != 20*time.Second {
		t.Errorf("%v remain after the first trial", got)
	}
	if b := a.Bound(); b.Steps != 10 || b.Trials != 9 || b.Trial != 10*time.Second || b.Time != 91*time.Second ||
		a.Usual() != 31*time.Second {
		t.Errorf("%+v, usually %v", b, a.Usual())
	}
}

func TestLoadsAreSharesOfTheGoalThatIsNamed(t *testing.T) {
	named := loads
	named.Goal = "PDR"
	f := found{load: units.One / 2, goals: map[string]units.Ratio{"NDR": units.One / 2, "PDR": units.One / 5}}
	lower := answer
	lower.Load = units.One / 5
	if s := latency.New(named, f).Next([]report.Window{answer, lower, trial(report.Good)}); s.Load != units.One/10 {
		t.Errorf("%+v", s)
	}
	f.goals["PDR"] = 0
	s, c := latency.New(named, f).Next([]report.Window{answer}), latency.New(named, f).Conclude([]report.Window{answer})
	if !s.End || !strings.Contains(s.Reason, "latency was not measured") || c.Loads != nil || !c.Finished {
		t.Errorf("a goal without a rate: %+v, %+v", s, c)
	}
}

// Single frames are a thousand a second, or a hundredth of the rate.
func TestFewFramesAreFew(t *testing.T) {
	for full, want := range map[units.PacketRate]units.PacketRate{1_000_000: 1000, 20_000: 100, 100: 1} {
		s := procedure.Step{SingleFrames: units.One / 2}
		if got := s.Intended([]units.PacketRate{full * units.PacketPerSecond},
			nil); got[0] != min(want*units.PacketPerSecond, (full*units.PacketPerSecond).Mul(units.One/200)) {
			t.Errorf("of %d packets/s %v, want %v", full, got, want)
		}
	}
}
