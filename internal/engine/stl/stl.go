package stl

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/engine/trex"
)

// Options says how to connect to a server. The zero value works.
type Options struct {
	// User is the name that others see as the owner of the ports; "" is linerate.
	User string
	// Reclaims takes ports by force that another session of User has, and only those. It is for a User that names one test: the server is the record that an earlier run of that very test
	// acquired the ports and that nobody has had them since.
	Reclaims bool
	// Session is the id of an earlier session to continue; 0: a new one.
	Session uint32
	// Timeout bounds every exchange with the server; 0: 5 s.
	Timeout time.Duration
	// Logger logs requests and answers at debug level; nil: they aren't logged.
	Logger *slog.Logger
	// Processors requests engine.Reading.Processors with each reading, from generators whose description has their machine's processors: the software engine, and not TRex. An older software engine
	// sends them without a request.
	Processors bool
	// Signs returns the types of vital signs (package signs) to request from the same generators; it is called before each reading. nil: none.
	Signs func() []string
	// Dial makes a connection; nil: TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

// Engine is one server. See engine.Engine for what its methods promise.
type Engine struct {
	control      *trex.Client
	reader       *trex.Client
	methods      map[string]bool     // that the server knows
	loads        map[int]loaded      // the streams that Load put on each port
	destinations map[int]destination // where each port's frames go, as far as Address knows
	virtual      map[int]bool        // ports without a physical speed
	force        bool                // virtual ports have refused a rate without force
	reclaims     bool                // Options.Reclaims
	portHistory  *portHistory
	remarks      []string // that Remarks hasn't returned yet

	reminders reminders

	machine struct {
		processors bool            // Options.Processors
		signs      func() []string // Options.Signs
		known      atomic.Bool     // the server knows its machine
	}
}

var (
	_ engine.Engine     = (*Engine)(nil)
	_ engine.Remarker   = (*Engine)(nil)
	_ engine.EdgeReader = (*Engine)(nil)
	_ engine.Follower   = (*Engine)(nil)
)

// Dial connects to "host" or "host:port" (4501 by default) and makes sure that what answers can be driven.
func Dial(ctx context.Context, address string, o Options) (*Engine, error) {
	options := trex.Options{User: o.User, Session: o.Session, Timeout: o.Timeout, Logger: o.Logger, Dial: o.Dial}
	control, err := trex.Dial(ctx, address, options)
	if err != nil {
		return nil, explain(ctx, address, err)
	}
	own := control.Options()
	e := &Engine{control: control, methods: map[string]bool{}, loads: map[int]loaded{}, destinations: map[int]destination{}, virtual: map[int]bool{}, portHistory: newPortHistory(own.Session, own.User)}
	e.reclaims = o.Reclaims
	e.machine.processors, e.machine.signs = o.Processors, o.Signs
	if e.machine.signs == nil {
		e.machine.signs = func() []string { return nil }
	}
	if err := e.open(ctx); err != nil {
		return nil, errors.Join(e.explain(ctx, err), e.Close())
	}
	return e, nil
}

// open makes the second connection, of the same session, and learns what the server can do.
func (e *Engine) open(ctx context.Context) error {
	reader, err := trex.Dial(ctx, e.control.Address(), e.control.Options())
	if err != nil {
		return err
	}
	e.reader = reader
	methods, err := e.control.SupportedCommands(ctx)
	for _, m := range methods {
		e.methods[m] = true
	}
	return err
}

// Close gives up the connections; ports and traffic stay as they are.
func (e *Engine) Close() error {
	if e.reader == nil {
		return e.control.Close()
	}
	return errors.Join(e.control.Close(), e.reader.Close())
}

// Session is the id under which another process may take up this session.
func (e *Engine) Session() uint32 { return e.control.Options().Session }

func (e *Engine) explain(ctx context.Context, err error) error {
	return explain(ctx, e.control.Address(), err)
}
