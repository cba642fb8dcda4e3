package sessions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/measure"
)

// end is one link's end. It sends in at most one direction, and receives in at most one.
type end struct {
	End
	program *program
	log     *slog.Logger

	mu         sync.Mutex
	driver     net.Conn
	driverLeft chan struct{} // closed when the driver has left

	// The fields below are used by the driver's goroutine only.
	local     Network
	undoList  undoList
	sender    sending
	receiver  receiving
	test      *serverTest           // with a server that isn't linerate's
	lateDrops <-chan *measure.Drops // a reading of drop counters that nobody waits for any more, or nil
}

// sending is the sender of one direction, and receiving is a receiver, of any application. Both are safe for
// concurrent use.
type sending interface {
	// send begins to send, for the given time. It is called once.
	send(lasts time.Duration) error
	read(clock func() time.Duration) *measure.Sending
	close()
}

type receiving interface {
	// awaitAll waits until all connections have come.
	awaitAll(ctx context.Context) (*Opened, error)
	read(clock func() time.Duration) *measure.Receiving
	close()
}

// enter makes conn the end's driver. With force, it first makes another driver leave.
func (e *end) enter(conn net.Conn, force bool) error {
	for {
		e.mu.Lock()
		if e.driver == nil {
			e.driver, e.driverLeft = conn, make(chan struct{})
			e.mu.Unlock()
			return nil
		}
		current, driverLeft := e.driver, e.driverLeft
		e.mu.Unlock()
		if !force {
			return fmt.Errorf("link %s: %w, at %s", e.Link, errTaken, current.RemoteAddr())
		}
		_ = current.Close()
		<-driverLeft
	}
}

// restoreInterface removes the settings that this driver added to the interface.
func (e *end) restoreInterface() {
	additions := e.undoList
	e.undoList = nil
	if err := e.Namespace.Do(additions.undo); err != nil {
		e.log.Warn("not all settings of the interface could be removed", "link", e.Link, "interface", e.Interface,
			"error", err)
	}
}

// leave drops all connections, removes what the driver added to the interface, and lets the next driver in.
func (e *end) leave() {
	e.halt()
	e.restoreInterface()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.driver = nil
	close(e.driverLeft)
}

func (e *end) halt() {
	if e.sender != nil {
		e.sender.close()
	}
	if e.receiver != nil {
		e.receiver.close()
	}
	if e.test != nil {
		e.test.close()
	}
	e.sender, e.receiver, e.test = nil, nil, nil
}

func (e *end) describe() (*Welcome, error) {
	w := &Welcome{Product: e.Product, Interface: e.Interface, Machine: machine.Local()}
	w.Hostname, _ = os.Hostname()
	var nic machine.NIC
	if e.Interface == "" {
		return nil, errors.New("no interface leads to the server")
	}
	err := e.Namespace.Do(func() error {
		i, err := net.InterfaceByName(e.Interface)
		if err != nil {
			return fmt.Errorf("interface %s: %w", e.Interface, err)
		}
		w.MAC = i.HardwareAddr.String()
		nic = machine.NICOf(e.Interface)
		return nil
	})
	if e.Port != "" {
		nic = machine.NICOf(e.Port)
	}
	w.Driver, w.NIC, w.Firmware = nic.Driver, nic.Model, nic.Firmware
	return w, err
}

// handle carries out one request.
func (e *end) handle(ctx context.Context, r request, clock func() time.Duration) (a answer, err error) {
	if !e.can(r) {
		return a, fmt.Errorf("this end can't do %q now", r.Verb)
	}
	switch r.Verb {
	case doLay:
		a.Laid, err = e.lay(*r.Lay)
	case doListen:
		err = e.listen(*r.Listen)
	case doConnect:
		a.Opened, err = e.connect(ctx, *r.Connect)
	case doCame:
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		a.Opened, err = e.receiver.awaitAll(ctx)
	case doSend:
		err = e.sender.send(r.Send.Lasts)
	case doRead:
		if a.Reading = e.read(clock); r.Read == nil {
			break
		}
		if r.Read.Processors {
			a.Reading.Vitals = e.program.vitals(clock)
		}
		a.Reading.Signs = e.program.signs.Read(r.Read.Signs, clock)
	case doTest:
		a.Opened, err = e.startTest(ctx, *r.Test)
	case doFinish:
		ctx, cancel := context.WithTimeout(ctx, finishTimeout)
		defer cancel()
		a.Counted, err = e.test.finish(ctx)
		e.test.close()
		e.test = nil
	case doHalt:
		e.halt()
	}
	return a, err
}

