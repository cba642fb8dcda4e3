package delivery

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// pack compresses a document; an error says which bound the document exceeds. The same document always packs to the same bytes, since gzip's header gets neither
// name nor time.
func pack(document []byte) ([]byte, error) { return packWithin(document, ofDocument) }

func packWithin(document []byte, within bounds) ([]byte, error) {
	if err := checkSize(document, within); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(document); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// unpack reads what pack wrote. It refuses data that is truncated, has trailing bytes, or exceeds a bound, and finds that out before it allocates memory for
// the document.
func unpack(packed []byte) ([]byte, error) { return unpackWithin(packed, ofDocument) }

func unpackWithin(packed []byte, within bounds) ([]byte, error) {
	size, err := sizeOf(packed, within)
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

// unpacking starts to unpack one document; the rest of in are trailing bytes.
func unpacking(packed []byte) (r *gzip.Reader, in *bytes.Reader, err error) {
	in = bytes.NewReader(packed)
	if r, err = gzip.NewReader(in); err != nil {
		return nil, nil, fmt.Errorf("not packed with gzip: %w", err)
	}
	r.Multistream(false)
	return r, in, nil
}
