package render

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

//go:embed page
var pageFiles embed.FS

// htmlFormat is a page that needs nothing else, no network and no other file. Its graphs are SVG drawn here.
// Scripts only add a readout under the pointer, so it loses little without them. It follows the reader's light or
// dark scheme and prints. Tests have a page with drawings of their samples, which are no words of a view. All else
// is figures side by side.
func htmlFormat() format {
	return format{name: "html", fits: htmlFits, write: func(w io.Writer, d Document, _ TextOptions) error {
		if len(d.views) == 0 {
			return nil
		}
		if reports, ok := d.views[0].source.([]*report.Report); ok {
			return writeTestsPage(w, reports)
		}
		return newSidePage(&d.views[0]).write(w)
	}}
}

// htmlFits says that a page is one document.
func htmlFits(tests, suites int) error {
	if suites > 1 || suites > 0 && tests > 0 {
		return errors.New("format html holds one suite, or tests alone: write them one at a time")
	}
	return nil
}

func writeTestsPage(w io.Writer, reports []*report.Report) error {
	view, err := newPage(reports)
	if err != nil {
		return err
	}
	if view.Style, err = pageStyle("page/page.css"); err != nil {
		return err
	}
	script, err := pageFiles.ReadFile("page/page.js")
	if err != nil {
		return fmt.Errorf("read the page's script: %w", err)
	}
	view.Script = template.JS(script)
	return writePage(w, "page.tmpl", view)
}

// pageStyle is one style sheet of these files, one after the other.
func pageStyle(files ...string) (template.CSS, error) {
	var b []byte
	for _, name := range files {
		style, err := pageFiles.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("read the page's style: %w", err)
		}
		b = append(b, style...)
	}
	return template.CSS(b), nil
}

// writePage writes a view by one of the templates, whole or not at all.
func writePage(w io.Writer, name string, view any) error {
	t, err := template.New("").Funcs(template.FuncMap{"duration": pageDuration}).ParseFS(pageFiles, "page/*.tmpl")
	if err != nil {
		return fmt.Errorf("read the page's template: %w", err)
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name, view); err != nil {
		return fmt.Errorf("write html: %w", err)
	}
	// HTML has no other control characters
	return writeAll(w, "html", bytes.NewBufferString(wording.Printable(b.String(), '\n', '\t')))
}

// pageDuration is a duration as HTML's element time has it for programs, in seconds and thousandths.
func pageDuration(d time.Duration) string {
	return fmt.Sprintf("PT%.3fS", max(0, d.Seconds()))
}
