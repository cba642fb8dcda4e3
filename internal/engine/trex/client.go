package trex

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// DefaultPort is the TCP port of TRex's RPC.
const DefaultPort = "4501"

// Defaults of Options.
const (
	DefaultTimeout  = 15 * time.Second
	DefaultPatience = 30 * time.Second
	DefaultPoll     = 100 * time.Millisecond
	DefaultUser     = "linerate"
)

// UserOfTest begins the User of a LoadTest's runs, and a digest of the LoadTest's UID follows. So the server's owner
// shows which test has its ports.
const UserOfTest = DefaultUser + "-"

// Options says how to connect to a server. The zero value works.
type Options struct {
	// User is the name that others see as the owner of this client's ports.
	User string
	// Session distinguishes the sessions of one user. 0 means a random session. A client with the same user and
	// session can continue a running session.
	Session uint32
	// Timeout bounds every exchange with the server, on top of the context.
	Timeout time.Duration
	// Patience bounds how long a call to a busy server is repeated, on top of the context.
	Patience time.Duration
	// Poll is the pause between two polls of something that takes long.
	Poll time.Duration
	// Compress sends compressed requests, and so gets compressed answers.
	Compress bool
	// Logger logs every request and answer at debug level. nil logs nothing.
	Logger *slog.Logger
	// Dial makes the connection. nil means TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

func (o Options) withDefaults() Options {
	if o.User == "" {
		o.User = DefaultUser
	}
	for o.Session == 0 {
		o.Session = rand.Uint32()
	}
	o.Timeout = positiveOr(o.Timeout, DefaultTimeout)
	o.Patience = positiveOr(o.Patience, DefaultPatience)
	o.Poll = positiveOr(o.Poll, DefaultPoll)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Dial == nil {
		o.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", address)
		}
	}
	return o
}

func positiveOr(d, fallback time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return fallback
}

// Client is one session on a server. It is safe for concurrent use.
type Client struct {
	*Session
	*Traffic
	Settings
	Counters
	Captures
}

// Connection exchanges calls and answers with one server process.
type Connection struct {
	options Options
	wire    *transport
	version Version

	mu     sync.Mutex
	nextID int
	handle string // api_h of the server process
}

// Dial connects to "host" or "host:port" and greets the server. A server that isn't TRex in stateless mode with
// API 5.1 or a later 5 is an *IncompatibleError, none at all a *LostError.
func Dial(ctx context.Context, address string, options Options) (*Client, error) {
	options = options.withDefaults()
	connection := &Connection{options: options, wire: newTransport(withPort(address), options)}
	if err := connection.greet(ctx); err != nil {
		_ = connection.Close()
		return nil, err
	}
	session := &Session{Connection: connection, handlers: map[int]string{}}
	settings := Settings{session}
	return &Client{
		Session: session, Traffic: &Traffic{session: session, loaded: map[int]bool{}}, Settings: settings,
		Counters: Counters{connection}, Captures: Captures{session, settings},
	}, nil
}

func withPort(address string) string {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return net.JoinHostPort(address, DefaultPort)
	}
	return address
}

// Address is the server's host:port.
func (c *Connection) Address() string { return c.wire.address }

// Options are the options in use, with defaults and the session id filled in, as a second Client of the same session
// needs them.
func (c *Connection) Options() Options { return c.options }

// Version is the server's answer to the greeting.
func (c *Connection) Version() Version { return c.version }

// Close ends the connection. Traffic, streams and ownership stay as they are on the server. StopTraffic and Release
// end those.
func (c *Connection) Close() error { return c.wire.close() }
