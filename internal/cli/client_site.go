package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/pod/generator"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/run/sessions"
)

// clientSite is this machine as the client of a server that is the device's end. Like any client of such a server, it
// uses the host's own network, which stays as it is. With --ports its sockets are bound to that interface.
type clientSite struct {
	plan        *plan.Plan
	port        string // the interface of --ports, or empty
	credentials string
}

func newClientSite(p *plan.Plan, o runOptions) (site, error) {
	s := clientSite{plan: p, credentials: o.credentials}
	switch {
	case len(o.ports) > 1:
		return nil, fmt.Errorf("--ports: the test has one link, so name one interface, not %d", len(o.ports))
	case len(o.ports) == 1:
		s.port = o.ports[0]
	}
	return s, nil
}

func (clientSite) sharedPorts() []string { return nil }

// start serves the link's end in this process, on an address of its own that asks for a key.
func (s clientSite) start(ctx context.Context, stderr io.Writer, force bool) (runner.Driver, func(), error) {
	iface, err := s.route(ctx)
	if err != nil {
		return nil, nil, exit.NotMeasured("%w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, exit.NotMeasured("listen for the runner: %w", err)
	}
	var claimed claims
	claimed.claimMachine(stderr)
	key, link := credential.New(), s.plan.Links[0].Name
	ends := sessions.Ends{{Link: link, Interface: iface, HostNetwork: true, Bound: s.port,
		Product: generator.SessionsProduct(version), Log: logger(stderr, true)}}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- ends.Serve(serving, key.Verifier().Listen(listener, credential.Control)) }()
	watch := machine.Watch{Generator: os.Getpid()}
	options := sessions.Options{Force: force, Key: key, HostNetwork: true, Machine: watch.Read,
		Whereabouts: observe.Whereabouts{Wanted: observe.Want(s.plan.Observers, false)}}
	var forget func()
	options.Collector, forget = collectInProcess(ctx, s.plan, s.credentials)
	return sessions.New([]sessions.Place{{Link: link, Server: listener.Addr().String()}}, options), func() {
		forget()
		cancel()
		if err := <-served; err != nil {
			fmt.Fprintf(stderr, "the link's end: %v\n", err)
		}
		claimed.release()
	}, nil
}

// route is the interface by which the server is reached.
func (s clientSite) route(ctx context.Context) (string, error) {
	if s.port != "" {
		if _, err := netlink.LinkByName(s.port); err != nil {
			return "", fmt.Errorf("--ports %s: %w: ip link lists this machine's interfaces", s.port, err)
		}
		return s.port, nil
	}
	host, _, err := net.SplitHostPort(s.plan.DUT.Server.Address)
	if err != nil {
		return "", fmt.Errorf("dut.endpoint: %w", err)
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return "", fmt.Errorf("dut.endpoint: %s: %w: use an address, or a name that this machine resolves", host, err)
	}
	routes, err := netlink.RouteGet(addresses[0].Unmap().AsSlice())
	if err != nil || len(routes) == 0 {
		return "", errors.Join(fmt.Errorf("dut.endpoint: this machine has no route to %s: ip route get %s says why", host,
			addresses[0]), err)
	}
	link, err := netlink.LinkByIndex(routes[0].LinkIndex)
	if err != nil {
		return "", fmt.Errorf("the interface to %s: %w", host, err)
	}
	return link.Attrs().Name, nil
}
