package sessions

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/machine"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/netspace"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/processors"
	"github.com/linerate-dev/linerate/internal/signs/here"
	"github.com/linerate-dev/linerate/internal/sockets"
)

// End is the end of one link in this program.
type End struct {
	Link      string
	Interface string
	// Namespace is where the interface is; nil: the process's own.
	Namespace *netspace.Namespace
	Product   string
	// Signs reads the vital signs of the program's machine; nil: those that its kernel reports. It is the same for all ends of a program.
	Signs *here.Reader
	// SlowReader is a fault for tests: how many bytes per second each connection reads at most; 0: everything that arrives.
	SlowReader int64
	// Forgetful is another fault for tests: how often each connection's receive buffer has no room for a moment, so that the end's kernel drops what arrives; 0: never.
	Forgetful time.Duration
	Log       *slog.Logger // nil is silent
}

// Ends are the ends in one program: a single one in a pod, and one for each link in a lab.
type Ends []End

// Serve carries out drivers' requests until ctx ends; then it drops all connections and closes the listener. Each end has one driver at a time.
func (ends Ends) Serve(ctx context.Context, listener net.Listener) error {
	s := &server{began: time.Now(), program: &program{id: rand.Text(), signs: &here.Reader{}}}
	for _, e := range ends {
		s.program.signs = cmp.Or(e.Signs, s.program.signs)
		s.ends = append(s.ends, &end{End: e, program: s.program, log: cmp.Or(e.Log, slog.New(slog.DiscardHandler))})
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	var drivers sync.WaitGroup
	defer drivers.Wait()
	seats := make(chan struct{}, mostDrivers*len(ends))
	for {
		conn, err := sockets.Accept(ctx, listener)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			cancel()
			return fmt.Errorf("wait for a driver: %w", err)
		}
		select {
		case seats <- struct{}{}:
		default:
			_ = conn.Close() // a driver that is refused may try again
			continue
		}
		drivers.Go(func() {
			defer func() { <-seats }()
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			s.serveDriver(ctx, conn)
		})
	}
}

// mostDrivers is how many connections there may be at once for each end: that of its driver, of probes, and of some drivers that wait for it.
const mostDrivers = 16

type server struct {
	began   time.Time
	ends    []*end
	program *program
}

// program is the state that all ends of one program share. It is safe for concurrent use.
type program struct {
	id    string
	signs *here.Reader

	mu      sync.Mutex
	waits   processors.OwnWaits
	started []int   // processes that run for an end
	seen    *Vitals // the latest
}

// at is the ends' own clock.
func (s *server) at() time.Duration { return time.Since(s.began) }

// longestLine bounds a driver's request.
const longestLine = 1 << 20

// serveDriver serves one driver's connection. When it ends, for whatever reason, the end drops all connections of the test.
func (s *server) serveDriver(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	limited := &io.LimitedReader{R: conn}
	lines := json.NewDecoder(limited)
	next := func() (r request, err error) { // a driver that is silent for too long is an error
		limited.N = longestLine
		if err := conn.SetReadDeadline(time.Now().Add(DriverSilence)); err != nil {
			return r, err
		}
		err = lines.Decode(&r)
		return r, err
	}
	first, err := next()
	if err != nil {
		return
	}
	e, welcome, err := s.welcome(conn, first)
	if err != nil {
		say(conn, answer{Error: err.Error(), Taken: errors.Is(err, errTaken)})
		return
	}
	defer e.leave()
	e.log.Info("a driver connected", "link", e.Link, "driver", conn.RemoteAddr())
	if !say(conn, answer{Welcome: welcome}) {
		return
	}
	for {
		r, err := next()
		if err != nil {
			e.log.Info("the driver has left, or is silent; all connections are dropped", "link", e.Link, "error", err)
			return
		}
		a, err := e.do(ctx, r, s.at)
		if err != nil {
			a = answer{Error: err.Error(), Path: new(fromPath(err))}
		}
		if !say(conn, a) {
			return
		}
	}
}

func say(conn net.Conn, a answer) bool {
	line, err := json.Marshal(a)
	if err != nil {
		return false
	}
	_ = conn.SetWriteDeadline(time.Now().Add(DriverSilence))
	_, err = conn.Write(append(line, '\n'))
	return err == nil
}

var errTaken = errors.New("it has a driver already")

