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

	"github.com/linerate-dev/linerate/internal/cli/exit"
	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/device/tunnel"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/signs"
	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

// forwarderOptions are the flags of forwarder.
type forwarderOptions struct {
	spec, terminationLog string
	digest               string
	vitals               string
	wait                 time.Duration
	verbose, reset       bool
	verifier             credential.Verifier
}

func newForwarder(s Streams) *cobra.Command {
	var o forwarderOptions
	cmd := &cobra.Command{
		Use:     "forwarder",
		Short:   "Make this network namespace's kernel forward: the Reference device under test",
		Example: "  linerate forwarder --spec /etc/linerate-static/forwarder.json",
		Long: "Sets up addresses, routes or bridges, and limits as the file says, and then waits: the kernel forwards. It needs CAP_NET_ADMIN, and\n" +
			"for IPv6 a /proc/sys that it may write or that forwards already. With --vitals it also serves vital signs of this machine, and what its limit\n" +
			"counted, at that address, but not to clients on its links (see linerate vitals). With --reset it forgets what it learned\n" +
			"when a client asks for a reset (see linerate reset). The gateways of a tunnel recognize each other by the\n" +
			"token in the variable " + plan.TunnelTokenVariable + "; each is set up once it has reached the other one.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withTermination(o.terminationLog, runForwarder(cmd.Context(), s, o))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.spec, "spec", "", "file that says what to forward between which interfaces, as JSON")
	digestFlag(f, &o.digest, "spec")
	vitalsFlag(cmd, &o.vitals, "no one")
	verifierFlag(f, &o.verifier)
	f.BoolVar(&o.reset, "reset", false, "with --vitals and --verifier: let clients reset the device")
	f.DurationVar(&o.wait, "wait", 10*time.Second, "how long to wait until the interfaces exist")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "name each setting that could not be made")
	terminationFlag(cmd, &o.terminationLog, "for what went wrong")
	_ = cmd.MarkFlagRequired("spec")
	cmd.AddCommand(newProbe(s, "Ask whether the forwarder of this network namespace is set up: for startup probes", "linerate forwarder probe", forwarderReady, "it forwards",
		"the forwarder is not set up, or not here"))
	return cmd
}

func runForwarder(ctx context.Context, s Streams, o forwarderOptions) error {
	if o.reset && o.verifier.IsZero() {
		return exit.BadInput("--reset needs --verifier: without it anybody on the pods' network could reset the device")
	}
	spec, err := readForwarderSpec(o.spec, o.digest)
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
	printSetup(s.Err, info, o.verbose)
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
		return exit.NotMeasured("announce that it is ready: %w; another forwarder runs in this network namespace", err)
	}
	defer func() { _ = ready.Close() }()
	vitalsServed := serveVitalsMeanwhile(ctx, s.Err, o, spec)
	fmt.Fprintln(s.Err, forwards+" forwards")
	select {
	case <-ctx.Done():
	case <-ended:
		if ctx.Err() == nil {
			return exit.NotMeasured("%w", device.Fault())
		}
	}
	vitalsServed.Wait()
	printLimitCounters(s.Err, spec.Spec)
	return nil
}

// serveVitalsMeanwhile serves vital signs until ctx ends. Forwarding goes on where that fails.
func serveVitalsMeanwhile(ctx context.Context, stderr io.Writer, o forwarderOptions, spec forwarderFile) *sync.WaitGroup {
	var telling sync.WaitGroup
	if o.vitals == "" {
		return &telling
	}
	unread := func(err error) {
		fmt.Fprintf(stderr, "note: no vital signs of this device can be read, and it can't be reset: %v\n", err)
	}
	l, err := listenVitals(ctx, o.vitals, spec.interfaces())
	if err != nil {
		unread(err)
		return &telling
	}
	warnOpen(stderr, o.verifier, l.Addr().String(), openVitals, closedVitals)
	server := &vitals.Server{Limits: limitsOf(spec.Spec), Verifier: o.verifier}
	if spec.Tunnel == nil { // else the other gateway has the other links
		counters, err := forwarder.OpenCounters(nil, spec.Spec)
		server.Signs.Links = signsOfLinks(counters.Read)
		if err != nil {
			server.Signs.Links = func() ([]signs.Value, error) { return nil, err }
		}
	}
	if o.reset {
		server.Reset = referenceResetHandler(spec)
	}
	telling.Go(func() {
		if err := serveVitals(ctx, l, server); err != nil {
			unread(err)
		}
	})
	return &telling
}

