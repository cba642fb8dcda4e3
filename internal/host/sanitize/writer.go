package sanitize

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Writer takes text and writes it without
//   - control characters but tab and newline, marks that turn text round, and characters that aren't seen:
//     U+FFFD stands for each,
//   - lines that begin with "::", and "##[" or "##word[" anywhere, which GitHub's and other runners take for
//     commands: a space parts them.
//
// It is safe for concurrent use.
type Writer struct {
	target io.Writer
	// styled keeps the colours and redrawn lines that linerate itself draws on a terminal.
	styled bool

	mu sync.Mutex
	// cut is a character that the last Write ended in the middle of.
	cut []byte
	// inLine says that the line has something else than spaces, and colon that this is a colon alone. hashes is how
	// many # stand before this, and the letters behind them.
	inLine, colon bool
	hashes        int
}

// NewWriter is a Writer to out. styled says that out is a terminal, which linerate draws on.
func NewWriter(target io.Writer, styled bool) *Writer { return &Writer{target: target, styled: styled} }

// Unwrap is what the text goes to.
func (w *Writer) Unwrap() io.Writer { return w.target }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := slices.Concat(w.cut, p)
	w.cut = nil
	var filtered bytes.Buffer
	for len(text) > 0 {
		if !utf8.FullRune(text) {
			w.cut = slices.Clone(text)
			break
		}
		if n := w.drawing(text); n > 0 {
			filtered.Write(text[:n])
			text = text[n:]
			continue
		}
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		w.add(&filtered, r)
	}
	if _, err := w.target.Write(filtered.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// drawings are the beginnings of what linerate draws with, and the letter that ends each. Digits and semicolons
// stand between them.
var drawings = []struct{ begins, ends string }{{"\x1b[", "m"}, {"\x1b[", "A"}, {"\x1b[", "J"}, {"\x1b[", "K"}}

// drawing is the length of the drawing that a text begins with, or 0 where it begins with none.
func (w *Writer) drawing(text []byte) int {
	if !w.styled {
		return 0
	}
	if text[0] == '\r' {
		w.inLine, w.colon, w.hashes = false, false, 0
		return 1
	}
	for _, d := range drawings {
		rest, ok := bytes.CutPrefix(text, []byte(d.begins))
		if !ok {
			continue
		}
		digits := bytes.IndexFunc(rest, func(r rune) bool { return r != ';' && (r < '0' || r > '9') })
		if digits >= 0 && digits < 8 && bytes.HasPrefix(rest[digits:], []byte(d.ends)) {
			return len(d.begins) + digits + len(d.ends)
		}
	}
	return 0
}

// add writes a character as it may be written.
func (w *Writer) add(b *bytes.Buffer, r rune) {
	switch {
	case r == '\n':
		w.inLine, w.colon, w.hashes = false, false, 0
		b.WriteByte('\n')
		return
	case r != '\t' && wording.Hidden(r):
		r = utf8.RuneError
	}
	if r == ':' && w.colon || r == '[' && w.hashes >= 2 {
		b.WriteByte(' ')
	}
	w.colon = r == ':' && !w.inLine
	w.inLine = w.inLine || !unicode.IsSpace(r)
	switch {
	case r == '#':
		w.hashes++
	case w.hashes < 2 || !unicode.IsLetter(r):
		w.hashes = 0
	}
	b.WriteRune(r)
}

// Text is a text as Writer writes it.
func Text(s string) string {
	var b strings.Builder
	w := NewWriter(&b, false)
	_, _ = io.WriteString(w, s) // a builder takes everything
	return b.String()
}
