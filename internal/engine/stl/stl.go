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
	// User is the name that others see as the owner of the ports. "" means linerate.
	User string
	// Reclaims takes ports by force from another session of User, and only from such a session. It is for a User that
	// names one test. The server's ownership then proves that an earlier run of that very test acquired the ports and
	// that nobody has had them since.
	Reclaims bool
	// Session is the id of an earlier session to continue. 0 begins a new session.
	Session uint32
	// Timeout bounds every exchange with the server but readings of counters. 0 means 15 s.
	Timeout time.Duration
	// Logger logs requests and answers at debug level. nil logs nothing.
	Logger *slog.Logger
	// Processors requests engine.Reading.Processors with each reading, from generators whose description has their
	// machine's processors. That is the software engine, and not TRex.
	Processors bool
	// Signs returns the types of vital signs (package signs) to request from the same generators. It is called before
	// each reading. nil requests none.
	Signs func() []string
	// Dial makes a connection. nil means TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

// longestRead bounds a reading of counters, for which its caller waits no longer. An answer that comes late on a busy
// machine is worth more than a new connection.
const longestRead = 40 * time.Second

// Engine is one server. See engine.Engine for what its methods promise.
type Engine struct {
	control     *trex.Client
	reader      *trex.Client
	methods     map[string]bool // that the server knows
	reclaims    bool            // Options.Reclaims
	processors  bool            // Options.Processors
	signs       func() []string // Options.Signs
	portHistory *portHistory
	reported    *reported
	remarks     *remarks // that Remarks hasn't returned yet
	links       *links
	traffic     *traffic
}

// reported is what the server has reported of itself.
type reported struct {
	machine atomic.Bool  // it reports its machine, as the software engine does
	virtual map[int]bool // ports without a physical speed
}

var (
	_ engine.Engine     = (*Engine)(nil)
	_ engine.Remarker   = (*Engine)(nil)
	_ engine.EdgeReader = (*Engine)(nil)
	_ engine.Follower   = (*Engine)(nil)
	// The software engine sends trains, and TRex refuses them.
	_ engine.TrainSender = (*Engine)(nil)
)

// Dial connects to "host" or "host:port" (4501 by default) and makes sure that what answers can be driven.
func Dial(ctx context.Context, address string, o Options) (*Engine, error) {
	options := trex.Options{User: o.User, Session: o.Session, Timeout: o.Timeout, Logger: o.Logger, Dial: o.Dial}
	control, err := trex.Dial(ctx, address, options)
	if err != nil {
		return nil, explain(ctx, address, err)
	}
	reading := control.Options() // of the same session
	reading.Timeout = max(reading.Timeout, longestRead)
	reader, err := trex.Dial(ctx, control.Address(), reading)
	if err != nil {
		return nil, errors.Join(explain(ctx, address, err), control.Close())
	}
	e := newEngine(control, reader, o)
	methods, err := control.SupportedCommands(ctx)
	if err != nil {
		return nil, errors.Join(e.explain(ctx, err), e.Close())
	}
	for _, m := range methods {
		e.methods[m] = true
	}
	return e, nil
}

func newEngine(control, reader *trex.Client, o Options) *Engine {
	session := control.Options()
	history := newPortHistory(session.Session, session.User)
	reports, noted := &reported{virtual: map[int]bool{}}, &remarks{}
	l := &links{
		control: control, reminders: &reminders{reader: reader, history: history, ports: map[int]*reminder{}},
		reported: reports, remarks: noted, destinations: map[int]destination{},
	}
	e := &Engine{
		control: control, reader: reader, methods: map[string]bool{}, reclaims: o.Reclaims, processors: o.Processors,
		signs: o.Signs, portHistory: history, reported: reports, remarks: noted, links: l,
		traffic: &traffic{
			control: control, links: l, history: history, reported: reports, remarks: noted, loads: map[int]loaded{},
		},
	}
	if e.signs == nil {
		e.signs = func() []string { return nil }
	}
	return e
}

// Close gives up the connections. Ports and traffic stay as they are.
func (e *Engine) Close() error {
	return errors.Join(e.control.Close(), e.reader.Close())
}

// Session is the id under which another process may take up this session.
func (e *Engine) Session() uint32 { return e.control.Options().Session }

func (e *Engine) explain(ctx context.Context, err error) error {
	return explain(ctx, e.control.Address(), err)
}
