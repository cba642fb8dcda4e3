package runner

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// The phases of Progress besides the report's own.
const (
	Preparing report.Phase = "Preparing"
	Proving   report.Phase = "ProvingPath"
	Listening report.Phase = "Listening"
	Draining               = report.Draining
	Ended                  = report.Ended
)

// Progress is how a run is getting on. Rates are of all directions together, over the last second or so.
type Progress struct {
	Phase report.Phase
	// Step and Steps count the staircase; 0 outside of it.
	Step, Steps int
	// Percent is an estimate that never goes back; Remaining is the time that it is based on.
	Percent   int
	Remaining time.Duration
	// Elapsed is the time since the run started.
	Elapsed time.Duration
	// Load is the step's share of the target rate.
	Load                        units.Ratio
	IntendedPacketsPerSecond    int64
	OfferedPacketsPerSecond     int64
	ReceivedPacketsPerSecond    int64
	ReceivedLayer1BitsPerSecond int64
	LossRatio                   units.Ratio
	// Window is the last finished window; nil if there is none.
	Window *report.Window
	// Message is what is being done, or why; it changes with the phase or the decision.
	Message string
}

// tell changes the progress and passes it on.
func (r *run) tell(change func(*Progress)) {
	change(&r.progress)
	r.progress.Elapsed = time.Since(r.started)
	if r.opts.Progress != nil {
		r.opts.Progress(r.progress)
	}
}

// estimate says how far the procedure has come.
func (r *run) estimate(p *Progress, inStep time.Duration) {
	p.Remaining = max(0, r.procedure.Remaining(r.rep.Windows)-inStep)
	elapsed := time.Since(r.started)
	if whole := elapsed + p.Remaining; whole > 0 {
		p.Percent = max(p.Percent, min(99, int(100*elapsed/whole)))
	}
}

// note adds a line to the run's trace.
func (r *run) note(format string, args ...any) {
	n := report.Note{At: plan.Duration(time.Since(r.started)), Message: fmt.Sprintf(format, args...)}
	r.rep.Notes = append(r.rep.Notes, n)
	r.log.Info(n.Message)
}
