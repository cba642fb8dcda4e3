package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestStderrNeverBlocks(t *testing.T) {
	t.Run("what was said is written in order before the program ends", func(t *testing.T) {
		var target bytes.Buffer
		k := newLossyStderr(&target)
		for _, s := range []string{"one ", "two ", "three"} {
			if _, err := io.WriteString(k, s); err != nil {
				t.Fatal(err)
			}
		}
		k.Close()
		if target.String() != "one two three" {
			t.Errorf("written: %q", target.String())
		}
	})
	t.Run("a reader that stands still holds nobody up", func(t *testing.T) {
		r, w := io.Pipe() // nobody reads
		defer func() { _ = r.Close() }()
		k := newLossyStderr(w)
		for range 2 * stderrQueue {
			if _, err := io.Copy(k, strings.NewReader("progress\n")); err != nil {
				t.Fatal(err)
			}
		}
		k.Close()
	})
}
