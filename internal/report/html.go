package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed page
var pageFiles embed.FS

// HTML writes the reports as one page that needs nothing else: no network, no other file. Its graphs are SVG drawn here; scripts only
// add a readout under the pointer, so it loses little without them. It follows the reader's light or dark scheme and prints.
func HTML(w io.Writer, reports ...*Report) error {
	style, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return fmt.Errorf("read the page's style: %w", err)
	}
	script, err := pageFiles.ReadFile("page/page.js")
	if err != nil {
		return fmt.Errorf("read the page's script: %w", err)
	}
	t, err := template.ParseFS(pageFiles, "page/*.tmpl")
	if err != nil {
		return fmt.Errorf("read the page's template: %w", err)
	}
	view, err := newPage(reports)
	if err != nil {
		return err
	}
	view.Style, view.Script = template.CSS(style), template.JS(script)
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, "page.tmpl", view); err != nil {
		return fmt.Errorf("write html: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write html: %w", err)
	}
	return nil
}
