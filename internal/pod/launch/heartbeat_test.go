package launch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

func TestHeartbeatFromAnythingThatTalksTCP(t *testing.T) {
	beats := make(chan struct{}, 10)
	address := listening(t, Report{Version: ReportVersion}, func() { beats <- struct{}{} })
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReader(conn)
	if hello, err := reader.ReadString('\n'); err != nil || !strings.Contains(hello, ReportVersion) {
		t.Fatalf("first line %q, %v", hello, err)
	}
	if _, err := conn.Write([]byte("beat\n\nanything\n")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		<-beats
	}
	if _, err := conn.Write([]byte(strings.Repeat("x", 2*maxLineBytes))); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.ReadByte(); err == nil {
		t.Error("a line without an end keeps its connection")
	}
	if len(beats) > 0 {
		t.Error("a line without an end is a beat")
	}
}

// A stranger that reaches the launcher could otherwise keep the traffic of a dead runner alive.
func TestAStrangersBeatsKeepNoTrafficAlive(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	key, beats := credential.New(), make(chan struct{}, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- ReceiveHeartbeats(ctx, key.Verifier().Listen(l, credential.Heartbeat), Report{Version: ReportVersion},
			func() { beats <- struct{}{} })
	}()
	stranger, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(stranger, strings.Repeat("beat\n", 20))
	if heard, _ := io.ReadAll(stranger); strings.Contains(string(heard), ReportVersion) {
		t.Errorf("a stranger heard %q", heard)
	}
	if _, err := DialHeartbeat(t.Context(), l.Addr().String(), key.Derive("attempt 1")); !errors.Is(err,
		credential.ErrRefused) {
		t.Errorf("the runner of another attempt: %v", err)
	}
	if len(beats) != 0 {
		t.Errorf("%d beats of strangers", len(beats))
	}
	conn, err := DialHeartbeat(t.Context(), l.Addr().String(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Send(); err != nil {
		t.Fatal(err)
	}
	<-beats
	_, _ = conn.Close(), stranger.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestConnectingToWhatIsNoLauncher(t *testing.T) {
	for name, greeting := range map[string]string{"another version": `{"version":"v9"}` + "\n", "no JSON": "SSH-2.0\n",
		"nothing at all": ""} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			go func() {
				conn, err := l.Accept()
				if err == nil {
					_, err = io.WriteString(conn, greeting)
					_ = errors.Join(err, conn.Close())
				}
			}()
			if _, err := DialHeartbeat(t.Context(), l.Addr().String(), credential.Key{}); !contains(err,
				"heartbeat of "+l.Addr().String()) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestHeartbeatOverTheNetwork(t *testing.T) {
	hello := Report{Version: ReportVersion, Node: "n1", Links: []LinkDevice{{Link: "west", PCIAddress: "0000:3b:02.0"}}}
	beats := make(chan struct{})
	address := listening(t, hello, func() { beats <- struct{}{} })
	conn, err := DialHeartbeat(t.Context(), address, credential.Key{})
	if err != nil {
		t.Fatal(err)
	}
	if r := conn.Report(); r.Node != "n1" || len(r.Links) != 1 || r.Links[0].PCIAddress != "0000:3b:02.0" {
		t.Errorf("told %+v", r)
	}
	for range 3 {
		if err := conn.Send(); err != nil {
			t.Fatal(err)
		}
		<-beats
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

// quickTiming is for tests.
var quickTiming = heartbeatTiming{5 * time.Millisecond, 5 * time.Millisecond, 300 * time.Millisecond}

// launcher greets with a Report, counts beats, and cuts each connection after cutAfter of them, never at 0.
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

// sendUntil sends heartbeats until a report ends it. It returns all reports, and the error of the end.
func (s *launcher) sendUntil(t *testing.T, end func(reports string) bool) (reports []string, err error) {
	t.Helper()
	conn, err := DialHeartbeat(t.Context(), s.listener.Addr().String(), credential.Key{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err = quickTiming.send(ctx, conn, s.listener.Addr().String(), func(report string) {
		reports = append(reports, report)
		if end(report) {
			cancel()
		}
	})
	return reports, err
}

func TestSendHeartbeats(t *testing.T) {
	t.Run("a connection that is cut is told, and made again", func(t *testing.T) {
		s := newLauncher(t)
		s.cutAfter.Store(3)
		reports, err := s.sendUntil(t, func(reports string) bool { return strings.Contains(reports, "is back") })
		if err != nil || len(reports) != 2 || !strings.Contains(reports[0], "was cut") {
			t.Errorf("told %q, %v", reports, err)
		}
	})
	t.Run("a launcher that was started since is another one", func(t *testing.T) {
		s := newLauncher(t)
		s.cutAfter.Store(3)
		_, err := s.sendUntil(t, func(string) bool { s.started.Store(2); return false })
		if !errors.Is(err, ErrLauncherLost) || !strings.Contains(err.Error(), "started anew") {
			t.Errorf("ended with %v", err)
		}
	})
	t.Run("one that is gone is lost before it would stop by itself", func(t *testing.T) {
		s := newLauncher(t)
		s.cutAfter.Store(3)
		_, err := s.sendUntil(t, func(string) bool { _ = s.listener.Close(); return false })
		if !errors.Is(err, ErrLauncherLost) || defaultTiming().patience >= DefaultHeartbeatTimeout {
			t.Errorf("ended with %v", err)
		}
	})
	t.Run("beats go on until nobody needs them", func(t *testing.T) {
		s := newLauncher(t)
		conn, err := DialHeartbeat(t.Context(), s.listener.Addr().String(), credential.Key{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- quickTiming.send(ctx, conn, "", func(string) {}) }()
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
