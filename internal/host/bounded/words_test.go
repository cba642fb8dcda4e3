package bounded

import (
	"fmt"
	"testing"
)

func TestTheLastWords(t *testing.T) {
	t.Run("the last words are the last line with a word", func(t *testing.T) {
		w := &Words{}
		fmt.Fprint(w, "first\n\nlast\n\n")
		if got := w.String(); got != "last" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("the last words are a crash's first line, without its stack", func(t *testing.T) {
		w := &Words{}
		fmt.Fprint(w, "started\npanic: index out of range\n\ngoroutine 1 [running]:\nmain.main()\n")
		if got := w.String(); got != "panic: index out of range" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("the last words are bounded", func(t *testing.T) {
		w := &Words{}
		for range 10_000 {
			fmt.Fprintln(w, "a line of talk")
		}
		fmt.Fprintln(w, "the end")
		if len(w.text) > keptWords || w.String() != "the end" {
			t.Errorf("%d bytes kept, ending in %q", len(w.text), w.String())
		}
	})
}