// welcome makes the connection the driver of the end that it asks for.
func (s *server) welcome(conn net.Conn, r request) (*end, *Welcome, error) {
	switch {
	case r.Do != doHello || r.Hello == nil:
		return nil, nil, fmt.Errorf("hello comes first, not %q", r.Do)
	case r.Hello.Version != Version && r.Hello.Version != VersionOfApplications:
		return nil, nil, fmt.Errorf("the driver speaks %q, and this end %q: use the same linerate for both", r.Hello.Version, Version)
	}
	i := slices.IndexFunc(s.ends, func(e *end) bool { return e.Link == r.Hello.Link })
	if i < 0 {
		return nil, nil, fmt.Errorf("there is no link %q here", r.Hello.Link)
	}
	e := s.ends[i]
	if e.cameByLink(conn) {
		return nil, nil, fmt.Errorf("drive this end by another network than link %s itself: hosts on a link may not drive it", e.Link)
	}
	if err := e.enter(conn, r.Hello.Force); err != nil {
		return nil, nil, err
	}
	w, err := e.describe()
	if err != nil {
		e.leave()
		return nil, nil, err
	}
	return e, w, nil
}

// cameByLink says whether a driver connected to the link's own address, or answers to it leave by the link: then it is the device, or another host on the link, which no NetworkPolicy
// of a cluster keeps out.
func (e *end) cameByLink(conn net.Conn) (did bool) {
	asked, from := addressOf(conn.LocalAddr()), addressOf(conn.RemoteAddr())
	err := e.Namespace.Do(func() error {
		i, err := net.InterfaceByName(e.Interface)
		if err != nil {
			return err
		}
		its, err := i.Addrs()
		if err != nil {
			return err
		}
		did = slices.ContainsFunc(its, func(a net.Addr) bool {
			n, is := a.(*net.IPNet)
			return is && n.IP.Equal(asked.AsSlice())
		})
		if routes, err := netlink.RouteGet(from.AsSlice()); err == nil && len(routes) > 0 { // without a route back there is no answer either
			did = did || routes[0].LinkIndex == i.Index
		}
		return nil
	})
	return did && err == nil
}

// end is one link's end: it sends in at most one direction, and receives in at most one.
type end struct {
	End
	program *program
	log     *slog.Logger

	mu     sync.Mutex
	driver net.Conn
	gone   chan struct{} // closed when the driver has left

	// The fields below are used by the driver's goroutine only.
	local    Network
	undoList undoList
	sender   sending
	receiver receiving
}

// sending is the sender of one direction, and receiving is a receiver, of any application. Both are safe for concurrent use.
type sending interface {
	// send begins to send, for the given time; it is called once.
	send(lasts time.Duration) error
	read(at func() time.Duration) *measure.Sending
	close()
}

type receiving interface {
	// awaitAll waits until all connections have come.
	awaitAll(ctx context.Context) (*Opened, error)
	read(at func() time.Duration) *measure.Receiving
	close()
}

// enter makes conn the end's driver. With force, it first makes another driver leave.
func (e *end) enter(conn net.Conn, force bool) error {
	for {
		e.mu.Lock()
		if e.driver == nil {
			e.driver, e.gone = conn, make(chan struct{})
			e.mu.Unlock()
			return nil
		}
		other, gone := e.driver, e.gone
		e.mu.Unlock()
		if !force {
			return fmt.Errorf("link %s: %w, at %s", e.Link, errTaken, other.RemoteAddr())
		}
		_ = other.Close()
		<-gone
	}
}

// takeBack removes from the interface what this driver added to it.
func (e *end) takeBack() {
	given := e.undoList
	e.undoList = nil
	if err := e.Namespace.Do(given.undo); err != nil {
		e.log.Warn("not all settings of the interface could be removed", "link", e.Link, "interface", e.Interface, "error", err)
	}
}

// leave drops all connections, removes what the driver added to the interface, and lets the next driver in.
func (e *end) leave() {
	e.halt()
	e.takeBack()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.driver = nil
	close(e.gone)
}

func (e *end) halt() {
	if e.sender != nil {
		e.sender.close()
	}
	if e.receiver != nil {
		e.receiver.close()
	}
	e.sender, e.receiver = nil, nil
}

func (e *end) describe() (*Welcome, error) {
	w := &Welcome{Product: e.Product, Interface: e.Interface, Machine: machine.This()}
	w.Hostname, _ = os.Hostname()
	err := e.Namespace.Do(func() error {
		i, err := net.InterfaceByName(e.Interface)
		if err != nil {
			return fmt.Errorf("interface %s: %w", e.Interface, err)
		}
		w.MAC = i.HardwareAddr.String()
		nic := machine.NICOf(e.Interface)
		w.Driver, w.NIC, w.Firmware = nic.Driver, nic.Model, nic.Firmware
		return nil
	})
	return w, err
}

