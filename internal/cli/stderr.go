package cli

import (
	"bytes"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/linerate-dev/linerate/internal/host/sanitize"
)

// lossyStderr is stderr for a program that must not wait for its reader, since a stopped pager or a paused
// terminal would delay readings, and the end of traffic. It drops what can't be written in time. Nothing on
// stderr is data.
type lossyStderr struct {
	target io.Writer
	lines  chan []byte
	closed chan struct{}
}

// stderrQueue is how many writes may wait for the reader. stderrGrace is how long the end of the program waits for it.
const (
	stderrQueue = 4096
	stderrGrace = time.Second
)

func newLossyStderr(target io.Writer) *lossyStderr {
	t := &lossyStderr{target: target, lines: make(chan []byte, stderrQueue), closed: make(chan struct{})}
	go func() {
		defer close(t.closed)
		for line := range t.lines {
			_, _ = t.target.Write(line)
		}
	}()
	return t
}

// Write never blocks and never fails. It is safe for concurrent use until Close.
func (t *lossyStderr) Write(p []byte) (int, error) {
	select {
	case t.lines <- bytes.Clone(p):
	default:
	}
	return len(p), nil
}

// Close waits for at most stderrGrace until everything is written. Nothing may be written afterwards.
func (t *lossyStderr) Close() {
	close(t.lines)
	select {
	case <-t.closed:
	case <-time.After(stderrGrace):
	}
}

// terminal is the terminal behind a writer. Nil means that there is none.
func terminal(w io.Writer) *os.File {
	if o, ok := w.(*firstOnly); ok {
		w = o.stderr
	}
	if o, ok := w.(*sanitize.Writer); ok {
		w = o.Unwrap()
	}
	if t, ok := w.(*lossyStderr); ok {
		w = t.target
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}
