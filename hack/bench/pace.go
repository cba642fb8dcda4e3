package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/machine"
)

// pace is how well the engine kept a rate, second by second.
type pace struct {
	sender   string
	path     dut
	share    float64 // of what the sender reached
	intended float64 // packets/s
	seconds  []second
	others   float64       // share of all processors' time that others on this machine had
	lost     int64         // frames between here and the sink
	unsent   int64         // frames that were given up
	taken    time.Duration // that the host of a virtual machine had its processors, all together
	// processorPercent is of the sending thread's processor, in the busiest second.
	processorPercent float64
	// together is how many frames left in one go, and flooded the same when the sender sent as much as it could;
	// 0: each left alone.
	together, flooded float64
}

// second is what was sent in one.
type second struct {
	packetsPerSecond float64
	stolen           bool // the host took some of a processor's time in it
}

// Bounds of a second's rate, as shares of what was intended.
const (
	narrow = 0.001
	wide   = 0.01
)

// deviation is how far a second was from the intended rate, as a share of it.
func (p pace) deviation(s second) float64 {
	return max(s.packetsPerSecond/p.intended-1, 1-s.packetsPerSecond/p.intended)
}

// countWithin are the seconds that were no further off than so much.
func (p pace) countWithin(bound float64) (n int) {
	for _, s := range p.seconds {
		if p.deviation(s) <= bound {
			n++
		}
	}
	return n
}

// worst is how far the worst second was off: of all, and of those in which the host took nothing.
func (p pace) worst() (total, ours float64) {
	for _, s := range p.seconds {
		total = max(total, p.deviation(s))
		if !s.stolen {
			ours = max(ours, p.deviation(s))
		}
	}
	return total, ours
}

// missed is how long the sender would have needed for the frames that it gave up, at the intended rate: to be
// set against what the host took.
func (p pace) missed() time.Duration {
	return time.Duration(float64(p.unsent) / p.intended * float64(time.Second))
}

func (p pace) stolen() (n int) {
	for _, s := range p.seconds {
		if s.stolen {
			n++
		}
	}
	return n
}

// reached is what the entries of a table of the base load reached, and through what.
type reached struct {
	path     dut
	outcomes []outcome
}

// watchPace sends with one thread of the engine at shares of the rate that it reached, through what it reached that.
func watchPace(ctx context.Context, o options, r reached) (paces []pace, err error) {
	for _, engine := range engines(o, r.outcomes) {
		var flooded float64
		err := inTestbed(r.path, 1, func(l *testbed) (err error) {
			flooded, err = flooding(ctx, l, engine.entry)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("a flood of %s %s: %w", engine, r.path, err)
		}
		for _, share := range o.shares {
			p := pace{sender: engine.name, path: r.path, flooded: flooded, share: share,
				intended: float64(int64(engine.median(returned) * share))}
			err := inTestbed(p.path, 1, func(l *testbed) error {
				return p.watch(ctx, l, engine.entry,
					int(o.pacing/time.Second))
			})
			if err != nil {
				return nil, fmt.Errorf("the pace of %s %s at %.0f packets/s: %w", engine, p.path, p.intended, err)
			}
			fmt.Fprintf(os.Stderr, "pace   %-42s %.0f kpps %s: %d of %d seconds within 0.1 %%\n", engine,
				p.intended/1000, p.path, p.countWithin(narrow), len(p.seconds))
			paces = append(paces, p)
		}
	}
	return paces, nil
}

// engines are the outcomes of our own contenders with one thread and nothing else changed, whose pace is asked for.
func engines(o options, outcomes []outcome) (senders []outcome) {
	for _, outcome := range outcomes {
		if outcome.options != nil && len(outcome.turns) > 0 && outcome.load == base() &&
			strings.Contains(outcome.name, o.paced) {
			senders = append(senders, outcome)
		}
	}
	return senders
}

// flooding is how many frames of a flood leave together.
func flooding(ctx context.Context, l *testbed, e entry) (n float64, err error) {
	d, err := l.openDrain()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	stop, err := e.start(ctx, l, e.load)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := l.awaitFirst(ctx, d); err != nil {
		return 0, err
	}
	return measureTogether(ctx)
}

func (p *pace) watch(ctx context.Context, l *testbed, e entry, seconds int) (err error) {
	d, err := l.openDrain()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	port, err := openPort(l, *e.options, 0, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, port.Close()) }()
	if err := startPort(port, e.path(), 0, e.load, p.intended); err != nil {
		return err
	}
	if err := l.awaitFirst(ctx, d); err != nil {
		return err
	}
	start, err := l.read(d)
	if err := errors.Join(err, p.count(ctx, port, seconds)); err != nil {
		return err
	}
	end, err := l.read(d)
	if err != nil {
		return err
	}
	p.others, p.unsent = neighbourShare(start, end), port.Counters().Behind
	if p.together, err = measureTogether(ctx); err != nil {
		return err
	}
	err = errors.Join(port.Stop(), bounded.Pause(ctx, settle))
	c := port.Counters()
	arrived, countErr := d.frames()
	p.lost = c.Sent.Packets - int64(arrived)
	return errors.Join(err, countErr)
}

// count reads the sender's own counter once a second.
func (p *pace) count(ctx context.Context, port datapath.Port, seconds int) error {
	start, stolenBefore, err := port.Counters(), time.Duration(0), error(nil)
	if stolenBefore, err = takenByHost(); err != nil {
		return err
	}
	for range seconds {
		if err := bounded.Pause(ctx, time.Second); err != nil {
			return err
		}
		counters := port.Counters()
		stolen, err := takenByHost()
		if err != nil {
			return err
		}
		rate := float64(counters.Sent.Packets-start.Sent.Packets) / (counters.ReadAt - start.ReadAt).Seconds()
		p.seconds = append(p.seconds, second{rate, stolen > stolenBefore})
		p.processorPercent = max(p.processorPercent, counters.CPUPercent)
		p.taken += stolen - stolenBefore
		start, stolenBefore = counters, stolen
	}
	return nil
}

// takenByHost is the time that the host of a virtual machine had its processors so far, all together.
func takenByHost() (sum time.Duration, err error) {
	processors, err := machine.AllProcessors()
	for _, p := range processors {
		sum += p.Stolen
	}
	return sum, err
}
