package launch

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

const goarch = runtime.GOARCH

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		name, play string
		code       Code
		words      string
	}{
		{"255 that nobody asked for is a fault", "exit:255", TRexEnded, "by itself"},
		{"exit 0 that nobody asked for is a fault", "exit:0", TRexEnded, "exit code 0"},
		{"a driver's refusal", "exit:1", TRexEnded, "ports"},
		{"an abort", "exit:134", TRexEnded, "SIGABRT"},
		{"a crash", "exit:139", TRexEnded, "SIGSEGV"},
		{"an illegal instruction without another build", "exit:132", WrongArchitecture, fallbackName},
		{"hugepages that ran out", "exit:135", HugepagesTooSmall, "SIGBUS"},
		{"a kill from outside", "signal:9", MemoryTooSmall, "SIGKILL"},
		{"words that are known", "say:EAL: Cannot get hugepage information.", NoHugepages, "last words"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := played(t, c.play).Run(t.Context())
			f, ok := errors.AsType[Fault](err)
			if !ok || f.Code != c.code || !contains(err, c.words) || !contains(err, "v3.08") {
				t.Errorf("error %v, want %s with %q and the last words", err, c.code, c.words)
			}
		})
	}
}

func TestSignalsThatTheKernelTells(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGILL} {
		e := endingOf(syscall.WaitStatus(signal), false, 0, nil)
		if e.signal() != signal || !contains(e.verdict(), "SIG") {
			t.Errorf("%v: told as %v", signal, e.verdict())
		}
	}
	if e := endingOf(syscall.WaitStatus(syscall.SIGTERM), true, 0, nil); e.verdict() != nil {
		t.Errorf("ended by the SIGTERM that was passed on: %v", e.verdict())
	}
	if e := endingOf(syscall.WaitStatus(syscall.SIGSEGV), true, 0, nil); e.verdict() == nil {
		t.Error("a crash while stopping passes for an orderly end")
	}
}

func TestOrderlyStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, ready := played(t, "serve"), watchFor("ready")
	p.Stdout = ready
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	<-ready.found
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("255 after SIGTERM: %v", err)
	}
	if !slices.Contains(ready.lines(), "All cores stopped") {
		t.Errorf("it said %q", ready.lines())
	}
}

func TestOneThatDoesNotStopIsKilled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, ready := played(t, "stubborn"), watchFor("ready")
	p.Stdout, p.Grace = ready, 50*time.Millisecond
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	<-ready.found
	cancel()
	if err := <-ended; !contains(err, "was killed") {
		t.Errorf("error %v", err)
	}
}

func TestTheOtherBuildServesOlderCPUs(t *testing.T) {
	if err := played(t, "old-cpu", fallbackName).Run(t.Context()); !contains(err, "the other build runs") ||
		!contains(err, "exit code 7") {
		t.Errorf("error %v", err)
	}
}

func TestSurroundings(t *testing.T) {
	p := played(t, "surroundings")
	p.Environment = append(p.Environment, "LD_LIBRARY_PATH=/own")
	err := p.Run(t.Context())
	dir := p.Installation.Directory
	if !contains(err, "in "+dir+" with "+dir+":") || !contains(err, ":/own") {
		t.Errorf("error %v", err)
	}
}

func TestSessionStopsTrafficOfASilentRunner(t *testing.T) {
	s := startSession(t, "serve")
	sending(t, s.client, "", 0)
	s.beat(t)
	<-s.stopped
	client, err := trex.Dial(t.Context(), "", s.client)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	status, err := client.PortStatus(t.Context(), 0)
	if err != nil || status.State == "TX" || status.Owner != "" {
		t.Errorf("port 0 is %s, owned by %q; %v", status.State, status.Owner, err)
	}
	s.end()
	if err := <-s.ended; err != nil {
		t.Errorf("an orderly end: %v", err)
	}
}

func TestSessionEndsWhatCannotBeStopped(t *testing.T) {
	s := startSession(t, "mute")
	s.beat(t)
	err := <-s.ended
	if f, ok := errors.AsType[Fault](err); !ok || f.Code != TRexEnded ||
		!contains(err, "can't be stopped over the RPC") {
		t.Errorf("error %v", err)
	}
}

// runningSession is a Serve under way, with a bound of silence that a test can wait for.
type runningSession struct {
	client  trex.Options
	beats   string
	end     context.CancelFunc
	ended   chan error
	stopped chan string
}

func (s *runningSession) beat(t *testing.T) {
	t.Helper()
	conn, err := DialHeartbeat(t.Context(), s.beats, credential.Key{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Send(), conn.Close()); err != nil {
		t.Fatal(err)
	}
}

func startSession(t *testing.T, play string) *runningSession {
	t.Helper()
	patience := time.Minute // with one that answers, however late on a busy machine
	if play == "mute" {
		patience = 200 * time.Millisecond
	}
	ctx, cancel := context.WithCancel(t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	output, logged := watchFor("listening "), watchFor("level=INFO msg=\"stopped traffic\"")
	p := played(t, play)
	p.Stdout = output
	s := &runningSession{beats: l.Addr().String(), end: cancel, ended: make(chan error, 1), stopped: logged.found}
	address := make(chan string, 1)
	s.client = trex.Options{Timeout: patience, Dial: func(ctx context.Context, _ string) (net.Conn, error) {
		a := <-address
		address <- a
		return (&net.Dialer{}).DialContext(ctx, "tcp", a)
	}}
	handler := slog.NewTextHandler(logged, &slog.HandlerOptions{ReplaceAttr: withoutTime})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		s.ended <- Serve(ctx, Session{
			Process: p, Report: Report{Version: ReportVersion}, Heartbeat: l, HeartbeatTimeout: 100 * time.Millisecond,
			Client: s.client, Log: slog.New(handler),
		})
	}()
	t.Cleanup(func() { cancel(); <-finished })
	address <- <-output.found
	return s
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

func TestProbe(t *testing.T) {
	s := startSession(t, "serve")
	version, err := Probe(t.Context(), "", time.Minute, s.client)
	if err != nil || version.Version == "" {
		t.Errorf("%+v, %v", version, err)
	}
	if _, err := Probe(t.Context(), "127.0.0.1:1", time.Minute, trex.Options{}); err == nil {
		t.Error("a port that nobody listens on is ready")
	}
}

func TestCopyProgram(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "linerate", "program")
	for _, destination := range []string{filepath.Join(dir, "other"), t.TempDir()} {
		written, err := CopyProgram(filepath.Join(dir, "linerate"), destination)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(written)
		info, statErr := os.Stat(written)
		if err != nil || statErr != nil || string(text) != "program" || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %q, %v, %v", written, text, err, statErr)
		}
	}
	if _, err := CopyProgram(filepath.Join(dir, "linerate"), filepath.Join(dir, "no", "where")); err == nil {
		t.Error("a copy into a folder that doesn't exist succeeded")
	}
	leftovers, err := filepath.Glob(filepath.Join(dir, ".copying*"))
	if err != nil || len(leftovers) > 0 {
		t.Errorf("left behind: %s", strings.Join(leftovers, ", "))
	}
}

func TestWhatCannotBeStarted(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "garbage", "\x00\x01\x02")
	for name, want := range map[string]Code{"garbage": WrongArchitecture, "absent": TRexNotFound} {
		err := Process{Installation: Installation{Directory: dir, Binary: dir + "/" + name}}.Run(t.Context())
		if f, ok := errors.AsType[Fault](err); !ok || f.Code != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
