package report

import (
	"bytes"
	"fmt"
	"html"
	"io"
)

// HTML writes the reports as one self-contained page.
func HTML(w io.Writer, reports ...*Report) error {
	var text bytes.Buffer
	if err := Text(&text, reports...); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "<!DOCTYPE html><meta charset=utf-8><title>linerate</title><pre>%s</pre>\n", html.EscapeString(text.String()))
	return err
}
