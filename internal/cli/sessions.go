package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/exit"
	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/aside"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/run/sessions"
)

// sessionsOptions are the flags of sessions.
type sessionsOptions struct {
	link, iface, listen, terminationLog string
	wait                                time.Duration
	slowReader                          int64
	verifier                            credential.Verifier
}

func newSessions(s Streams) *cobra.Command {
	var o sessionsOptions
	cmd := &cobra.Command{
		Use:     "sessions",
		Short:   "Serve the end of TCP sessions on an interface of this machine",
		Example: "  sudo linerate sessions --link west --interface eth1 --listen 192.0.2.1:4501",
		Long: "Is one end of a test whose traffic is sessions: the runner gives its interface an address and routes, and makes it send and receive\n" +
			"over TCP. Without --verifier whoever reaches the address, other than by the link, can make this machine send. All\n" +
			"connections are dropped when no request has come for " + sessions.DriverSilence.String() + ".\n\n" +
			"It needs CAP_NET_ADMIN, for addresses, routes and buffers. The interface should be in a network namespace with no other end of the test.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withTermination(o.terminationLog, serveSessions(cmd.Context(), s.Err, o))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.link, "link", "", "the test's name of the link")
	f.StringVar(&o.iface, "interface", "", "the interface on that link (default: the link's name)")
	f.StringVar(&o.listen, "listen", "127.0.0.1:4501", "address to answer the runner on")
	f.DurationVar(&o.wait, "wait", 10*time.Second, "how long to wait until the interface exists, and is up")
	f.Int64Var(&o.slowReader, "fault-read-bytes-per-second", 0, "read no faster on each connection: a receiver that is too slow, for tests")
	_ = f.MarkHidden("fault-read-bytes-per-second")
	verifierFlag(f, &o.verifier)
	terminationFlag(cmd, &o.terminationLog, "for what went wrong")
	cmd.AddCommand(newSessionsProbe(s))
	return cmd
}

// newSessionsProbe is the verb that probes of pods call.
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
			fmt.Fprintln(s.Out, "it answers")
			return conn.Close()
		},
	}
	cmd.Flags().StringVarP(&server, "server", "s", "127.0.0.1:4501", "where it listens")
	return cmd
}

func serveSessions(ctx context.Context, stderr io.Writer, o sessionsOptions) error {
	if o.link == "" {
		return exit.BadInput("linerate sessions: name the link that it is on, such as --link west")
	}
	if o.iface == "" {
		o.iface = o.link
	}
	if err := awaitInterfaces(ctx, stderr, []string{o.iface}, o.wait); err != nil {
		return exit.NotMeasured("%w", err)
	}
	l, err := aside.Listen(ctx, o.listen, []string{o.iface})
	if err != nil {
		return exit.BadInput("--listen %s: %w", o.listen, err)
	}
	fmt.Fprintf(stderr, "end of link %s on interface %s answers on %s; Ctrl-C ends\n", o.link, o.iface, l.Addr())
	warnOpen(stderr, o.verifier, l.Addr().String(), "make this machine send and give "+o.iface+" addresses and routes", "--verifier answers runners of an attempt alone")
	return sessions.Ends{{Link: o.link, Interface: o.iface, Product: product(), SlowReader: o.slowReader, Log: logger(stderr, true)}}.Serve(ctx, o.verifier.Listen(l, credential.Control))
}

func product() string { return "linerate sessions " + version }