// limitsOf reads what the limits in this process's namespace counted; nil where there are none.
func limitsOf(spec forwarder.Spec) func() ([]vitals.Limit, error) {
	if spec.Limit == nil {
		return nil
	}
	return func() (all []vitals.Limit, err error) {
		taken, err := forwarder.ReadLimitCounters(nil, spec)
		for _, t := range taken {
			all = append(all, vitals.Limit{From: t.From, To: t.To, Passed: t.Passed, Dropped: t.Dropped})
		}
		return all, err
	}
}

// signsOfLinks are the kernel's counters of a device's interfaces as vital signs; nil where device is nil.
func signsOfLinks(device func() ([]forwarder.Counted, error)) func() ([]signs.Value, error) {
	if device == nil {
		return nil
	}
	return func() (all []signs.Value, err error) {
		counted, err := device()
		for _, c := range counted {
			value := func(series string, n int64) signs.Value {
				return signs.Value{Series: series, Part: c.Interface, Number: float64(n)}
			}
			all = append(all, value("received", c.Received), value("sent", c.Sent), value("dropped", c.Dropped), value("errors", c.Errors))
		}
		return all, err
	}
}

// printLimitCounters prints at the end what the limits counted: frames that are missing beyond that were lost by the machine.
func printLimitCounters(w io.Writer, spec forwarder.Spec) {
	taken, err := forwarder.ReadLimitCounters(nil, spec)
	if err != nil {
		fmt.Fprintf(w, "note: %v\n", err)
	}
	for _, t := range taken {
		fmt.Fprintf(w, "limit %s to %s: let %d frames through, dropped %d\n", t.From, t.To, t.Passed, t.Dropped)
	}
}

// printSetup prints what was set up. Settings that could not be made don't change figures by themselves, and a pod has many of them: without verbose they
// are one line together.
func printSetup(w io.Writer, info forwarder.Info, verbose bool) {
	for _, what := range info.Applied {
		fmt.Fprintln(w, "applied: "+what)
	}
	if n := len(info.Missing); n > 0 && !verbose {
		fmt.Fprintf(w, "note: %d settings of this network namespace could not be made; none of them changes figures by itself (-v names them)\n", n)
		return
	}
	for _, what := range info.Missing {
		fmt.Fprintln(w, "note: could not be set: "+what)
	}
}

// forwarderFile is the file of --spec: what to forward and, for a gateway of a tunnel, where the other gateway is.
type forwarderFile struct {
	forwarder.Spec
	Tunnel *tunnel.GatewayInPod `json:"tunnel,omitempty"`
}

// interfaces are the device's interfaces, with the cable between a tunnel's gateways.
func (f forwarderFile) interfaces() (names []string) {
	for _, l := range f.Links {
		names = append(names, l.Interface)
	}
	if f.Tunnel != nil {
		names = append(names, plan.TunnelCable)
	}
	return names
}

func readForwarderSpec(file, digest string) (spec forwarderFile, err error) {
	if err := readStrictly(file, digest, &spec); err != nil {
		return spec, err
	}
	if len(spec.interfaces()) < 2 {
		return spec, fmt.Errorf("it has %d links: a forwarder needs two or more", len(spec.Links))
	}
	return spec, nil
}

// awaitLinks waits until the interfaces exist. It doesn't set them up: first the kernel has to be kept from sending frames of its own on them.
func awaitLinks(ctx context.Context, interfaces []string, wait time.Duration) error {
	within, cancel := context.WithTimeout(ctx, wait)
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
		if bounded.Pause(within, interfacePoll) != nil {
			return fmt.Errorf("no interface %s in this network namespace; in a pod, look at the annotation k8s.v1.cni.cncf.io/networks and at Multus' log",
				strings.Join(missing, ", "))
		}
	}
}

// forwarderReady is an abstract socket in the network namespace, which needs no file system: a probe that can connect to it knows that everything is set up.
const forwarderReady = "@linerate/forwarder"

// newProbe makes a verb that succeeds where a process listens on an abstract socket of the network namespace.
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
