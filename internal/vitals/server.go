package vitals

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/observe"
	"github.com/linerate-dev/linerate/internal/processors"
	"github.com/linerate-dev/linerate/internal/reset"
	"github.com/linerate-dev/linerate/internal/signs/here"
)

// The bounds of what others can make a server do: it looks at its machine ten times a second at most, however many ask.
const (
	freshFor       = 100 * time.Millisecond
	mostCallers    = 8 // connections at a time
	requestTimeout = 2 * time.Second
	idleTimeout    = 10 * time.Second
	mostHeader     = 4 << 10 // bytes
)

// Server tells a machine's vital signs to whoever asks.
type Server struct {
	// Signs reads what the machine tells of itself besides its processors' times.
	Signs here.Reader
	// Limits reads what a Reference's limit counted; nil: there is no limit.
	Limits func() ([]Limit, error)
	// Reset, where set, has the device reset by whoever may ask for it, at reset.Path.
	Reset http.Handler
	// Mute tells no vital signs: a device's own pod is reached by whoever the pods' network lets.
	Mute bool
	// Collect, where set, is what a collector was told so far, and its clock: that is told instead of how this machine fares.
	Collect func() (clock time.Duration, answers []observe.Answer)
	// Token is what who asks has to show; empty: nothing.
	Token string
	// Unwelcome says why a caller isn't answered; nil: all are welcome.
	Unwelcome func(net.Conn) error

	mu   sync.Mutex
	last Reading
}

// Serve answers on l until ctx ends, and closes it.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	if !s.Mute {
		mux.HandleFunc("GET "+path, s.answer)
	}
	if s.Reset != nil {
		mux.Handle("POST "+reset.Path, s.Reset)
	}
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: requestTimeout, ReadTimeout: requestTimeout, WriteTimeout: requestTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: mostHeader,
		ErrorLog: log.New(io.Discard, "", 0), // what callers do wrong is theirs
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(&door{Listener: l, unwelcome: s.Unwelcome}); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("tell vital signs at %s: %w", l.Addr(), err)
	}
	return nil
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	if s.Token != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+s.Token)) != 1 {
		http.Error(w, "the token is another test's", http.StatusUnauthorized)
		return
	}
	reading, err := s.now(strings.FieldsFunc(r.URL.Query().Get(wanted), func(c rune) bool { return c == ',' }))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reading) // a caller that is gone needs no answer
}

// now is a reading that is fresh enough, with vital signs of these types.
func (s *Server) now(types []string) (Reading, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Collect != nil {
		clock, answers := s.Collect()
		return Reading{Version: Version, Clock: clock, Collected: &Collected{Clock: clock, Answers: answers}}, nil
	}
	clock, err := monotonic()
	if err != nil {
		return Reading{}, err
	}
	if s.last.Version == "" || clock-s.last.At >= freshFor {
		s.last = s.look(clock)
	}
	reading := s.last
	reading.Signs = s.Signs.Read(types, func() time.Duration { at, _ := monotonic(); return at }) // which could be read just now
	reading.Clock, err = monotonic()
	return reading, err
}

// look reads all that there is.
func (s *Server) look(clock time.Duration) Reading {
	r := Reading{Version: Version, At: clock}
	var err error
	if r.Processors, err = processors.All(); err != nil {
		r.NoProcessors = "how its processors spend their time can't be read: " + err.Error()
	}
	if s.Limits == nil {
		return r
	}
	if r.Limits, err = s.Limits(); err != nil {
		r.Limits, r.NoLimits = nil, err.Error()
	}
	return r
}

// monotonic is this machine's clock that nobody sets, which all its pods share.
func monotonic() (time.Duration, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0, fmt.Errorf("when it is: %w", err)
	}
	return time.Duration(now.Nano()), nil
}

// door lets so many callers in at a time, and those only that are welcome; all others it closes the connection to.
type door struct {
	net.Listener
	unwelcome func(net.Conn) error

	mu     sync.Mutex
	inside int
}

// Accept is the next caller that is let in.
func (d *door) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if d.unwelcome != nil && d.unwelcome(conn) != nil || !d.enter() {
			_ = conn.Close()
			continue
		}
		return &caller{Conn: conn, leave: sync.OnceFunc(d.leave)}, nil
	}
}

func (d *door) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inside == mostCallers {
		return false
	}
	d.inside++
	return true
}

func (d *door) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inside--
}

// caller is a connection that makes room when it is closed.
type caller struct {
	net.Conn
	leave func()
}

// Close closes it.
func (c *caller) Close() error {
	c.leave()
	return c.Conn.Close()
}
