package cli

import (
	"errors"
	"io"

	"github.com/linerate-dev/linerate/internal/host/outfile"
)

// output is where a document goes: a stream, or a file that appears complete or not at all.
type output struct {
	to   io.Writer
	file *outfile.File
}

// openOutput begins a file, so that an unwritable place is known before anything is sent. "-" is the stream.
func openOutput(stream io.Writer, name string) (*output, error) {
	if name == "-" {
		return &output{to: stream}, nil
	}
	f, err := outfile.Create(name, outfile.ForAll) // other users may read results
	if err != nil {
		return nil, err
	}
	return &output{to: f, file: f}, nil
}

// finish writes the document and puts the file in its place. Where that fails, no file is left.
func (o *output) finish(write func(io.Writer) error) error {
	if err := write(o.to); err != nil {
		return errors.Join(err, o.discard())
	}
	if o.file == nil {
		return nil
	}
	return o.file.Place()
}

// discard removes the file of a document that isn't written after all.
func (o *output) discard() error {
	if o.file == nil {
		return nil
	}
	return o.file.Discard()
}
