package frames

import (
	"context"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// standstill waits for the last frames after traffic.
type standstill struct {
	counters  *counters
	observers *observers
	balance   *balance
}

// The bounds of the drain, which waits for frames that are still in flight after the stop.
const (
	drainPoll  = 200 * time.Millisecond
	drainBound = 3 * time.Second
)

// The bounds of a drain in which no frame is missing. allBackPoll is how long the counters must stand still then, and
// unsent is the largest part of a trial's traffic, as time at its rate, that may be unsent when the traffic counts as
// over.
const (
	allBackPoll = 50 * time.Millisecond
	unsent      = 10 * time.Millisecond
)

// For how many polls the counters must stand still. It is one poll where traffic ended by itself or its result is
// known, and two where it was stopped because frames seemed lost. With one, a device that pauses for a moment would
// look like one that lost them.
const (
	stillOnce  = 1
	stillTwice = 2
)

// rest holds the counters after traffic.
type rest struct {
	readings   []engine.Reading
	limited    runner.Limits
	stable     bool      // the counters stood still. Otherwise these are their values when the drain's time was over
	stillSince time.Time // when the poll before had ended, since which the counters have stood still
}

// await reads until nothing is sent and nothing comes back for that many polls in a row, within the drain's time. A
// poll is shorter where complete says that no frame is missing. A nil complete means that nobody can know.
func (s *standstill) await(ctx context.Context, polls int, complete func([]engine.Reading) bool) (rest, error) {
	previous, err := s.counters.read(ctx)
	if err != nil {
		return rest{}, err
	}
	s.observers.Observe(previous, runner.Limits{})
	stillSince := time.Now()
	for end, stillPolls := stillSince.Add(drainBound), 0; ; {
		poll := drainPoll
		if complete != nil && complete(previous) {
			poll = allBackPoll
		}
		if err := bounded.Pause(ctx, poll); err != nil {
			return rest{}, err
		}
		latest, limited, err := s.counters.readEdge(ctx)
		if err != nil {
			return rest{}, err
		}
		if stillPolls++; !s.balance.atRest(previous, latest) {
			stillPolls = 0
		}
		if stillPolls >= polls || time.Now().After(end) {
			return rest{latest, limited, stillPolls >= polls, stillSince}, nil
		}
		previous, stillSince = latest, time.Now()
	}
}
