package admission

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// maxFile is how much of a file is read. An API server takes no larger request.
const maxFile = 3 << 20

// document is one YAML document of a file.
type document struct {
	number int // from 1
	line   int // of the file, on which the text begins; from 1
	text   []byte
}

// split reads a file and parts it at its "---" lines. Documents without content, such as a comment before the
// first "---", are not counted.
func split(r io.Reader) ([]document, error) {
	data, err := intake.Text(r, maxFile)
	switch _, large := errors.AsType[intake.Exceeded](err); {
	case large:
		return nil, fmt.Errorf("larger than %d MiB, which no API server takes: split it into several files",
			maxFile>>20)
	case err != nil:
		return nil, err
	}
	var documents []document
	current := document{line: 1}
	for i, line := range bytes.SplitAfter(data, []byte("\n")) {
		if !separates(line) {
			current.text = append(current.text, line...)
			continue
		}
		documents = append(documents, current)
		current = document{line: i + 2}
	}
	return withContent(append(documents, current)), nil
}

// separates says that a line parts two documents. What may follow the dashes on their own line is a comment.
func separates(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	if !ok {
		return false
	}
	rest = bytes.TrimSpace(rest)
	return len(rest) == 0 || rest[0] == '#'
}

func withContent(documents []document) []document {
	remaining := documents[:0]
	for _, d := range documents {
		if hasContent(d.text) {
			d.number = len(remaining) + 1
			remaining = append(remaining, d)
		}
	}
	return remaining
}

func hasContent(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return true
		}
	}
	return false
}
