package delivery

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// The bounds of what travels. A ConfigMap holds 1 MiB of everything, its names and annotations included (Kubernetes, "ConfigMaps"); what
// is unpacked from one may be that much larger, and no more: a document that grows beyond it was made to fill memory.
const (
	MaxPacked   = 900 << 10
	maxUnpacked = 64 << 20
)

// pack compresses a document. The same document packs to the same bytes: gzip's header gets neither name nor time.
func pack(document []byte) ([]byte, error) {
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

// unpack reads what pack wrote, and refuses what is cut off, carries more behind its end, or grows beyond the bound.
func unpack(packed []byte) ([]byte, error) {
	in := bytes.NewReader(packed)
	r, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("not packed with gzip: %w", err)
	}
	r.Multistream(false)
	document, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("unpack: %w", err)
	case len(document) > maxUnpacked:
		return nil, fmt.Errorf("it unpacks to more than %d MiB, which no document of linerate's does", maxUnpacked>>20)
	case in.Len() > 0:
		return nil, errors.New("something follows the packed document")
	}
	return document, nil
}
