package stl

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex"
)

// cleanupTime bounds undoing what a failed call left half done.
const cleanupTime = 10 * time.Second

// Claim takes the ports and clears them. If any can't be taken, none is kept.
func (e *Engine) Claim(ctx context.Context, ports []int, force bool) error {
	info, statuses, err := e.survey(ctx)
	if err != nil {
		return e.explain(ctx, err)
	}
	var claimed []trex.PortInfo
	for _, port := range ports {
		position := slices.IndexFunc(info.Ports, func(p trex.PortInfo) bool { return p.Index == port })
		if position < 0 {
			return e.explain(ctx, &noPortError{port, len(info.Ports)})
		}
		claimed = append(claimed, info.Ports[position])
		if err := e.claimOne(ctx, info.Ports[position], force); err != nil {
			e.releaseAcquired(ctx, port, err)
			return e.explain(ctx, err)
		}
	}
	histories, err := e.extendedStats(ctx, claimed)
	if err != nil {
		return e.explain(ctx, err)
	}
	if _, err := e.reader.Events(ctx); err != nil { // earlier events don't belong to this run
		return e.explain(ctx, err)
	}
	e.portHistory.claim(ports, statuses, histories)
	return nil
}

func (e *Engine) claimOne(ctx context.Context, p trex.PortInfo, force bool) error {
	if err := e.acquire(ctx, p.Index, force); err != nil {
		return err
	}
	if err := e.control.Reset(ctx, p.Index); err != nil {
		return err
	}
	if err := e.control.RemoveCaptures(ctx, p.Index); err != nil {
		return err
	}
	if err := e.control.SetService(ctx, p.Index, false); err != nil {
		return err
	}
	if p.FlowControl {
		if err := ignoreRefusal(e.control.SetFlowControl(ctx, p.Index, 0)); err != nil {
			return err
		}
	}
	if p.Promiscuous {
		return e.control.SetPromiscuous(ctx, p.Index, false)
	}
	return nil
}

// acquire takes a port. One that an earlier session of the same test has is taken by force, if the test's
// sessions have a user of their own.
func (e *Engine) acquire(ctx context.Context, port int, force bool) error {
	err := e.control.Acquire(ctx, port, force)
	if conflict, ok := errors.AsType[*trex.TakenError](err); ok && conflict.SameUser && e.reclaims {
		return e.control.Acquire(ctx, port, true)
	}
	return err
}

// ignoreRefusal drops the error of a call that the port doesn't support. The port's state is then reported as it is.
func ignoreRefusal(err error) error {
	if err == nil {
		return nil
	}
	if _, kind := judge("", err); errors.Is(kind, engine.ErrRefused) {
		return nil
	}
	return err
}

// releaseAcquired releases the ports that were acquired, also after ctx has ended. Only cause is reported, and
// no failure of giveUp itself. The port at which Claim failed may have been acquired although the answer was
// lost. To acquire that port again without force succeeds for the same session only.
func (e *Engine) releaseAcquired(ctx context.Context, attempted int, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	if _, conflict := errors.AsType[*trex.TakenError](cause); !conflict {
		_ = e.control.Acquire(ctx, attempted, false)
	}
	for port := range e.control.Owned() {
		_ = e.control.Release(ctx, port)
	}
}

// Release stops, clears and gives back all claimed ports, also after one of them failed. It may be called again.
func (e *Engine) Release(ctx context.Context) error {
	e.portHistory.release()
	e.links.reminders.forget()
	clear(e.traffic.loads)
	clear(e.links.destinations)
	var errs []error
	for port := range e.control.Owned() {
		errs = append(errs, e.control.Reset(ctx, port), e.control.Release(ctx, port))
	}
	return e.explain(ctx, errors.Join(errs...))
}
