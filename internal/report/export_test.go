package report

import (
	"io"
)

// ReadUpTo is Read with another bound than MaxDocument.
func ReadUpTo(in io.Reader, limit int64) ([]*Report, error) { return read(in, limit) }
