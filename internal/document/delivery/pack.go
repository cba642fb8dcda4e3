package delivery

import (
	"bytes"
	"compress/gzip"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// pack compresses a document. An error says which bound the document exceeds, as no reader would unpack it. The
// same document always packs to the same bytes, since gzip's header gets neither name nor time.
func pack(document []byte) ([]byte, error) { return packWithin(document, ofDocument) }

func packWithin(document []byte, limits intake.Limits) ([]byte, error) {
	if _, err := intake.Measure(document, limits, nil); err != nil {
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

// unpack reads what pack wrote. It refuses data that is truncated, has trailing bytes, or exceeds a bound, and
// finds that out before it allocates memory for the document.
func unpack(packed []byte) ([]byte, error) { return intake.Unpack(packed, ofDocument) }
