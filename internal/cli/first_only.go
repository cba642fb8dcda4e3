package cli

import (
	"io"
	"strings"
)

// firstOnly writes each note once. In a suite, every test would repeat the notes about the machine.
type firstOnly struct {
	stderr io.Writer
	notes  map[string]bool // notes that were written
}

// Write drops a line that begins with "note: " and was written before.
func (o *firstOnly) Write(p []byte) (int, error) {
	if text := string(p); strings.HasPrefix(text, "note: ") {
		if o.notes[text] {
			return len(p), nil
		}
		if o.notes == nil {
			o.notes = map[string]bool{}
		}
		o.notes[text] = true
	}
	return o.stderr.Write(p)
}
