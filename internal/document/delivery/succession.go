package delivery

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// ErrFenced means that another runner has replaced this one, or the test has gone on without it. What this runner
// measures no longer counts.
var ErrFenced = errors.New("another runner has taken over")

// Succeed is current, the first Progress of a runner, with what became of the runs before it. earlier is what one
// of them left, as far as is known, or nil.
func Succeed(earlier *Progress, current Progress) Progress {
	heard := 0
	if earlier != nil && earlier.Attempt == current.Attempt && earlier.Run < current.Run {
		heard = earlier.Run
		current.LostRuns = append(slices.Clone(earlier.LostRuns),
			fmt.Sprintf("run %d in pod %s was lost in phase %s at %d %%; it was last heard of at %s",
				earlier.Run, earlier.Runner, earlier.Phase, earlier.Percent,
				earlier.UpdateTime.UTC().Format(time.RFC3339)))
	}
	for run := max(heard+1, current.Run-mostLostRuns); run < current.Run; run++ {
		current.LostRuns = append(current.LostRuns, fmt.Sprintf("run %d was lost, and how far it had come isn't known",
			run))
	}
	return current
}

// How often a Progress is written, which costs the API server and every watcher.
const (
	leastPause = 10 * time.Second // between two writes, whatever happens
	usualPause = 20 * time.Second // between two writes of one phase
)

// DueAfter is how long after the last write the next one is due. The end of the traffic doesn't count as a new
// phase, since the Report follows in a moment.
func DueAfter(written, next Progress) time.Duration {
	if written.Phase != next.Phase && !report.Phase(next.Phase).AfterTraffic() {
		return leastPause
	}
	return usualPause
}
