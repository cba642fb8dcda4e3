package cli

import (
	"bytes"
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

// reportFolder is the directory of --save, which keeps a run's Reports. The zero reportFolder keeps nothing.
type reportFolder struct{ dir string }

// prepare makes the directory and checks that a file can be written there, before any traffic.
func (s reportFolder) prepare() error {
	if s.dir == "" {
		return nil
	}
	err := os.MkdirAll(s.dir, 0o755) // other users may read reports
	var probe *outfile.File
	if err == nil {
		probe, err = outfile.Create(s.path("report"), outfile.ForAll)
	}
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
	return s.path(page), err
}

// suiteFile is the name of a suite's document. Verbs that read a directory of Reports skip it, since each of
// the suite's runs has a Report of its own.
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

// keptTest reads the Report of a suite's test from its file. It returns the file's fault. Empty means that
// there is none.
func (s reportFolder) keptTest(name, digest string) (r *report.Report, fault string) {
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
	documents := report.Documents{Suites: []*report.Suite{document}}
	return s.writeAll(document.Name+".html", func(w io.Writer) error {
		return render.Write(w, "html", render.OfTests(documents), render.TextOptions{})
	})
}

// suites reads the documents of all suites in the directory. It skips one that can't be read with a message.
func (s reportFolder) suites(stderr io.Writer) (documents []*report.Suite, err error) {
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
		document, err := readSuite(name)
		if err != nil {
			fmt.Fprintf(stderr, "no calibration is reused from %s: %v\n", name, err)
			continue
		}
		documents = append(documents, document)
	}
	return documents, nil
}

func readSuite(file string) (*report.Suite, error) {
	text, err := intake.TextFile(file, report.MaxDocument)
	if err != nil {
		return nil, err
	}
	return report.ReadSuite(text)
}

// unfinished reads the document of an earlier run of the suite that didn't measure all of its tests. Nil means
// that there is none.
func (s reportFolder) unfinished(name string) (*report.Suite, error) {
	if s.dir == "" {
		return nil, nil // without a directory there is none, and that is no error
	}
	document, err := readSuite(s.path(suiteFile(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // this is the suite's first run in this directory
	}
	if err != nil {
		return nil, exit.BadInput("%s is an earlier run's document, and can't be read: %w; remove it to begin anew",
			s.path(suiteFile(name)), err)
	}
	if document.Name != name || document.Whole() {
		return nil, nil // the earlier run is complete, so this one begins anew
	}
	if !document.Finished.IsZero() && time.Since(document.Finished) > completableWithin {
		return nil, nil // the earlier run is too old to be completed, so this one begins anew
	}
	return document, nil
}

// completableWithin is how long after its end a suite that didn't measure all of its tests may be completed by
// another run. Without this bound, a nightly suite with a cell that can never be measured would keep the first
// night's figures for ever.
const completableWithin = 12 * time.Hour

func (s reportFolder) write(name string, r *report.Report, render func(io.Writer, ...*report.Report) error) error {
	return s.writeAll(name, func(w io.Writer) error { return render(w, r) })
}

func (s reportFolder) writeAll(name string, render func(io.Writer) error) error {
	file, err := openOutput(nil, s.path(name))
	if err == nil {
		err = file.finish(render)
	}
	if err != nil {
		return exit.NotMeasured("the report could not be kept as %s: %w; the figures above are all there is: "+
			"free some space, or name another directory with --save, and run again", s.path(name), err)
	}
	return nil
}

// fileNames gives each report a name of its own. The name of an incomplete measurement has its ending, so that
// the file never overwrites a complete one's.
func fileNames(reports []*report.Report) []string {
	used := map[string]bool{}
	names := make([]string, len(reports))
	for i, r := range reports {
		base := r.Plan.Test.Name
		if r.Ending != report.Completed {
			base += "-" + strings.ToLower(string(r.Ending))
		}
		name := base
		for n := 2; used[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		used[name], names[i] = true, name
	}
	return names
}
