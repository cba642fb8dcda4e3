package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/internal/engine/trex/zmtp"
	"github.com/linerate-dev/linerate/test/rigs/trextest"
)

// playVariable makes the test binary play _t-rex-64 instead of running tests. Its value is the play's name and
// argument.
const playVariable = "LINERATE_PLAY_TREX"

func TestMain(m *testing.M) {
	if play, ok := os.LookupEnv(playVariable); ok {
		os.Exit(playTRex(play))
	}
	os.Exit(m.Run())
}

// playTRex returns the exit code.
func playTRex(play string) int {
	name, argument, _ := strings.Cut(play, ":")
	number, _ := strconv.Atoi(argument)
	fmt.Println("Starting TRex v3.08", strings.Join(os.Args[1:], " "))
	switch name {
	case "exit":
		return number
	case "say":
		fmt.Fprintln(os.Stderr, argument)
		return 1
	case "signal":
		_ = syscall.Kill(os.Getpid(), syscall.Signal(number))
		for { // a process whose goroutines all wait, with no signal to come, is ended by the runtime
			_ = syscall.Pause()
		}
	case "old-cpu":
		if filepath.Base(os.Args[0]) == fallbackName {
			fmt.Println("the other build runs")
			return 7
		}
		return 132
	case "surroundings":
		dir, _ := os.Getwd()
		fmt.Printf("in %s with %s\n", dir, os.Getenv("LD_LIBRARY_PATH"))
		return 3
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		for { // a process whose goroutines all wait, with no signal to come, is ended by the runtime
			_ = syscall.Pause()
		}
	}
	return playServer(name == "mute")
}

// playServer answers RPC until SIGTERM, and then ends as TRex does. A mute one stops answering once it has been
// asked for its ports.
func playServer(mute bool) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	generator := trextest.NewGenerator(trextest.TwoPorts()...)
	fmt.Printf("ready\nlistening %s\n", l.Addr())
	_ = zmtp.Serve(ctx, l, func(ctx context.Context, message []byte) []byte {
		if mute && strings.Contains(string(message), "get_system_info") {
			<-ctx.Done()
			return nil
		}
		return playAnswer(generator, message)
	})
	fmt.Println("All cores stopped")
	return exitOrderly
}

func playAnswer(generator *trextest.Generator, message []byte) []byte {
	requests, _, err := wire.ParseRequests(message)
	if err != nil {
		return nil
	}
	responses := make([]wire.Response, len(requests))
	for i, r := range requests {
		result, err := generator.Answer(trextest.Call{Method: r.Method, Params: r.Params})
		responses[i] = wire.Response{JSONRPC: wire.Version, ID: r.ID}
		if refusal, refused := errors.AsType[*wire.Error](err); refused {
			responses[i].Error = refusal
			continue
		}
		responses[i].Result, _ = json.Marshal(result)
	}
	var answer []byte
	if len(responses) == 1 {
		answer, _ = json.Marshal(responses[0])
	} else {
		answer, _ = json.Marshal(responses)
	}
	return answer
}

// played is a TRex folder whose binary is this test binary, playing something.
func played(t *testing.T, play string, files ...string) Process {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, binaryName) {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	installation, err := Find(os.DirFS("/"), dir, goarch)
	if err != nil {
		t.Fatal(err)
	}
	return Process{Installation: installation, Arguments: []string{"-i", "-c", "1"}, Environment: append(os.Environ(),
		playVariable+"="+play)}
}

// lineWatch is a writer that hands on the lines that begin with some words.
type lineWatch struct {
	tail
	prefix string
	found  chan string
}

func watchFor(prefix string) *lineWatch {
	return &lineWatch{prefix: prefix, found: make(chan string, 16)}
}

func (w *lineWatch) Write(b []byte) (int, error) {
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, w.prefix); ok {
			w.found <- strings.TrimSpace(rest)
		}
	}
	return w.tail.Write(b)
}

func listening(t *testing.T, hello Report, beat func()) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- ReceiveHeartbeats(ctx, l, hello, beat) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func plainStream() stream.Stream {
	return stream.Stream{
		Enabled: true, SelfStart: true, CoreID: -1, NextStreamID: -1,
		Mode:   stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: 1}},
		Packet: stream.Packet{Binary: make([]byte, 60)},
	}
}
