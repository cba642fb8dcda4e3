package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/exit"
	"github.com/linerate-dev/linerate/internal/forwarder"
	"github.com/linerate-dev/linerate/internal/pause"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/signs"
	"github.com/linerate-dev/linerate/internal/tunnel"
	"github.com/linerate-dev/linerate/internal/vitals"
)

// forwarderOptions are the flags of forwarder.
type forwarderOptions struct {
	spec, terminationLog string
	vitals               string
	wait                 time.Duration
	verbose              bool
}

func newForwarder(s Streams) *cobra.Command {
	var o forwarderOptions
	cmd := &cobra.Command{
		Use:     "forwarder",
		Short:   "Make this network namespace's kernel forward: the Reference device under test",
		Example: "  linerate forwarder --spec /etc/linerate-static/forwarder.json",
		Long: "Sets up addresses, routes or bridges, and limits as the file says, and then waits: the kernel forwards. It needs CAP_NET_ADMIN, and\n" +
			"for IPv6 a /proc/sys that it may write or that forwards already. With --vitals it also tells how this machine fares, and what its limit\n" +
			"counted, to whoever asks at that address by any other way than its links (see linerate vitals), and forgets what it learned when who\n" +
			"shows the token of the variable " + resetToken + " asks for that (see linerate reset). A gateway of a tunnel knows the other one by the\n" +
			"token of the variable " + tunnelToken + ", and is set up once they have met.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withTermination(o.terminationLog, runForwarder(cmd.Context(), s, o))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.spec, "spec", "", "file that says what to forward between which interfaces, as JSON")
	vitalsFlag(cmd, &o.vitals, "no one")
	f.DurationVar(&o.wait, "wait", 10*time.Second, "how long interfaces may take to be there")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "name each setting that could not be had")
	terminationFlag(cmd, &o.terminationLog, "for what went wrong")
	_ = cmd.MarkFlagRequired("spec")
	cmd.AddCommand(newProbe(s, "Ask whether the forwarder of this network namespace is set up: for startup probes", "linerate forwarder probe", forwarderReady, "it forwards",
		"the forwarder is not set up, or not here"))
	return cmd
}

func runForwarder(ctx context.Context, s Streams, o forwarderOptions) error {
	spec, err := readForwarderSpec(o.spec)
	if err != nil {
		return exit.BadInput("--spec %s: %w", o.spec, err)
	}
	if err := awaitLinks(ctx, spec.interfaces(), o.wait); err != nil {
		return exit.NotMeasured("%w", err)
	}
	info, err := forwarder.Configure(ctx, nil, spec.Spec)
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	tellSetUp(s.Err, info, o.verbose)
	forwards, device, err := startDevice(ctx, s.Err, spec)
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	var ended <-chan struct{}
	if device != nil {
		defer func() { _ = device.Close() }()
		ended = device.Done()
	}
	ready, err := net.Listen("unix", forwarderReady)
	if err != nil {
		return exit.NotMeasured("say that it is ready: %w; another forwarder is in this network namespace", err)
	}
	defer func() { _ = ready.Close() }()
	told := tellVitals(ctx, s.Err, o.vitals, spec)
	fmt.Fprintln(s.Err, forwards+" forwards")
	select {
	case <-ctx.Done():
	case <-ended:
		if ctx.Err() == nil {
			return exit.NotMeasured("%w", device.Fault())
		}
	}
	told.Wait()
	tellTaken(s.Err, spec.Spec)
	return nil
}

// tellVitals tells vital signs beside forwarding, which doesn't depend on it, until ctx ends.
func tellVitals(ctx context.Context, talk io.Writer, address string, spec forwarderFile) *sync.WaitGroup {
	var telling sync.WaitGroup
	if address == "" {
		return &telling
	}
	unread := func(err error) {
		fmt.Fprintf(talk, "note: observers of this device will read nothing, and nobody can have it reset: %v\n", err)
	}
	l, err := listenVitals(ctx, address, spec.interfaces())
	if err != nil {
		unread(err)
		return &telling
	}
	server := &vitals.Server{Limits: limitsOf(spec.Spec)}
	if spec.Tunnel == nil { // else the other gateway has the other links
		counters, err := forwarder.OpenCounters(nil, spec.Spec)
		server.Signs.Links = signsOfLinks(counters.Read)
		if err != nil {
			server.Signs.Links = func() ([]signs.Value, error) { return nil, err }
		}
	}
	if handler := resetReference(spec); handler != nil {
		server.Reset = handler
	}
	telling.Go(func() {
		if err := serveVitals(ctx, l, server); err != nil {
			unread(err)
		}
	})
	return &telling
}

