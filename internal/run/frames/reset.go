package frames

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// resetter brings the device to rest before a trial. At rest no frame is on its way, and the device's tables are
// empty where the Plan says so.
type resetter struct {
	journal    *runner.Journal
	demand     *demand
	traffic    *traffic
	counters   *counters
	links      *links
	silence    *silence
	prover     *prover
	standstill *standstill
	totals     *totals

	device func(context.Context) (action string, err error) // empties the device's tables, or nil if it isn't possible
	// the device's reset before this step, or nil if there was none
	latest *report.Reset
}

// comeToRest ends the load that was held until now, and resets the device if the Plan says so. moving is the reason
// why the next trial is Invalid. It is empty if the counters stood still.
func (r *resetter) comeToRest(ctx context.Context) (moving string, err error) {
	stable := true
	if r.traffic.flowing {
		rest, err := r.traffic.endHeld(ctx, stillOnce)
		if err != nil {
			return "", err
		}
		stable = rest.stable
	}
	rested, err := r.reset(ctx)
	switch {
	case err != nil:
		return "", err
	case !stable:
		return fmt.Sprintf("the counters did not stand still within %s before the trial: frames of the load that was "+
			"held until then may be among those that came back, or something else sends", drainBound), nil
	case !rested:
		return fmt.Sprintf("the counters did not stand still within %s after the device's reset: learning frames may "+
			"be among those that came back, or something else sends", drainBound), nil
	}
	return "", nil
}

// resetGrace is how long the answer to a reset may take beyond the reset's own time limit.
const resetGrace = 5 * time.Second

// relearnWait is how long to wait for the first marked frames, which show whether the device forwards again after its
// reset. If some are missing then, new ones are sent, with twice the wait, up to proveWait. A device that delays
// frames needs the longer wait, and one that is still learning needs the new frames.
const relearnWait = 500 * time.Millisecond

// reset empties the device's tables before a trial, sends learning frames (RFC 2544, section 23), and waits until the
// device forwards. A reset that fails, or a device that doesn't forward in time, ends the run, as the next trial
// would measure something else than the Plan says. It returns whether counters stand still.
//
//	counters stand still │ reset │ learning, marked │ learning, marked │ … all are back │ counters stand still │ trial
//
// Frames of that time count in no trial, and in no total.
func (r *resetter) reset(ctx context.Context) (stands bool, err error) {
	if r.journal.Plan.Procedure.Reset == nil {
		return true, nil
	}
	window, timeout := len(r.journal.Report.Windows)+1, r.journal.Plan.Procedure.Reset.Timeout.Std()
	first, limited, err := r.counters.readEdge(ctx)
	if err != nil {
		return false, err
	}
	r.journal.Update(func(p *runner.Progress) { p.Message = "resetting the device" })
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, timeout+resetGrace)
	defer cancel()
	r.links.unwatched = true
	action, err := r.device(bounded)
	if err != nil {
		return false, fmt.Errorf("reset the device before window %d: %w; without a reset the trial would depend on "+
			"the one before: correct procedure.reset, or remove it", window, err)
	}
	reset := &report.Reset{Action: action, Duration: plan.Duration(time.Since(began))}
	began = time.Now()
	if err := r.prover.relearn(ctx, began.Add(timeout)); err != nil {
		if wrong, ok := errors.AsType[*runner.PathError](err); ok {
			wrong.Check.Message = fmt.Sprintf("%s after the device's reset before window %d (%s): %s", timeout, window,
				action, wrong.Check.Message)
			wrong.Check.Fault = &report.Cause{Detail: report.NotReset, Link: wrong.Check.From,
				Direction: wording.Direction(wrong.Check.From, wrong.Check.To)}
			return false, wrong
		}
		return false, fmt.Errorf("wait until the device forwards again after its reset before window %d: %w", window,
			err)
	}
	reset.Forwards = plan.Duration(time.Since(began))
	r.latest = reset
	r.links.Forget()
	r.links.unwatched = false
	rest, err := r.standstill.await(ctx, stillOnce, nil)
	if err != nil {
		return false, err
	}
	r.totals.leaveOut(first, rest.readings, limitsBetween(limited.Limiters, rest.limited.Limiters))
	r.silence.begin(rest.readings)
	r.journal.Update(func(p *runner.Progress) { p.Message = r.demand.step.Reason })
	r.journal.Note("the device was reset before window %d in %s (%s), and forwarded again after %s", window,
		reset.Duration.Std().Round(time.Millisecond), action, reset.Forwards.Std().Round(time.Millisecond))
	return rest.stable, nil
}
