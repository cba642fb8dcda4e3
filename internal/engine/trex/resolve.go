package trex

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex/neighbor"
	"github.com/linerate-dev/linerate/internal/host/bounded"
)

const (
	requestInterval = 500 * time.Millisecond // between two requests
	maxRequests     = 6                      // requests, unless the context ends first
	fetchInterval   = 20 * time.Millisecond  // between two fetches of received frames
	captureLimit    = 1000                   // frames
	cleanupTime     = 5 * time.Second        // for undoing, also after the context ended
)

// Resolve resolves the query's target on a port of this client, by ARP or neighbour discovery, and returns its MAC.
// No answer is an *UnresolvedError. Resolve puts the port into service mode, and the port must not be sending.
func (c Captures) Resolve(ctx context.Context, port int, q neighbor.Query) (mac net.HardwareAddr, err error) {
	request, err := q.Frame()
	if err != nil {
		return nil, fmt.Errorf("resolve %s on port %d: %w", q.Target, port, err)
	}
	if err := c.settings.SetService(ctx, port, true); err != nil {
		return nil, err
	}
	defer c.undo(ctx, &err, func(ctx context.Context) error { return c.settings.SetService(ctx, port, false) })
	capture, err := c.StartCapture(ctx, []int{port}, captureLimit, filterFor(q))
	if err != nil {
		return nil, err
	}
	defer c.undo(ctx, &err, capture.Close)
	return c.request(ctx, port, q, request, capture)
}

// filterFor keeps other traffic out of the capture, whose buffer is small.
func filterFor(q neighbor.Query) string {
	filter := "arp"
	if q.Target.Is6() {
		filter = "icmp6"
	}
	if q.VLAN != 0 {
		return "vlan and " + filter
	}
	return filter
}

// undo runs a cleaning step even if ctx has ended, and reports its failure unless there is an earlier one.
func (c Captures) undo(ctx context.Context, err *error, step func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	if failed := step(ctx); *err == nil {
		*err = failed
	}
}

func (c Captures) request(ctx context.Context, port int, q neighbor.Query, request []byte,
	capture *Capture) (net.HardwareAddr, error) {
	for asked := 1; ; asked++ {
		if err := c.PushFrames(ctx, port, [][]byte{request}); err != nil {
			return nil, err
		}
		mac, err := c.listen(ctx, q, capture)
		if err != nil || mac != nil {
			return mac, err
		}
		if asked == maxRequests || ctx.Err() != nil {
			return nil, &UnresolvedError{Port: port, Target: q.Target.String(), Requests: asked}
		}
	}
}

// listen waits for the answer to one request. It returns a nil MAC if no answer came.
func (c Captures) listen(ctx context.Context, q neighbor.Query, capture *Capture) (net.HardwareAddr, error) {
	turn, cancel := context.WithTimeout(ctx, requestInterval)
	defer cancel()
	for {
		frames, err := capture.Fetch(ctx)
		if err != nil {
			return nil, ignoreDeadline(ctx, err)
		}
		for _, f := range frames {
			if mac, ok := q.Answer(f.Bytes); ok {
				return mac, nil
			}
		}
		if bounded.Pause(turn, fetchInterval) != nil {
			return nil, nil
		}
	}
}

// ignoreDeadline drops the error of a fetch that the caller's own deadline cut short. The result is then that there
// was no answer.
func ignoreDeadline(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil
	}
	return err
}
