package render

import (
	"bytes"
	"io"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/sanitize"
)

// jsonFormat is the documents themselves, for programs and for linerate, which reads Reports and suites again.
// Several are one after the other.
func jsonFormat() format {
	return format{name: "json", write: func(w io.Writer, d Document, _ TextOptions) error {
		var b bytes.Buffer
		if err := writeJSON(&b, d); err != nil {
			return err
		}
		return sanitize.JSON(w, b.Bytes())
	}}
}

func writeJSON(w io.Writer, d Document) error {
	documents, several := d.source.(report.Documents)
	if !several {
		return d.source.(interface{ JSON(io.Writer) error }).JSON(w)
	}
	if err := report.JSON(w, documents.Reports...); err != nil {
		return err
	}
	for _, s := range documents.Suites {
		if err := s.JSON(w); err != nil {
			return err
		}
	}
	return nil
}
