package vitals

import (
	"context"
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

	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/pod/reset"
)

// The bounds of the work that clients can cause. The server reads its machine at most ten times a second,
// however many clients ask.
const (
	freshFor       = 100 * time.Millisecond
	mostCallers    = 8 // connections at a time
	requestTimeout = 2 * time.Second
	idleTimeout    = 10 * time.Second
	mostHeader     = 4 << 10 // bytes
)

// Server answers with a machine's vital signs.
type Server struct {
	// Signs reads the vital signs beside the processors' times.
	Signs machine.SignsReader
	// Limits reads what a Reference's limit counted. It is nil without a limit.
	Limits func() ([]Limit, error)
	// Reset, where set, resets the device for clients that may ask for it, at reset.Path.
	Reset http.Handler
	// Mute serves no vital signs. It is for a device's own pod, where any pod on the network could ask for them.
	Mute bool
	// Collect, where set, returns a collector's clock and newest answers, which are served instead of this
	// machine's vital signs.
	Collect func() (clock time.Duration, answers []observe.Answer)
	// Refuse returns why a caller gets no answer. Without Refuse all callers get one.
	Refuse func(net.Conn) error
	// Verifier is of the key that callers must prove. Zero asks for none.
	Verifier credential.Verifier

	mu     sync.Mutex
	newest Reading
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
		Handler: mux, ReadHeaderTimeout: requestTimeout, ReadTimeout: requestTimeout, WriteTimeout: requestTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: mostHeader,
		ErrorLog: log.New(io.Discard, "", 0), // callers' mistakes aren't the operator's to read
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(&door{Listener: s.Verifier.Listen(&refusing{l, s.Refuse},
		credential.Vitals)}); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve vital signs at %s: %w", l.Addr(), err)
	}
	return nil
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	reading, err := s.reading(strings.FieldsFunc(r.URL.Query().Get(wanted), func(c rune) bool { return c == ',' }))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	text, err := json.Marshal(reading)
	if err != nil { // else the caller would be answered nothing, and not know why
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // a caller that is gone needs no answer
}

// reading returns a reading that is fresh enough, with vital signs of these types.
func (s *Server) reading(types []string) (Reading, error) {
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
	if s.newest.Version == "" || clock-s.newest.At >= freshFor {
		s.newest = s.read(clock)
	}
	reading := s.newest
	// the clock could be read a moment ago
	reading.Signs = s.Signs.Read(types, func() time.Duration { clock, _ := monotonic(); return clock })
	reading.Clock, err = monotonic()
	return reading, err
}

// read reads processors and limits.
func (s *Server) read(clock time.Duration) Reading {
	r := Reading{Version: Version, At: clock}
	var err error
	if r.Processors, err = machine.AllProcessors(); err != nil {
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

// monotonic is this machine's clock that is never set, and that all its pods share.
func monotonic() (time.Duration, error) {
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &clock); err != nil {
		return 0, fmt.Errorf("when it is: %w", err)
	}
	return time.Duration(clock.Nano()), nil
}

// refusing closes the connections of callers that there is something against, before they learn anything.
type refusing struct {
	net.Listener
	refuse func(net.Conn) error
}

// Accept returns the next caller that there is nothing against.
func (l *refusing) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil || l.refuse == nil || l.refuse(conn) == nil {
			return conn, err
		}
		_ = conn.Close()
	}
}

// door accepts mostCallers callers at a time, and closes the connections of all others.
type door struct {
	net.Listener

	mu     sync.Mutex
	inside int
}

// Accept returns the next caller that is let in.
func (d *door) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if !d.enter() {
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

// caller is a connection that makes room for another when it is closed.
type caller struct {
	net.Conn
	leave func()
}

// Close closes it.
func (c *caller) Close() error {
	c.leave()
	return c.Conn.Close()
}