// limitsOf reads what the limits of the calling process' namespace counted; nil: there are none.
func limitsOf(spec forwarder.Spec) func() ([]vitals.Limit, error) {
	if spec.Limit == nil {
		return nil
	}
	return func() (all []vitals.Limit, err error) {
		taken, err := forwarder.ReadTaken(nil, spec)
		for _, t := range taken {
			all = append(all, vitals.Limit{From: t.From, To: t.To, Passed: t.Passed, Dropped: t.Dropped})
		}
		return all, err
	}
}

// signsOfLinks are the kernel's counters of a device's interfaces as vital signs; nil: nobody reads them.
func signsOfLinks(device func() ([]forwarder.Counted, error)) func() ([]signs.Value, error) {
	if device == nil {
		return nil
	}
	return func() (all []signs.Value, err error) {
		counted, err := device()
		for _, c := range counted {
			value := func(series string, n int64) signs.Value {
				return signs.Value{Series: series, Of: c.Interface, Number: float64(n)}
			}
			all = append(all, value("received", c.Received), value("sent", c.Sent), value("dropped", c.Dropped), value("errors", c.Errors))
		}
		return all, err
	}
}

// tellTaken says at the end what the limits counted: frames that are missing besides were lost by the machine.
func tellTaken(w io.Writer, spec forwarder.Spec) {
	taken, err := forwarder.ReadTaken(nil, spec)
	if err != nil {
		fmt.Fprintf(w, "note: %v\n", err)
	}
	for _, t := range taken {
		fmt.Fprintf(w, "limit %s to %s: let %d frames through, took %d\n", t.From, t.To, t.Passed, t.Dropped)
	}
}

// tellSetUp says what was set up. What could not be had changes nothing that is measured by itself, and in a pod it is much: one line for all of it,
// unless somebody asks.
func tellSetUp(w io.Writer, info forwarder.Info, verbose bool) {
	for _, what := range info.Applied {
		fmt.Fprintln(w, "applied: "+what)
	}
	if n := len(info.Missing); n > 0 && !verbose {
		fmt.Fprintf(w, "note: %d settings of this network namespace could not be had; none changes what is measured by itself (-v names them)\n", n)
		return
	}
	for _, what := range info.Missing {
		fmt.Fprintln(w, "note: could not be had: "+what)
	}
}

// forwarderFile is what --spec holds: what is forwarded and, of a gateway of a tunnel, where the other one is.
type forwarderFile struct {
	forwarder.Spec
	Tunnel *tunnel.GatewayInPod `json:"tunnel,omitempty"`
}

// interfaces are those that the device is reached by, a tunnel's cable among them.
func (f forwarderFile) interfaces() (names []string) {
	for _, l := range f.Links {
		names = append(names, l.Interface)
	}
	if f.Tunnel != nil {
		names = append(names, plan.TunnelCable)
	}
	return names
}

func readForwarderSpec(file string) (spec forwarderFile, err error) {
	if err := readStrictly(file, &spec); err != nil {
		return spec, err
	}
	if len(spec.interfaces()) < 2 {
		return spec, fmt.Errorf("it has %d links: a forwarder stands between two at least", len(spec.Links))
	}
	return spec, nil
}

// awaitLinks waits until the interfaces are there. They are left as they are: what they may say has to be settled before they are up.
func awaitLinks(ctx context.Context, interfaces []string, wait time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		var missing []string
		for _, name := range interfaces {
			_, err := netlink.LinkByName(name)
			if _, absent := errors.AsType[netlink.LinkNotFoundError](err); absent {
				missing = append(missing, name)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		if pause.For(bounded, interfacePoll) != nil {
			return fmt.Errorf("no interface %s in this network namespace; in a pod, look at the annotation k8s.v1.cni.cncf.io/networks and at Multus' log",
				strings.Join(missing, ", "))
		}
	}
}

// forwarderReady is an abstract socket of the network namespace, which needs no file system: who can connect to it knows that all is set up.
const forwarderReady = "@linerate/forwarder"

// newProbe asks whether somebody listens on an abstract socket of the network namespace.
func newProbe(s Streams, short, example, socket, yes, no string) *cobra.Command {
	return &cobra.Command{
		Use:     "probe",
		Short:   short,
		Example: "  " + example,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			conn, err := (&net.Dialer{Timeout: 3 * time.Second}).DialContext(cmd.Context(), "unix", socket)
			if err != nil {
				return exit.NotMeasured("%s: %w", no, err)
			}
			fmt.Fprintln(s.Out, yes)
			return conn.Close()
		},
	}
}
