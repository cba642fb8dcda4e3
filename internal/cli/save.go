package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/linerate-dev/linerate/internal/report"
)

// shelf is the directory where a run's reports are kept. The zero shelf keeps nothing.
type shelf struct{ dir string }

// prepare makes the directory and proves that a file can be written there: before anything is sent, not after ten minutes.
func (s shelf) prepare() error {
	if s.dir == "" {
		return nil
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil { // reports are meant to be read by others
		return badInput("--save %s: %w; name another directory, or --save \"\" to keep nothing", s.dir, err)
	}
	probe, err := os.CreateTemp(s.dir, ".writable-*")
	if err != nil {
		return badInput("--save %s: %w; name another directory, or --save \"\" to keep nothing", s.dir, err)
	}
	_ = probe.Close()
	return os.Remove(probe.Name())
}

// keep writes the reports as JSON and as one page, and returns the page's path.
func (s shelf) keep(reports []*report.Report) (page string, err error) {
	if s.dir == "" || len(reports) == 0 {
		return "", nil
	}
	names := fileNames(reports)
	for i, r := range reports {
		if err := s.write(names[i]+".json", r, report.JSON); err != nil {
			return "", err
		}
	}
	page = names[0] + ".html"
	if len(reports) > 1 {
		page = "index.html"
	}
	err = s.writeAll(page, func(w io.Writer) error { return report.HTML(w, reports...) })
	return filepath.Join(s.dir, page), err
}

func (s shelf) write(name string, r *report.Report, render func(io.Writer, ...*report.Report) error) error {
	return s.writeAll(name, func(w io.Writer) error { return render(w, r) })
}

func (s shelf) writeAll(name string, render func(io.Writer) error) error {
	path := filepath.Join(s.dir, name)
	out, err := openOutput(nil, path)
	if err == nil {
		err = out.finish(render)
	}
	if err != nil {
		return notKept(path, err)
	}
	return nil
}

func notKept(path string, err error) error {
	return notMeasured("the report could not be kept as %s: %w; the figures above are all there is: free some space, or name another directory with --save, and run again", path, err)
}

// fileNames gives each report a name of its own. One that is no whole measurement says so, and never takes the place of one that is.
func fileNames(reports []*report.Report) []string {
	taken := map[string]bool{}
	names := make([]string, len(reports))
	for i, r := range reports {
		base := r.Plan.Test.Name
		if r.Ending != report.Completed {
			base += "-" + strings.ToLower(string(r.Ending))
		}
		name := base
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		taken[name], names[i] = true, name
	}
	return names
}
