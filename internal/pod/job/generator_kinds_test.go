package job

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// A Plan that compiles and that no runner can carry out would be found out only in the pod.
func TestEveryPlanIsReached(t *testing.T) {
	for _, s := range compile.Senders() {
		if err := CheckSender(s); err != nil {
			t.Errorf("%v compiles, and nobody here reaches it: %v", s, err)
		}
	}
	if len(reachers) != len(compile.Senders()) {
		t.Errorf("%d kinds of generators are reached, of which %d compile", len(reachers), len(compile.Senders()))
	}
}

// TestProcessorsAreReadOnlyForObserversOfThem: a generator that tells of them reads /proc/stat ten times a
// second for it.
func TestProcessorsAreReadOnlyForObserversOfThem(t *testing.T) {
	for name, c := range map[string]struct {
		observers []plan.Observer
		want      bool
	}{
		"no observer": {nil, false},
		"one of the device's limit": {[]plan.Observer{{Name: "limit", Observed: plan.OfDUT, Type: plan.ObserveLimiter}},
			false},
		"one of generators": {[]plan.Observer{{Name: "cpu", Observed: plan.OfGenerator,
			Type: plan.ObserveProcessors}}, true},
		"one of the device's, after": {[]plan.Observer{{Name: "limit", Observed: plan.OfDUT, Type: plan.ObserveLimiter},
			{Name: "cpu", Observed: plan.OfDUT, Type: plan.ObserveProcessors}}, true},
	} {
		if got := EngineOptions(&plan.Plan{Observers: c.observers}, nil).Processors; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestAPlanOfAnUnknownEngineIsNotBegun(t *testing.T) {
	const want = `engine "Pigeons" is not known here for traffic of type Frames; this linerate knows Software, ` +
		`TRex: use one of these, or the linerate that wrote the plan`
	r := runnerJob{plan: &plan.Plan{Engine: "Pigeons"}}.measure(t.Context(), Options{},
		slog.New(slog.NewTextHandler(t.Output(), nil)), func(runner.Progress) {})
	if r.Ending != report.Failed || r.Message != want || len(r.Windows) != 0 {
		t.Errorf("%s: %s\nwant %s", r.Ending, r.Message, want)
	}
}

// flock are generators that are reached, and driven, as their own entry says.
type flock struct{ reached }

func (flock) driver(runnerJob) runner.Driver { return flown{} }

// flown is a driver whose generators are gone.
type flown struct{ runner.Driver }

func (flown) Prepare(context.Context, *runner.Journal) error {
	return errors.New("the pigeons have flown")
}
func (flown) Release(context.Context) {}

func TestAnEngineIsAddedByOneEntry(t *testing.T) {
	key := plan.Sender{Traffic: plan.TrafficFrames, Engine: "Pigeons"}
	var patient time.Duration
	reachers[key] = func(_ context.Context, _ runnerJob, patience time.Duration) (reachable, error) {
		patient = patience
		return flock{}, nil
	}
	t.Cleanup(func() { delete(reachers, key) })
	r := runnerJob{plan: &plan.Plan{Engine: "Pigeons"}}.measure(t.Context(), Options{Patience: time.Minute},
		slog.New(slog.NewTextHandler(t.Output(), nil)), func(runner.Progress) {})
	if patient != time.Minute || r.Message != "the pigeons have flown" {
		t.Errorf("reached with %v of patience, and %s: %s", patient, r.Ending, r.Message)
	}
}
