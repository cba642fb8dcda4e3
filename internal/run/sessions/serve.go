package sessions

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/host/sockets"
	"github.com/linerate-dev/linerate/internal/run/iperf3"
)

// End is the end of one link in this program.
type End struct {
	Link      string
	Interface string
	// Namespace is where the interface is. Nil is the process's own.
	Namespace *netif.Namespace
	// HostNetwork says that the end uses this host's network as any program does, for a test with a server. The host's
	// addresses, routes and offloads stay as they are. Bound is the interface that its sockets are bound to, or empty.
	HostNetwork bool
	Bound       string
	// Port is the interface of the process's own namespace above which Interface was made. It stays as it is, and what
	// it drops is the end's. Empty means that Interface is above none.
	Port string
	// Prepared says that the interface is up, and its offloads are as they must be.
	Prepared bool
	Product  string
	// Signs reads the vital signs of the program's machine, or is nil for those that its kernel reports. It is the
	// same for all ends of a program.
	Signs *machine.SignsReader
	// SlowReader is a fault for tests. It is how many bytes per second each connection reads at most, or 0 for
	// everything that arrives.
	SlowReader int64
	// Forgetful is another fault for tests. It is how often each connection's receive buffer has no room for a
	// moment, so that the end's kernel drops what arrives, or 0 for never.
	Forgetful time.Duration
	Log       *slog.Logger // nil is silent
}

// Ends are the ends in one program, which are a single one in a pod, and one for each link in a lab.
type Ends []End

// Serve carries out drivers' requests until ctx ends. Then it drops all connections and closes the listener. Each end
// has one driver at a time.
func (ends Ends) Serve(ctx context.Context, listener net.Listener) error {
	s := &server{began: time.Now(), program: &program{id: rand.Text(), signs: &machine.SignsReader{}}}
	for _, e := range ends {
		s.program.signs = cmp.Or(e.Signs, s.program.signs)
		s.ends = append(s.ends, &end{End: e, program: s.program, log: cmp.Or(e.Log, slog.New(slog.DiscardHandler))})
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	var drivers sync.WaitGroup
	defer drivers.Wait()
	seats := make(chan struct{}, maxDrivers*len(ends))
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

// maxDrivers is how many connections there may be at once for each end, which are that of its driver, of probes, and
// of some drivers that wait for it.
const maxDrivers = 16

type server struct {
	began   time.Time
	ends    []*end
	program *program
}

// program is the state that all ends of one program share. It is safe for concurrent use.
type program struct {
	id    string
	signs *machine.SignsReader

	mu      sync.Mutex
	waits   machine.OwnWaits
	started []int   // processes that run for an end
	latest  *Vitals // the latest
}

// clock is the ends' own clock.
func (s *server) clock() time.Duration { return time.Since(s.began) }

// serveDriver serves one driver's connection. When it ends, for whatever reason, the end drops all connections
// of the test.
func (s *server) serveDriver(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	requests := newLines(conn)
	next := func() (r request, err error) { // a driver that is silent for too long is an error
		if err := conn.SetReadDeadline(time.Now().Add(DriverSilence)); err != nil {
			return r, err
		}
		err = requests.next(&r)
		return r, err
	}
	first, err := next()
	if err != nil {
		return
	}
	e, welcome, err := s.welcome(conn, first)
	if err != nil {
		say(conn, answer{Error: err.Error(), Busy: errors.Is(err, errTaken)})
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
		a, err := e.handle(ctx, r, s.clock)
		if err != nil {
			a = answer{Error: err.Error(), Path: fromPath(err), ServerBusy: errors.Is(err, iperf3.ErrBusy)}
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
	case r.Verb != doHello || r.Hello == nil:
		return nil, nil, fmt.Errorf("hello comes first, not %q", r.Verb)
	case r.Hello.Version != Version:
		return nil, nil, fmt.Errorf("the driver speaks %q, and this end %q: use the same linerate for both",
			r.Hello.Version, Version)
	}
	i := slices.IndexFunc(s.ends, func(e *end) bool { return e.Link == r.Hello.Link })
	if i < 0 {
		return nil, nil, fmt.Errorf("there is no link %q here", r.Hello.Link)
	}
	e := s.ends[i]
	if !e.HostNetwork && e.cameByLink(conn) {
		return nil, nil, fmt.Errorf("drive this end by another network than link %s itself: hosts on a link may not "+
			"drive it", e.Link)
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

// cameByLink says whether a driver connected to the link's own address, or answers to it leave by the link. The
// driver is then the device, or another host on the link, which no NetworkPolicy of a cluster keeps out.
func (e *end) cameByLink(conn net.Conn) (byLink bool) {
	asked, source := addressOf(conn.LocalAddr()), addressOf(conn.RemoteAddr())
	err := e.Namespace.Do(func() error {
		i, err := net.InterfaceByName(e.Interface)
		if err != nil {
			return err
		}
		addresses, err := i.Addrs()
		if err != nil {
			return err
		}
		byLink = slices.ContainsFunc(addresses, func(a net.Addr) bool {
			n, ok := a.(*net.IPNet)
			return ok && n.IP.Equal(asked.AsSlice())
		})
		// without a route back there is no answer either
		if routes, err := netlink.RouteGet(source.AsSlice()); err == nil && len(routes) > 0 {
			byLink = byLink || routes[0].LinkIndex == i.Index
		}
		return nil
	})
	return byLink && err == nil
}

// Vitals is how the processors of an end's machine have spent their time, at a moment of the end's clock.
type Vitals struct {
	ReadAt     time.Duration       `json:"atNanoseconds"`
	Processors []machine.Processor `json:"each"`
}

// vitalsEvery is how often an end reads its machine's processors at most, which is often enough for the edges of short
// windows.
const vitalsEvery = 100 * time.Millisecond

// vitals are the latest times of this machine's processors, or nil if the kernel doesn't report them.
func (p *program) vitals(clock func() time.Duration) *Vitals {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest == nil || clock()-p.latest.ReadAt >= vitalsEvery {
		processors, err := machine.AllProcessors()
		if err != nil {
			return nil
		}
		p.latest = &Vitals{ReadAt: clock(), Processors: processors}
	}
	return p.latest
}
