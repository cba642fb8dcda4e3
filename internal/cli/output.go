package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// output is where a document goes: a stream, or a file that appears whole or not at all, for a half-written document would be read as
// a measurement.
type output struct {
	to   io.Writer
	file *os.File
	name string
}

// openOutput makes room for the file beside its place, so that what can't be written is known before anything is sent. "-" is the stream.
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

// finish writes the document and puts the file in its place. Nothing is left where it fails.
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

// discard leaves nothing of a file that is not wanted.
func (o *output) discard() error {
	if o.file == nil {
		return nil
	}
	return errors.Join(o.file.Close(), os.Remove(o.file.Name()))
}
