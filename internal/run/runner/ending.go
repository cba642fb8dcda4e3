package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
)

// ender is an error that has its own ending of the run.
type ender interface {
	error
	Ending() report.Ending
}

// explained is an error whose cause has a sentence of its own in the Report.
type explained interface {
	error
	Cause() *report.Cause
}

// fault is an error whose cause has a sentence.
type fault struct {
	error
	cause report.Cause
}

// Explain gives an error that ends a run its sentence in the Report.
func Explain(err error, cause report.Cause) error { return &fault{err, cause} }

// Unwrap gives the error that was explained.
func (f *fault) Unwrap() error { return f.error }

// Cause is what the sentence contains.
func (f *fault) Cause() *report.Cause { return &f.cause }

// faultOf is the cause of an error that ended the run. It is nil where only the error's own words say that.
func faultOf(ending report.Ending, err error) *report.Cause {
	var cause explained
	if ending != report.Failed && ending != report.PathNotProven || !errors.As(err, &cause) {
		return nil
	}
	return cause.Cause()
}

// remedies complete the sentences of endings. The Plan knows the names of fields, and force is how the user takes
// ports from another owner.
type remedies struct {
	plan  *plan.Plan
	force string
}

// endingOf is how a run that ended with this error ended, as one sentence. The context's end counts first, because
// engines' errors follow from it.
func endingOf(ctx context.Context, err error, driving bool, remedies remedies) (report.Ending, string) {
	var ending ender
	switch {
	case err == nil:
		return report.Completed, ""
	case errors.Is(context.Cause(ctx), errDeadline):
		return report.DeadlineExceeded, "the run took longer than activeDeadline; raise activeDeadline, or " +
			"lower the procedure's durations"
	case errors.Is(context.Cause(ctx), engine.ErrLost):
		return report.GeneratorLost, sentence(context.Cause(ctx)) + "; look at the generator's log, then run again"
	case ctx.Err() != nil:
		return report.Interrupted, "interrupted; what was measured until then is kept"
	case errors.As(err, &ending):
		return ending.Ending(), ending.Error()
	case errors.Is(err, engine.ErrUnresolved):
		return report.Failed, sentence(err) + ": check that the device is up and has this address" +
			remedies.plan.Advice(", or give its MAC (%s)", "dut.macAddress")
	case errors.Is(err, engine.ErrTaken) && driving:
		return report.GeneratorLost, fmt.Sprintf("%s; what it did then is not measured: make sure that nobody else "+
			"uses the generator, and run again", sentence(err))
	case errors.Is(err, engine.ErrTakenByLinerate):
		return report.Failed, sentence(err) +
			"; if that run was killed, nothing will give the port back: make sure that it doesn't run any more, and " +
			"take the port by force" + hint(remedies.force)
	case errors.Is(err, engine.ErrTaken):
		return report.Failed, sentence(err) + "; wait until it is free, or take it by force" + hint(remedies.force)
	case errors.Is(err, engine.ErrLost), errors.Is(err, engine.ErrSilent):
		return report.GeneratorLost, sentence(err) + "; look at the generator's log, then run again"
	}
	return report.Failed, sentence(err)
}

// sentence is an error, joined ones too, in one line.
func sentence(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// hint is the way out in brackets, where there is one.
func hint(words string) string {
	if words == "" {
		return ""
	}
	return " (" + words + ")"
}

// PathError is a direction whose path is not proven.
type PathError struct{ Check report.PathCheck }

func (e *PathError) Error() string {
	return fmt.Sprintf("the path %s→%s is not proven: %s", e.Check.From, e.Check.To, e.Check.Message)
}

// Ending is how such an error ends a run.
func (*PathError) Ending() report.Ending { return report.PathNotProven }

// Cause is nil where only the check's message says why.
func (e *PathError) Cause() *report.Cause { return e.Check.Fault }
