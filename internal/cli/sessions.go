package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/pod/generator"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/run/sessions"
)

func newSessions(s Streams) *cobra.Command {
	o := generator.End{Version: version}
	var guard guardOptions
	var terminationLog string
	cmd := &cobra.Command{
		Use:     "sessions",
		Short:   "Serve the end of TCP sessions on an interface of this machine",
		Example: "  sudo linerate sessions --link west --interface eth1 --listen 192.0.2.11:4501",
		Long: "Is one end of a test whose traffic is sessions: the runner gives its interface an address and routes, " +
			"and makes it send and receive\n" +
			"over TCP or UDP. It answers who has the secret of --secret-file. All connections are dropped, and " +
			"addresses and routes removed,\n" +
			"when no request has come for " + sessions.DriverSilence.String() + ".\n\n" +
			"It needs CAP_NET_ADMIN, for addresses, routes and buffers. The interface should be in a network " +
			"namespace with no other end of the test.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pod.ExplainExit(terminationLog, serveEnd(cmd.Context(), s.Stderr, o, guard))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Link, "link", "", "the test's name of the link")
	f.StringVar(&o.Interface, "interface", "", "the interface on that link (default: the link's name)")
	f.StringVar(&o.Listen, "listen", "127.0.0.1:4501", "address to answer the runner on")
	f.DurationVar(&o.Wait, "wait", 10*time.Second, "how long to wait until the interface exists, and is up")
	f.Int64Var(&o.SlowReader, "fault-read-bytes-per-second", 0,
		"read no faster on each connection: a receiver that is too slow, for tests")
	_ = f.MarkHidden("fault-read-bytes-per-second")
	guard.flags(f)
	terminationFlag(cmd, &terminationLog, "for what went wrong")
	cmd.AddCommand(newSessionsProbe(s))
	return cmd
}

func serveEnd(ctx context.Context, stderr io.Writer, o generator.End, guard guardOptions) (err error) {
	guard.use = "make this machine send and give " + cmp.Or(o.Interface, o.Link) + " addresses and routes"
	if o.Verifier, err = guard.verify(stderr, o.Listen); err != nil {
		return err
	}
	return o.Serve(ctx, stderr)
}

// newSessionsProbe makes the verb that probes of pods call.
func newSessionsProbe(s Streams) *cobra.Command {
	var server string
	cmd := &cobra.Command{
		Use:    "probe",
		Short:  "Ask whether an end answers (for probes of pods)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dialer := net.Dialer{Timeout: 3 * time.Second}
			conn, err := dialer.DialContext(cmd.Context(), "tcp", server)
			if err != nil {
				return exit.NotMeasured("%w", err)
			}
			fmt.Fprintln(s.Stdout, "it answers")
			return conn.Close()
		},
	}
	cmd.Flags().StringVarP(&server, "server", "s", "127.0.0.1:4501", "where it listens")
	return cmd
}

// sessionsSite is a lab on this machine with an end of sessions on each link.
type sessionsSite struct {
	plan        *plan.Plan
	topology    lab.Topology
	ports       []string
	shared      []string // as in labSite
	credentials string
}

// newSessionsSite makes the site of a Plan of sessions.
func newSessionsSite(p *plan.Plan, o runOptions) (site, error) {
	if p.DUT.Server != nil {
		return newClientSite(p, o)
	}
	topology, err := lab.TopologyOf(p, lab.Options{Ports: o.ports, Cores: o.cores, Ends: true})
	return &sessionsSite{plan: p, topology: topology, ports: o.ports, credentials: o.credentials}, err
}

func (s *sessionsSite) sharedPorts() []string { return s.shared }

func (s *sessionsSite) start(ctx context.Context, stderr io.Writer, force bool) (runner.Driver, func(), error) {
	var claimed claims
	var err error
	if s.shared, err = claimed.claimInterfaces(s.ports, s.plan.SharedPort); err != nil {
		return nil, nil, err
	}
	claimed.claimMachine(stderr)
	l, err := lab.Start(ctx, s.topology, lab.Host{})
	if err != nil {
		claimed.release()
		return nil, nil, labError(err)
	}
	var places []sessions.Place
	for _, g := range s.plan.Generators {
		for _, port := range g.Ports {
			places = append(places, sessions.Place{Link: port.Link, Server: l.Address(),
				DUTMAC: l.DUTMACs()[port.Link]})
		}
	}
	if s.plan.DUT.Endpoint() {
		places = append(places, sessions.Place{Link: plan.DeviceEnd, Server: l.Address()})
	}
	options := s.options(force, l, watchLab(l, s.ports))
	options.Key = l.Key()
	var forget func()
	options.Collector, forget = collectInProcess(ctx, s.plan, s.credentials)
	return sessions.New(places, options), func() {
		forget()
		_ = l.Close()
		claimed.release()
	}, nil
}

// options are the driver's options for ends and a device on this machine.
func (s *sessionsSite) options(force bool, l *lab.Lab, watch machine.Watch) sessions.Options {
	limited := func(ctx context.Context) ([]report.Limiter, error) { return limitCounters(ctx, l) }
	return sessions.Options{
		Force: force, Whereabouts: observe.Whereabouts{OneMachine: true, Wanted: observe.Want(s.plan.Observers, true)},
		Machine: watch.Read, Placement: placementOf(l, s.topology, s.ports), Limited: limited,
	}
}

// endsSite is ends of sessions that run already, one on each link.
type endsSite struct {
	plan                    *plan.Plan
	credentials, secretFile string
}

// newEndsSite makes the site of a Plan of sessions whose ends run already. It refuses --ports, which names ports of
// this machine.
func newEndsSite(p *plan.Plan, o runOptions) (site, error) {
	if len(o.ports) > 0 {
		return nil, errors.New("--ports: servers that run already have ports of their own: leave --ports out")
	}
	return endsSite{p, o.credentials, o.secretFile}, nil
}

// sharedPorts is empty, since servers elsewhere don't report which ports they share.
func (endsSite) sharedPorts() []string { return nil }

func (s endsSite) start(ctx context.Context, _ io.Writer, force bool) (runner.Driver, func(), error) {
	options := sessions.Options{Force: force,
		Whereabouts: observe.Whereabouts{Wanted: observe.Want(s.plan.Observers, false)}}
	if s.secretFile != "" {
		var err error
		if options.Key, err = clientKey(s.secretFile); err != nil {
			return nil, nil, exit.NotMeasured("the secret of the ends: %w; copy the file that they were started with "+
				"(--secret-file)", err)
		}
	}
	var places []sessions.Place
	for _, g := range s.plan.Generators {
		for _, port := range g.Ports {
			places = append(places, sessions.Place{Link: port.Link, Server: g.Server})
		}
	}
	var forget func()
	options.Collector, forget = collectInProcess(ctx, s.plan, s.credentials)
	return sessions.New(places, options), forget, nil
}
