package sanitize

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/units/wording"
)

// JSON writes a JSON document with escapes for characters that could drive a terminal or command a log's reader,
// which only its texts can have. A decoder gets the same values.
func JSON(w io.Writer, document []byte) error {
	var b bytes.Buffer
	for rest := document; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteRune(r)
		case wording.Hidden(r):
			escape(&b, r)
		case r == '#' && bytes.HasPrefix(rest, []byte("##")):
			escape(&b, r)
		default:
			b.Write(rest[:n])
		}
		rest = rest[n:]
	}
	_, err := w.Write(b.Bytes())
	return err
}

func escape(b *bytes.Buffer, r rune) {
	if r > 0xFFFF {
		high, low := utf16.EncodeRune(r)
		fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

// JSONLines takes JSON, a whole line with each Write, and writes it as JSON does, for a log's records.
type JSONLines struct{ Target io.Writer }

// Write implements io.Writer.
func (l JSONLines) Write(line []byte) (int, error) {
	if err := JSON(l.Target, line); err != nil {
		return 0, err
	}
	return len(line), nil
}
