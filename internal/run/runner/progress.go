package runner

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
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

// Progress says how far a run is. Rates are of all directions together, over the last second or so.
type Progress struct {
	Phase report.Phase
	// Step and Steps count the staircase, and are 0 outside of it.
	Step, Steps int
	// Varied is the direction whose load is varied, "west→east", while the others' loads are held. It is empty if all
	// directions are varied.
	Varied string
	// Percent is an estimate that never goes back. Remaining is the time that it is based on.
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
	// GoodputBitsPerSecond is the payload that was received, where traffic is sessions, and is the only rate then. It
	// is nil if traffic is frames, or before the second reading.
	GoodputBitsPerSecond *int64
	LossRatio            units.Ratio
	// Window is the last finished window, or nil if there is none.
	Window *report.Window
	// Message says what is being done, or why. It changes with the phase or the decision.
	Message string
	// Unread says which observers' sources report nothing now, and why. It is empty if all report, or weren't asked
	// yet.
	Unread string
}

// Journal is a run's record while it goes on. It holds the Report so far, and the Progress. Runner and driver write
// it, from one goroutine.
type Journal struct {
	Plan      *plan.Plan
	Procedure procedure.Procedure
	Report    *report.Report
	Started   time.Time
	Log       *slog.Logger
	// Driving says that traffic was started, or at least tried, so that something may be sent.
	Driving bool

	// Placed is where the device received frames in the window that the driver measured last. It is nil where nobody
	// can read that.
	Placed *report.Placement

	progress Progress
	listener func(Progress)
	unread   []string // the sentences that Hear noted
}

// Update changes the progress and passes it to the listener.
func (j *Journal) Update(change func(*Progress)) {
	change(&j.progress)
	j.progress.Elapsed = time.Since(j.Started)
	if j.listener != nil {
		j.listener(j.progress)
	}
}

// Enter changes the progress's phase and message.
func (j *Journal) Enter(phase report.Phase, message string) {
	j.Update(func(p *Progress) { p.Phase, p.Message = phase, message })
}

// Estimate computes how far the procedure has come, this long after its present step began. The listener gets
// it with the next Update.
func (j *Journal) Estimate(inStep time.Duration) {
	p := &j.progress
	p.Remaining = max(0, j.Procedure.Remaining(j.Report.Windows)-inStep)
	elapsed := time.Since(j.Started)
	if whole := elapsed + p.Remaining; whole > 0 {
		p.Percent = max(p.Percent, min(99, int(100*elapsed/whole)))
	}
}

// Hear says which observers' sources report nothing now. A wrong password is known by its first answer, and not only
// by the end of a long run. Each sentence is noted once.
func (j *Journal) Hear(unread string) {
	if unread == j.progress.Unread {
		return
	}
	j.Update(func(p *Progress) { p.Unread = unread })
	if unread != "" && !slices.Contains(j.unread, unread) && len(j.unread) < maxUnread {
		j.unread = append(j.unread, unread)
		j.Note("%s", unread)
	}
}

// maxUnread bounds how many such sentences are noted, as servers may say something else each time.
const maxUnread = 20

// Note adds a line to the run's trace.
func (j *Journal) Note(format string, args ...any) {
	n := report.Note{Time: plan.Duration(time.Since(j.Started)), Message: fmt.Sprintf(format, args...)}
	j.Report.Notes = append(j.Report.Notes, n)
	j.Log.Info(n.Message)
}
