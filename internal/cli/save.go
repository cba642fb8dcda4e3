package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/cli/sidebyside"
	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/outfile"
	"github.com/linerate-dev/linerate/internal/render"
)

// reportFolder is the directory of --save, where a run's Reports are kept. The zero reportFolder keeps nothing.
type reportFolder struct{ dir string }

// prepare makes the directory and tests that a file can be written there, before anything is sent.
func (s reportFolder) prepare() error {
	if s.dir == "" {
		return nil
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil { // other users may read reports
		return exit.BadInput("--save %s: %w; name another directory, or --save \"\" to keep nothing", s.dir, err)
	}
	probe, err := outfile.Create(s.path("report"), outfile.ForAll)
	if err != nil {
		return exit.BadInput("--save %s: %w; name another directory, or --save \"\" to keep nothing", s.dir, err)
	}
	return probe.Discard()
}

// keep writes the reports as JSON and as one page, and returns the page's path.
func (s reportFolder) keep(reports []*report.Report) (page string, err error) {
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
	err = s.writeAll(page, func(w io.Writer) error { return render.HTML(w, reports...) })
	return filepath.Join(s.dir, page), err
}

// suiteFile is the name of a suite's document. Verbs that read a directory of Reports skip it: each of the suite's runs has a Report of its own.
func suiteFile(name string) string { return name + sidebyside.SuiteSuffix }

func (s reportFolder) path(name string) string { return filepath.Join(s.dir, name) }

// keepTest writes the Report of a suite's test, and returns the file's digest.
func (s reportFolder) keepTest(r *report.Report) (digest string, err error) {
	var document bytes.Buffer
	if err := report.JSON(&document, r); err != nil {
		return "", exit.NotMeasured("%w", err)
	}
	digest = report.Digest(document.Bytes())
	if s.dir == "" {
		return digest, nil
	}
	name := fileNames([]*report.Report{r})[0]
	if err := s.write(name+".html", r, render.HTML); err != nil {
		return "", err
	}
	return digest, s.writeAll(name+".json", func(w io.Writer) error { _, err := w.Write(document.Bytes()); return err })
}

// keptTest reads the Report of a suite's test from its file; why says what is wrong with the file, and is empty otherwise.
func (s reportFolder) keptTest(name, digest string) (r *report.Report, why string) {
	text, err := intake.TextFile(s.path(name+".json"), report.MaxDocument)
	if err != nil {
		return nil, "its Report is gone: " + err.Error()
	}
	if report.Digest(text) != digest {
		return nil, s.path(name+".json") + " is another Report than the one that was measured"
	}
	reports, err := report.Read(bytes.NewReader(text))
	switch {
	case err != nil:
		return nil, err.Error()
	case len(reports) != 1 || len(reports[0].Generators) == 0:
		return nil, s.path(name+".json") + " is not the Report of one run"
	}
	return reports[0], ""
}

// keepSuite writes a suite's document, and with page also its page.
func (s reportFolder) keepSuite(document *report.Suite, page bool) error {
	if s.dir == "" {
		return nil
	}
	err := s.writeAll(suiteFile(document.Name), document.JSON)
	if err != nil || !page {
		return err
	}
	all := report.Documents{Suites: []*report.Suite{document}}
	return s.writeAll(document.Name+".html", func(w io.Writer) error { return render.Write(w, "html", render.OfTests(all), render.TextOptions{}) })
}

// suites are the documents of all suites in the directory. One that can't be read is skipped with a message.
func (s reportFolder) suites(stderr io.Writer) (all []*report.Suite, err error) {
	if s.dir == "" {
		return nil, nil // without a directory there is none, and that is no error
	}
	if _, err := os.Stat(s.dir); err != nil {
		return nil, exit.BadInput("calibrations of earlier suites: %w; name another directory with --calibrations", err)
	}
	names, err := filepath.Glob(s.path("*" + sidebyside.SuiteSuffix))
	if err != nil {
		return nil, exit.BadInput("calibrations of earlier suites: %s: %w", s.dir, err)
	}
	for _, name := range names {
		text, err := intake.TextFile(name, report.MaxDocument)
		if err != nil {
			fmt.Fprintf(stderr, "no calibration is reused from %s: %v\n", name, err)
			continue
		}
		document, err := report.ReadSuite(text)
		if err != nil {
			fmt.Fprintf(stderr, "no calibration is reused from %s: %v\n", name, err)
			continue
		}
		all = append(all, document)
	}
	return all, nil
}

// unfinished is the document of an earlier run of the suite that didn't measure all of its tests; nil: there is none.
func (s reportFolder) unfinished(name string) (*report.Suite, error) {
	if s.dir == "" {
		return nil, nil // without a directory there is none, and that is no error
	}
	text, err := intake.TextFile(s.path(suiteFile(name)), report.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // this is the suite's first run in this directory
	}
	document, err2 := report.ReadSuite(text)
	if err = cmp.Or(err, err2); err != nil {
		return nil, exit.BadInput("%s is an earlier run's document, and can't be read: %w; remove it to begin anew", s.path(suiteFile(name)), err)
	}
	if document.Name != name || document.Whole() {
		return nil, nil // the earlier run is complete, so this one begins anew
	}
	if !document.Finished.IsZero() && time.Since(document.Finished) > completableWithin {
		return nil, nil // the earlier run is too old to be completed, so this one begins anew
	}
	return document, nil
}

// completableWithin is how long after its end a suite that didn't measure all of its tests may be completed by another run. Without this bound, a nightly suite with a cell that
// can never be measured would keep the first night's figures for ever.
const completableWithin = 12 * time.Hour

func (s reportFolder) write(name string, r *report.Report, render func(io.Writer, ...*report.Report) error) error {
	return s.writeAll(name, func(w io.Writer) error { return render(w, r) })
}

func (s reportFolder) writeAll(name string, render func(io.Writer) error) error {
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
	return exit.NotMeasured("the report could not be kept as %s: %w; the figures above are all there is: free some space, or name another directory with --save, and run again", path, err)
}

// fileNames gives each report a name of its own. An incomplete measurement's name says so, so that it never overwrites a complete one.
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
