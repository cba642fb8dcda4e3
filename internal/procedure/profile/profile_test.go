package profile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/profile"
	"github.com/linerate-dev/linerate/internal/units"
)

// found is a procedure of one step that has an answer at a load, or none with 0.
type found struct {
	procedure.Procedure
	load units.Ratio
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
	return c
}

func (f found) Bound() procedure.Bound                  { return procedure.Bound{Steps: 1, Time: time.Second} }
func (f found) Usual() time.Duration                    { return time.Second }
func (f found) Remaining([]report.Window) time.Duration { return time.Second }
func window(phase report.Phase, q report.Quality) report.Window {
	return report.Window{Phase: phase, Load: units.One / 2, Quality: q, Reason: "so it was",
		Directions: []report.Direction{{Quality: q}}}
}

// One trial at the answer's load follows the answer, a second one where the first can't be judged, and no third.
func TestATrialFollowsTheAnswer(t *testing.T) {
	p, history := profile.New(found{load: units.One / 2}), []report.Window(nil)
	if s := p.Next(history); s.Phase != report.Hold {
		t.Errorf("first %+v", s)
	}
	if got := p.Remaining(history); got != 11*time.Second {
		t.Errorf("%s remain", got)
	}
	history = append(history, window(report.Hold, report.Good))
	if p.Conclude(history).Finished || p.Remaining(history) != 10*time.Second {
		t.Error("finished before the profile")
	}
	for _, q := range []report.Quality{report.Invalid, report.Good} {
		s := p.Next(history)
		if s.Phase != report.Profiled || s.Kind != procedure.Trial || s.Load != units.One/2 || s.Judge != 10*time.Second {
			t.Fatalf("%+v", s)
		}
		history = append(history, window(report.Profiled, q))
	}
	if c := p.Conclude(history); !p.Next(history).End || !c.Finished || c.Window != 0 || p.Remaining(history) != 0 {
		t.Errorf("%+v", c)
	}
	history[2].Quality = report.Invalid
	if !p.Next(history).End {
		t.Error("a third trial")
	}
	if b := p.Bound(); b.Steps != 3 || b.Trials != 2 || b.Time != 21*time.Second || b.Trial != 10*time.Second {
		t.Errorf("%+v", b)
	}
}

func TestWithoutAnAnswerNothingIsSampled(t *testing.T) {
	p, history := profile.New(found{}), []report.Window{window(report.Hold, report.Lossy)}
	if s := p.Next(history); !s.End || !strings.Contains(s.Reason, "nothing was sampled") {
		t.Errorf("%+v", s)
	}
	if !p.Conclude(history).Finished {
		t.Error("not finished")
	}
}
