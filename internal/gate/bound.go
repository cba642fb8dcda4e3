package gate

import (
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/admission"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/procedures"
)

const (
	// inLine is how long a gate waits for others' tests to give devices back, beside what its own take.
	inLine = time.Hour
	// aroundRun is what pods, images and wires may take before and after each run.
	aroundRun = 5 * time.Minute
	// besides is what of a run isn't part of its procedure.
	besides = 30 * time.Second
)

// bound is how long a gate may take at the worst: all its tests one after the other, as where there are devices for one at a time whatever
// spec.parallelism says, all repeated that may be, and an hour in line.
func (s *Subject) bound(server *admission.Server) time.Duration {
	spec := &s.Suite.Spec
	retries := int32(1)
	if spec.InvalidRetries != nil {
		retries = *spec.InvalidRetries
	}
	var sum time.Duration
	for i := range s.Matrix.Cells {
		sum += time.Duration(max(spec.Repetitions, 1)+retries) * s.longest(server, i)
	}
	return inLine + sum
}

// longest is how long one test of a cell may take, waiting in line left aside.
func (s *Subject) longest(server *admission.Server, cell int) time.Duration {
	content, err := s.Matrix.Content(cell, 1, 1)
	if err != nil {
		return aroundRun // it was checked before: there is no such cell
	}
	object, faults := server.Admit(content)
	if len(faults) > 0 {
		return aroundRun
	}
	test := object.LoadTest
	p, errs := compile.Compile(test)
	if len(errs) > 0 || p == nil {
		return aroundRun
	}
	d := longestRun(p) + aroundRun + length(test.Spec.DUT.ReadyDelay)
	for _, hook := range []*v1alpha1.HookSpec{test.Spec.DUT.Setup, test.Spec.DUT.Teardown} {
		if hook != nil {
			d += length(hook.Deadline)
		}
	}
	return d
}

func length(d v1alpha1.Duration) time.Duration {
	out, err := d.Std()
	if d == "" || err != nil {
		return 0
	}
	return out
}

// longestRun is what a run may take, every repeat and every step of its search used up; the runner ends it at its deadline in any case.
func longestRun(p *plan.Plan) time.Duration {
	d := besides + procedures.Of(p.Procedure).Bound().Whole()
	if deadline := p.ActiveDeadline.Std(); deadline > 0 {
		d = min(d, deadline+besides)
	}
	return d
}