// can reports whether the end is in a state for a request, and the request has what its verb needs.
func (e *end) can(r request) bool {
	switch r.Verb {
	case doLay:
		return r.Lay != nil
	case doListen:
		return r.Listen != nil
	case doConnect:
		return r.Connect != nil
	case doCame:
		return e.receiver != nil
	case doSend:
		return r.Send != nil && e.sender != nil
	case doTest:
		return r.Test != nil && e.test == nil
	case doFinish:
		return e.test != nil
	case doRead, doHalt:
		return true
	}
	return false
}

// lay sets up the interface's network, in place of the one that this driver set up before.
func (e *end) lay(network Network) (*Laid, error) {
	e.local = network
	e.local.AsItIs = e.local.AsItIs || e.Prepared
	var laid Laid
	e.restoreInterface()
	err := e.Namespace.Do(func() (err error) {
		laid, e.undoList, err = setUpNetwork(e.Interface, e.local)
		return err
	})
	return &laid, err
}

// listen begins to accept the connections of the direction that this end receives.
func (e *end) listen(l listenRequest) (err error) {
	if e.receiver != nil {
		return errors.New("this end receives already")
	}
	if err := errors.Join(check(l.Shape), checkToken(l.Token)); err != nil {
		return err
	}
	switch s := e.socket(l.Shape); l.Application {
	case plan.ApplicationIperf3:
		e.receiver, err = listenIperf3(s)
	case plan.ApplicationIperf2:
		e.receiver, err = listenIperf2(s, l.Token)
	default:
		e.receiver, err = listen(s, l.Token, faults{e.SlowReader, e.Forgetful})
	}
	if err != nil {
		e.receiver = nil // and no interface of a nil pointer
	}
	return err
}

// connect makes the connections of the direction that this end sends.
func (e *end) connect(ctx context.Context, c connectRequest) (opened *Opened, err error) {
	if e.sender != nil {
		return nil, errors.New("this end is connected already")
	}
	if err := errors.Join(check(c.Shape), checkToken(c.Token)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	switch s := e.socket(c.Shape); c.Application {
	case plan.ApplicationIperf3:
		e.sender, opened, err = connectIperf3(ctx, s, c.Remote)
	case plan.ApplicationIperf2:
		e.sender, opened, err = connectIperf2(ctx, s, c.Token, c.Remote)
	default:
		e.sender, opened, err = connect(ctx, s, c.Token, c.Remote)
	}
	if err != nil {
		e.sender = nil // and no interface of a nil pointer
	}
	return opened, err
}

// startTest begins a test with a server.
func (e *end) startTest(ctx context.Context, q testRequest) (opened *Opened, err error) {
	if err := check(q.Shape); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*connectTimeout)
	defer cancel()
	e.test, opened, err = e.withServer(ctx, q)
	return opened, err
}

func (e *end) read(clock func() time.Duration) *Reading {
	r := &Reading{ReadAt: clock(), Drops: e.drops(), Waits: e.program.waited()}
	if e.receiver != nil {
		r.Receiving = e.receiver.read(clock)
	}
	if e.sender != nil {
		r.Sending = e.sender.read(clock)
	}
	if e.test != nil {
		e.test.read(r, clock)
	}
	return r
}

func (e *end) socket(shape Shape) socket {
	return socket{program: e.program, namespace: e.Namespace, iface: e.Interface, local: e.local.Address.Addr(),
		shape: shape}
}

// The largest values that an end accepts. A Plan may ask for less only.
const (
	maxConnections = 1024
	maxMessage     = 64 << 20
)

func check(s Shape) error {
	switch {
	case s.Connections < 1 || s.Connections > maxConnections:
		return fmt.Errorf("%d connections: an end makes 1 to %d", s.Connections, maxConnections)
	case s.MessageBytes < 1 || s.MessageBytes > maxMessage:
		return fmt.Errorf("messages of %d bytes: an end writes 1 to %d at a time", s.MessageBytes, maxMessage)
	case s.Application != "" && s.Application != plan.ApplicationIperf3 && s.Application != plan.ApplicationIperf2:
		return fmt.Errorf("this end doesn't know application %q, only %s and %s: use the same linerate for both",
			s.Application, plan.ApplicationIperf3, plan.ApplicationIperf2)
	case s.Datagrams && s.Application == "":
		return errors.New("datagrams need an application")
	}
	return nil
}

// checkToken refuses a token of another length.
func checkToken(token string) error {
	if len(token) != tokenBytes {
		return fmt.Errorf("a token has %d bytes, and this one %d", tokenBytes, len(token))
	}
	return nil
}
