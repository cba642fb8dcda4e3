package gate

import (
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

const (
	// queueWait is how long a gate waits for the tests of others to give devices back, beyond what its own tests take.
	queueWait = time.Hour
	// aroundRun is how long pods, images and wires may take before and after each run.
	aroundRun = 5 * time.Minute
	// outsideProcedure is how much of a run is not part of its procedure.
	outsideProcedure = 30 * time.Second
)

// bound is how long a gate may take at most. It is the sum of all its tests, since there may be devices for one at a
// time, whatever spec.parallelism says, each repeated as often as it may be, and an hour in the queue.
func (s *Subject) bound(server *admission.Server) time.Duration {
	spec := &s.Suite.Spec
	var sum time.Duration
	for i := range s.Matrix.Cells {
		sum += time.Duration(spec.Repetitions+*spec.InvalidRetries) * s.longestTest(server, i)
	}
	return queueWait + sum
}

// longestTest is how long one test of a cell may take, without the wait for its devices.
func (s *Subject) longestTest(server *admission.Server, cell int) time.Duration {
	content, err := s.Matrix.Content(cell, 1, 1)
	if err != nil {
		return aroundRun // can't be: all cells were checked before
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
	delay, _ := test.Spec.DUT.ReadyDelay.Std() // admission has read this and the deadlines
	longest := longestRun(p) + aroundRun + delay
	for _, hook := range []*v1alpha1.HookSpec{test.Spec.DUT.Setup, test.Spec.DUT.Teardown} {
		if hook != nil {
			deadline, _ := hook.Deadline.Std()
			longest += deadline
		}
	}
	return longest
}

// longestRun is how long a run may take with every repeat and every step of its search. The runner ends it at its
// deadline in any case.
func longestRun(p *plan.Plan) time.Duration {
	longest := outsideProcedure + compile.LongestDuration(p)
	if deadline := p.ActiveDeadline.Std(); deadline > 0 {
		longest = min(longest, deadline+outsideProcedure)
	}
	return longest
}
