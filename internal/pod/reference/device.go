package reference

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/device/tunnel"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// device is what forwards in user space.
type device interface {
	Done() <-chan struct{} // closed when it has ended
	Fault() error          // why it ended by itself
	Close() error
}

// startDevice starts the program that forwards in user space, waits until it forwards, and names it. d is nil
// where the kernel forwards.
func startDevice(ctx context.Context, stderr io.Writer, spec file) (name string, d device, err error) {
	switch {
	case spec.Tunnel != nil:
		d, err = openTunnel(ctx, stderr, *spec.Tunnel)
		return "the tunnel's gateway", d, err
	case spec.Mode != nil && spec.Mode.Userspace != nil:
		d, err = lab.StartTestpmd(ctx, nil, spec.Spec, "the image dut.reference.image")
		return spec.Mode.Userspace.Kind, d, err
	}
	return "the kernel", nil, nil
}

// gateway is a tunnel's gateway in this process.
type gateway struct {
	stop     context.CancelFunc
	finished chan struct{} // closed when it has ended, and ended is set
	ended    error
}

// openTunnel connects to the other gateway, and returns once frames can go through the tunnel. Its caller
// bounds the time, as only the caller knows when the other pod comes.
func openTunnel(ctx context.Context, stderr io.Writer, e tunnel.GatewayInPod) (*gateway, error) {
	token := os.Getenv(plan.TunnelTokenVariable)
	if token == "" {
		return nil, exit.BadInput("%s is not set: without a token anybody on the cable could be the other gateway",
			plan.TunnelTokenVariable)
	}
	if e.Kind == plan.TunnelIPsec {
		if _, _, err := tunnel.FindIPsec(); err != nil {
			return nil, fmt.Errorf("the image dut.reference.image: %w", err)
		}
	}
	if err := tunnel.OpenCable(e.Local, e.MTU); err != nil {
		return nil, err
	}
	g, err := e.Meet(ctx, token, func(message string) { fmt.Fprintln(stderr, message) })
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	w, opened := &gateway{stop: stop, finished: make(chan struct{})}, make(chan struct{})
	go func() {
		defer close(w.finished)
		w.ended = g.Serve(ctx, func() error { close(opened); return nil })
	}()
	select {
	case <-opened:
		return w, nil
	case <-w.finished:
		reason := ctx.Err()
		stop()
		if reason == nil || w.ended != nil {
			reason = w.Fault()
		}
		return nil, reason
	}
}

// Done is closed when it has ended.
func (g *gateway) Done() <-chan struct{} { return g.finished }

// Fault is why it ended by itself.
func (g *gateway) Fault() error {
	if g.ended == nil {
		return errors.New("the tunnel's gateway ended by itself")
	}
	return fmt.Errorf("the tunnel's gateway: %w", g.ended)
}

// Close ends it.
func (g *gateway) Close() error {
	g.stop()
	<-g.finished
	return nil
}
