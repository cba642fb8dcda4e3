package intake

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Unpack unpacks one packed document. It refuses what is cut off, has trailing bytes, or exceeds a limit, and finds
// that out before it allocates memory for the document.
func Unpack(packed []byte, limits Limits) ([]byte, error) {
	size, err := SizeOf(packed, limits)
	if err != nil {
		return nil, err
	}
	r, _, err := unpacking(packed)
	if err != nil {
		return nil, err
	}
	document := make([]byte, size.Bytes)
	if _, err := io.ReadFull(r, document); err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return document, nil
}

// Inflate unpacks one packed input of any kind, to at most so many bytes, and refuses what is cut off or followed by
// something.
func Inflate(packed []byte, limit int64) ([]byte, error) {
	r, source, err := unpacking(packed)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("unpack: %w", err)
	case int64(len(content)) > limit:
		return nil, tooManyBytes(limit)
	case source.Len() > 0:
		return nil, errors.New("something follows what is packed")
	}
	return content, nil
}

// SizeOf measures a packed document as Unpack does, and keeps none of it.
func SizeOf(packed []byte, limits Limits) (Size, error) {
	r, source, err := unpacking(packed)
	if err != nil {
		return Size{}, err
	}
	m := NewMeter(limits, nil)
	_, err = io.Copy(m, r)
	switch _, large := errors.AsType[Exceeded](err); {
	case large:
		return m.Size, err
	case err != nil:
		return m.Size, fmt.Errorf("unpack: %w", err)
	case source.Len() > 0:
		return m.Size, errors.New("something follows the packed document")
	}
	return m.Size, nil
}

// unpacking starts to unpack one document. The rest of in are trailing bytes.
func unpacking(packed []byte) (r *gzip.Reader, source *bytes.Reader, err error) {
	source = bytes.NewReader(packed)
	if r, err = gzip.NewReader(source); err != nil {
		return nil, nil, fmt.Errorf("not packed with gzip: %w", err)
	}
	r.Multistream(false)
	return r, source, nil
}
