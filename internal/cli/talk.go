package cli

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// talk is stderr for a program that must not wait for its reader: a pager that stands still or a terminal that is held would otherwise
// hold up readings, and the stop of traffic. What can't be written in time is dropped; nothing that is said here is data.
type talk struct {
	out   io.Writer
	lines chan []byte
	done  chan struct{}
}

// talkQueue is how much may wait for the reader, talkGrace how long the end of the program waits for it.
const (
	talkQueue = 4096
	talkGrace = time.Second
)

func newTalk(out io.Writer) *talk {
	t := &talk{out: out, lines: make(chan []byte, talkQueue), done: make(chan struct{})}
	go func() {
		defer close(t.done)
		for line := range t.lines {
			_, _ = t.out.Write(line)
		}
	}()
	return t
}

// Write never blocks and never fails. It is safe for concurrent use until Close.
func (t *talk) Write(p []byte) (int, error) {
	select {
	case t.lines <- append([]byte(nil), p...):
	default:
	}
	return len(p), nil
}

// Close waits for what was said to be written, for a bounded time. Nothing may be written afterwards.
func (t *talk) Close() {
	close(t.lines)
	select {
	case <-t.done:
	case <-time.After(talkGrace):
	}
}

// terminal is the terminal behind a writer, nil if there is none.
func terminal(w io.Writer) *os.File {
	if o, ok := w.(*onceOnly); ok {
		w = o.out
	}
	if t, ok := w.(*talk); ok {
		w = t.out
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}
