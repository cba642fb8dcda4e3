package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/units"
)

// Port is one of the engine's interfaces. Port N of the engine is the Nth.
type Port struct {
	Link      string
	Interface string
	// Namespace is where the interface is, if links end in namespaces of their own. Nil is this process's namespace.
	Namespace *netif.Namespace
	// Real says that the interface was made above this machine's interface of the same name (attachPorts).
	Real  bool
	Speed units.BitRate // what the port reports, 0 for the interface's own
	Cores int           // threads that may send on it, 0 for one
	// Processors are those that the threads are bound to, one each. Without any the kernel's scheduler places them.
	Processors []int
	Path       string // as in Topology
	Batch      int    // as in Topology
}

// Engine is a generator with its ports open.
type Engine interface {
	// Serve answers until the context ends, stops all traffic and returns.
	Serve(ctx context.Context, listener net.Listener) error
}

// Bench is what an engine gets, its ports and the counters of the device next to it.
type Bench struct {
	Ports []Port
	// Device reads the kernel's counters of the device's interfaces, named by their links. It is nil if the lab
	// has no device of its own.
	Device func() ([]forwarder.Counted, error)
}

// OpenEngine opens an engine on interfaces in this process's network namespace, or in the ports' own.
type OpenEngine func(ctx context.Context, sender plan.Sender, bench Bench) (Engine, error)

// errParentEnded is the cause of an orderly end.
var errParentEnded = errors.New("the parent has ended, or has closed its end")

// stopGrace is how long the engine may take to stop. After that the process ends anyway.
const stopGrace = 2 * time.Second

// HostMain is the child's main function. It reads its order from standard input and builds the topology. It
// reports on standard output that it is ready, or why not. Then it serves the engine on the listener of file
// descriptor 3, until standard input or the context ends. Only main may call it, as what it builds is removed
// only when the process ends.
func HostMain(ctx context.Context, open OpenEngine) error {
	//nolint:forbidigo // the parent orders on standard input, and reads the answers on standard output
	return host(ctx, os.Stdin, os.Stdout, os.NewFile(3, "listener"), open)
}

func host(ctx context.Context, orders io.Reader, answers io.Writer, listener *os.File, open OpenEngine) error {
	buffered := bufio.NewReader(orders)
	decoder := json.NewDecoder(buffered)
	var o order
	if err := decoder.Decode(&o); err != nil {
		return fmt.Errorf("read the order: %w (this verb is for the lab's own use)", err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	built := make(chan *testbed, 1)
	go func() {
		// It returns when the parent has ended, or has closed its end of the pipe.
		answerQuestions(io.MultiReader(decoder.Buffered(), buffered), answers, func(q question) (answer, error) {
			b := <-built // the parent asks only once the lab is ready
			built <- b
			return b.reply(o.Topology, q)
		})
		stop(errParentEnded)
	}()
	serve, b, err := prepare(ctx, o, listener, open)
	if err := reportReady(answers, err, b.info); err != nil {
		return err
	}
	if err != nil {
		return nil // the parent has got the error on standard output
	}
	built <- b
	return serve(ctx)
}

// prepare builds what was ordered and opens the engine on it.
func prepare(ctx context.Context, o order, listener *os.File, open OpenEngine) (func(context.Context) error, *testbed,
	error) {
	l, err := net.FileListener(listener)
	if err != nil {
		return nil, &testbed{}, fmt.Errorf("take over the engine's port: %w", err)
	}
	_ = listener.Close()
	if o.Verifier.IsZero() {
		return nil, &testbed{}, errors.New("the order has no verifier: any user of this machine could drive the engine")
	}
	l = o.Verifier.Listen(l, credential.Control)
	b, err := build(ctx, o)
	if err != nil {
		return nil, &testbed{}, err
	}
	// without the right to, or a driver that heeds it, processors may sleep
	if request, err := machine.KeepAwake(); err == nil {
		b.closers = append(b.closers, request)
	}
	ports := make([]Port, len(o.Topology.Links))
	for i, link := range o.Topology.Links {
		ports[i] = Port{Link: link.Name, Interface: link.Interface, Namespace: b.ends[link.Name], Speed: link.Speed,
			Real:  o.Topology.Kind == Device && o.Topology.Ends,
			Cores: o.Topology.Cores, Processors: b.senders[link.Name], Path: o.Topology.Path, Batch: o.Topology.Batch}
	}
	if ns := b.ends[plan.DeviceEnd]; ns != nil {
		end := ports[0]
		end.Link, end.Namespace = plan.DeviceEnd, ns
		ports = append(ports, end)
	}
	device, err := b.counters(o.Topology)
	if err != nil {
		b.close()
		return nil, b, err
	}
	engine, err := open(ctx, o.Topology.Sends, Bench{Ports: ports, Device: device})
	if err != nil {
		b.close()
		return nil, b, fmt.Errorf("open the software engine: %w", err)
	}
	serve := func(ctx context.Context) error {
		defer b.close()
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		for _, p := range b.device {
			go func() {
				<-p.exited
				stop(p.Fault())
			}()
		}
		err := serveUntilEnd(ctx, engine, l)
		cause := context.Cause(ctx)
		if fault, ok := errors.AsType[*deviceEnded](cause); ok {
			return fault // there is nothing to measure without the device
		}
		if cause != nil && !errors.Is(cause, errParentEnded) { // as by a signal
			return fmt.Errorf("stopped by a signal: %w", cause)
		}
		return err
	}
	return serve, b, nil
}

func reportReady(answers io.Writer, err error, info forwarder.Info) error {
	s := status{Info: info}
	if err != nil {
		s.Fault = faultOf(err)
	}
	return json.NewEncoder(answers).Encode(s)
}

// serveUntilEnd returns when the engine has, or a bounded time after the context ended.
func serveUntilEnd(ctx context.Context, e Engine, l net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- e.Serve(ctx, l) }()
	select {
	case err := <-served:
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			err = errors.New("it stopped by itself")
		}
		return fmt.Errorf("serve the software engine: %w", err)
	case <-ctx.Done():
	}
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case err := <-served:
		return err
	case <-grace.C:
		return nil
	}
}
