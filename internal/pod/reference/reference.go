package reference

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/device/tunnel"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/signs"
	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/pod/reset"
	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

// Ready is an abstract socket in the network namespace, which needs no file system. A probe that can connect to
// it knows that everything is set up.
const Ready = "@linerate/forwarder"

// Options are what a Reference's pod is started with.
type Options struct {
	// Spec is the file that says what to forward, of this Digest.
	Spec, Digest string
	// Vitals is the address to serve vital signs at, empty for none. Reset lets clients that prove the key of
	// Verifier reset the device there.
	Vitals   string
	Reset    bool
	Verifier credential.Verifier
	// Wait is how long the interfaces may take to exist.
	Wait time.Duration
	// Verbose names each setting that could not be made.
	Verbose bool
}

// Run makes this network namespace forward until ctx ends.
func Run(ctx context.Context, stderr io.Writer, o Options) error {
	if o.Reset && o.Verifier.IsZero() {
		return exit.BadInput("--reset needs --verifier: without it anybody on the pods' network could reset the device")
	}
	spec, err := readSpec(o.Spec, o.Digest)
	if err != nil {
		return exit.BadInput("--spec %s: %w", o.Spec, err)
	}
	if err := pod.AwaitLinks(ctx, spec.interfaces(), o.Wait); err != nil {
		return exit.NotMeasured("%w", err)
	}
	info, err := forwarder.Configure(ctx, nil, spec.Spec)
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	printSetup(stderr, info, o.Verbose)
	forwards, device, err := startDevice(ctx, stderr, spec)
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	var ended <-chan struct{}
	if device != nil {
		defer func() { _ = device.Close() }()
		ended = device.Done()
	}
	ready, err := net.Listen("unix", Ready)
	if err != nil {
		return exit.NotMeasured("announce that it is ready: %w; another forwarder runs in this network namespace", err)
	}
	defer func() { _ = ready.Close() }()
	vitalsServed := serveVitalsMeanwhile(ctx, stderr, o, spec)
	fmt.Fprintln(stderr, forwards+" forwards")
	select {
	case <-ctx.Done():
	case <-ended:
		if ctx.Err() == nil {
			return exit.NotMeasured("%w", device.Fault())
		}
	}
	vitalsServed.Wait()
	printLimitCounters(stderr, spec.Spec)
	return nil
}

// serveVitalsMeanwhile serves vital signs until ctx ends. Forwarding goes on where that fails.
func serveVitalsMeanwhile(ctx context.Context, stderr io.Writer, o Options, spec file) *sync.WaitGroup {
	var telling sync.WaitGroup
	if o.Vitals == "" {
		return &telling
	}
	unread := func(err error) {
		fmt.Fprintf(stderr, "note: no vital signs of this device can be read, and it can't be reset: %v\n", err)
	}
	l, err := vitals.Listen(ctx, o.Vitals, spec.interfaces())
	if err != nil {
		unread(err)
		return &telling
	}
	vitals.WarnOpen(stderr, o.Verifier, l)
	server := &vitals.Server{Limits: limitsOf(spec.Spec), Verifier: o.Verifier}
	if spec.Tunnel == nil { // else the other gateway has the other links
		counters, err := forwarder.OpenCounters(nil, spec.Spec)
		server.Signs.Links = forwarder.Signs(counters.Read)
		if err != nil {
			server.Signs.Links = func() ([]signs.Value, error) { return nil, err }
		}
	}
	if o.Reset {
		server.Reset = resetHandler(spec)
	}
	telling.Go(func() {
		if err := server.ServeAside(ctx, l); err != nil {
			unread(err)
		}
	})
	return &telling
}

// limitsOf reads what the limits in this process's namespace counted. It is nil where there are none.
func limitsOf(spec forwarder.Spec) func() ([]vitals.Limit, error) {
	if spec.Limit == nil {
		return nil
	}
	return func() (limits []vitals.Limit, err error) {
		counters, err := forwarder.ReadLimitCounters(nil, spec)
		for _, t := range counters {
			limits = append(limits, vitals.Limit{From: t.From, To: t.To, Passed: t.Passed, Dropped: t.Dropped})
		}
		return limits, err
	}
}

// resetHandler serves resets of the Reference in this process's namespace.
func resetHandler(spec file) *reset.Handler {
	return &reset.Handler{Reset: func(context.Context) (string, error) {
		if spec.Tunnel != nil {
			return lab.NothingLearned, nil
		}
		return forwarder.Reset(nil, spec.Spec)
	}}
}

// printLimitCounters prints at the end what the limits counted. The machine lost all other frames that are missing.
func printLimitCounters(w io.Writer, spec forwarder.Spec) {
	counters, err := forwarder.ReadLimitCounters(nil, spec)
	if err != nil {
		fmt.Fprintf(w, "note: %v\n", err)
	}
	for _, t := range counters {
		fmt.Fprintf(w, "limit %s to %s: let %d frames through, dropped %d\n", t.From, t.To, t.Passed, t.Dropped)
	}
}

// printSetup prints what was set up. Settings that could not be made don't change figures by themselves, and a
// pod has many of them, so that one line is about all of them unless verbose.
func printSetup(w io.Writer, info forwarder.Info, verbose bool) {
	for _, setting := range info.Applied {
		fmt.Fprintln(w, "applied: "+setting)
	}
	if n := len(info.Missing); n > 0 && !verbose {
		fmt.Fprintf(w, "note: %d settings of this network namespace could not be made; none of them changes figures "+
			"by itself (-v names them)\n", n)
		return
	}
	for _, setting := range info.Missing {
		fmt.Fprintln(w, "note: could not be set: "+setting)
	}
}

// file is the file of --spec. It says what to forward and, for a gateway of a tunnel, where the other gateway is.
type file struct {
	forwarder.Spec
	Tunnel *tunnel.GatewayInPod `json:"tunnel,omitempty"`
}

// interfaces are the device's interfaces, with the cable between a tunnel's gateways.
func (f file) interfaces() (names []string) {
	for _, l := range f.Links {
		names = append(names, l.Interface)
	}
	if f.Tunnel != nil {
		names = append(names, plan.TunnelCable)
	}
	return names
}

func readSpec(name, digest string) (spec file, err error) {
	if err := pod.ReadJSON(name, digest, &spec); err != nil {
		return spec, err
	}
	if len(spec.interfaces()) < 2 {
		return spec, fmt.Errorf("it has %d links: a forwarder needs two or more", len(spec.Links))
	}
	return spec, nil
}
