package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/pause"
	"github.com/linerate-dev/linerate/internal/softgen/datapath"
)

// settle is how long a contender runs before it is measured.
const settle = 300 * time.Millisecond

// turn is a contender's rates in each of its turns, in packets/s.
type turn struct {
	contender
	returned, offered []float64
}

func (t turn) median() float64 { return median(t.returned) }

func median(rates []float64) float64 {
	sorted := slices.Sorted(slices.Values(rates))
	return sorted[len(sorted)/2]
}

// results are all that a run found out.
type results struct {
	plain, device []turn
	pace          []pace
	peakMemory    int64 // bytes
	path          string
}

func measureAll(ctx context.Context, o options) (*results, error) {
	directory, err := os.MkdirTemp("", "linerate-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory) //nolint:errcheck // a temporary directory
	r := &results{}
	err = inLab(2, func(l *lab) (err error) {
		r.plain, err = compete(ctx, l, o, []contender{engine(1), trafgen(1, directory), trafgenWithSink(1, directory), forwarding(l, 1),
			engine(2), trafgen(2, directory), trafgenWithSink(2, directory), forwarding(l, 2), hping3()})
		if err != nil {
			return err
		}
		return r.watchPace(ctx, o, "plain veth", r.rate(r.plain, "linerate", 1))
	})
	if err != nil {
		return nil, err
	}
	err = inLab(1, func(l *lab) (err error) {
		if err := l.asDevice(); err != nil {
			return fmt.Errorf("give the forwarder its own processor: %w", err)
		}
		r.device, err = compete(ctx, l, options{rounds: 3, window: o.window}, []contender{engine(1), engine(2), bothWays(), forwarding(l, 1)})
		if err != nil {
			return err
		}
		return r.watchPace(ctx, o, "own processor", r.rate(r.device, "linerate", 1))
	})
	if err != nil {
		return nil, err
	}
	r.peakMemory, err = peakMemory()
	return r, err
}

func (r *results) rate(turns []turn, name string, threads int) float64 {
	i := slices.IndexFunc(turns, func(t turn) bool { return t.name == name && t.threads == threads })
	return turns[i].median()
}

// compete gives the contenders their turns, round by round.
func compete(ctx context.Context, l *lab, o options, all []contender) ([]turn, error) {
	turns := make([]turn, len(all))
	for i, c := range all {
		turns[i].contender = c
	}
	for round := range o.rounds {
		for i := range turns {
			t := &turns[(i+round)%len(turns)]
			offered, returned, err := measure(ctx, l, t.contender, o.window)
			if err != nil {
				return nil, fmt.Errorf("%s with %d threads: %w", t.name, t.threads, err)
			}
			t.offered, t.returned = append(t.offered, offered), append(t.returned, returned)
			fmt.Fprintf(os.Stderr, "round %d of %d  %-28s %d  %8.0f kpps\n", round+1, o.rounds, t.name, t.threads, returned/1000)
		}
	}
	return turns, nil
}

// measure is how many packets per second leave and come back while a contender sends.
func measure(ctx context.Context, l *lab, c contender, window time.Duration) (offered, returned float64, err error) {
	stop, err := c.start(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := pause.For(ctx, settle); err != nil {
		return 0, 0, err
	}
	first, err := l.tally()
	begun := time.Now()
	if err := errors.Join(err, pause.For(ctx, window)); err != nil {
		return 0, 0, err
	}
	last, err := l.tally()
	seconds := time.Since(begun).Seconds()
	return float64(last.offered-first.offered) / seconds, float64(last.returned-first.returned) / seconds, err
}

// pace is how well the engine kept a rate, second by second.
type pace struct {
	forwarder        string
	intended         float64 // packets/s
	windows, within  int     // of a second; within a thousandth of what was intended
	worst            float64 // ratio
	lost, unsent     int64
	processorPercent float64
}

// closeness is how near offered has to be to intended.
const closeness = 0.001

// watchPace runs the engine with one thread at 80 % of what it reached.
func (r *results) watchPace(ctx context.Context, o options, forwarder string, capacity float64) (err error) {
	p := pace{forwarder: forwarder, intended: float64(int64(capacity * 0.8))}
	from, to, err := openPorts(1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close(), to.Close()) }()
	r.path = from.Info().Path
	if err := from.Start(datapath.Run{Streams: streams(p.intended), Factor: 1}); err != nil {
		return err
	}
	if err := pause.For(ctx, settle); err != nil {
		return err
	}
	start, at := from.Counters().Sent.Packets, datapath.Now()
	for p.windows < int(o.pacing/time.Second) {
		if err := pause.For(ctx, time.Second); err != nil {
			return err
		}
		c, now := from.Counters(), datapath.Now()
		p.add(float64(c.Sent.Packets-start)/(now-at).Seconds(), c.CPUPercent)
		start, at = c.Sent.Packets, now
	}
	err = from.Stop()
	if err := pause.For(ctx, settle); err != nil {
		return err
	}
	c := from.Counters()
	p.unsent, p.lost = c.Behind, c.Sent.Packets-to.Counters().Received.Packets
	r.pace = append(r.pace, p)
	return err
}

func (p *pace) add(offered, processor float64) {
	p.windows++
	off := max(offered/p.intended-1, 1-offered/p.intended)
	if off <= closeness {
		p.within++
	}
	p.worst = max(p.worst, off)
	p.processorPercent = max(p.processorPercent, processor)
}
