package vitals

import (
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"time"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/host/aside"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/pod/reset"
)

// ResetReady is an abstract socket in the network namespace. A probe that can connect to it knows that the
// device can be reset.
const ResetReady = "@linerate/reset"

// Listen listens at one address of this machine, and doesn't answer what comes in by the links. An address
// without a port gets Port.
func Listen(ctx context.Context, address string, links []string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host, address = address, net.JoinHostPort(address, strconv.Itoa(Port))
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return nil, exit.BadInput("--vitals %s: name one address of this machine, in a network that is no link of "+
			"the test, such as --vitals 192.0.2.7", address)
	}
	l, err := aside.Listen(ctx, address, links)
	if err != nil {
		return nil, exit.NotMeasured("serve vital signs at %s: %w", address, err)
	}
	return l, nil
}

// ServeAside answers until ctx ends, except clients on a link under test.
func (s *Server) ServeAside(ctx context.Context, l net.Listener) error {
	s.Refuse = FromLinkUnderTest
	if err := s.Serve(ctx, l); err != nil {
		return exit.NotMeasured("%w", err)
	}
	return nil
}

// WarnOpen says who may read vital signs that are served without a verifier.
func WarnOpen(stderr io.Writer, verifier credential.Verifier, l net.Listener) {
	pod.WarnOpen(stderr, verifier, l.Addr().String(), "read how busy this machine is",
		"--verifier answers runners of an attempt alone")
}

// Run serves this machine's vital signs at the address until ctx ends.
func Run(ctx context.Context, stderr io.Writer, address string, verifier credential.Verifier) error {
	l, err := Listen(ctx, address, nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "serving vital signs at %s\n", l.Addr())
	WarnOpen(stderr, verifier, l)
	return (&Server{Verifier: verifier}).ServeAside(ctx, l)
}

// Resets are what a container in the device's pod needs to reset the device.
type Resets struct {
	Address  string        // of the pod
	Links    []string      // interfaces under test, whose requests aren't answered
	Timeout  time.Duration // of the command
	Verifier credential.Verifier
}

// RunResets runs the command each time that a runner asks for a reset, until ctx ends.
func RunResets(ctx context.Context, stderr io.Writer, o Resets, command []string) error {
	if _, err := exec.LookPath(command[0]); err != nil {
		return exit.BadInput("the reset's command: %w; name a program that its image has (procedure.reset.image)", err)
	}
	l, err := Listen(ctx, o.Address, o.Links)
	if err != nil {
		return err
	}
	ready, err := net.Listen("unix", ResetReady)
	if err != nil {
		return exit.NotMeasured("announce that it is ready: %w; another reset server runs in this network namespace",
			err)
	}
	defer func() { _ = ready.Close() }()
	fmt.Fprintf(stderr, "resets the device by %s on requests at %s\n", bounded.ProgramName(command), l.Addr())
	handler := &reset.Handler{Reset: func(ctx context.Context) (string, error) {
		return bounded.ProgramName(command), bounded.Run(ctx, command, nil, o.Timeout)
	}}
	return (&Server{Mute: true, Reset: handler, Verifier: o.Verifier}).ServeAside(ctx, l)
}
