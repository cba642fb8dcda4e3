package intake

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"unicode/utf8"
)

// packedSuffix ends the names of files that are packed with gzip.
const packedSuffix = ".gz"

// Text reads an input to its end, and refuses more than so many bytes.
func Text(r io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(text)) > limit:
		return nil, Exceeded(fmt.Sprintf("it is larger than %s, which nothing is that linerate reads here: give a smaller one", mebibytes(limit)))
	}
	return text, nil
}

// TextFile is Text of a file.
func TextFile(name string, limit int64) (text []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return Text(f, limit)
}

// TextFileOf is Text of a file of a file system.
func TextFileOf(files fs.FS, name string, limit int64) (text []byte, err error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return Text(f, limit)
}

// Documents reads the JSON documents of an input, one after the other, and gives up as soon as they together exceed
// a limit as values of one of the types. It decodes nothing.
func Documents(r io.Reader, limits Limits, targets ...reflect.Type) ([][]byte, error) {
	meters := make([]io.Writer, len(targets))
	for i, t := range targets {
		meters[i] = NewMeter(limits, t)
	}
	text, err := io.ReadAll(io.TeeReader(r, io.MultiWriter(meters...)))
	if err != nil {
		return nil, err
	}
	return split(text), nil
}

// Open opens a file, unpacked where its name ends in .gz. It gives at most so many packed bytes. Its reader bounds
// what they unpack to.
func Open(name string, limit int64) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err != nil || !strings.HasSuffix(name, packedSuffix) {
		return f, err
	}
	unpacked, err := gzip.NewReader(io.LimitReader(f, limit))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("not packed with gzip: %w", err), f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{unpacked, f}, nil
}

// Stream is an input, unpacked where gzip packed it. It doesn't bound what comes out: its reader has to take one piece
// after the other.
func Stream(r io.Reader) (*bufio.Reader, error) {
	packed := bufio.NewReader(r)
	if beginning, _ := packed.Peek(2); string(beginning) != "\x1f\x8b" {
		return packed, nil
	}
	unpacked, err := gzip.NewReader(packed)
	return bufio.NewReader(unpacked), err
}

// split parts documents that follow each other. What is none is part of the next, whose decoder says so.
func split(text []byte) (documents [][]byte) {
	m := NewMeter(Limits{Depth: len(text) + 1}, nil)
	start := 0
	for i, c := range text {
		if m.inText {
			m.readText(c)
			continue
		}
		_ = m.read(c) // no depth is too much
		if (c == '}' || c == ']') && len(m.open) == 0 {
			documents, start = append(documents, text[start:i+1]), i+1
		}
	}
	if rest := text[start:]; len(bytes.TrimSpace(rest)) > 0 {
		documents = append(documents, rest)
	}
	return documents
}

// JSON decodes one document that is within the limits, and ignores members that the type doesn't know.
func JSON(text []byte, target any, limits Limits) error {
	return DecodeBy(json.Unmarshal, text, target, limits)
}

// StrictJSON is JSON that refuses members that the type doesn't know.
func StrictJSON(text []byte, target any, limits Limits) error {
	return DecodeBy(func(text []byte, target any) error {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(target); err != nil {
			return err
		}
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return errors.New("something follows the document")
		}
		return nil
	}, text, target, limits)
}

// DecodeBy is JSON by another decoder, such as Kubernetes' own.
func DecodeBy(decode func([]byte, any) error, text []byte, target any, limits Limits) error {
	if err := Check(text, target, limits); err != nil {
		return err
	}
	return decode(text, target)
}

// Check refuses a document that exceeds a limit as the value that it would be decoded into (nil for any value).
func Check(text []byte, target any, limits Limits) error {
	t := reflect.TypeOf(target)
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if _, err := Measure(text, limits, t); err != nil {
		return err
	}
	if !utf8.Valid(text) { // each such byte would take three
		return errors.New("not UTF-8, as JSON is")
	}
	return nil
}
