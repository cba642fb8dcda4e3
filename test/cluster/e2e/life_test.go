//go:build full

package e2e

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// long stays in each part of its procedure for some seconds, and reaches its target.
const long = `
procedure:
  ramp: {warmupRate: 1kpps, warmupDuration: 4s, targetRate: 9kpps, rampDuration: 12s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 5s, holdDuration: 6s}
`

// endless is as long as a deadline of 20 s allows, and goes beyond it by looking for the limit.
const endless = `
procedure:
  ramp: {warmupDuration: 2s, targetRate: 50kpps, rampDuration: 12s, stepDuration: 1s, settleDuration: 300ms, precision: "0.1%", confirmDuration: 5s, holdDuration: 0s}
`

// Procedures of which one part lasts longer than it may take until the status tells of it: a Progress is 10 s old at most where the phase changed, and the status another 15 s.
const (
	longWarmUp = `
procedure:
  ramp: {warmupRate: 1kpps, warmupDuration: 30s, targetRate: 9kpps, rampDuration: 3s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 5s, holdDuration: 0s}
`
	longRamp = `
procedure:
  ramp: {warmupDuration: 1s, targetRate: 9kpps, rampDuration: 30s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 5s, holdDuration: 0s}
`
	longSearch = `
procedure:
  ramp: {warmupDuration: 1s, targetRate: 50kpps, rampDuration: 6s, stepDuration: 4s, settleDuration: 300ms, precision: "0.1%", confirmDuration: 5s, holdDuration: 0s}
`
	longConfirmation = `
procedure:
  ramp: {warmupDuration: 1s, targetRate: 50kpps, rampDuration: 12s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 30s, holdDuration: 0s, stopAtSaturation: true}
`
	longHold = `
procedure:
  ramp: {warmupDuration: 1s, targetRate: 9kpps, rampDuration: 3s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 5s, holdDuration: 30s}
`
)

// TestSuspends: a test that is to run later.
func TestSuspends(t *testing.T) {
	t.Run("suspended it holds nothing, and resumed it measures again", func(t *testing.T) {
		s := begin(t)
		s.apply("suspended", links, limited, quick)
		s.step("suspended", "Ramping")
		s.loud()
		since := time.Now()
		s.change("suspended", `{"suspend": true}`)
		s.released("suspended")
		t.Logf("silent %v after it was suspended", s.silent(since))
		s.home()
		test := s.condition("suspended", "Scheduled=False Suspended")
		s.want(test, "Complete=False Waiting")
		if test.Status.Operator.LostRuns != 1 || test.Status.Result != nil {
			t.Errorf("want one lost run and no result, got %d and %+v", test.Status.Operator.LostRuns, test.Status.Result)
		}
		s.change("suspended", `{"suspend": false}`)
		test = s.complete("suspended", patience)
		s.answers(test, 10_000)
		if test.Status.Attempt != 2 || test.Status.Operator.LostRuns != 1 {
			t.Errorf("attempt %d after %d lost runs, want attempt 2 after 1", test.Status.Attempt, test.Status.Operator.LostRuns)
		}
	})
}

// TestStops: a run that is ended from outside.
func TestStops(t *testing.T) {
	t.Parallel()
	t.Run("stopped it keeps what it measured until then", func(t *testing.T) {
		s := beside(t)
		s.apply("stopped", links, limited, long, verdict)
		s.measured("stopped", 3)
		since := time.Now()
		s.change("stopped", `{"stop": true}`)
		test := s.complete("stopped", time.Minute)
		t.Logf("silent %v after it was stopped", s.silent(since))
		s.want(test, "Complete=True Stopped", "Passed=Unknown Undecided", "Stalled=")
		s.partial(test, report.Interrupted)
	})
	t.Run("a deadline ends it, and keeps what it measured until then", func(t *testing.T) {
		s := beside(t)
		s.apply("late", links, limited, endless, verdict, "activeDeadline: 20s")
		test := s.complete("late", time.Minute)
		s.want(test, "Complete=True DeadlineExceeded", "Passed=Unknown Undecided")
		s.partial(test, report.DeadlineExceeded)
		t.Logf("silent %v after its end", s.silent(test.Status.CompletionTime.Time))
		if took := test.Status.CompletionTime.Sub(test.Status.StartTime.Time); took < 19*time.Second || took > 30*time.Second {
			t.Errorf("it was complete %v after its start, with a deadline of 20s", took)
		}
	})
	t.Run("its time to live over, it goes with all that it had", func(t *testing.T) {
		s := beside(t)
		s.apply("mortal", links, limited, gentle, "ttlAfterFinished: 3s")
		s.want(s.complete("mortal", time.Minute), "Complete=True Measured")
		s.gone("mortal", 30*time.Second)
	})
}

// TestDeletes: deleted at whatever moment, nothing of it is left, and nothing is sent.
func TestDeletes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ step, procedure string }{
		{"Starting", long}, {"WarmUp", longWarmUp}, {"Ramping", longRamp}, {"Refining", longSearch}, {"Confirming", longConfirmation}, {"Holding", longHold}, {"Done", gentle},
	} {
		t.Run("deleted when it is at: "+c.step, func(t *testing.T) {
			s := beside(t)
			s.apply("deleted", links, limited, c.procedure)
			s.step("deleted", c.step)
			since := time.Now()
			s.delete("deleted")
			s.released("deleted")
			t.Logf("no pods after %v", time.Since(since).Round(100*time.Millisecond))
			t.Logf("silent after %v", s.silent(since))
			s.home()
		})
	}
}

// verdict would be met by a result that is whole.
const verdict = `
criteria: [{name: some, metric: PacketsPerSecond, direction: Total, min: "1"}]
`

// measured waits until the Report-to-be has so many windows: only then there is something to keep.
func (s *scene) measured(name string, windows int) {
	s.Helper()
	s.step(name, "Ramping")
	s.pass(time.Duration(windows) * time.Second)
}

// partial: the test has a Report that says how it ended, with windows and no verdict.
func (s *scene) partial(t *lineratev1alpha1.LoadTest, ending report.Ending) {
	s.Helper()
	r := s.report(t)
	if r.Ending != ending || len(r.Windows) < 3 || r.Verdict.Outcome == report.Passed {
		s.Errorf("the Report: ending %s, %d windows, verdict %s; want %s, some windows, and no verdict", r.Ending, len(r.Windows), r.Verdict.Outcome, ending)
	}
	s.released(t.Name)
}

// gone waits until there is no such LoadTest.
func (s *scene) gone(name string, bound time.Duration) {
	s.Helper()
	err := wait.PollUntilContextTimeout(s.Context(), 100*time.Millisecond, bound, true, func(ctx context.Context) (bool, error) {
		err := lab.Client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, &lineratev1alpha1.LoadTest{})
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
	if err != nil {
		s.Errorf("%s is still there after %v: %v", name, bound, err)
	}
}
