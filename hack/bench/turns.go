package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/machine"
)

const (
	// settle is how long a contender sends before it is measured.
	settle = 200 * time.Millisecond
	// patience is how long its first frame may take.
	patience = 5 * time.Second
)

// turn is what was measured in one.
type turn struct {
	offered, returned float64 // packets/s
	busy              float64 // processors, all of the machine's, but for what others had of them
	stolen            float64 // share of all processors' time that the host took
	neighbours        float64 // share of it that others on this machine had
}

// outcome is what became of an entry: its turns, or why it has none.
type outcome struct {
	entry
	turns   []turn
	failure string
	// failed: it could have sent, and something went wrong.
	failed bool
}

// values are one figure of each turn.
func (o outcome) values(figure func(turn) float64) []float64 {
	var values []float64
	for _, t := range o.turns {
		values = append(values, figure(t))
	}
	return values
}

func (o outcome) median(figure func(turn) float64) float64 { return median(o.values(figure)) }

func returned(t turn) float64 { return t.returned }

// median is the middle value; of an even number of them the mean of the two in the middle, and 0 of none.
func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// order is the order of a round: forwards and backwards in turn, so that a machine that becomes slower affects
// all entries equally. So the number of rounds is even.
func order(entries, round int) []int {
	var order []int
	for i := range entries {
		if round%2 == 0 {
			order = append(order, i)
		} else {
			order = append(order, entries-1-i)
		}
	}
	return order
}

// compete gives a scene's entries their turns. An entry that fails has no further turns.
func compete(ctx context.Context, o options, s scene) (outcomes []outcome, err error) {
	for _, e := range s.entries {
		outcomes = append(outcomes, outcome{entry: e, failure: e.refuses(s.dut, e.load)})
	}
	err = inTestbed(s.dut, 2, func(l *testbed) error {
		for round := range o.rounds {
			for _, i := range order(len(outcomes), round) {
				result := &outcomes[i]
				if result.failure != "" {
					continue
				}
				t, err := l.turn(ctx, result.entry, o.window)
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err != nil {
					result.turns, result.failure, result.failed = nil, strings.ReplaceAll(err.Error(), "\n", "; "), true
					fmt.Fprintf(os.Stderr, "%s, %d threads: %s\n", result, result.load.threads, result.failure)
					continue
				}
				result.turns = append(result.turns, t)
				fmt.Fprintf(os.Stderr, "round %d of %d  %-42s %d  %8.0f kpps\n", round+1, o.rounds, result,
					result.load.threads, t.returned/1000)
			}
		}
		return nil
	})
	return outcomes, err
}

// turn measures how much leaves and arrives while a contender sends.
func (l *testbed) turn(ctx context.Context, e entry, window time.Duration) (t turn, err error) {
	if e.load.withoutNAPI {
		if err := l.aggregate(false); err != nil {
			return t, err
		}
		defer func() { err = errors.Join(err, l.aggregate(true)) }()
	}
	d, err := l.openDrain()
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	stop, err := e.start(ctx, l, e.load)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := l.awaitFirst(ctx, d); err != nil {
		return t, err
	}
	start, err := l.read(d)
	if err := errors.Join(err, bounded.Pause(ctx, window)); err != nil {
		return t, err
	}
	end, err := l.read(d)
	return between(start, end), err
}

// awaitFirst waits until frames arrive, and then for as long as a contender may take to come to its pace.
func (l *testbed) awaitFirst(ctx context.Context, d *drain) error {
	start, err := l.offered()
	if err != nil {
		return err
	}
	for end := time.Now().Add(patience); time.Now().Before(end); {
		n, err := d.frames()
		if err != nil {
			return err
		}
		if n > 0 {
			return bounded.Pause(ctx, settle)
		}
		if err := bounded.Pause(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
	sent, err := l.offered()
	return errors.Join(fmt.Errorf("%d frames were sent within %v, and none arrived", sent-start, patience), err)
}

// counts are all counters at a moment.
type counts struct {
	whenTime          time.Time
	offered, returned uint64
	processors        []machine.Processor
	ours              map[int]time.Duration // by process
}

func (l *testbed) read(d *drain) (c counts, err error) {
	var errs [4]error
	c.ours, errs[3] = ourTime()
	c.processors, errs[0] = machine.AllProcessors()
	c.offered, errs[1] = l.offered()
	c.returned, errs[2] = d.frames()
	c.whenTime = time.Now()
	return c, errors.Join(errs[:]...)
}

func between(start, end counts) turn {
	seconds := end.whenTime.Sub(start.whenTime).Seconds()
	t := turn{offered: float64(end.offered-start.offered) / seconds,
		returned: float64(end.returned-start.returned) / seconds}
	for i, p := range end.processors {
		t.busy += (p.Busy - start.processors[i].Busy).Seconds() / seconds
		t.stolen += (p.Stolen - start.processors[i].Stolen).Seconds() / seconds / float64(len(end.processors))
	}
	t.neighbours = neighbourShare(start, end)
	t.busy -= t.neighbours * float64(len(end.processors))
	return t
}
