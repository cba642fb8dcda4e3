package cli

import (
	"context"
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
	var terminationLog string
	cmd := &cobra.Command{
		Use:     "sessions",
		Short:   "Serve the end of TCP sessions on an interface of this machine",
		Example: "  sudo linerate sessions --link west --interface eth1 --listen 192.0.2.1:4501",
		Long: "Is one end of a test whose traffic is sessions: the runner gives its interface an address and routes, " +
			"and makes it send and receive\n" +
			"over TCP. Without --verifier whoever reaches the address, other than by the link, can make this machine " +
			"send. All\n" +
			"connections are dropped when no request has come for " + sessions.DriverSilence.String() + ".\n\n" +
			"It needs CAP_NET_ADMIN, for addresses, routes and buffers. The interface should be in a network " +
			"namespace with no other end of the test.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pod.ExplainExit(terminationLog, o.Serve(cmd.Context(), s.Stderr))
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
	verifierFlag(f, &o.Verifier)
	terminationFlag(cmd, &terminationLog, "for what went wrong")
	cmd.AddCommand(newSessionsProbe(s))
	return cmd
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
	credentials string
}

// newSessionsSite makes the site of a Plan of sessions.
func newSessionsSite(p *plan.Plan, o runOptions) (site, error) {
	topology, err := lab.TopologyOf(p, lab.Options{Ports: o.ports, Cores: o.cores, Ends: true})
	return sessionsSite{p, topology, o.credentials}, err
}

// sharedPorts is empty, since a lab's cables have no other users.
func (sessionsSite) sharedPorts() []string { return nil }

func (s sessionsSite) start(ctx context.Context, stderr io.Writer, force bool) (runner.Driver, func(), error) {
	var claimed claims
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
	options := s.options(force, l, machine.Watch{Generator: l.PID()})
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
func (s sessionsSite) options(force bool, l *lab.Lab, watch machine.Watch) sessions.Options {
	limited := func(ctx context.Context) ([]report.Limiter, error) { return limitCounters(ctx, l) }
	return sessions.Options{
		Force: force, Whereabouts: observe.Whereabouts{OneMachine: true, Wanted: observe.Want(s.plan.Observers, true)},
		Machine: watch.Read, Limited: limited,
	}
}
