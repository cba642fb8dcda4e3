package delivery

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/report"
)

// ErrFenced means that another runner has replaced this one, or the test has gone on without it. What this runner measures no longer counts.
var ErrFenced = errors.New("another runner has taken over")

// Succeed is the first Progress of a runner; earlier is what an earlier runner left, nil if there was none. An earlier runner of the same attempt was lost,
// whatever it wrote. If it is of a later attempt, this runner must stop (ErrFenced). If earlier is this runner's own, an answer to its first write got
// lost.
func Succeed(earlier *Progress, mine Progress) (Progress, error) {
	mine.Run = 1
	switch {
	case earlier == nil || earlier.Attempt < mine.Attempt:
		return mine, nil
	case earlier.Attempt > mine.Attempt:
		return Progress{}, fmt.Errorf("%w: the test is in attempt %d, and this is a runner of attempt %d", ErrFenced, earlier.Attempt, mine.Attempt)
	}
	if earlier.RunnerUID == mine.RunnerUID {
		mine.Run, mine.LostRuns = earlier.Run, slices.Clone(earlier.LostRuns)
		return mine, nil
	}
	mine.Run = earlier.Run + 1
	mine.LostRuns = append(slices.Clone(earlier.LostRuns), fmt.Sprintf("run %d in pod %s was lost in phase %s at %d %%; it was last heard of at %s",
		earlier.Run, earlier.Runner, earlier.Phase, earlier.Percent, earlier.At.UTC().Format(time.RFC3339)))
	return mine, nil
}

// How often a Progress is written, which costs the API server and every watcher.
const (
	leastPause = 10 * time.Second // between two writes, whatever happens
	usualPause = 20 * time.Second // between two writes of one phase
)

// DueAfter is how long after the last write the next one is due. The end of the traffic doesn't count as a new phase, since the Report follows in a moment.
func DueAfter(written, next Progress) time.Duration {
	if written.Phase != next.Phase && !report.Phase(next.Phase).AfterTraffic() {
		return leastPause
	}
	return usualPause
}
