package report

import (
	"io"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// ReadUpTo is Read with another bound of bytes.
func ReadUpTo(in io.Reader, bytes int64) ([]*Report, error) {
	return read(in, intake.Limits{Bytes: bytes})
}
