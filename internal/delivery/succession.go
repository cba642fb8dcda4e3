package delivery

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/report"
)

// ErrFenced says that another runner stands where this one did, or that the test has gone on without it. What this one measures is nobody's any more.
var ErrFenced = errors.New("another runner has taken over")

// Succeed is the first Progress of a runner, from what an earlier one left behind: nil where there was none. A runner of the same attempt
// that wrote before was lost, whatever it wrote; one of a later attempt is not succeeded but obeyed (ErrFenced). What a runner finds of its own is what it
// wrote just now, and the answer got lost.
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

// The pace of a Progress: what the API server and everybody who watches are troubled with.
const (
	leastPause = 10 * time.Second // between two writes, whatever happens
	usualPause = 20 * time.Second // between two writes of one phase
)

// DueAfter is how long after the last write the next one is due. That traffic is over is no phase of its own: the Report says it in a moment.
func DueAfter(written, next Progress) time.Duration {
	if written.Phase != next.Phase && !report.Phase(next.Phase).AfterTraffic() {
		return leastPause
	}
	return usualPause
}
