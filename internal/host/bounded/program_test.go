package bounded_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/host/bounded"
)

func TestAProgramRunsToItsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		within  time.Duration
		want    string // of the error; empty: there is none
	}{
		"it succeeds":                 {[]string{"true"}, time.Minute, ""},
		"it fails":                    {[]string{"sh", "-c", "echo no such table >&2; exit 3"}, time.Minute, `sh -c "echo no such table >&2; exit 3": exit status 3; its last words: no such table`},
		"it is told of the test":      {[]string{"sh", "-c", `test "$LINERATE_TEST" = a`}, time.Minute, ""},
		"it has nothing to read":      {[]string{"sh", "-c", "! read line"}, time.Minute, ""},
		"it isn't there":              {[]string{"/no/such/program"}, time.Minute, "start /no/such/program: "},
		"it takes too long":           {[]string{"sh", "-c", "echo waiting; sleep 600"}, 50 * time.Millisecond, "did not end within 50ms"},
		"it says more than it should": {[]string{"sh", "-c", `printf '\033[1m%0300d' 0; exit 1`}, time.Minute, "; its last words: [1m" + strings.Repeat("0", 250) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			err := bounded.Run(t.Context(), c.command, []string{"LINERATE_TEST=a"}, c.within)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestWhatAProgramStartsAndLeavesGoesOn(t *testing.T) {
	var ends [2]*os.File
	for i := range ends {
		name := filepath.Join(t.TempDir(), "end")
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
		end, err := os.OpenFile(name, os.O_RDWR, 0) // both ways, so that opening doesn't wait for anybody
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = end.Close() }() // then cat has nothing more to read, and ends
		ends[i] = end
	}
	to, from := ends[0], ends[1]
	if err := bounded.Run(t.Context(), []string{"sh", "-c", "cat < " + to.Name() + " > " + from.Name() + " &"}, nil, time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := to.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	if err := from.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Read(make([]byte, 1)); err != nil {
		t.Errorf("what it left answers no more: %v", err)
	}
}

// What it started is killed with it: a reset that goes on would empty tables within a trial.
func TestNothingOfAProgramThatIsEndedGoesOn(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "alive")
	if err := bounded.Run(t.Context(), []string{"mkfifo", fifo}, nil, time.Minute); err != nil {
		t.Fatal(err)
	}
	alive, err := os.OpenFile(fifo, os.O_RDWR, 0) // also to write, so that opening doesn't wait for anybody
	if err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	if err := reader.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan error, 1)
	go func() {
		ended <- bounded.Run(ctx, []string{"sh", "-c", "(echo; sleep 600) > " + fifo + " & wait"}, nil, time.Minute)
	}()
	if _, err := reader.Read(make([]byte, 1)); err != nil { // what it starts is there, once it has spoken
		t.Fatal(err)
	}
	end()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	_ = alive.Close()
	if n, err := reader.Read(make([]byte, 1)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("what it started holds its end open: %d, %v", n, err)
	}
}

func TestAnInterruptEndsAProgram(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, interrupt)
	if err := bounded.Run(ctx, []string{"sleep", "600"}, nil, time.Hour); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
