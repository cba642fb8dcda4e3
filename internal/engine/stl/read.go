package stl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/internal/units"
)

// Read takes one reading of the ports' counters in one exchange. It also checks whether the server is still the same
// process, and whether the ports still belong to this session. If not, every call returns ErrLost or ErrTaken until
// the next Claim. When ctx cuts a reading short, the error wraps context.DeadlineExceeded and neither of those, as
// such a reading proves nothing.
func (e *Engine) Read(ctx context.Context, ports []int) (engine.Reading, error) {
	return e.read(ctx, ports, false)
}

// ReadEdge is Read with all that the ports' drivers count. It fails where a driver that counts more than
// get_port_stats has didn't say it.
func (e *Engine) ReadEdge(ctx context.Context, ports []int) (engine.Reading, error) {
	return e.read(ctx, ports, true)
}

func (e *Engine) read(ctx context.Context, ports []int, edge bool) (engine.Reading, error) {
	readTime := time.Now()
	detail, epoch := e.portHistory.plan(ports, readTime, edge)
	asked := e.signs()
	if e.reported.machine.Load() {
		detail.Processors, detail.Signs = e.processors, asked
	}
	reminded := e.links.reminders.counted(readTime)
	snapshot, err := e.snapshot(ctx, ports, detail)
	if err != nil {
		return engine.Reading{}, e.readFault(ctx, err)
	}
	maps.DeleteFunc(snapshot.ExtendedStats, e.portHistory.lacks)
	if err := e.portHistory.complete(snapshot); err != nil {
		return engine.Reading{}, e.explain(ctx, err)
	}
	if err := e.portHistory.learn(snapshot, epoch); err != nil {
		return engine.Reading{}, e.explain(ctx, err)
	}
	if edge && len(snapshot.ExtendedStats) < len(detail.ExtendedStats)+len(detail.SharedRegisters) {
		return engine.Reading{}, e.explain(ctx, errWithheld)
	}
	e.links.reminders.send(ctx, ports)
	reading := e.reading(snapshot)
	reading.RequestedSigns = asked
	return withoutReminders(reading, reminded), nil
}

// snapshot tries a second time, on a new connection, if the first connection broke, as reading changes nothing.
func (e *Engine) snapshot(ctx context.Context, ports []int, d trex.Detail) (trex.Snapshot, error) {
	shot, err := e.reader.Snapshot(ctx, ports, d)
	lost, ok := errors.AsType[*trex.LostError](err)
	if ok && lost.Unknown && !errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return e.reader.Snapshot(ctx, ports, d)
	}
	return shot, err
}

func (e *Engine) readFault(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("read the counters of %s: %w", e.reader.Address(), context.DeadlineExceeded)
	}
	return e.explain(ctx, err)
}

func (e *Engine) reading(s trex.Snapshot) engine.Reading {
	r := engine.Reading{Ports: make(map[int]engine.PortCounters, len(s.Ports)), QueueFull: int64(s.Global.QueueFull +
		s.Global.QueueDrop)}
	r.Instant, r.Uncertainty = instant(s)
	r.Stolen.Time, r.Stolen.Instant = s.Global.StolenTime()
	times, readAt := s.Global.ProcessorTimes()
	for r.Processors.Instant = readAt; len(times) > 0; times = times[1:] {
		r.Processors.List = append(r.Processors.List, engine.Processor(times[0]))
	}
	r.Signs = s.Global.Signs
	busiest := float64(s.Global.CPUPercent)
	for port, stats := range s.Ports {
		busiest = math.Max(busiest, float64(stats.CPUPercent))
		kernel, hasKernel := kernelCounters(stats)
		waited, waiting := stats.Waits()
		r.Ports[port] = e.portHistory.counters(port, engine.PortCounters{
			Kernel:        kernel,
			HasKernel:     hasKernel,
			Sent:          units.Traffic{Packets: int64(stats.SentPackets), Bytes: int64(stats.SentBytes)},
			Received:      units.Traffic{Packets: int64(stats.ReceivedPackets), Bytes: int64(stats.ReceivedBytes)},
			Strays:        units.Traffic{Packets: count(stats.StrayPackets), Bytes: count(stats.StrayBytes)},
			CountsStrays:  stats.StrayPackets != nil,
			SendErrors:    int64(stats.SendErrors),
			SendDrops:     count(stats.SendDrops),
			ReceiveErrors: int64(stats.ReceiveErrors),
			Damaged:       count(stats.Damaged),
			Paced:         stats.Behind != nil,
			Sending:       time.Duration(math.Round(float64(stats.Sending) * 1e9)),
			Waited:        waited,
			Waiting:       waiting,
		})
	}
	r.CPUPercent = -1
	if !math.IsNaN(busiest) && !math.IsInf(busiest, 0) {
		r.CPUPercent = busiest
	}
	return r
}

// kernelCounters are the counters of the port's interface, if the server has them.
func kernelCounters(s trex.PortStats) (counters engine.KernelCounters, ok bool) {
	if len(s.Kernel) != 3 {
		return counters, false
	}
	return engine.KernelCounters{Received: int64(s.Kernel[0]), Sent: int64(s.Kernel[1]), Dropped: int64(s.Kernel[2])},
		true
}

// count is a counter that not every server has.
func count(c *wire.Count) int64 {
	if c == nil {
		return 0
	}
	return int64(*c)
}

// errWithheld is returned because without these counters it is unknown whether the generator or something else lost
// frames.
var errWithheld = errors.New("it did not report its ports' extended statistics")

// instant is when the counters were read, on the server's clock. The server may report that time with each port's
// counters, and then the reading spans the earliest to the latest of these. Otherwise it spans the time from just
// before to just after the counters. The result is the middle of the span and half of its width.
func instant(s trex.Snapshot) (middle, uncertainty time.Duration) {
	var earliest, latest time.Duration
	for _, stats := range s.Ports {
		ts, width, ok := stats.ReadTime()
		if !ok {
			return s.Begin + (s.End-s.Begin)/2, (s.End - s.Begin) / 2
		}
		if latest == 0 || ts-width < earliest {
			earliest = ts - width
		}
		latest = max(latest, ts+width)
	}
	if latest == 0 {
		return s.Begin, 0
	}
	return earliest + (latest-earliest)/2, (latest - earliest) / 2
}

// resetError, portFailedError and stoppedError are what a reading may find out about a server that answers.
type (
	resetError      struct{ port int }
	portFailedError struct{ port int }
	stoppedError    struct{ cause string }
)

func (e *resetError) Error() string {
	return fmt.Sprintf("the counters of port %d went backwards", e.port)
}

func (e *portFailedError) Error() string {
	return fmt.Sprintf("port %d reported an error while sending", e.port)
}

func (e *stoppedError) Error() string { return fmt.Sprintf("it is shutting down (%s)", e.cause) }
