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

// End is where one link ends in a program of ours.
type End struct {
	Link      string
	Interface string
	// Namespace is where the interface is; nil: the program's own.
	Namespace *netspace.Namespace
	Product   string
	// Signs reads what the program's machine tells of itself; nil: what its kernel says. It is the same for all ends of a program.
	Signs *here.Reader
	// SlowReader is a fault that tests play: how many bytes per second each connection reads at most; 0: all that there is.
	SlowReader int64
	// Forgetful is a fault that tests play, too: how often each connection's receive buffer has no room for a moment, so that the end's kernel drops what comes; 0: never.
	Forgetful time.Duration
	Log       *slog.Logger // nil is silent
}

// Ends are those of one program: one in a pod, and one for each link in a lab.
type Ends []End

// Serve does what drivers say until ctx ends; then nothing is sent any more. Each end has one driver at a time. It closes the listener.
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
			_ = conn.Close() // who is refused may come again
			continue
		}
		drivers.Go(func() {
			defer func() { <-seats }()
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			s.talk(ctx, conn)
		})
	}
}

// mostDrivers is how many may be connected at once for each end: the one who drives it, who probes it, and some who wait for the one before to leave.
const mostDrivers = 16

type server struct {
	began   time.Time
	ends    []*end
	program *program
}

// program is what all ends of one program have in common. It is safe for concurrent use.
type program struct {
	id    string
	signs *here.Reader

	mu      sync.Mutex
	waits   processors.OwnWaits
	started []int   // processes that run for an end
	seen    *Vitals // lately
}

// at is the ends' own clock.
func (s *server) at() time.Duration { return time.Since(s.began) }

// longestLine bounds what a driver says at once.
const longestLine = 1 << 20

// talk is one driver's whole stay. When it ends, for whatever reason, the end drops all connections.
func (s *server) talk(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	limited := &io.LimitedReader{R: conn}
	lines := json.NewDecoder(limited)
	next := func() (r request, err error) { // silence is an error
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
	e.log.Info("a driver came", "link", e.Link, "driver", conn.RemoteAddr())
	if !say(conn, answer{Welcome: welcome}) {
		return
	}
	for {
		r, err := next()
		if err != nil {
			e.log.Info("the driver is gone, or silent; all connections are dropped", "link", e.Link, "error", err)
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

// welcome gives the driver the end that it asks for.
func (s *server) welcome(conn net.Conn, r request) (*end, *Welcome, error) {
	switch {
	case r.Do != doHello || r.Hello == nil:
		return nil, nil, fmt.Errorf("hello comes first, not %q", r.Do)
	case r.Hello.Version != Version && r.Hello.Version != VersionOfApplications:
		return nil, nil, fmt.Errorf("the driver speaks %q, and this end %q: use one linerate for both", r.Hello.Version, Version)
	}
	i := slices.IndexFunc(s.ends, func(e *end) bool { return e.Link == r.Hello.Link })
	if i < 0 {
		return nil, nil, fmt.Errorf("there is no link %q here", r.Hello.Link)
	}
	e := s.ends[i]
	if e.cameByLink(conn) {
		return nil, nil, fmt.Errorf("drive this end by another network, and not by link %s itself: what is on a link drives nobody", e.Link)
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

// cameByLink says that a driver asks for the link's own address, or that answers to it leave by the link: it is the device, or whoever else is on the link, which no policy
// of a cluster's network keeps off.
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
		if routes, err := netlink.RouteGet(from.AsSlice()); err == nil && len(routes) > 0 { // who can't be answered hears nothing
			did = did || routes[0].LinkIndex == i.Index
		}
		return nil
	})
	return did && err == nil
}

// end is one link's end: at most one direction's sender, and one's receiver.
type end struct {
	End
	program *program
	log     *slog.Logger

	mu     sync.Mutex
	driver net.Conn
	gone   chan struct{} // closed when the driver has left

	// What follows is the driver's own goroutine's.
	local    Network
	gift     gift
	sender   sending
	receiver receiving
}

// sending is one direction's sender at an end, and receiving one's receiver, whatever application it is. Both are safe for concurrent use.
type sending interface {
	// send begins to send, for so long; it is called once.
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

// enter makes conn the end's driver. With force another one has to leave first.
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

// takeBack takes from the interface what this driver gave it.
func (e *end) takeBack() {
	given := e.gift
	e.gift = nil
	if err := e.Namespace.Do(given.takeBack); err != nil {
		e.log.Warn("not all that the interface was given could be taken back", "link", e.Link, "interface", e.Interface, "error", err)
	}
}

// leave drops everything, takes back what the driver gave the interface, and lets the next driver in.
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

// do is one request carried out.
func (e *end) do(ctx context.Context, r request, at func() time.Duration) (a answer, err error) {
	switch {
	case r.Do == doLay && r.Lay != nil:
		e.local = *r.Lay
		var laid Laid
		e.takeBack()
		err = e.Namespace.Do(func() (err error) { laid, e.gift, err = lay(e.Interface, *r.Lay); return err })
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
		return a, fmt.Errorf("this end can't %q now", r.Do)
	}
	return a, err
}

// listen begins to take connections of the direction that comes here.
func (e *end) listen(l listenRequest) (err error) {
	if e.receiver != nil {
		return errors.New("it receives already")
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

// keep keeps what was made, and nothing where it was not.
func keep[T any](in *T, create func() (T, error)) error {
	made, err := create()
	if err == nil {
		*in = made
	}
	return err
}

// connect makes the connections of the direction that goes out from here.
func (e *end) connect(ctx context.Context, c connectRequest) (opened *Opened, err error) {
	if e.sender != nil {
		return nil, errors.New("it is connected already")
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

// The most that an end takes: what a Plan may ask for is less.
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
		return fmt.Errorf("application %q is not known to this end, which has %s and %s: use one linerate for both", s.Application, plan.ApplicationIperf3, plan.ApplicationIperf2)
	case s.Datagrams && s.Application == "":
		return errors.New("datagrams need an application")
	case len(token) != tokenBytes:
		return fmt.Errorf("a token has %d bytes, and this one %d", tokenBytes, len(token))
	}
	return nil
}