// do carries out one request.
func (e *end) do(ctx context.Context, r request, at func() time.Duration) (a answer, err error) {
	switch {
	case r.Do == doLay && r.Lay != nil:
		e.local = *r.Lay
		var laid Laid
		e.takeBack()
		err = e.Namespace.Do(func() (err error) { laid, e.undoList, err = setUpNetwork(e.Interface, *r.Lay); return err })
		a.Laid = &laid
	case r.Do == doListen && r.Listen != nil:
		err = e.listen(*r.Listen)
	case r.Do == doConnect && r.Connect != nil:
		a.Opened, err = e.connect(ctx, *r.Connect)
	case r.Do == doCame && e.receiver != nil:
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		a.Opened, err = e.receiver.awaitAll(ctx)
	case r.Do == doSend && r.Send != nil && e.sender != nil:
		err = e.sender.send(r.Send.Lasts)
	case r.Do == doRead:
		if a.Reading = e.read(at); r.Read == nil {
			break
		}
		if r.Read.Processors {
			a.Reading.Vitals = e.program.vitals(at)
		}
		a.Reading.Signs = e.program.signs.Read(r.Read.Signs, at)
	case r.Do == doHalt:
		e.halt()
	default:
		return a, fmt.Errorf("this end can't do %q now", r.Do)
	}
	return a, err
}

// listen begins to accept the connections of the direction that this end receives.
func (e *end) listen(l listenRequest) (err error) {
	if e.receiver != nil {
		return errors.New("this end receives already")
	}
	if err := check(l.Shape, l.Token); err != nil {
		return err
	}
	switch l.Application {
	case plan.ApplicationIperf3:
		return keep(&e.receiver, func() (receiving, error) { return listenIperf3(e.socket(l.Shape)) })
	case plan.ApplicationIperf2:
		return keep(&e.receiver, func() (receiving, error) { return listenIperf2(e.socket(l.Shape), l.Token) })
	}
	return keep(&e.receiver, func() (receiving, error) {
		return listen(e.socket(l.Shape), l.Token, faults{e.SlowReader, e.Forgetful})
	})
}

// keep stores what create made, unless it failed.
func keep[T any](in *T, create func() (T, error)) error {
	made, err := create()
	if err == nil {
		*in = made
	}
	return err
}

// connect makes the connections of the direction that this end sends.
func (e *end) connect(ctx context.Context, c connectRequest) (opened *Opened, err error) {
	if e.sender != nil {
		return nil, errors.New("this end is connected already")
	}
	if err := check(c.Shape, c.Token); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	err = keep(&e.sender, func() (made sending, err error) {
		switch c.Application {
		case plan.ApplicationIperf3:
			made, opened, err = connectIperf3(ctx, e.socket(c.Shape), c.To)
		case plan.ApplicationIperf2:
			made, opened, err = connectIperf2(ctx, e.socket(c.Shape), c.Token, c.To)
		default:
			made, opened, err = connect(ctx, e.socket(c.Shape), c.Token, c.To)
		}
		return made, err
	})
	return opened, err
}

func (e *end) read(at func() time.Duration) *Reading {
	r := &Reading{At: at(), Drops: e.drops(), Waits: e.program.waited()}
	if e.receiver != nil {
		r.Receiving = e.receiver.read(at)
	}
	if e.sender != nil {
		r.Sending = e.sender.read(at)
	}
	return r
}

func (e *end) socket(shape Shape) socket {
	return socket{program: e.program, namespace: e.Namespace, iface: e.Interface, local: e.local.Address.Addr(), shape: shape}
}

// The largest values that an end accepts; a Plan may ask for less only.
const (
	mostConnections = 1024
	mostMessage     = 64 << 20
)

func check(s Shape, token string) error {
	switch {
	case s.Connections < 1 || s.Connections > mostConnections:
		return fmt.Errorf("%d connections: an end makes 1 to %d", s.Connections, mostConnections)
	case s.MessageBytes < 1 || s.MessageBytes > mostMessage:
		return fmt.Errorf("messages of %d bytes: an end writes 1 to %d at a time", s.MessageBytes, mostMessage)
	case s.Application != "" && s.Application != plan.ApplicationIperf3 && s.Application != plan.ApplicationIperf2:
		return fmt.Errorf("this end doesn't know application %q, only %s and %s: use the same linerate for both", s.Application, plan.ApplicationIperf3, plan.ApplicationIperf2)
	case s.Datagrams && s.Application == "":
		return errors.New("datagrams need an application")
	case len(token) != tokenBytes:
		return fmt.Errorf("a token has %d bytes, and this one %d", tokenBytes, len(token))
	}
	return nil
}