// openEnds opens the ends of a lab's links, each in its namespace.
func openEnds(stderr io.Writer, at lab.Bench) (lab.Engine, error) {
	var ends sessions.Ends
	signs := &machine.SignsReader{Links: signsOfLinks(at.Device)}
	for _, p := range at.Ports {
		ends = append(ends, sessions.End{Link: p.Link, Interface: p.Interface, Namespace: p.Namespace, Product: product(), Signs: signs, Log: logger(stderr, true)})
	}
	return ends, nil
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

// sharedPorts is empty: a lab's cables are used by nobody else.
func (sessionsSite) sharedPorts() []string { return nil }

func (s sessionsSite) start(ctx context.Context, stderr io.Writer, force bool) (runner.Driver, func(), error) {
	var mine claims
	mine.claimMachine(stderr)
	l, err := lab.Start(ctx, s.topology, lab.Host{})
	if err != nil {
		mine.release()
		return nil, nil, labError(err)
	}
	var places []sessions.Place
	for _, g := range s.plan.Generators {
		for _, port := range g.Ports {
			places = append(places, sessions.Place{Link: port.Link, Server: l.Address(), DUTMAC: l.DUTMACs()[port.Link]})
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
		mine.release()
	}, nil
}

// options are the driver's options for ends and a device on this machine.
func (s sessionsSite) options(force bool, l *lab.Lab, watch machine.Watch) sessions.Options {
	limited := func(ctx context.Context) ([]report.Limiter, error) { return limitCounters(ctx, l) }
	return sessions.Options{Force: force, Whereabouts: observe.Whereabouts{OneMachine: true, Wanted: observe.Want(s.plan.Observers, true)}, Machine: watch.Read, Limited: limited}
}

// reachedEnds are the pods that are the ends of a Plan's links, as the operator found them.
type reachedEnds []endAt

// endAt is one link's end.
type endAt struct {
	site  plan.Site
	place sessions.Place
}

// reachSessions looks up where the ends are, and waits until each answers: it may take a moment until a pod that is ready can be reached.
func reachSessions(ctx context.Context, j runnerJob, patience time.Duration) (reachable, error) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var all reachedEnds
	var errs []error
	for _, g := range j.plan.Generators {
		at, err := j.siteOf(g)
		if err == nil {
			err = awaitEnd(within, at.RPC)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("generator %s: %w", g.Name, err))
			continue
		}
		for _, port := range g.Ports {
			all = append(all, endAt{at, sessions.Place{Link: port.Link, Server: at.RPC, DUTMAC: at.NextHopMAC[port.Link]}})
		}
	}
	if at := j.sites.DeviceEnd; j.plan.DUT.Endpoint() {
		if err := awaitEnd(within, at); err != nil {
			errs = append(errs, fmt.Errorf("the device's own end: %w", err))
		}
		all = append(all, endAt{place: sessions.Place{Link: plan.DeviceEnd, Server: at}})
	}
	return all, errors.Join(errs...)
}

func awaitEnd(ctx context.Context, server string) error {
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "tcp", server)
		if err == nil {
			return conn.Close()
		}
		if bounded.Pause(ctx, dialPause) != nil {
			return fmt.Errorf("%w: %w", engine.ErrLost, err)
		}
	}
}

// driver makes the driver of these ends.
func (all reachedEnds) driver(j runnerJob) runner.Driver {
	var places []sessions.Place
	for _, e := range all {
		places = append(places, e.place)
	}
	return sessions.New(places, sessions.Options{Force: j.force, Key: j.sites.Key, Whereabouts: j.whereabouts()})
}

func (reachedEnds) warnings() []string { return nil }

// keepAlive has nothing to do: the driver's own requests keep the ends from stopping.
func (reachedEnds) keepAlive(context.Context, time.Time, *slog.Logger, context.CancelCauseFunc) func() []report.Note {
	return func() []report.Note { return nil }
}

// describe adds to the Report where the ends ran.
func (all reachedEnds) describe(r *report.Report) {
	for i := range r.Generators {
		entry := &r.Generators[i]
		at := slices.IndexFunc(all, func(e endAt) bool { return e.site.Generator == entry.Name })
		if at < 0 {
			continue
		}
		entry.Pod, entry.Node, entry.Containers = all[at].site.Pod, all[at].site.Node, all[at].site.Containers
		for p := range entry.Ports {
			entry.Ports[p].PhysicalPort = all[at].site.PhysicalPort[entry.Ports[p].Link]
		}
	}
}

func (reachedEnds) disconnect() {}
