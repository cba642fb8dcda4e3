package lab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// Verb is the hidden verb of linerate's own program that runs HostMain.
const Verb = "lab-host"

// closeGrace is how long the child may take to end by itself before it is killed. All that it has to do is stop
// traffic.
const closeGrace = 3 * time.Second

// Host is the command that runs HostMain. The zero value is this very program with Verb.
type Host struct {
	Path string
	Args []string
	Env  []string // nil is this process's own
}

// Lab is a running lab. Its methods are safe for concurrent use.
type Lab struct {
	topology      Topology
	info          forwarder.Info
	address       string
	key           credential.Key
	child         *child
	closing       atomic.Bool
	closeOnce     func() error
	endPrecedence func() // ends the precedence of this process
	endStay       func() error

	asking  sync.Mutex // one question at a time
	asked   int
	answers chan answer
	closed  chan struct{} // closed by Close
	hearing sync.WaitGroup
}

// Start builds the topology in a child process and returns when its engine answers. The context bounds only the
// start. The lab lasts until Close, or until this process ends for whatever reason. Until then this process's
// session has priority over others (machine.AskFirst). Every error is a *Fault or the context's error.
func Start(ctx context.Context, t Topology, h Host) (*Lab, error) {
	if err := checkInterfaces(t); err != nil {
		return nil, err
	}
	listener, file, err := listen()
	if err != nil {
		return nil, faultOf(err)
	}
	defer func() { _ = file.Close() }()
	// The child has its own copy of the listener. Once this one is closed, connections are refused if the child
	// dies, and don't wait.
	defer func() { _ = listener.Close() }()

	c, err := spawn(t, h, file)
	if err != nil {
		return nil, err
	}
	l := &Lab{topology: t, address: listener.Addr().String(), key: credential.New(), child: c,
		answers: make(chan answer), closed: make(chan struct{})}
	l.closeOnce, l.endPrecedence = sync.OnceValue(l.end), machine.AskFirst()
	l.endStay = func() error { return nil }
	if err := l.awaitReady(ctx); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if err := l.leaveProcessors(); err != nil {
		return nil, errors.Join(faultOf(err), l.Close())
	}
	return l, nil
}

// leaveProcessors keeps this process off the processors that the device's threads have for themselves. The child chose
// them by the same rule.
func (l *Lab) leaveProcessors() error {
	processors, err := machine.OwnProcessors()
	if err != nil {
		return err
	}
	if others := l.topology.placement(processors).others; len(others) > 0 {
		l.endStay, err = machine.StayOn(others...)
	}
	return err
}

// listen opens a TCP port of the kernel's choice on loopback, in the namespace of this process.
func listen() (net.Listener, *os.File, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("open a port for the engine: %w", err)
	}
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("hand over the engine's port: %w", err), l.Close())
	}
	return l, file, nil
}

// order is what the child reads first on its standard input.
type order struct {
	Topology Topology `json:"topology"`
	// Verifier is of the parent's key, as any user of this machine reaches the engine's port, and nobody else may
	// drive it.
	Verifier credential.Verifier `json:"verifier"`
	// ParentNamespace is the namespace in which the child must not build, 0 if the child builds nothing.
	ParentNamespace uint64 `json:"parentNamespace,omitempty"`
}

// status is the child's first line on its standard output. It says that the child is ready, or why not.
type status struct {
	Fault *Fault         `json:"fault,omitempty"`
	Info  forwarder.Info `json:"info,omitzero"`
}

func (l *Lab) awaitReady(ctx context.Context) error {
	type first struct {
		status status
		err    error
	}
	statuses := make(chan first, 1)
	l.hearing.Go(func() {
		decoder := json.NewDecoder(bufio.NewReader(l.child.status))
		var s status
		err := decoder.Decode(&s)
		statuses <- first{s, err}
		l.receiveAnswers(decoder)
	})
	if err := l.sendOrder(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("start the lab: %w", context.Cause(ctx))
	case a := <-statuses:
		switch {
		case a.status.Fault != nil:
			return a.status.Fault
		case a.err != nil:
			<-l.child.exited // it closed its standard output without a word
			return l.child.fault()
		}
		l.info = a.status.Info
		return nil
	}
}

func (l *Lab) sendOrder() error {
	o := order{Topology: l.topology, Verifier: l.key.Verifier()}
	if l.topology.Kind != Device {
		ns, err := netif.CurrentNamespace()
		if err != nil {
			return faultOf(err)
		}
		defer func() { _ = ns.Close() }()
		if o.ParentNamespace, err = ns.ID(); err != nil {
			return faultOf(err)
		}
	}
	if err := json.NewEncoder(l.child.life).Encode(o); err != nil {
		<-l.child.exited
		return l.child.fault()
	}
	return nil
}

// Address is the host:port where the engine's RPC answers.
func (l *Lab) Address() string { return l.address }

// Key is what the engine wants to be proved (credential.Control).
func (l *Lab) Key() credential.Key { return l.key }

// PortOfLink is the engine's port number of each link.
func (l *Lab) PortOfLink() map[string]int {
	ports := make(map[string]int, len(l.topology.Links))
	for i, link := range l.topology.Links {
		ports[link.Name] = i
	}
	return ports
}

// DUTMACs are the MACs of the Reference's interfaces by link. It is empty for other devices, whose MACs are in
// the Plan or found by ARP.
func (l *Lab) DUTMACs() map[string]string {
	macs := map[string]string{}
	if l.topology.Kind == Reference {
		for _, link := range l.topology.Links {
			macs[link.Name] = net.HardwareAddr(link.DUTMAC).String()
		}
	}
	return macs
}

// Info says how the forwarder was set up. It is empty without one.
func (l *Lab) Info() forwarder.Info { return l.info }

// PID is the process of the child, the software engine whose threads send.
func (l *Lab) PID() int { return l.child.command.Process.Pid }

// Forwards says whether a process belongs to the device, which the lab's child, or one of its children, started.
func (l *Lab) Forwards(pid int) bool {
	if m := l.topology.Mode; m == nil || m.Tunnel == nil && m.Userspace == nil {
		return false
	}
	for pid > 1 && pid != l.PID() {
		if pid = parentOf(pid); pid == l.PID() {
			return true
		}
	}
	return false
}

// parentOf is a process's parent, 0 if it has ended.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	var state string
	var parent int
	// after the name, which may contain anything
	_, _ = fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent)
	return parent
}

// Done is closed when the child has ended.
func (l *Lab) Done() <-chan struct{} { return l.child.exited }

// Err is nil while the lab runs and after Close. Otherwise it is the *Fault of the lab's end.
func (l *Lab) Err() error {
	select {
	case <-l.child.exited:
		if l.closing.Load() {
			return nil
		}
		return l.child.fault()
	default:
		return nil
	}
}

// Close ends the lab and returns once its process has ended. The kernel removes the namespaces a moment later.
// Close may be called more than once.
func (l *Lab) Close() error { return l.closeOnce() }

func (l *Lab) end() (err error) {
	defer func() { err = errors.Join(err, l.endStay()) }()
	defer l.endPrecedence()
	l.closing.Store(true)
	_ = l.child.life.Close()
	close(l.closed)
	defer func() {
		_ = l.child.status.Close()
		l.hearing.Wait()
	}()
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	select {
	case <-l.child.exited:
		return nil
	case <-grace.C:
	}
	err = l.child.kill()
	<-l.child.exited
	return err
}
