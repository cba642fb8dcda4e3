package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// output is where a document goes: a stream, or a file that appears complete or not at all, since a half-written document could be taken for
// a measurement.
type output struct {
	to   io.Writer
	file *os.File
	name string
}

// openOutput creates a temporary file beside the final one, so that an unwritable place is known before anything is sent. "-" is the stream.
func openOutput(stream io.Writer, name string) (*output, error) {
	if name == "-" {
		return &output{to: stream}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".linerate-*")
	if err != nil {
		return nil, err
	}
	return &output{to: f, file: f, name: name}, nil
}

// finish writes the document and puts the file in its place. Where that fails, no file is left.
func (o *output) finish(write func(io.Writer) error) error {
	if err := write(o.to); err != nil {
		return errors.Join(err, o.discard())
	}
	if o.file == nil {
		return nil
	}
	if err := o.place(); err != nil {
		return errors.Join(err, os.Remove(o.file.Name()))
	}
	return nil
}

// place closes the file, lets others read it, and gives it its name.
func (o *output) place() error {
	if err := errors.Join(o.file.Close(), os.Chmod(o.file.Name(), 0o644)); err != nil {
		return err
	}
	return os.Rename(o.file.Name(), o.name)
}

// discard removes the temporary file of a document that isn't written after all.
func (o *output) discard() error {
	if o.file == nil {
		return nil
	}
	return errors.Join(o.file.Close(), os.Remove(o.file.Name()))
}
