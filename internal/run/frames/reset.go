package frames

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure/path"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// resetGrace is how long the answer to a reset may take beyond the reset's own time limit.
const resetGrace = 5 * time.Second

// relearnWait is how long to wait for the first marked frames, which show whether the device forwards again after its reset. If some are missing then, new ones are sent, with twice
// the wait, up to proveWait: a device that delays frames needs the longer wait, and one that is still learning needs the new frames.
const relearnWait = 500 * time.Millisecond

// mayReset is an error, before anything is sent, where the Plan resets the device and this run can't.
func (r *run) mayReset(context.Context) error {
	if r.Plan.Procedure.Reset != nil && r.opts.Reset == nil {
		return errors.New("the plan says to reset the device before each trial, and this run has no way to do it: use the same linerate for operator and runner")
	}
	return nil
}

// resetDevice empties the device's tables before a trial, sends learning frames (RFC 2544, section 23), and waits until the device forwards. A
// reset that fails, or a device that doesn't forward in time, ends the run, as the next trial would measure something else than the Plan says. It returns whether counters stand still.
//
//	counters stand still │ reset │ learning, marked │ learning, marked │ … all are back │ counters stand still │ trial
//
// Frames of that time count in no trial, and in no total.
func (r *run) resetDevice(ctx context.Context) (stands bool, err error) {
	if r.Plan.Procedure.Reset == nil {
		return true, nil
	}
	window, timeout := len(r.Report.Windows)+1, r.Plan.Procedure.Reset.Timeout.Std()
	before, limited, err := r.readEdge(ctx)
	if err != nil {
		return false, err
	}
	r.Update(func(p *runner.Progress) { p.Message = "resetting the device" })
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, timeout+resetGrace)
	defer cancel()
	r.drive.unwatched = true
	did, err := r.opts.Reset(bounded)
	if err != nil {
		return false, fmt.Errorf("reset the device before window %d: %w; without a reset the trial would depend on the one before: correct procedure.reset, or remove it", window, err)
	}
	reset := &report.Reset{Did: did, Took: plan.Duration(time.Since(began))}
	began = time.Now()
	if err := r.relearn(ctx, began.Add(timeout)); err != nil {
		if wrong, is := errors.AsType[*runner.PathError](err); is {
			wrong.Check.Message = fmt.Sprintf("%s after the device's reset before window %d (%s): %s", timeout, window, did, wrong.Check.Message)
			return false, wrong
		}
		return false, fmt.Errorf("wait until the device forwards again after its reset before window %d: %w", window, err)
	}
	reset.Forwards = plan.Duration(time.Since(began))
	r.drive.reset = reset
	r.forgetLinks()
	r.drive.unwatched = false
	rest, err := r.awaitStandstill(ctx, stillOnce, nil)
	if err != nil {
		return false, err
	}
	r.leaveOut(before, rest.readings, since(limited.Each, rest.limited.Each))
	r.Update(func(p *runner.Progress) { p.Message = r.drive.step.Reason })
	r.Note("the device was reset before window %d in %s (%s), and forwarded again after %s", window, reset.Took.Std().Round(time.Millisecond), did, reset.Forwards.Std().Round(time.Millisecond))
	return rest.still, nil
}

// relearn sends learning frames, and then marked frames in all directions, until all marked frames of a round come out where they should. If they don't in time, the
// error names the first direction in which they don't.
func (r *run) relearn(ctx context.Context, until time.Time) error {
	for wait := relearnWait; ; wait = min(2*wait, proveWait) {
		checks, err := r.seeAll(ctx, wait)
		if err != nil {
			return err
		}
		wrong := firstUnproven(checks)
		if wrong == nil || !time.Now().Before(until) {
			return wrong
		}
	}
}

// seeAll sends marked frames once in each direction, waits until they prove all directions or wait is over, and returns where they came out.
func (r *run) seeAll(ctx context.Context, wait time.Duration) ([]report.PathCheck, error) {
	probes := make([][]path.Probe, len(r.Plan.Directions))
	for i := range r.Plan.Directions {
		var err error
		if probes[i], err = r.probes(i, 1<<31+r.drive.relearned); err != nil {
			return nil, err
		}
		r.drive.relearned += uint32(len(r.gens) * path.MostKinds)
	}
	judge := func(seen []path.Arrival) (checks []report.PathCheck) {
		for i, d := range r.Plan.Directions {
			check, _ := path.Judge(d, r.device(), probes[i], seen)
			checks = append(checks, check)
		}
		return checks
	}
	proven := func(seen []path.Arrival) bool { return firstUnproven(judge(seen)) == nil }
	seen, err := r.sendAndSee(ctx, func(ctx context.Context, captures []engine.Capture) ([]path.Arrival, error) {
		if err := r.teachRouter(ctx); err != nil {
			return nil, err
		}
		for _, p := range probes {
			if err := r.inject(ctx, p); err != nil {
				return nil, err
			}
		}
		return r.see(ctx, captures, nil, proven, wait, 0)
	})
	if err != nil {
		return nil, err
	}
	return judge(seen), nil
}

// teachRouter sends an ARP or neighbour request from each of the generators' addresses to the router, which learns from the request where that address is.
func (r *run) teachRouter(ctx context.Context) error {
	if r.forwarding() != plan.L3 {
		return nil
	}
	return r.teach(ctx, func(port engine.Port, planned plan.GeneratorPort) ([][]byte, error) {
		return path.LearningOfRouter(port.MAC, planned.VLAN, planned.Addresses, r.link(planned.Link).DUT.Addresses)
	})
}

// leaveOut moves the readings from which totals and graphs are counted, so that what was counted between two readings is left out.
func (r *run) leaveOut(before, after []engine.Reading, limited []report.Limiter) {
	moved := slices.Clone(r.drive.baseline)
	for g := range after {
		moved[g].Ports = maps.Clone(moved[g].Ports) // the readings' maps are shared
		for port, last := range after[g].Ports {
			first, base := before[g].Ports[port], moved[g].Ports[port]
			base.Sent = base.Sent.Add(last.Sent.Sub(first.Sent))
			base.Received = base.Received.Add(last.Received.Sub(first.Received))
			base.SendDrops += last.SendDrops - first.SendDrops
			base.ReceiveErrors += last.ReceiveErrors - first.ReceiveErrors
			base.Damaged += last.Damaged - first.Damaged
			moved[g].Ports[port] = base
		}
	}
	r.drive.baseline, r.drive.last = moved, after
	r.beginQuiet(after)
	r.drive.limited = slices.Clone(r.drive.limited)
	for i := range min(len(limited), len(r.drive.limited)) {
		r.drive.limited[i].Passed += limited[i].Passed
		r.drive.limited[i].Dropped += limited[i].Dropped
	}
}
