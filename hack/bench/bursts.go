package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/test/packets/burstiness"
)

// roomForArrivals is how many frames are recorded at most: 64 MiB of times.
const roomForArrivals = 8 << 20

// evenRate is one that every machine keeps, in packets/s.
const evenRate = 100_000

// evenness is how evenly the frames of a load arrived.
type evenness struct {
	sender           string
	path             dut     // what the sender reached the rate through, of which this is a share
	share            float64 // 0: every machine keeps the rate
	packetsPerSecond float64
	burstiness.Verdict
}

// watchBursts sends with one thread of the engine to an end of a cable that records when each frame comes: at
// shares of the rate that it reached. With even, each keeps evenRate, too.
func watchBursts(ctx context.Context, o options, r reached, even bool) (samples []evenness, err error) {
	for _, engine := range engines(o, r.outcomes) {
		var rates []evenness
		if even {
			rates = append(rates, evenness{sender: engine.name, packetsPerSecond: evenRate})
		}
		for _, share := range o.shares {
			rates = append(rates, evenness{sender: engine.name, path: r.path, share: share,
				packetsPerSecond: float64(int64(engine.median(returned) * share))})
		}
		for _, e := range rates {
			err := inTestbed(sink, 1, func(l *testbed) error { return e.watch(ctx, l, engine.entry, o.recording) })
			if err != nil {
				return nil, fmt.Errorf("the bursts of %s at %.0f packets/s: %w", engine, e.packetsPerSecond, err)
			}
			fmt.Fprintf(os.Stderr, "bursts %-42s %.0f kpps: %d frames, at most %d\n", engine, e.packetsPerSecond/1000,
				e.Typical, e.Longest)
			samples = append(samples, e)
		}
	}
	return samples, nil
}

func (e *evenness) watch(ctx context.Context, l *testbed, sender entry, recording time.Duration) (err error) {
	var r *burstiness.Recorder
	err = l.inside(l.device, func() (err error) {
		r, err = burstiness.Record(l.far[0].Attrs().Index, roomForArrivals)
		return err
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	port, err := openPort(l, *sender.options, 0, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, port.Close()) }()
	stopWatch := burstiness.WatchStolen(ctx)
	if err = startPort(port, sender.path(), 0, sender.load, e.packetsPerSecond); err == nil {
		err = record(ctx, r, recording)
	}
	arrivals := r.Arrivals()
	spans, watchErr := stopWatch()
	if err := errors.Join(err, watchErr, port.Stop()); err != nil {
		return err
	}
	if e.Verdict = burstiness.Judge(arrivals, e.packetsPerSecond, spans); e.Stretches+e.Stolen == 0 {
		return fmt.Errorf("%d frames arrived in %v: too few to judge", len(arrivals), recording)
	}
	return nil
}

// record notes arrivals for so long, or until there is no more room.
func record(ctx context.Context, r *burstiness.Recorder, recording time.Duration) error {
	if err := bounded.Pause(ctx, 2*settle); err != nil {
		return err
	}
	start := datapath.Now()
	r.Begin(start)
	for datapath.Now() < start+recording && !r.Full() {
		if err := bounded.Pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
