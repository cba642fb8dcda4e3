package cli

import (
	"errors"
	"io"

	"github.com/linerate-dev/linerate/internal/host/outfile"
)

// output is the target of a document. It is a stream, or a file that appears complete or not at all.
type output struct {
	target io.Writer
	file   *outfile.File
}

// openOutput creates a file, so that an unwritable path is known before traffic. The name "-" is the stream.
func openOutput(stream io.Writer, name string) (*output, error) {
	if name == "-" {
		return &output{target: stream}, nil
	}
	f, err := outfile.Create(name, outfile.ForAll) // other users may read results
	if err != nil {
		return nil, err
	}
	return &output{target: f, file: f}, nil
}

// finish writes the document and gives the file its name. If that fails, no file remains.
func (o *output) finish(write func(io.Writer) error) error {
	if err := write(o.target); err != nil {
		return errors.Join(err, o.discard())
	}
	if o.file == nil {
		return nil
	}
	return o.file.Place()
}

// discard removes the file of a document that isn't written.
func (o *output) discard() error {
	if o.file == nil {
		return nil
	}
	return o.file.Discard()
}
