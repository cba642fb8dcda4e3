package frames_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// sampling counts how often sampling was started and stopped, and gives this profile.
type sampling struct{ started, stopped int }

func (s *sampling) sample() (func() (report.Profile, error), error) {
	s.started++
	return func() (report.Profile, error) {
		s.stopped++
		return report.Profile{Samples: 10, SamplesPerSecond: 997, Stacks: []string{"softirq;net_rx_action;route 10"}}, nil
	}, nil
}

func withProfile(s *scenario) { s.plan.Procedure.Profile = true }

// A profile has a trial of its own at the answer's load, and the answer is as without it.
func TestAProfileComesAfterTheAnswer(t *testing.T) {
	var s sampling
	plain := scene().run(t)
	r := scene(withProfile, func(c *scenario) { c.frames.Sample = s.sample }).run(t)
	latest := r.Windows[len(r.Windows)-1]
	if r.Ending != report.Completed || latest.Phase != report.Profiled || r.Profile == nil ||
		r.Profile.Window != latest.Number || len(r.Profile.Stacks) != 1 || r.Profile.Frames < 1000 {
		t.Fatalf("%s %s, the last window is a %s, profile %+v", r.Ending, r.Message, latest.Phase, r.Profile)
	}
	if answer := r.Windows[r.Answer.Window-1]; latest.Load != answer.Load || answer.Phase == report.Profiled {
		t.Errorf("sampled at %s, and the answer is %s", latest.Load, answer.Load)
	}
	if s.started != 2 || s.stopped != 2 { // once to see whether it is possible
		t.Errorf("started %d times, stopped %d times", s.started, s.stopped)
	}
	if !reflect.DeepEqual(r.Answer.Total, plain.Answer.Total) || !r.Answer.Measured {
		t.Errorf("the answer is %+v, and without a profile %+v", r.Answer.Total, plain.Answer.Total)
	}
	if n := len(r.Answer.Sections); n == 0 || r.Answer.Sections[n-1].Table.Rows[0][0].Text != "route" {
		t.Errorf("sections %+v", r.Answer.Sections)
	}
}

// Where processors can't be sampled, the run ends before any traffic, with the way out.
func TestARunThatCannotSampleSendsNothing(t *testing.T) {
	refuse := func() (func() (report.Profile, error), error) { return nil, errors.New("no rights") }
	for want, sample := range map[string]func() (func() (report.Profile, error), error){
		"no rights": refuse, "on the device's own machine": nil} {
		r := scene(withProfile, func(s *scenario) { s.frames.Sample = sample }).run(t)
		if r.Ending != report.Failed || !strings.Contains(r.Message, "procedure.profile") ||
			!strings.Contains(r.Message, want) || !strings.Contains(r.Message, "remove profile") || len(r.Windows) > 0 {
			t.Errorf("%s: %s, %d windows", r.Ending, r.Message, len(r.Windows))
		}
	}
}
