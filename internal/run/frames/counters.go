package frames

import (
	"context"
	"errors"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// counters reads the counters of all generators. Each reading is also searched for links and directions that went down.
type counters struct {
	journal  *runner.Journal
	topology *topology
	fleet    *fleet
	links    *links
	silence  *silence

	limited  func(context.Context) ([]report.Limiter, error) // nil if there are no limits to read
	answered time.Time                                       // when the latest reading of all generators ended
	unheard  time.Duration                                   // the longest time without one since the load was set
	// upkeep says that the test's own streams look like link upkeep, or go to groups, so that no returning frame is
	// surely a stray.
	upkeep bool
}

// readEdge reads every generator, with all counters of its ports, and at the same time the Reference's limits where
// they can be read.
func (c *counters) readEdge(ctx context.Context) ([]engine.Reading, runner.Limits, error) {
	limits := c.journal.AskLimits(ctx, c.limited)
	readings, err := c.readAll(ctx)
	return readings, limits(), err
}

// limitsBetween is what limits counted between two readings, or nil where one of the readings is unknown.
func limitsBetween(first, latest []report.Limiter) []report.Limiter {
	if len(first) != len(latest) {
		return nil
	}
	var counted []report.Limiter
	for i := range latest {
		counted = append(counted, report.Limiter{Passed: latest[i].Passed - first[i].Passed,
			Dropped: latest[i].Dropped - first[i].Dropped})
	}
	return counted
}

// A generator on a busy machine answers late, and is not lost. It is lost if it answers nothing within this time. A
// software engine that hears nothing stops by itself after ten seconds. The others are stopped by then (callAll).
const readTimeout = 30 * time.Second

// firstAttempt is for how long a reading is awaited before it is asked for again on a new connection, as the request
// may be lost. The second attempt waits until the time is over, as a late answer is followed by later ones.
const firstAttempt = 5 * time.Second

// read takes one reading of every generator, all at the same time. Reading changes nothing, so read tries again after
// an error that doesn't decide the run. A window shows the delay.
func (c *counters) read(ctx context.Context) ([]engine.Reading, error) {
	return c.readBy(ctx, func(ctx context.Context, e engine.Engine, ports []int) (engine.Reading, error) {
		return e.Read(ctx, ports)
	})
}

// readAll is read with all counters of missing frames, including those that ports report only on request.
func (c *counters) readAll(ctx context.Context) ([]engine.Reading, error) {
	return c.readBy(ctx, func(ctx context.Context, e engine.Engine, ports []int) (engine.Reading, error) {
		if edgeReader, ok := e.(engine.EdgeReader); ok {
			return edgeReader.ReadEdge(ctx, ports)
		}
		return e.Read(ctx, ports)
	})
}

// reader reads one generator's ports.
type reader func(ctx context.Context, e engine.Engine, ports []int) (engine.Reading, error)

func (c *counters) readBy(ctx context.Context, readPorts reader) ([]engine.Reading, error) {
	readings := make([]engine.Reading, len(c.topology.names))
	err := c.fleet.callAll(ctx, readTimeout, "read the counters of", func(ctx context.Context, g int) (err error) {
		readings[g], err = c.readOne(ctx, g, readPorts)
		return err
	})
	if err == nil {
		c.unheard, c.answered = max(c.unheard, c.sinceAnswer()), time.Now()
		c.links.follow(readings)
		readings = c.withoutStrays(readings)
		c.silence.follow(readings)
		return readings, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, err
}

// sinceAnswer is how long ago all generators answered, or 0 where they never did.
func (c *counters) sinceAnswer() time.Duration {
	if c.answered.IsZero() {
		return 0
	}
	return time.Since(c.answered)
}

// mayStandStill reports whether a generator may have stopped by itself since the load was set, as it heard no request.
func (c *counters) mayStandStill() bool { return max(c.unheard, c.sinceAnswer()) > measure.MaxSilence }

// withoutStrays subtracts received link upkeep, such as ARP and routers' hellos, from readings, where ports count
// them apart and no stream of the test sends such frames. A device asks now and then whether its neighbour is still
// there, and each such request would hide a lost frame.
func (c *counters) withoutStrays(readings []engine.Reading) []engine.Reading {
	if c.upkeep {
		return readings
	}
	for _, reading := range readings {
		for port, c := range reading.Ports {
			c.Received = c.Received.Sub(c.Strays)
			reading.Ports[port] = c
		}
	}
	return readings
}

func (c *counters) readOne(ctx context.Context, g int, readPorts reader) (engine.Reading, error) {
	first, cancel := context.WithTimeout(ctx, firstAttempt)
	reading, err := readPorts(first, c.fleet.engines[g], c.topology.allPorts(g))
	cancel()
	if err == nil || errors.Is(err, engine.ErrLost) || errors.Is(err, engine.ErrTaken) || ctx.Err() != nil {
		return reading, err
	}
	return readPorts(ctx, c.fleet.engines[g], c.topology.allPorts(g))
}
