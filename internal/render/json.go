package render

import (
	"io"

	"github.com/linerate-dev/linerate/internal/report"
)

// jsonFormat is the documents themselves, for programs and for linerate, which reads Reports and suites again. Several are one after the other.
func jsonFormat() format {
	return format{name: "json", write: func(w io.Writer, d Document, _ TextOptions) error {
		all, several := d.source.(report.Documents)
		if !several {
			return d.source.(interface{ JSON(io.Writer) error }).JSON(w)
		}
		if err := report.JSON(w, all.Reports...); err != nil {
			return err
		}
		for _, s := range all.Suites {
			if err := s.JSON(w); err != nil {
				return err
			}
		}
		return nil
	}}
}
