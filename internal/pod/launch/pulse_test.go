package launch

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

// quick is a rhythm for tests.
var quick = rhythm{5 * time.Millisecond, 5 * time.Millisecond, 300 * time.Millisecond}

// launcher greets with a Report, counts beats, and cuts each connection after so many of them (0: never).
type launcher struct {
	listener net.Listener
	started  atomic.Int64 // unix seconds
	cutAfter atomic.Int64
	beats    atomic.Int64
}

func newLauncher(t *testing.T) *launcher {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &launcher{listener: l}
	s.started.Store(1)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s
}

func (s *launcher) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = json.NewEncoder(conn).Encode(Report{Version: ReportVersion, Started: time.Unix(s.started.Load(), 0)})
	buffer := make([]byte, 5)
	for n := int64(1); ; n++ {
		if _, err := conn.Read(buffer); err != nil || s.cutAfter.Load() == n {
			return
		}
		s.beats.Add(1)
	}
}

// pulse runs until told or ended; it returns what was told and how it ended.
func (s *launcher) pulse(t *testing.T, enough func(told string) bool) (told []string, err error) {
	t.Helper()
	heart, err := Connect(t.Context(), s.listener.Addr().String(), credential.Key{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err = quick.pulse(ctx, heart, s.listener.Addr().String(), func(what string) {
		told = append(told, what)
		if enough(what) {
			cancel()
		}
	})
	return told, err
}

func TestPulse(t *testing.T) {
	t.Run("a connection that is cut is told, and made again", func(t *testing.T) {
		s := newLauncher(t)
		s.cutAfter.Store(3)
		told, err := s.pulse(t, func(told string) bool { return strings.Contains(told, "is back") })
		if err != nil || len(told) != 2 || !strings.Contains(told[0], "was cut") {
			t.Errorf("told %q, %v", told, err)
		}
	})
	t.Run("a launcher that was started since is another one", func(t *testing.T) {
		s := newLauncher(t)
		s.cutAfter.Store(3)
		_, err := s.pulse(t, func(string) bool { s.started.Store(2); return false })
		if !errors.Is(err, ErrNoPulse) || !strings.Contains(err.Error(), "started anew") {
			t.Errorf("ended with %v", err)
		}
	})
	t.Run("one that is gone is lost before it would stop by itself", func(t *testing.T) {
		s := newLauncher(t)
		s.cutAfter.Store(3)
		_, err := s.pulse(t, func(string) bool { _ = s.listener.Close(); return false })
		if !errors.Is(err, ErrNoPulse) || usual().reconnect >= DefaultSilence {
			t.Errorf("ended with %v", err)
		}
	})
	t.Run("beats go on until nobody needs them", func(t *testing.T) {
		s := newLauncher(t)
		heart, err := Connect(t.Context(), s.listener.Addr().String(), credential.Key{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- quick.pulse(ctx, heart, "", func(string) {}) }()
		for end := time.Now().Add(10 * time.Second); s.beats.Load() < 5; {
			if time.Now().After(end) {
				t.Fatal("no beats")
			}
			_ = bounded.Pause(t.Context(), time.Millisecond)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
}
