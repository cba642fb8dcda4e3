package frames

import (
	"context"
	"errors"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
)

// profiled is the window of a trial during which the device's processors are sampled. What is sampled is from just
// before its first frame until its last one has come back.
func (r *driver) profiled(ctx context.Context, step procedure.Step) (*report.Window, error) {
	sampled := &report.Profile{Window: len(r.journal.Report.Windows) + 1}
	r.journal.Report.Profile = sampled
	stop, err := r.sample()
	if err != nil {
		sampled.Missing = err.Error()
		r.journal.Note("the device's processors were not sampled: %v", err)
		return r.trials.measure(ctx, step)
	}
	w, err := r.trials.measure(ctx, step)
	result, stopErr := stop()
	if stopErr != nil {
		sampled.Missing = stopErr.Error()
		r.journal.Note("what the device's processors ran is not known: %v", stopErr)
		return w, err
	}
	result.Window = sampled.Window
	if w != nil {
		for _, d := range w.Directions {
			result.Frames += d.Returned.Packets
		}
	}
	*sampled = result
	return w, err
}

func (r *driver) sample() (stop func() (report.Profile, error), err error) {
	if r.opts.Sample == nil {
		return nil, errors.New("this run has no way to do it: use linerate run on the device's own machine")
	}
	return r.opts.Sample()
}

// checkSampling begins to sample and stops at once, so that a run without the rights fails before any traffic.
func (r *driver) checkSampling(context.Context) error {
	if !r.journal.Plan.Procedure.Profile {
		return nil
	}
	stop, err := r.sample()
	if err == nil {
		_, err = stop()
	}
	if err != nil {
		return fmt.Errorf("procedure.profile: the device's processors can't be sampled: %w; or remove profile", err)
	}
	return nil
}
