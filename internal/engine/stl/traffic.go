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
	// startLead is how far ahead a common start is set, so that the server can compile the ports' streams. Where that
	// takes longer, on a machine that is busy with other work, the start is tried again, each time twice as far
	// ahead, at most maxLead.
	startLead = 300 * time.Millisecond
	maxLead   = 8 * startLead
)

// traffic is what the session's ports are loaded with, and how they are started.
type traffic struct {
	control  *trex.Client
	links    *links
	history  *portHistory
	reported *reported
	remarks  *remarks
	loads    map[int]loaded // the streams that Load put on each port
	force    bool           // virtual ports have refused a rate without force
}

// Start starts all loads at one instant of the server's clock. If a port can't start, all are stopped again.
//
// The server refuses rates above a port's reported speed. The speed of a virtual port is a meaningless constant
// (10 Gb/s for AF_PACKET). So there, and only there, the start is tried again with force, and counters show what is
// really sent.
func (e *Engine) Start(ctx context.Context, loads []engine.PortLoad, duration time.Duration) error {
	return e.explain(ctx, e.traffic.start(ctx, loads, duration))
}

func (t *traffic) start(ctx context.Context, loads []engine.PortLoad, duration time.Duration) error {
	var starts []trex.Start
	for _, l := range loads {
		load, err := t.loadOf(l)
		if err != nil {
			return err
		}
		starts = append(starts, trex.Start{Port: l.Port, Multiplier: load.multiplier(l.Rate), Duration: duration})
	}
	if len(starts) == 0 {
		return nil
	}
	err := t.startInTime(ctx, starts)
	if t.mayForce(loads, err) {
		t.force = true
		err = t.startInTime(ctx, starts)
	}
	return err
}

// startInTime starts ports, with a longer lead each time that the server took longer than the lead.
func (t *traffic) startInTime(ctx context.Context, starts []trex.Start) error {
	for i := range starts {
		starts[i].Force = t.force
	}
	lead := startLead
	err := t.startAhead(ctx, lead, starts)
	for tooLate(err) && lead < maxLead && ctx.Err() == nil {
		t.remarks.add("the server took longer than the %v until the common start: all ports were stopped, and "+
			"start %v ahead",
			lead, 2*lead)
		lead *= 2
		err = t.startAhead(ctx, lead, starts)
	}
	if err != nil || lead == startLead {
		return err
	}
	// The common start is later than usual, and traffic runs when Start returns.
	if err := bounded.Pause(ctx, lead-startLead); err != nil {
		t.stopAfter(ctx, starts)
		return fmt.Errorf("wait for the common start: %w", err)
	}
	return nil
}

func tooLate(err error) bool {
	_, late := errors.AsType[*trex.LateError](err)
	return late
}

// startAhead starts ports, several of them at an instant that is lead ahead. When the server refuses one port's
// request, it may have accepted another port's request before. What that port sends is in its counters, and ends
// before startAhead returns.
func (t *traffic) startAhead(ctx context.Context, lead time.Duration, starts []trex.Start) (err error) {
	err = t.startOnce(ctx, lead, starts)
	if forgotDestination(err) {
		t.stopAfter(ctx, starts)
		err = t.startOnce(ctx, lead, starts)
	}
	if _, lost := errors.AsType[*trex.LostError](err); err != nil && !lost {
		t.stopAfter(ctx, starts)
	}
	return err
}

// startOnce gives the server one order to start.
func (t *traffic) startOnce(ctx context.Context, lead time.Duration, starts []trex.Start) error {
	err := t.links.restoreDestinations(ctx, starts)
	var started []trex.Started
	switch {
	case err != nil:
	case len(starts) == 1:
		started, err = t.control.StartTraffic(ctx, starts...)
	default:
		started, err = t.control.StartTogether(ctx, lead, starts...)
	}
	if err == nil {
		t.history.recordStarts(starts, started)
	}
	return err
}

// stopAfter stops all ports after a start that failed. If stopAfter fails, the next Stop reports it.
func (t *traffic) stopAfter(ctx context.Context, starts []trex.Start) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	ports := make([]int, len(starts))
	for i, s := range starts {
		ports[i] = s.Port
	}
	_ = t.control.StopTraffic(ctx, ports...)
}

// loadOf checks a load against the port's streams. A rate of zero is an error, as the caller must stop the port
// instead.
func (t *traffic) loadOf(l engine.PortLoad) (loaded, error) {
	load, ok := t.loads[l.Port]
	switch {
	case !ok:
		return load, fmt.Errorf("port %d has no streams: load some first", l.Port)
	case load.scaled && l.Rate <= 0:
		return load, fmt.Errorf("port %d: a rate of %s can't be sent: stop the port instead", l.Port, l.Rate)
	}
	return load, nil
}

// Update changes the rate of running ports in one exchange, without a gap. Ports with latency streams only have
// nothing to change.
func (e *Engine) Update(ctx context.Context, loads []engine.PortLoad) error {
	return e.explain(ctx, e.traffic.update(ctx, loads))
}

func (t *traffic) update(ctx context.Context, loads []engine.PortLoad) error {
	multipliers := make(map[int]trex.Multiplier, len(loads))
	for _, l := range loads {
		load, err := t.loadOf(l)
		if err != nil {
			return err
		}
		if load.scaled {
			multipliers[l.Port] = load.multiplier(l.Rate)
		}
	}
	_, err := t.control.UpdateTraffic(ctx, multipliers, t.force)
	if t.mayForce(loads, err) {
		t.force = true
		_, err = t.control.UpdateTraffic(ctx, multipliers, true)
	}
	return err
}

// mayForce says whether the start was refused only because of the line rate, and the ports are virtual.
func (t *traffic) mayForce(loads []engine.PortLoad, err error) bool {
	if err == nil || t.force || !strings.Contains(err.Error(), "exceeds port line rate") {
		return false
	}
	for _, l := range loads {
		if !t.reported.virtual[l.Port] {
			return false
		}
	}
	return true
}

// remarks are remarks on calls that succeeded.
type remarks []string

func (r *remarks) add(format string, args ...any) { *r = append(*r, fmt.Sprintf(format, args...)) }

// Remarks are remarks on the calls since Remarks was called last.
func (e *Engine) Remarks() []string {
	remarks := *e.remarks
	*e.remarks = nil
	return remarks
}

// Stop ends the ports' traffic and returns when it has ended. Ports of other owners aren't stopped, and are an error.
func (e *Engine) Stop(ctx context.Context, ports []int) error {
	err := e.control.StopTraffic(ctx, ports...)
	if lost, ok := errors.AsType[*trex.LostError](err); ok && ctx.Err() == nil &&
		!errors.Is(lost, context.DeadlineExceeded) {
		err = e.control.StopTraffic(ctx, ports...) // on a new connection, and harmless after a first stop
	}
	return e.explain(ctx, err)
}

// noPortError is the error for a port that doesn't exist.
type noPortError struct{ port, count int }

func (e *noPortError) Error() string {
	return fmt.Sprintf("there is no port %d: the server has %d ports", e.port, e.count)
}
