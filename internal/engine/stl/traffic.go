package stl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/host/bounded"
)

const (
	// startLead is how far ahead a common start is set: the server compiles the ports' streams until then. Where that takes longer, on a machine that
	// is busy with other work, the start is tried again, each time twice as far ahead, at most mostLead.
	startLead = 300 * time.Millisecond
	mostLead  = 8 * startLead
)

// Start starts all loads at one instant of the server's clock. If a port can't start, all are stopped again.
//
// The server refuses rates above a port's reported speed. The speed of a virtual port is a meaningless constant (10 Gb/s for
// AF_PACKET), so there, and only there, the start is tried again with force; counters show what is really sent.
func (e *Engine) Start(ctx context.Context, loads []engine.PortLoad, duration time.Duration) error {
	starts, err := e.starts(loads, duration)
	if err != nil || len(starts) == 0 {
		return e.explain(ctx, err)
	}
	err = e.start(ctx, starts)
	if e.mayForce(loads, err) {
		e.force = true
		err = e.start(ctx, starts)
	}
	return e.explain(ctx, err)
}

func (e *Engine) start(ctx context.Context, starts []trex.Start) error {
	for i := range starts {
		starts[i].Force = e.force
	}
	lead := startLead
	err := e.startAhead(ctx, lead, starts)
	for tooLate(err) && lead < mostLead && ctx.Err() == nil {
		e.remark("the server took longer than the %v until the common start: all ports were stopped, and start %v ahead", lead, 2*lead)
		lead *= 2
		err = e.startAhead(ctx, lead, starts)
	}
	if err == nil && lead > startLead {
		return e.await(ctx, lead-startLead, starts)
	}
	return err
}

func tooLate(err error) bool {
	_, late := errors.AsType[*trex.LateError](err)
	return late
}

// startAhead starts ports, several of them at an instant that is lead ahead. What a port sends whose request came before another one's was refused is in
// its counters, as everything is; it ends before this returns.
func (e *Engine) startAhead(ctx context.Context, lead time.Duration, starts []trex.Start) (err error) {
	err = e.startOnce(ctx, lead, starts)
	if forgotDestination(err) {
		e.stopAfter(ctx, starts)
		err = e.startOnce(ctx, lead, starts)
	}
	if _, lost := errors.AsType[*trex.LostError](err); err != nil && !lost {
		e.stopAfter(ctx, starts)
	}
	return err
}

// startOnce gives the server one order to start.
func (e *Engine) startOnce(ctx context.Context, lead time.Duration, starts []trex.Start) error {
	err := e.restoreDestinations(ctx, starts)
	var started []trex.Started
	switch {
	case err != nil:
	case len(starts) == 1:
		started, err = e.control.StartTraffic(ctx, starts...)
	default:
		started, err = e.control.StartTogether(ctx, lead, starts...)
	}
	if err == nil {
		e.portHistory.started(starts, started)
	}
	return err
}

// await waits for a common start that is later than usual, so that traffic runs when Start returns.
func (e *Engine) await(ctx context.Context, wait time.Duration, starts []trex.Start) error {
	if err := bounded.Pause(ctx, wait); err != nil {
		e.stopAfter(ctx, starts)
		return fmt.Errorf("wait for the common start: %w", err)
	}
	return nil
}

// remark records a remark on a call that succeeds.
func (e *Engine) remark(format string, args ...any) {
	e.remarks = append(e.remarks, fmt.Sprintf(format, args...))
}

// Remarks are remarks on the calls since Remarks was called last.
func (e *Engine) Remarks() []string {
	said := e.remarks
	e.remarks = nil
	return said
}

// stopAfter stops all ports after a start that failed; the next Stop reports it if this fails.
func (e *Engine) stopAfter(ctx context.Context, starts []trex.Start) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	ports := make([]int, len(starts))
	for i, s := range starts {
		ports[i] = s.Port
	}
	_ = e.control.StopTraffic(ctx, ports...)
}

func (e *Engine) starts(loads []engine.PortLoad, duration time.Duration) ([]trex.Start, error) {
	var starts []trex.Start
	for _, l := range loads {
		load, err := e.loadOf(l)
		if err != nil {
			return nil, err
		}
		starts = append(starts, trex.Start{Port: l.Port, Multiplier: load.multiplier(l.Rate), Duration: duration})
	}
	return starts, nil
}

// loadOf checks a load against the port's streams. A rate of zero is an error: the caller must stop the port instead.
func (e *Engine) loadOf(l engine.PortLoad) (loaded, error) {
	load, ok := e.loads[l.Port]
	switch {
	case !ok:
		return load, fmt.Errorf("port %d has no streams: load some first", l.Port)
	case load.scaled && l.Rate <= 0:
		return load, fmt.Errorf("port %d: a rate of %s can't be sent: stop the port instead", l.Port, l.Rate)
	}
	return load, nil
}

// Update changes the rate of running ports in one exchange, without a gap. Ports with latency streams only have nothing to change.
func (e *Engine) Update(ctx context.Context, loads []engine.PortLoad) error {
	multipliers := make(map[int]trex.Multiplier, len(loads))
	for _, l := range loads {
		load, err := e.loadOf(l)
		if err != nil {
			return e.explain(ctx, err)
		}
		if load.scaled {
			multipliers[l.Port] = load.multiplier(l.Rate)
		}
	}
	_, err := e.control.UpdateTraffic(ctx, multipliers, e.force)
	if e.mayForce(loads, err) {
		e.force = true
		_, err = e.control.UpdateTraffic(ctx, multipliers, true)
	}
	return e.explain(ctx, err)
}

// mayForce says whether the start was refused only because of the line rate, and the ports are virtual.
func (e *Engine) mayForce(loads []engine.PortLoad, err error) bool {
	if err == nil || e.force || !strings.Contains(err.Error(), "exceeds port line rate") {
		return false
	}
	for _, l := range loads {
		if !e.virtual[l.Port] {
			return false
		}
	}
	return true
}

// Stop ends the ports' traffic and returns when it has ended. Ports of other owners aren't stopped, and are an error.
func (e *Engine) Stop(ctx context.Context, ports []int) error {
	err := e.control.StopTraffic(ctx, ports...)
	if lost, ok := errors.AsType[*trex.LostError](err); ok && ctx.Err() == nil && !errors.Is(lost, context.DeadlineExceeded) {
		err = e.control.StopTraffic(ctx, ports...) // a second stop does no harm; the connection is a new one
	}
	return e.explain(ctx, err)
}

// noPortError is the error for a port that doesn't exist.
type noPortError struct{ port, count int }

func (e *noPortError) Error() string {
	return fmt.Sprintf("there is no port %d: the server has %d ports", e.port, e.count)
}
