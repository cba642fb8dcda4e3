package stl

import (
	"context"
	"errors"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex"
)

// captureLimit bounds the frames that the server keeps for a capture.
const captureLimit = 10_000

// capture is a running capture and the ports that are in service mode for it.
type capture struct {
	engine *Engine
	ports  []int
	inner  *trex.Capture
}

// Capture puts the ports into service mode and starts to keep what they receive, also frames for other MAC addresses
// where the port can. A frame that bypassed the device still has the device's MAC, so a port that receives only
// frames for its own MAC would report that nothing came.
func (e *Engine) Capture(ctx context.Context, ports []int) (engine.Capture, error) {
	k := &capture{engine: e}
	for _, port := range ports {
		k.ports = append(k.ports, port) // first, as the call may succeed although its answer is lost
		if err := e.control.SetService(ctx, port, true); err != nil {
			return nil, e.explain(ctx, errors.Join(err, k.leaveService(ctx)))
		}
		if err := e.setPromiscuous(ctx, port, true); err != nil {
			return nil, e.explain(ctx, errors.Join(err, k.leaveService(ctx)))
		}
	}
	inner, err := e.control.StartCapture(ctx, ports, captureLimit, "")
	if err != nil {
		return nil, e.explain(ctx, errors.Join(err, k.leaveService(ctx)))
	}
	k.inner = inner
	return k, nil
}

// Fetch returns the frames received since the last Fetch.
func (k *capture) Fetch(ctx context.Context) ([]engine.CapturedFrame, error) {
	captured, err := k.inner.Fetch(ctx)
	if err != nil {
		return nil, k.engine.explain(ctx, err)
	}
	frames := make([]engine.CapturedFrame, len(captured))
	for i, f := range captured {
		frames[i] = engine.CapturedFrame(f)
	}
	return frames, nil
}

// Close ends the capture and service mode, also if one of them fails.
func (k *capture) Close(ctx context.Context) error {
	return k.engine.explain(ctx, errors.Join(k.inner.Close(ctx), k.leaveService(ctx)))
}

func (k *capture) leaveService(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	var errs []error
	for _, port := range k.ports {
		errs = append(errs, k.engine.setPromiscuous(ctx, port, false), k.engine.control.SetService(ctx, port, false))
	}
	return errors.Join(errs...)
}

// setPromiscuous turns promiscuous mode on or off. A port that can't (an untrusted virtual function, say) is left
// as it is.
func (e *Engine) setPromiscuous(ctx context.Context, port int, enabled bool) error {
	return ignoreRefusal(e.control.SetPromiscuous(ctx, port, enabled))
}

// Inject sends the frames once, as they are, out of an idle port.
func (e *Engine) Inject(ctx context.Context, port int, frames [][]byte) error {
	return e.explain(ctx, e.control.PushFrames(ctx, port, frames))
}
