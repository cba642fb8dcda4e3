package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/linerate-dev/linerate/internal/exit"
	"github.com/linerate-dev/linerate/internal/lab"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/tunnel"
)

// tunnelToken is the variable that the token stands in by which a tunnel's gateways know each other.
const tunnelToken = plan.TunnelTokenVariable

// device is what forwards in user space.
type device interface {
	Done() <-chan struct{} // closed when it has ended
	Fault() error          // why it ended by itself
	Close() error
}

// startDevice starts what forwards where the kernel doesn't alone, waits until it does, and names it. Nil: the kernel does.
func startDevice(ctx context.Context, talk io.Writer, spec forwarderFile) (name string, d device, err error) {
	switch {
	case spec.Tunnel != nil:
		d, err = openTunnel(ctx, talk, *spec.Tunnel)
		return "the tunnel's gateway", d, err
	case spec.Mode != nil && spec.Mode.Userspace != nil:
		d, err = lab.StartTestpmd(ctx, nil, spec.Spec, "the image dut.reference.image")
		return spec.Mode.Userspace.Kind, d, err
	}
	return "the kernel", nil, nil
}

// gateway is a tunnel's in this process.
type gateway struct {
	stop  context.CancelFunc
	done  chan struct{} // closed when it has ended, and ended is set
	ended error
}

// openTunnel meets the other gateway, however long that takes: whoever made the pods knows how long to wait for them. It returns once frames can go through the tunnel.
func openTunnel(ctx context.Context, talk io.Writer, e tunnel.GatewayInPod) (*gateway, error) {
	token := os.Getenv(tunnelToken)
	if token == "" {
		return nil, exit.BadInput("%s is not set: without a token anybody on the cable could be the other gateway", tunnelToken)
	}
	if e.Kind == plan.TunnelIPsec {
		if _, _, err := tunnel.FindIPsec(); err != nil {
			return nil, fmt.Errorf("the image dut.reference.image: %w", err)
		}
	}
	if err := tunnel.OpenCable(e.Local, e.MTU); err != nil {
		return nil, err
	}
	g, err := e.Meet(ctx, token, func(what string) { fmt.Fprintln(talk, what) })
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	w, opened := &gateway{stop: stop, done: make(chan struct{})}, make(chan struct{})
	go func() {
		defer close(w.done)
		w.ended = g.Serve(ctx, func() error { close(opened); return nil })
	}()
	select {
	case <-opened:
		return w, nil
	case <-w.done:
		why := ctx.Err()
		stop()
		if why == nil || w.ended != nil {
			why = w.Fault()
		}
		return nil, why
	}
}

// Done is closed when it has ended.
func (g *gateway) Done() <-chan struct{} { return g.done }

// Fault is why it ended by itself.
func (g *gateway) Fault() error {
	if g.ended == nil {
		return errors.New("the tunnel's gateway ended, and nobody asked it to")
	}
	return fmt.Errorf("the tunnel's gateway: %w", g.ended)
}

// Close ends it.
func (g *gateway) Close() error {
	g.stop()
	<-g.done
	return nil
}
