package trex

import (
	"context"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// DefaultPort is the TCP port of TRex's RPC.
const DefaultPort = "4501"

// Defaults of Options.
const (
	DefaultTimeout  = 5 * time.Second
	DefaultPatience = 30 * time.Second
	DefaultPoll     = 100 * time.Millisecond
	DefaultUser     = "linerate"
)

// UserOfTest begins the User of a LoadTest's runs; a digest of its UID follows. So the server knows which test has its ports.
const UserOfTest = DefaultUser + "-"

// Options says how to connect to a server. The zero value works.
type Options struct {
	// User is the name that others see as the owner of this client's ports.
	User string
	// Session distinguishes the sessions of one user. 0: a random one. A client with the same user and session can continue a running session.
	Session uint32
	// Timeout bounds every exchange with the server, on top of the context.
	Timeout time.Duration
	// Patience bounds how long a call to a busy server is repeated, on top of the context.
	Patience time.Duration
	// Poll is the pause between two polls of something that takes long.
	Poll time.Duration
	// Compress sends compressed requests, and so gets compressed answers.
	Compress bool
	// Logger logs every request and answer at debug level; nil: they aren't logged.
	Logger *slog.Logger
	// Dial makes the connection; nil: TCP.
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

// Client is one connection to a server, with the ports that it owns there. It is safe for concurrent use.
type Client struct {
	options Options
	wire    *transport
	version Version

	mu       sync.Mutex
	nextID   int
	handle   string         // api_h of the server process
	handlers map[int]string // of the ports that this client owns
	loaded   map[int]bool   // ports whose default profile exists on the server
}

// Dial connects to "host" or "host:port" and greets the server. A server that isn't TRex in stateless mode with API 5.1 or a later 5 is an
// *IncompatibleError, none at all a *LostError.
func Dial(ctx context.Context, address string, options Options) (*Client, error) {
	options = options.withDefaults()
	c := &Client{
		options:  options,
		wire:     newTransport(withPort(address), options),
		handlers: map[int]string{},
		loaded:   map[int]bool{},
	}
	if err := c.greet(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

func withPort(address string) string {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return net.JoinHostPort(address, DefaultPort)
	}
	return address
}

// Address is the server's host:port.
func (c *Client) Address() string { return c.wire.address }

// Options are the options in use, defaults and the session id filled in: what a second Client of the same session needs.
func (c *Client) Options() Options { return c.options }

// Version is the server's answer to the greeting.
func (c *Client) Version() Version { return c.version }

// Close ends the connection. Traffic, streams and ownership stay as they are on the server: StopTraffic and Release end those.
func (c *Client) Close() error { return c.wire.close() }

// Owned lists the ports that this client acquired, with their handlers.
func (c *Client) Owned() map[int]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.handlers)
}

// handler returns the proof of ownership that owned calls carry.
func (c *Client) handler(port int) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.handlers[port]
	if !ok {
		return "", &TakenError{Port: port}
	}
	return h, nil
}
